-- RPCs of the dispatcher that reads busy calendars: one calendar a call, since a large one takes
-- most of the processor time that a call may have. A claim is a lease of a minute.

create function private.calendar_rings()
returns setof integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
    select 1
    from (
      (select from private.busy_calendars where due_at <= now() limit 20)
      union all
      select from private.google_work()
    ) as work
    limit 20;
end;
$$;

comment on function private.calendar_rings is
  'A row for each call that the function calendar needs: one for each busy calendar that is due and each Google calendar with something to do, up to twenty.';

create function private.calendar_due()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (select from private.calendar_rings());
end;
$$;

comment on function private.calendar_due is 'Whether the function calendar has something to do.';

create function private.calendar_status()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_oldest constant timestamptz := (select min(due_at) from private.busy_calendars);
  v_last constant timestamptz := (select last_at from private.dispatches where queue = 'calendar');
begin
  if v_oldest < now() - interval '5 minutes' then
    return 'a busy calendar has been due since ' || private.timestamp_text(v_oldest)
      || ', last dispatch: ' || coalesce(private.timestamp_text(v_last), 'never');
  elsif exists (
    select
    from private.google_work() as work (id)
    join private.calendar_connections c on c.id = work.id
    where greatest(c.claimed_at, c.paused_until) < now() - interval '5 minutes'
      and (
        (c.busy and c.busy_due_at < now() - interval '5 minutes')
        or exists (
          select
          from private.calendar_pushes p
          where p.connection_id = c.id and p.due_at < now() - interval '5 minutes'
        )
      )
  ) then
    return 'a Google calendar has waited for more than five minutes, last dispatch: '
      || coalesce(private.timestamp_text(v_last), 'never');
  end if;
  return 'ok';
end;
$$;

comment on function private.calendar_status is
  'ok, or since when a busy calendar should have been read, or that a Google calendar waits; five minutes are given.';

-- What was read before stays as it is: who is busy does not become free by a fault.
create function private.fail_busy_calendar(
  p_calendar private.busy_calendars,
  p_error text,
  p_detail text
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_since constant timestamptz := coalesce(p_calendar.failing_since, now());
begin
  update private.busy_calendars
  set
    status = 'failing',
    error = p_error,
    error_detail = p_detail,
    failing_since = v_since,
    claim_token = null,
    due_at = now() + greatest(interval '10 minutes', least((now() - v_since) / 4, '1 hour'))
  where id = p_calendar.id;

  perform private.tell_of_failing_calendars(p_calendar.professional_id);
end;
$$;

comment on function private.fail_busy_calendar is
  'Notes that a calendar could not be read. Tried again after ten minutes, and hourly once it has failed for four hours.';

-- Definer, like all that follow: nobody has rights on the table.
create function private.claim_busy_sync()
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_calendar private.busy_calendars;
  v_profile public.profiles;
  v_is_whole boolean;
begin
  -- One claim at a time, so that no professional has two.
  perform pg_advisory_xact_lock(7309, 0);

  insert into private.dispatches (queue) values ('calendar')
  on conflict (queue) do update set last_at = now();

  loop
    select c.* into v_calendar
    from private.busy_calendars c
    where c.due_at <= now()
      and not exists (
        select
        from private.busy_calendars o
        where o.professional_id = c.professional_id
          and o.claim_token is not null
          and o.due_at > now()
      )
    order by c.due_at
    limit 1
    for update skip locked;

    if not found then
      return null;
    end if;
    exit when v_calendar.claim_token is null;
    -- Its dispatcher died, maybe of it: not again at once.
    perform private.fail_busy_calendar(v_calendar, 'interrupted', null);
  end loop;

  update private.busy_calendars
  set due_at = now() + interval '60 seconds', claim_token = gen_random_uuid()
  where id = v_calendar.id
  returning * into v_calendar;

  select * into v_profile from public.profiles where id = v_calendar.professional_id;
  -- A version that is the same blocks other days tomorrow, and other hours in another zone.
  v_is_whole := (
    v_calendar.read_at > now() - interval '1 day' and v_calendar.time_zone = v_profile.time_zone
  ) is not true;

  return jsonb_build_object(
    'calendar_id', v_calendar.id,
    'claim_token', v_calendar.claim_token,
    'professional_id', v_calendar.professional_id,
    'sealed_address', v_calendar.sealed_address,
    'etag', case when not v_is_whole then v_calendar.etag end,
    'last_modified', case when not v_is_whole then v_calendar.last_modified end,
    'from', private.timestamp_text(now() - interval '1 day'),
    'to', private.timestamp_text(now() + interval '9600 hours'),
    'time_zone', v_profile.time_zone,
    'own_addresses', array_remove(
      array[private.owner_email(v_calendar.professional_id), v_profile.contact_email], null
    )
  );
end;
$$;

-- The UID of a booking in mails and feeds is its id; in Google calendars what Google makes of it.
create function private.own_calendar_uids(p_professional_id uuid, p_uids text[])
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(
    case when p_professional_id is null then 'professional_id' end,
    case when (cardinality(p_uids) <= 20000) is not true then 'uids' end
  );
  return (
    select coalesce(jsonb_agg(given.uid), '[]')
    from unnest(p_uids) as given (uid)
    -- Google makes one of the id of an entry: the booking's, a generation, and its own name.
    cross join regexp_replace(
      given.uid, '^([0-9a-f]{32})g[0-9]{1,9}@google\.com$', '\1'
    ) as said (id)
    join public.bookings b
      on b.id = case when pg_input_is_valid(said.id, 'uuid') then said.id::uuid end
    where b.professional_id = p_professional_id
  );
end;
$$;

create function private.finish_busy_sync(
  p_calendar_id uuid,
  p_claim_token uuid,
  p_result text,
  p_ranges jsonb,
  p_time_zone text,
  p_etag text,
  p_last_modified text,
  p_sealed_address text,
  p_error text,
  p_error_detail text
)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_calendar private.busy_calendars;
begin
  perform private.check_arguments(
    case when p_calendar_id is null then 'calendar_id' end,
    case when p_claim_token is null then 'claim_token' end,
    case when (p_result in ('read', 'unchanged', 'failed')) is not true then 'result' end,
    case
      when p_result = 'read' and (
        jsonb_typeof(p_ranges) = 'array' and jsonb_array_length(p_ranges) <= 20000
      ) is not true then 'ranges'
    end,
    case when p_result = 'read' and p_time_zone is null then 'time_zone' end,
    case when char_length(p_etag) > 500 then 'etag' end,
    case when char_length(p_last_modified) > 100 then 'last_modified' end,
    case when char_length(p_sealed_address) not between 1 and 8000 then 'sealed_address' end,
    case
      when p_result = 'failed' and (p_error ~ '^[a-z0-9_]{1,50}$') is not true then 'error'
    end,
    case when char_length(p_error_detail) > 200 then 'error_detail' end
  );

  -- Also keeps a deletion waiting until what is written here is there to be deleted.
  select * into v_calendar
  from private.busy_calendars
  where id = p_calendar_id and claim_token = p_claim_token
  for update;

  if not found then
    return false;
  end if;

  if p_sealed_address is not null then
    update private.busy_calendars set sealed_address = p_sealed_address where id = p_calendar_id;
  end if;
  if p_result = 'failed' then
    perform private.fail_busy_calendar(v_calendar, p_error, p_error_detail);
    return true;
  end if;

  if p_result = 'read' then
    perform private.replace_busy_times(v_calendar.professional_id, p_calendar_id, p_ranges);

    update private.busy_calendars
    set read_at = now(), time_zone = p_time_zone, etag = p_etag, last_modified = p_last_modified
    where id = p_calendar_id;
  end if;

  update private.busy_calendars
  set
    status = 'ok',
    error = null,
    error_detail = null,
    failing_since = null,
    last_synced_at = now(),
    claim_token = null,
    due_at = now() + interval '10 minutes'
  where id = p_calendar_id;
  return true;
end;
$$;

create function public.claim_busy_sync()
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.claim_busy_sync();
$$;

comment on function public.claim_busy_sync is
  'Server only. Takes the busy calendar that has been due longest for 60 seconds, one at a time a professional: {calendar_id, claim_token, professional_id, sealed_address, etag, last_modified, from, to, time_zone, own_addresses}, or null. etag and last_modified are null where it has to be read as a whole.';

create function public.own_calendar_uids(professional_id uuid, uids text[])
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.own_calendar_uids($1, $2);
$$;

comment on function public.own_calendar_uids is
  'Server only. Which of at most 20 000 UIDs are those of bookings of a professional, whatever became of these. Errors: 422 validation_failed {"fields"}.';

create function public.finish_busy_sync(
  calendar_id uuid,
  claim_token uuid,
  result text,
  ranges jsonb default null,
  time_zone text default null,
  etag text default null,
  last_modified text default null,
  sealed_address text default null,
  error text default null,
  error_detail text default null
)
returns boolean
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.finish_busy_sync($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);
$$;

comment on function public.finish_busy_sync is
  'Server only. Says how a claimed reading went. read: ranges [{start, end}], at most 20 000, are all that is busy by it from now on, time_zone is the one they were worked out in, etag and last_modified name the version; unchanged; failed: error is a code, and what was busy stays so. sealed_address: the address sealed anew. False when the claim is over. Errors: 422 validation_failed {"fields"}.';

grant execute on function
  public.claim_busy_sync (),
  public.own_calendar_uids (uuid, text[]),
  public.finish_busy_sync (uuid, uuid, text, jsonb, text, text, text, text, text, text),
  private.claim_busy_sync (),
  private.own_calendar_uids (uuid, text[]),
  private.finish_busy_sync (uuid, uuid, text, jsonb, text, text, text, text, text, text)
to service_role;

select private.hand_over('claim_busy_sync', 'own_calendar_uids', 'finish_busy_sync');
