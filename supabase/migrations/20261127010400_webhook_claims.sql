-- RPC of the dispatcher: take what is due. A claim is a lease: a dispatcher that dies leaves it to the
-- next one after a minute.

-- For the scheduler, many times a minute: one look at the end of an index.
create function private.webhook_dispatch_due()
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select exists (
    select from private.webhook_deliveries where status = 'pending' and next_attempt_at <= now()
  );
$$;

comment on function private.webhook_dispatch_due is 'Whether a delivery is due.';

-- Definer: nobody has rights on the queue.
create function private.claim_webhook_deliveries(p_max_count integer)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_claimed jsonb;
begin
  perform private.check_arguments(
    case when (p_max_count between 1 and 1000) is not true then 'max_count' end
  );

  -- One claim at a time, so that the four of an endpoint are counted right.
  perform pg_advisory_xact_lock(7304, 0);

  insert into private.settings (name, value)
  values ('webhooks_last_dispatch_at', private.timestamp_text(now()))
  on conflict (name) do update set value = excluded.value;

  with recursive endpoints as (
    -- From endpoint to endpoint along the index, however many deliveries wait at each.
    (
      select endpoint_id
      from private.webhook_deliveries
      where status = 'pending'
      order by endpoint_id
      limit 1
    )
    union all
    select (
      select d.endpoint_id
      from private.webhook_deliveries d
      where d.status = 'pending' and d.endpoint_id > e.endpoint_id
      order by d.endpoint_id
      limit 1
    )
    from endpoints e
    where e.endpoint_id is not null
  ),
  due as (
    select d.id
    from endpoints e
    cross join lateral (
      select id, next_attempt_at, row_number() over (order by next_attempt_at) as place
      from private.webhook_deliveries
      where endpoint_id = e.endpoint_id and status = 'pending' and next_attempt_at <= now()
      order by next_attempt_at
      limit 4 - (
        select least(4, count(*))
        from private.webhook_deliveries
        where endpoint_id = e.endpoint_id and claim_token is not null and next_attempt_at > now()
      )
    ) d
    -- The first of every endpoint before the second of any.
    order by d.place, d.next_attempt_at
    limit p_max_count
  ),
  locked as (
    select l.id
    from due
    cross join lateral (
      select d.id, d.status, d.next_attempt_at
      from private.webhook_deliveries d
      where d.id = due.id
      -- Looked up by its id alone: Postgres would rather look for it among all that is due.
      offset 0
      for update skip locked
    ) as l
    where l.status = 'pending' and l.next_attempt_at <= now()
  ),
  claimed as (
    update private.webhook_deliveries d
    set
      -- The tenth try was under way when its dispatcher died.
      status = case when d.attempts < 10 then 'pending' else 'failed' end,
      next_attempt_at = case when d.attempts < 10 then now() + interval '60 seconds' end,
      claim_token = case when d.attempts < 10 then gen_random_uuid() end,
      attempts = least(d.attempts + 1, 10)
    from locked
    where d.id = locked.id
    returning d.*
  ),
  started as (
    insert into private.webhook_attempts (id, professional_id, delivery_id)
    select claim_token, professional_id, id
    from claimed
    where claim_token is not null
  )
  select jsonb_agg(jsonb_build_object(
    'delivery_id', c.id,
    'claim_token', c.claim_token,
    'event_id', c.event_id,
    'url', e.url,
    'secrets', private.webhook_secrets(e),
    'body', v.body
  ))
  into v_claimed
  from claimed c
  join private.webhook_endpoints e on e.id = c.endpoint_id
  join private.webhook_events v
    on v.professional_id = c.professional_id and v.id = c.event_id
  where c.claim_token is not null;

  return coalesce(v_claimed, '[]');
end;
$$;

comment on function private.claim_webhook_deliveries is 'See public.claim_webhook_deliveries.';

create function public.claim_webhook_deliveries(max_count integer)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.claim_webhook_deliveries($1);
$$;

comment on function public.claim_webhook_deliveries is
  'Server only. Takes up to max_count due deliveries for 60 seconds and counts the try, at most four at a time an endpoint: [{delivery_id, claim_token, event_id, url, secrets, body}].';

grant execute on function
  public.claim_webhook_deliveries (integer),
  private.claim_webhook_deliveries (integer)
to service_role;
