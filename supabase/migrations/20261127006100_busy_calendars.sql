-- Calendars of a professional whose events block starts. Their address is a key to them, so it
-- comes here sealed by the edge function, which reads the calendar and hands over ranges of time,
-- never what they are for.

create table private.busy_calendars (
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default now(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  name text
    constraint busy_calendars_name_has_1_to_100_characters
      check (char_length(name) between 1 and 100),
  sealed_address text not null
    constraint busy_calendars_sealed_address_has_1_to_8000_characters
      check (char_length(sealed_address) between 1 and 8000),
  -- All of the address that is ever shown.
  host text not null
    constraint busy_calendars_host_has_1_to_255_characters
      check (char_length(host) between 1 and 255),
  status text not null default 'pending'
    constraint busy_calendars_status_is_known check (status in ('pending', 'ok', 'failing')),
  error text
    constraint busy_calendars_error_is_a_code check (error ~ '^[a-z0-9_]{1,50}$'),
  error_detail text
    constraint busy_calendars_error_detail_has_at_most_200_characters
      check (char_length(error_detail) <= 200),
  last_synced_at timestamptz,
  failing_since timestamptz,
  told_at timestamptz,
  -- While a reading is under way: when its lease ends and another dispatcher may take it.
  due_at timestamptz not null default now(),
  -- The reading that is under way; finishing needs it.
  claim_token uuid,
  -- Of the last whole reading: what its host calls that version, when it was, in which zone.
  etag text
    constraint busy_calendars_etag_has_at_most_500_characters check (char_length(etag) <= 500),
  last_modified text
    constraint busy_calendars_last_modified_has_at_most_100_characters
      check (char_length(last_modified) <= 100),
  read_at timestamptz,
  time_zone text,
  constraint busy_calendars_have_an_error_while_failing
    check ((status = 'failing') = (error is not null) and (error is null) = (failing_since is null))
);

create index busy_calendars_professional_id_created_at_idx
  on private.busy_calendars (professional_id, created_at);

create index busy_calendars_due_at_idx on private.busy_calendars (due_at);

create function private.busy_calendar_json(p_calendar private.busy_calendars)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'id', p_calendar.id,
    'name', p_calendar.name,
    'host', p_calendar.host,
    'status', p_calendar.status,
    'error', p_calendar.error,
    'error_detail', p_calendar.error_detail,
    'last_synced_at', private.timestamp_text(p_calendar.last_synced_at),
    'created_at', private.timestamp_text(p_calendar.created_at)
  );
$$;

comment on function private.busy_calendar_json is
  'A busy calendar as the API shows it, never its address.';

create function private.check_busy_calendar_count(p_professional_id uuid)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if (
    select count(*) >= 3 from private.busy_calendars where professional_id = p_professional_id
  ) then
    perform private.raise_error(
      422, 'too_many_calendars', 'There are three busy calendars already.'
    );
  end if;
end;
$$;

comment on function private.check_busy_calendar_count is
  '422 too_many_calendars for a professional who has three.';

create function private.count_busy_calendar_call(p_key text, p_per_hour integer)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_seconds constant integer := private.count_request(p_key, p_per_hour, '1 hour');
begin
  if v_seconds > 0 then
    perform private.raise_rate_limited(v_seconds, 'At most ' || p_per_hour || ' of these an hour.');
  end if;
end;
$$;

comment on function private.count_busy_calendar_call is
  'Counts what has us look up hosts or read calendars; 429 rate_limit_exceeded beyond so many an hour.';

-- Definer, like all that follow: nobody has rights on the table. The edge function calls this one
-- before it looks at the address, and store_busy_calendar() after it has.
create function private.begin_busy_calendar()
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
begin
  perform private.require_person();
  perform private.count_busy_calendar_call(format('busy calendars of %s', v_professional_id), 30);
  perform private.check_busy_calendar_count(v_professional_id);
  return jsonb_build_object('professional_id', v_professional_id);
end;
$$;

create function private.store_busy_calendar(
  p_professional_id uuid,
  p_name text,
  p_sealed_address text,
  p_host text
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_name constant text := private.trim_invisible(p_name);
  v_calendar private.busy_calendars;
begin
  perform private.check_arguments(
    case when p_professional_id is null then 'professional_id' end,
    case when char_length(v_name) not between 1 and 100 then 'name' end,
    case
      when (char_length(p_sealed_address) between 1 and 8000) is not true then 'sealed_address'
    end,
    case when (char_length(p_host) between 1 and 255) is not true then 'host' end
  );
  perform private.lock_professional(p_professional_id);

  if not exists (select from public.profiles where id = p_professional_id) then
    perform private.raise_not_found('profile');
  end if;
  perform private.check_busy_calendar_count(p_professional_id);

  insert into private.busy_calendars (professional_id, name, sealed_address, host)
  values (p_professional_id, v_name, p_sealed_address, p_host)
  returning * into v_calendar;

  return private.busy_calendar_json(v_calendar);
end;
$$;

create function private.busy_calendars()
returns jsonb
language sql
stable
security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'data',
    coalesce(jsonb_agg(private.busy_calendar_json(c) order by c.created_at, c.id), '[]'),
    'next_cursor',
    null
  )
  from private.busy_calendars c
  where c.professional_id = private.caller_professional_id();
$$;

create function private.delete_busy_calendar(p_calendar_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(case when p_calendar_id is null then 'calendar_id' end);

  delete from private.busy_calendars
  where professional_id = private.caller_professional_id() and id = p_calendar_id;

  if not found then
    perform private.raise_not_found('busy calendar');
  end if;
end;
$$;

-- A reading that is under way may be of before what the professional changed: it loses its claim.
create function private.sync_busy_calendar(p_calendar_id uuid)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_calendar private.busy_calendars;
begin
  perform private.check_arguments(case when p_calendar_id is null then 'calendar_id' end);

  update private.busy_calendars
  set due_at = now(), claim_token = null, etag = null, last_modified = null
  where professional_id = private.caller_professional_id() and id = p_calendar_id
  returning * into v_calendar;

  if not found then
    perform private.raise_not_found('busy calendar');
  end if;
  perform private.count_busy_calendar_call(format('syncs of %s', p_calendar_id), 12);
  return private.busy_calendar_json(v_calendar);
end;
$$;

create function public.begin_busy_calendar()
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.begin_busy_calendar();
$$;

comment on function public.begin_busy_calendar is
  'What POST /functions/v1/calendar/busy asks before it looks at an address: whether you may add a busy calendar. {professional_id}. Errors: 403 person_required by key; 422 too_many_calendars beyond three; 429 rate_limit_exceeded after thirty in an hour.';

create function public.store_busy_calendar(
  professional_id uuid,
  name text,
  sealed_address text,
  host text
)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.store_busy_calendar($1, $2, $3, $4);
$$;

comment on function public.store_busy_calendar is
  'Server only. Adds a busy calendar, due at once; name may be null. The calendar as busy_calendars() shows it. Errors: 404 PGRST301; 422 validation_failed {"fields"}, too_many_calendars; 429 busy.';

create function public.busy_calendars()
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.busy_calendars();
$$;

comment on function public.busy_calendars is
  'Your busy calendars, oldest first: {"data": [{id, name, host, status, error, error_detail, last_synced_at, created_at}], "next_cursor": null}. status is pending, ok or failing; last_synced_at is when it was last read without a fault.';

create function public.delete_busy_calendar(calendar_id uuid)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.delete_busy_calendar($1);
$$;

comment on function public.delete_busy_calendar is
  'Deletes a busy calendar of yours; what it blocked is free from then on. Errors: 404 PGRST301; 422 validation_failed {"fields"}.';

create function public.sync_busy_calendar(calendar_id uuid)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.sync_busy_calendar($1);
$$;

comment on function public.sync_busy_calendar is
  'Has a busy calendar of yours read as a whole within seconds instead of minutes. The calendar as it is now. Errors: 404 PGRST301; 422 validation_failed {"fields"}; 429 rate_limit_exceeded after twelve in an hour.';

alter table private.busy_calendars enable row level security;

grant select, insert, update, delete on private.busy_calendars to rules;

grant execute on function
  public.begin_busy_calendar (),
  public.busy_calendars (),
  public.delete_busy_calendar (uuid),
  public.sync_busy_calendar (uuid),
  private.begin_busy_calendar (),
  private.busy_calendars (),
  private.delete_busy_calendar (uuid),
  private.sync_busy_calendar (uuid)
to authenticated;

grant execute on function
  public.store_busy_calendar (uuid, text, text, text),
  private.store_busy_calendar (uuid, text, text, text)
to service_role;

create policy busy_calendars_all_rules on private.busy_calendars
  for all to rules
  using (true)
  with check (true);

comment on table private.busy_calendars is
  'Calendars elsewhere whose events block starts, at most three a professional. Only the edge function has the key to their addresses.';

select private.hand_over(
  'begin_busy_calendar',
  'store_busy_calendar',
  'busy_calendars',
  'delete_busy_calendar',
  'sync_busy_calendar'
);
