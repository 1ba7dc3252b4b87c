-- Reading the outbox and the queue: what happened, what became of it, page by page.

create function private.raise_cursor_expired()
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.raise_error(
    410,
    'cursor_expired',
    'What followed this cursor is no longer kept.',
    p_hint => 'Start again without a cursor, and read the current state from the tables.'
  );
$$;

comment on function private.raise_cursor_expired is
  '410 cursor_expired: going on from there would skip something unseen.';

-- Definer, like all that follow: nobody has rights on the tables.
create function private.webhook_deliveries(
  p_endpoint_id uuid,
  p_status text,
  p_cursor uuid,
  p_page_size integer
)
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_from timestamptz;
  v_page jsonb;
begin
  perform private.check_arguments(
    case when p_status not in ('pending', 'succeeded', 'failed', 'cancelled') then 'status' end,
    case when (p_page_size between 1 and 100) is not true then 'page_size' end
  );
  if p_endpoint_id is not null then
    perform private.find_webhook_endpoint(p_endpoint_id);
  end if;
  if p_cursor is not null then
    select created_at into v_from
    from private.webhook_deliveries
    where professional_id = v_professional_id and id = p_cursor;

    if not found then
      perform private.raise_cursor_expired();
    end if;
  end if;

  select coalesce(jsonb_agg(shown.delivery order by shown.created_at desc, shown.id desc), '[]')
  into v_page
  from (
    select
      d.id,
      d.created_at,
      jsonb_build_object(
        'id', d.id,
        'endpoint_id', d.endpoint_id,
        'event_id', d.event_id,
        'type', v.type,
        'status', d.status,
        'attempts', d.attempts,
        'next_attempt_at', private.timestamp_text(d.next_attempt_at),
        'last_status', d.last_status,
        'created_at', private.timestamp_text(d.created_at)
      ) as delivery
    from private.webhook_deliveries d
    join private.webhook_events v
      on v.professional_id = d.professional_id and v.id = d.event_id
    where d.professional_id = v_professional_id
      and (p_endpoint_id is null or d.endpoint_id = p_endpoint_id)
      and (p_status is null or d.status = p_status)
      and (p_cursor is null or (d.created_at, d.id) < (v_from, p_cursor))
    order by d.created_at desc, d.id desc
    -- One more tells whether there is another page.
    limit p_page_size + 1
  ) as shown;

  return jsonb_build_object(
    'data',
    case when jsonb_array_length(v_page) > p_page_size then v_page - p_page_size else v_page end,
    'next_cursor',
    case when jsonb_array_length(v_page) > p_page_size then v_page -> (p_page_size - 1) ->> 'id' end
  );
end;
$$;

create function private.webhook_attempts(p_delivery_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
begin
  perform private.check_arguments(case when p_delivery_id is null then 'delivery_id' end);
  if not exists (
    select
    from private.webhook_deliveries
    where professional_id = v_professional_id and id = p_delivery_id
  ) then
    perform private.raise_not_found('delivery');
  end if;

  return (
    select jsonb_build_object(
      'data',
      coalesce(
        jsonb_agg(
          jsonb_build_object(
            'started_at', private.timestamp_text(started_at),
            'duration_ms', duration_ms,
            'status', status,
            'response', response,
            'error', error
          )
          order by started_at desc, id
        ),
        '[]'
      ),
      'next_cursor',
      null
    )
    from (
      select *
      from private.webhook_attempts
      where professional_id = v_professional_id and delivery_id = p_delivery_id
      order by started_at desc, id
      limit 100
    ) as newest
  );
end;
$$;

-- Bodies are put in as they are: JSON text, not built again.
create function private.webhook_events(p_after bigint, p_type text, p_page_size integer)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_bodies text[];
  v_sequences bigint[];
begin
  perform private.check_arguments(
    case when p_after < 0 then 'after' end,
    case when p_type <> all (private.webhook_event_types()) then 'type' end,
    case when (p_page_size between 1 and 100) is not true then 'page_size' end
  );
  if p_after < (
    select sequence from private.webhook_expired_events where professional_id = v_professional_id
  ) then
    perform private.raise_cursor_expired();
  end if;

  select
    coalesce(array_agg(page.body order by page.sequence), '{}'),
    array_agg(page.sequence order by page.sequence)
  into v_bodies, v_sequences
  from (
    select body, sequence
    from private.webhook_events
    where professional_id = v_professional_id
      and sequence > coalesce(p_after, 0)
      and (p_type is null or type = p_type)
    order by sequence
    limit p_page_size + 1
  ) as page;

  return format(
    '{"data": [%s], "next_cursor": %s}',
    array_to_string(v_bodies[:p_page_size], ', '),
    case
      when cardinality(v_bodies) > p_page_size then to_json(v_sequences[p_page_size]::text)
      else 'null'
    end
  );
end;
$$;

create function public.webhook_deliveries(
  endpoint_id uuid default null,
  status text default null,
  cursor uuid default null,
  page_size integer default 100
)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.webhook_deliveries($1, $2, $3, $4);
$$;

comment on function public.webhook_deliveries is
  'Your deliveries, newest first: {data: [{id, endpoint_id, event_id, type, status, attempts, next_attempt_at, last_status, created_at}], next_cursor}. Errors: 404 PGRST301; 410 cursor_expired; 422 validation_failed.';

create function public.webhook_attempts(delivery_id uuid)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.webhook_attempts($1);
$$;

comment on function public.webhook_attempts is
  'The newest 100 tries of a delivery: {data: [{started_at, duration_ms, status, response, error}], next_cursor: null}. Errors: 404 PGRST301.';

create function public.webhook_events(
  after bigint default null,
  type text default null,
  page_size integer default 100
)
returns json
language sql
stable
security invoker
set search_path = ''
as $$
  select private.webhook_events($1, $2, $3);
$$;

comment on function public.webhook_events is
  'Your events in the order of their commits, as they are delivered: {data, next_cursor}. Ask for those after the last sequence you have seen. Errors: 410 cursor_expired when some of them are no longer kept; 422 validation_failed.';

grant execute on function
  public.webhook_deliveries (uuid, text, uuid, integer),
  private.webhook_deliveries (uuid, text, uuid, integer),
  public.webhook_attempts (uuid),
  private.webhook_attempts (uuid),
  public.webhook_events (bigint, text, integer),
  private.webhook_events (bigint, text, integer)
to authenticated;

select private.hand_over('webhook_deliveries', 'webhook_attempts', 'webhook_events');
