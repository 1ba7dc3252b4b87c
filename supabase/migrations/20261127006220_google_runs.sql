-- RPCs of the dispatcher that talks to Google: one connection a run, its pushes and the reading of
-- its busy times. A claim is a lease of two minutes; a run begins nothing new after 40 seconds.

create function private.google_work()
returns setof uuid
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
    select c.id
    from private.calendar_connections c
    where c.status = 'active'
      and c.paused_until <= now()
      and c.leased_until <= now()
      and (
        (c.busy and c.busy_due_at <= now())
        or (
          c.push
          and exists (
            select
            from private.calendar_pushes p
            where p.connection_id = c.id and p.due_at <= now()
          )
        )
      )
    order by c.claimed_at
    limit 20;
end;
$$;

comment on function private.google_work is
  'Connections with something to do, for who rings; the claim has the same conditions of its own, being planned for another role.';

create function private.google_event_id(p_booking_id uuid, p_generation integer)
returns text
language sql
immutable
security invoker
set search_path = ''
as $$
  select replace(p_booking_id::text, '-', '') || 'g' || p_generation;
$$;

comment on function private.google_event_id is
  'The id of an entry: Google takes the digits and the letters a to v.';

create function private.google_entry(p_professional_id uuid, p_booking_id uuid)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'id', b.id,
    'version', b.version,
    'updated_at', private.timestamp_text(b.updated_at),
    'starts_at', private.timestamp_text(b.starts_at),
    'ends_at', private.timestamp_text(b.ends_at),
    'status', b.status,
    'service_name', b.service_name,
    'location', s.location,
    'client_name', c.name,
    'client_email', c.email,
    'client_phone', c.phone,
    'notes', case
      when char_length(b.notes) > 1000 then left(b.notes, 999) || '…' else b.notes
    end
  )
  from public.bookings b
  left join public.clients c on c.professional_id = b.professional_id and c.id = b.client_id
  left join public.services s on s.professional_id = b.professional_id and s.id = b.service_id
  where b.professional_id = p_professional_id
    and b.id = p_booking_id
    and b.status <> 'cancelled'
    and b.expires_at is null;
$$;

comment on function private.google_entry is
  'What an entry shows of a booking, as a feed in full detail does; null where it has to have none.';

-- Definer, like all that follow: nobody has rights on the tables.
create function private.claim_google_run()
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_connection private.calendar_connections;
  v_profile public.profiles;
  v_push private.calendar_pushes;
  v_entry jsonb;
  v_pushes jsonb := '[]';
begin
  -- One claim at a time, so that no connection has two.
  perform pg_advisory_xact_lock(7308, 0);

  insert into private.dispatches (queue) values ('calendar')
  on conflict (queue) do update set last_at = now();

  -- The conditions of google_work().
  select c.* into v_connection
  from private.calendar_connections c
  where c.status = 'active'
    and c.paused_until <= now()
    and c.leased_until <= now()
    and (
      (c.busy and c.busy_due_at <= now())
      or (
        c.push
        and exists (
          select
          from private.calendar_pushes p
          where p.connection_id = c.id and p.due_at <= now()
        )
      )
    )
  order by c.claimed_at
  limit 1
  for no key update of c skip locked;

  if not found then
    return null;
  end if;

  update private.calendar_connections
  set
    claim_token = gen_random_uuid(),
    claimed_at = clock_timestamp(),
    leased_until = now() + interval '2 minutes'
  where id = v_connection.id
  returning * into v_connection;

  select * into v_profile from public.profiles where id = v_connection.professional_id;

  for v_push in
    select p.*
    from private.calendar_pushes p
    where p.connection_id = v_connection.id and p.due_at <= now() and v_connection.push
    order by p.due_at
    limit 50
    for update skip locked
  loop
    v_entry := private.google_entry(v_connection.professional_id, v_push.booking_id);
    if v_entry is null and not v_push.may_exist then
      -- It came and went before anybody was told.
      delete from private.calendar_pushes
      where connection_id = v_push.connection_id and booking_id = v_push.booking_id;
      continue;
    end if;

    update private.calendar_pushes
    set may_exist = true
    where connection_id = v_push.connection_id and booking_id = v_push.booking_id;

    v_pushes := v_pushes || jsonb_build_object(
      'booking_id', v_push.booking_id,
      'revision', v_push.revision,
      'event_id', private.google_event_id(v_push.booking_id, v_push.generation),
      'is_there', v_push.is_there,
      'entry', v_entry
    );
  end loop;

  return jsonb_build_object(
    'connection_id', v_connection.id,
    'claim_token', v_connection.claim_token,
    'professional_id', v_connection.professional_id,
    'sealed_token', v_connection.sealed_token,
    'language', v_profile.language,
    'time_zone', v_profile.time_zone,
    'pushes', v_pushes,
    'busy', case
      when v_connection.busy and v_connection.busy_due_at <= now() then jsonb_build_object(
        'from', private.timestamp_text(now() - interval '1 day'),
        'to', private.timestamp_text(now() + interval '9600 hours')
      )
    end
  );
end;
$$;

create function private.next_google_event(
  p_connection_id uuid,
  p_claim_token uuid,
  p_booking_id uuid
)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_generation integer;
begin
  perform private.check_arguments(
    case when p_connection_id is null then 'connection_id' end,
    case when p_claim_token is null then 'claim_token' end,
    case when p_booking_id is null then 'booking_id' end
  );
  update private.calendar_pushes
  set generation = generation + 1, is_there = false
  where connection_id = p_connection_id
    and booking_id = p_booking_id
    and exists (
      select
      from private.calendar_connections
      where id = p_connection_id and claim_token = p_claim_token
    )
  returning generation into v_generation;

  return private.google_event_id(p_booking_id, v_generation);
end;
$$;

create function private.finish_google_push(
  p_connection_id uuid,
  p_claim_token uuid,
  p_booking_id uuid,
  p_revision integer,
  p_result text,
  p_error text
)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(
    case when p_connection_id is null then 'connection_id' end,
    case when p_claim_token is null then 'claim_token' end,
    case when p_booking_id is null then 'booking_id' end,
    case when p_revision is null then 'revision' end,
    case
      when (p_result in ('written', 'removed', 'refused', 'failed')) is not true then 'result'
    end,
    case
      when p_result in ('refused', 'failed') and (p_error ~ '^[a-z0-9_]{1,50}$') is not true
        then 'error'
    end
  );
  if not exists (
    select
    from private.calendar_connections
    where id = p_connection_id and claim_token = p_claim_token
  ) then
    return false;
  end if;

  update private.calendar_pushes
  set
    is_there = case p_result when 'written' then true when 'removed' then false else is_there end,
    may_exist = p_result <> 'removed' and may_exist,
    -- An id that is deleted stays taken.
    generation = generation + (p_result = 'removed')::integer,
    error = case when p_result in ('refused', 'failed') then p_error end,
    attempts = case when p_result = 'failed' then attempts + 1 else 0 end,
    due_at = case
      -- It changed meanwhile.
      when revision <> p_revision then due_at
      when p_result = 'failed'
        then now() + least(interval '30 seconds' * 2 ^ least(attempts, 10), '1 hour')
    end
  where connection_id = p_connection_id and booking_id = p_booking_id;
  return found;
end;
$$;

create function private.finish_google_run(
  p_connection_id uuid,
  p_claim_token uuid,
  p_result text,
  p_error text,
  p_ranges jsonb,
  p_retry_after integer,
  p_sealed_token text
)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_connection private.calendar_connections;
begin
  perform private.check_arguments(
    case when p_connection_id is null then 'connection_id' end,
    case when p_claim_token is null then 'claim_token' end,
    case
      when (p_result in ('done', 'unread', 'failed', 'revoked')) is not true then 'result'
    end,
    case
      when p_result <> 'done' and (p_error ~ '^[a-z0-9_]{1,50}$') is not true then 'error'
    end,
    case
      when p_ranges is not null and (
        jsonb_typeof(p_ranges) = 'array' and jsonb_array_length(p_ranges) <= 20000
      ) is not true then 'ranges'
    end,
    case when p_retry_after not between 0 and 86400 then 'retry_after' end,
    case when char_length(p_sealed_token) not between 1 and 8000 then 'sealed_token' end
  );

  -- Also keeps a deletion waiting until what is written here is there to be deleted.
  select * into v_connection
  from private.calendar_connections
  where id = p_connection_id and claim_token = p_claim_token
  for no key update;

  if not found then
    return false;
  end if;

  if p_ranges is not null then
    perform private.replace_busy_times(v_connection.professional_id, p_connection_id, p_ranges);
  end if;

  -- What was read before stays as it is: who is busy does not become free by a fault.
  update private.calendar_connections
  set
    claim_token = null,
    leased_until = '-infinity',
    sealed_token = coalesce(p_sealed_token, sealed_token),
    status = case when p_result = 'revoked' then 'revoked' else status end,
    error = case when p_result <> 'done' then p_error end,
    failing_since = case
      when p_result in ('failed', 'unread') then coalesce(failing_since, now())
    end,
    last_synced_at = case when p_result = 'done' then now() else last_synced_at end,
    busy_due_at = case
      when p_result = 'unread' or p_ranges is not null then now() + interval '10 minutes'
      else busy_due_at
    end,
    pauses = case when p_result in ('done', 'unread') then 0 else pauses + 1 end,
    paused_until = case
      when p_result in ('done', 'unread') then '-infinity'
      else now() + greatest(
        make_interval(secs => coalesce(p_retry_after, 0)),
        least(interval '30 seconds' * 2 ^ least(pauses, 10), '1 hour')
      )
    end
  where id = p_connection_id;

  if p_result = 'revoked' then
    insert into private.mails (professional_id, audience, kind)
    values (v_connection.professional_id, 'professional', 'calendar_disconnected');
  elsif p_result <> 'done' then
    perform private.tell_of_failing_calendars(v_connection.professional_id);
  end if;
  return true;
end;
$$;

create function public.claim_google_run()
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.claim_google_run();
$$;

comment on function public.claim_google_run is
  'Server only. Takes the Google calendar that has waited longest for two minutes: {connection_id, claim_token, professional_id, sealed_token, language, time_zone, pushes [{booking_id, revision, event_id, is_there, entry}], busy {from, to}}, or null. At most 50 pushes; entry is null where the event has to go, busy where nothing is to be read.';

create function public.next_google_event(
  connection_id uuid,
  claim_token uuid,
  booking_id uuid
)
returns text
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.next_google_event($1, $2, $3);
$$;

comment on function public.next_google_event is
  'Server only. Another event id for a booking whose last one is used up; null when the claim is over. Errors: 422 validation_failed {"fields"}.';

create function public.finish_google_push(
  connection_id uuid,
  claim_token uuid,
  booking_id uuid,
  revision integer,
  result text,
  error text default null
)
returns boolean
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.finish_google_push($1, $2, $3, $4, $5, $6);
$$;

comment on function public.finish_google_push is
  'Server only. Says how a claimed push went: written; removed; refused, which is not tried again before the booking changes; failed, which is, later each time. error is a code. False when the claim is over. Errors: 422 validation_failed {"fields"}.';

create function public.finish_google_run(
  connection_id uuid,
  claim_token uuid,
  result text,
  error text default null,
  ranges jsonb default null,
  retry_after integer default null,
  sealed_token text default null
)
returns boolean
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.finish_google_run($1, $2, $3, $4, $5, $6, $7);
$$;

comment on function public.finish_google_run is
  'Server only. Ends a run: done; unread: what is busy could not be made out; failed, and nothing is asked of Google for a while, for retry_after seconds at least; revoked, and nothing ever until it is connected anew. ranges [{start, end}], at most 20 000, are all that is busy from now on; null leaves what was. sealed_token: the token sealed anew. False when the claim is over. Errors: 422 validation_failed {"fields"}.';

grant execute on function
  public.claim_google_run (),
  public.next_google_event (uuid, uuid, uuid),
  public.finish_google_push (uuid, uuid, uuid, integer, text, text),
  public.finish_google_run (uuid, uuid, text, text, jsonb, integer, text),
  private.claim_google_run (),
  private.next_google_event (uuid, uuid, uuid),
  private.finish_google_push (uuid, uuid, uuid, integer, text, text),
  private.finish_google_run (uuid, uuid, text, text, jsonb, integer, text)
to service_role;

select private.hand_over(
  'claim_google_run',
  'next_google_event',
  'finish_google_push',
  'finish_google_run'
);
