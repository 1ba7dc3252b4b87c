-- Who is asking, and the one write lock.
--
-- Two writers of one professional never run at the same time: overlap checks, stock, order numbers,
-- idempotency keys and the order of events are all decided under one advisory lock. It is taken
-- before any row is touched (by a statement trigger, or as the first statement of an RPC); row
-- triggers never lock, because row-then-advisory against advisory-then-row is a deadlock.

-- These run several times in a request, some for every row: PL/pgSQL, because a SQL function that
-- is not inlined is set up anew at each call. Not auth.jwt(): custom roles have no access to schema
-- `auth` on the hosted platform.
create function private.jwt_claims()
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;
end;
$$;

comment on function private.jwt_claims is
  'Claims of the request''s token, null outside a request.';

create function private.caller_role()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return private.jwt_claims() ->> 'role';
end;
$$;

comment on function private.caller_role is
  'anon, authenticated, portal_client, portal_booking or service_role; null outside a request (SQL, auth service, cron).';

create function private.caller_professional_id()
returns uuid
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_claims constant jsonb := private.jwt_claims();
begin
  return case v_claims ->> 'role'
    when 'authenticated' then (v_claims ->> 'sub')::uuid
    when 'portal_client' then (v_claims ->> 'professional_id')::uuid
    when 'portal_booking' then (v_claims ->> 'professional_id')::uuid
  end;
end;
$$;

comment on function private.caller_professional_id is
  'The professional the caller is, or is a client of; null for the public and for servers.';

create function private.caller_is_server()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return coalesce(private.jwt_claims() ->> 'role', 'service_role') = 'service_role';
end;
$$;

comment on function private.caller_is_server is
  'True for service_role and outside a request: callers that name the professional themselves.';

create function private.caller_manages(p_professional_id uuid)
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select private.caller_is_server() or coalesce(
    private.caller_role() = 'authenticated'
      and private.caller_professional_id() = p_professional_id,
    false
  );
$$;

comment on function private.caller_manages is
  'Whether the caller is this professional or a server; false for the public, clients and other professionals.';

create function private.portal_client_id(p_professional_id uuid)
returns uuid
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_claims constant jsonb := private.jwt_claims();
begin
  if v_claims ->> 'role' = 'portal_client'
    and (v_claims ->> 'professional_id')::uuid = p_professional_id
  then
    return (v_claims ->> 'sub')::uuid;
  end if;
  return null;
end;
$$;

comment on function private.portal_client_id is
  'The client a portal caller is at this professional; null for every other caller, also for the holder of a booking''s link, so that nothing that asks for the client shows more than the booking.';

create function private.portal_booking_id(p_professional_id uuid)
returns uuid
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_claims constant jsonb := private.jwt_claims();
begin
  if v_claims ->> 'role' = 'portal_booking'
    and (v_claims ->> 'professional_id')::uuid = p_professional_id
  then
    return (v_claims ->> 'booking_id')::uuid;
  end if;
  return null;
end;
$$;

comment on function private.portal_booking_id is
  'The one booking at this professional whose link the caller has opened; null for every other caller.';

create function private.caller_is_client()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return coalesce(private.jwt_claims() ->> 'role' in ('portal_client', 'portal_booking'), false);
end;
$$;

comment on function private.caller_is_client is
  'Whether rules for clients hold: signed in to the portal, or with the link of one booking. It says nothing of whose row it is.';

-- One subscriber has 2⁶⁴ IPv6 addresses, so a limit per address would be none.
create function private.network_of(p_ip text)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_ip is null or position(':' in p_ip) = 0 or not pg_input_is_valid(p_ip, 'inet') then
    return coalesce(p_ip, '');
  elsif p_ip ~* '^::ffff:[0-9.]+$' then
    -- An IPv4 address as a socket for both families shows it.
    return substr(p_ip, 8);
  end if;
  return host(network(set_masklen(p_ip::inet, 64)));
end;
$$;

comment on function private.network_of is
  'What callers are counted by: the IPv4 address, or the first 64 bits of an IPv6 address. Text that is no address stays as it is.';

create function private.caller_network()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_headers constant jsonb := nullif(current_setting('request.headers', true), '')::jsonb;
  v_ip constant text := coalesce(
    -- The edge overwrites it; the caller cannot make it up.
    nullif(v_headers ->> 'cf-connecting-ip', ''),
    -- Of these, only the last hop was not written by the caller.
    nullif(btrim(split_part(v_headers ->> 'x-forwarded-for', ',', -1)), ''),
    'unknown'
  );
begin
  -- Before every request: most addresses are IPv4, and stay as they are.
  return case when position(':' in v_ip) = 0 then v_ip else private.network_of(v_ip) end;
end;
$$;

comment on function private.caller_network is
  'Network of the caller, by the address that the edge in front of us saw; unknown without one.';

-- Everybody holds the common lock in shared mode, a server that may write for anyone holds it
-- alone. Classes of advisory locks in this project: 7301 this one, 7302 and 7303 requests for
-- portal codes, 7304 claims of webhook deliveries, 7305 the request counter, 7306 claims of mails
-- and the job of the reminders, 7307 claims of payments, 7308 of Google calendars, 7309 of busy
-- calendars.
create function private.try_lock_professional(p_professional_id uuid)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if pg_try_advisory_xact_lock_shared(7301, 0)
    and pg_try_advisory_xact_lock(hashtextextended('professional ' || p_professional_id, 7301))
  then
    perform set_config('private.write_lock', p_professional_id::text, true);
    return true;
  end if;
  return false;
end;
$$;

comment on function private.try_lock_professional is
  'The write lock of one professional when it is free, else false: for jobs, which come again.';

create function private.lock_professional(p_professional_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if private.try_lock_professional(p_professional_id) then
    return;
  end if;
  -- Whoever waits holds a connection of the REST server: five of one professional's, and the
  -- others are told at once.
  if current_setting('request.path', true) <> ''
    and not private.take_place('waiting for ' || p_professional_id, 5)
  then
    perform private.raise_busy();
  end if;
  begin
    perform
      pg_advisory_xact_lock_shared(7301, 0),
      pg_advisory_xact_lock(hashtextextended('professional ' || p_professional_id, 7301));
  exception when lock_not_available then
    -- The role's lock_timeout.
    perform private.raise_busy();
  end;
  perform set_config('private.write_lock', p_professional_id::text, true);
end;
$$;

comment on function private.lock_professional is
  'The write lock of one professional, until the transaction ends; 429 busy when others keep it for too long, or many wait already. First statement of every RPC that writes.';

-- Everybody queues behind a waiting writer of this kind, so it waits for moments only, again and
-- again; for longer ones each time, or it would never come to its turn among busy writers.
create function private.lock_everybody()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_lock_timeout constant text := current_setting('lock_timeout');
  v_moment integer := 10;
  v_until constant timestamptz := clock_timestamp() + least(
    nullif(v_lock_timeout, '0')::interval, interval '5 s'
  );
begin
  while not pg_try_advisory_xact_lock(7301, 0) loop
    v_moment := least(2 * v_moment, 2000);
    begin
      perform set_config('lock_timeout', v_moment || 'ms', true);
      perform pg_advisory_xact_lock(7301, 0);
      perform set_config('lock_timeout', v_lock_timeout, true);
      exit;
    exception when lock_not_available then
      -- In a request; a migration or a job in SQL has time.
      if clock_timestamp() > v_until and private.caller_role() is not null then
        perform private.raise_busy();
      end if;
    end;
    perform pg_sleep(0.02 + 0.02 * random());
  end loop;
  perform set_config('private.write_lock', '*', true);
end;
$$;

comment on function private.lock_everybody is
  'The write lock of all professionals, until the transaction ends: for servers, who may write for anyone. 429 busy after five seconds, or after a shorter lock_timeout.';

-- Definer, so that no API role needs EXECUTE on the lock itself.
create function private.take_write_lock()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if nullif(current_setting('private.write_lock', true), '') is null then
    if private.caller_is_server() then
      perform private.lock_everybody();
    elsif private.caller_professional_id() is not null then
      perform private.lock_professional(private.caller_professional_id());
    end if;
  end if;
  return null;
end;
$$;

comment on function private.take_write_lock is
  'BEFORE … FOR EACH STATEMENT: takes the caller''s write lock unless an RPC already holds one.';

-- Row triggers run before row-level security has refused a row of somebody else. They must not
-- look at that tenant's data, or their errors would tell of it.
create function private.is_callers_row(p_professional_id uuid)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return p_professional_id is not null and (
    p_professional_id::text = current_setting('private.write_lock', true)
    or private.caller_is_server()
  );
end;
$$;

comment on function private.is_callers_row is
  'Whether a row trigger may apply rules to this row: it belongs to the professional whose lock is held, or a server writes it.';

-- Updates of `id`, `created_at` and `professional_id` are not granted to API users; this holds for
-- servers and SQL too. Which columns they are stands in the WHEN of each table's trigger.
create function private.refuse_identity_change()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  raise exception using
    errcode = 'check_violation',
    constraint = tg_table_name || '_identity_never_changes',
    message = 'id, created_at and professional_id cannot be changed';
end;
$$;

comment on function private.refuse_identity_change is
  'BEFORE UPDATE, WHEN the row would get another id, owner or birth: refuses it.';

create function private.touch_row()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if new is distinct from old then
    new.updated_at := now();
  end if;
  return new;
end;
$$;

comment on function private.touch_row is
  'BEFORE UPDATE, after whatever else changes the row: dates every real change in updated_at. For tables without derived columns.';

select private.hand_over('take_write_lock');
