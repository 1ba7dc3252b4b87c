-- RPC: what somebody on call asks first. Each entry is `ok` or a sentence.

create function private.delivery_status()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  -- Of those whose turn it is: who has to wait for slow receivers of their own is no fault of ours.
  v_oldest constant timestamptz := (
    select min(next_attempt_at) from private.next_webhook_deliveries(1000)
  );
begin
  if v_oldest < now() - interval '5 minutes' then
    return 'a delivery has been due since ' || private.timestamp_text(v_oldest);
  end if;
  return 'ok';
end;
$$;

comment on function private.delivery_status is
  'ok, or since when a webhook delivery could have been tried; five minutes are given.';

create function private.dispatcher_status()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_last constant timestamptz := (
    select last_at from private.dispatches where queue = 'webhooks'
  );
begin
  -- The scheduler calls only when something is due, so silence is no fault by itself.
  if private.delivery_status() <> 'ok'
    and (v_last is null or v_last < now() - interval '5 minutes')
  then
    return 'deliveries are due, last dispatch: '
      || coalesce(private.timestamp_text(v_last), 'never');
  end if;
  return 'ok';
end;
$$;

comment on function private.dispatcher_status is
  'ok, or when the dispatcher ran last although deliveries are due.';

create function private.pre_request_status()
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select case
    when 'pgrst.db_pre_request=private.check_request' = any (rolconfig) then 'ok'
    else 'not set: sessions and limits are not checked'
  end
  from pg_catalog.pg_roles
  where rolname = 'authenticator';
$$;

comment on function private.pre_request_status is
  'ok, or that nothing is checked before requests, as after a restore without role settings.';

create function private.job_status()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_missing text;
begin
  if to_regclass('cron.job') is not null then
    execute $query$
      select string_agg(wanted.name, ', ')
      from private.jobs() as wanted
      where not exists (select from cron.job where jobname = wanted.name and active)
    $query$ into v_missing;
  elsif exists (select from pg_catalog.pg_available_extensions where name = 'pg_cron') then
    return 'pg_cron is not installed: nothing is scheduled';
  end if;
  return coalesce('not scheduled: ' || v_missing, 'ok');
end;
$$;

comment on function private.job_status is
  'ok, or the jobs that pg_cron should run and does not. Where there is none, another scheduler runs them.';

create function private.secret_status()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_missing text;
begin
  if to_regclass('vault.decrypted_secrets') is not null then
    -- By name only: what another project has encrypted cannot be read, and would raise.
    execute $query$
      select string_agg(wanted.name, ', ')
      from unnest(array['project_url', 'dispatch_secret']) as wanted (name)
      where not exists (select from vault.decrypted_secrets s where s.name = wanted.name)
    $query$ into v_missing;
  end if;
  return coalesce('not in the vault: ' || v_missing, 'ok');
end;
$$;

comment on function private.secret_status is
  'ok, or the secrets that the scheduler does not find in the vault. Without a vault another scheduler has its own.';

create function private.trigger_status()
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  with ours as (
    select t.tgname as name, t.tgrelid as table_id, t.tgenabled
    from pg_catalog.pg_trigger t
    join pg_catalog.pg_class c on c.oid = t.tgrelid
    where c.relnamespace in ('public'::regnamespace, 'private'::regnamespace)
      or c.oid = 'auth.users'::regclass and not t.tgisinternal
  ),
  -- These alone are on a table that no migration makes, so a dump of our schemas leaves them out.
  faults as (
    select format('%s on auth.users is missing', name) as fault
    from unnest(array[
      'profiles_on_sign_up',
      'profiles_lock_on_account_deletion',
      'profiles_end_confirmation_on_address_change'
    ]) as wanted (name)
    where name not in (select o.name from ours o where o.table_id = 'auth.users'::regclass)
    union all
    select format('%s on %s is off', name, table_id::regclass)
    from ours
    where tgenabled <> 'O'
  )
  select coalesce(string_agg(fault, ', ' order by fault), 'ok')
  from faults;
$$;

comment on function private.trigger_status is
  'ok, or which trigger on the users is missing, and which of all is switched off, as by a load that broke off.';

create function private.role_status()
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select coalesce('not granted: ' || string_agg(format('%s to %s', role, member), ', '), 'ok')
  from (
    values
      ('portal_client', 'authenticator', false),
      ('portal_client', 'postgres', false),
      ('portal_booking', 'authenticator', false),
      ('portal_booking', 'postgres', false),
      ('rules', 'postgres', true)
  ) as wanted (role, member, inherits)
  where not exists (
    select
    from pg_catalog.pg_auth_members m
    where m.roleid = to_regrole(wanted.role)
      and m.member = to_regrole(wanted.member)
      and m.set_option
      and (m.inherit_option or not wanted.inherits)
  );
$$;

comment on function private.role_status is
  'ok, or who may no longer take which role: without the first no client gets into the portal, without the third no link of a booking opens.';

-- One instant for all of them, when the clocks had been turned back everywhere else. It has passed,
-- so that no later release can say otherwise.
create function private.known_zone_changes()
returns table (zone text, clock timestamp)
language sql
immutable
security invoker
set search_path = ''
as $$
  values
    ('America/Vancouver', timestamp '2026-11-15 05:00'), -- tzdata 2026b
    ('America/Edmonton', timestamp '2026-11-15 06:00'), -- 2026c
    ('Africa/Casablanca', timestamp '2026-11-15 12:00'), -- 2026c
    ('America/Inuvik', timestamp '2026-11-15 06:00'), -- 2026d
    ('America/Winnipeg', timestamp '2026-11-15 07:00'), -- 2026e
    ('America/Havana', timestamp '2026-11-15 08:00'); -- 2026f
$$;

comment on function private.known_zone_changes is
  'What clocks showed at 2026-11-15T12:00:00Z in zones whose rules changed in 2026.';

create function private.time_zone_status()
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select coalesce(
    'the server''s zone data are older than changes in ' || string_agg(zone, ', ' order by zone),
    'ok'
  )
  from private.known_zone_changes()
  where timestamptz '2026-11-15 12:00Z' at time zone zone <> clock;
$$;

comment on function private.time_zone_status is
  'ok, or the zones in which hours are computed by rules that are no longer in force.';

create function private.link_status()
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select case
    when portal_url is null
      and exists (select from public.profiles where verify_public_email)
    then 'professionals have bookings confirmed by a link, and the functions have no portal address'
      || coalesce(' since ' || private.timestamp_text(portal_reported_at), '')
    else 'ok'
  end
  from private.settings;
$$;

comment on function private.link_status is
  'ok, or that mails cannot have the link which verify_public_email waits for.';

-- Definer: servers have no rights in private.
create function private.health()
returns jsonb
language sql
stable
security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'pre_request', private.pre_request_status(),
    'request_counter', private.request_counter_status(),
    'deliveries', private.delivery_status(),
    'dispatcher', private.dispatcher_status(),
    'mail', private.mail_status(),
    'payments', private.payment_queue_status(),
    'calendar', private.calendar_status(),
    'accounts', private.account_status(),
    'jobs', private.job_status(),
    'time_zones', private.time_zone_status(),
    'secrets', private.secret_status(),
    'triggers', private.trigger_status(),
    'roles', private.role_status(),
    'links', private.link_status(),
    'grants', private.grant_status()
  );
$$;

create function public.health()
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.health();
$$;

comment on function public.health is
  'Server only. State of the installation: {pre_request, request_counter, deliveries, dispatcher, mail, payments, calendar, accounts, jobs, time_zones, secrets, triggers, roles, links, grants}, each ok or what is wrong.';

grant execute on function public.health () to service_role;

-- It could call it as a member of `rules`, but must be able to say that it no longer is one.
grant execute on function private.next_webhook_deliveries (integer) to postgres;

grant execute on function private.health () to service_role;
