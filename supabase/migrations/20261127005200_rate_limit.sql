-- How often a caller may ask: the counter, and the connection on which it counts.
--
-- A read runs in a READ ONLY transaction and a failed request is rolled back, yet both count. So the
-- counter is updated on a connection of its own (dblink), which each backend of the REST server keeps.
-- A limit must never turn into an outage: where the counter cannot be reached, requests pass.

-- Lost in a crash, which gives everybody a fresh minute.
create unlogged table private.request_counters (
  key text primary key,
  -- Theoretical arrival time: when the caller's budget will be full again.
  full_at timestamptz not null
);

-- No index on full_at: without one an update stays on its page (HOT) and the table does not grow.
alter table private.request_counters enable row level security;

comment on table private.request_counters is
  'One timestamp per caller and limit (GCRA): a burst of one minute''s budget, then an even refill.';

-- Definer: its only caller is the role of the counter, which may read no table.
create function private.count_request(p_key text, p_per_minute integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_cost constant interval := interval '1 minute' / p_per_minute;
  v_full_at timestamptz;
begin
  insert into private.request_counters as c (key, full_at)
  values (p_key, v_now + v_cost)
  on conflict (key) do update
  set full_at = greatest(c.full_at, v_now) + v_cost
  where greatest(c.full_at, v_now) + v_cost <= v_now + interval '1 minute'
  returning c.full_at into v_full_at;

  if found then
    return 0;
  end if;

  select full_at into v_full_at from private.request_counters where key = p_key;
  return greatest(1, ceil(extract(epoch from v_full_at + v_cost - interval '1 minute' - v_now)));
end;
$$;

comment on function private.count_request is
  'Counts one request and returns 0, or without counting the whole seconds until the next one would pass.';

do $$
begin
  -- Roles outlive a database reset.
  if not exists (select from pg_roles where rolname = 'request_counter') then
    create role request_counter login noinherit;
  end if;
end
$$;

grant usage on schema private to request_counter;

grant execute on function private.count_request (text, integer) to request_counter;

-- Nobody types this password: it is made here, and set again with every new database.
do $$
declare
  v_password constant text := encode(extensions.gen_random_bytes(24), 'hex');
begin
  execute format('alter role request_counter with password %L', v_password);
  insert into private.settings (name, value) values ('request_counter_password', v_password);
end
$$;

create function private.request_counter_conninfo(p_host text, p_port integer)
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select format(
    'host=%s port=%s dbname=%s user=request_counter password=%s connect_timeout=2 '
    'application_name=request_counter options=''-c lock_timeout=100ms -c statement_timeout=300ms''',
    p_host, p_port, current_database(), private.setting('request_counter_password')
  );
$$;

comment on function private.request_counter_conninfo is
  'Connection string of the counter, with time-outs that a request can bear.';

create function private.configure_request_counter(p_host text, p_port integer)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_conninfo constant text := private.request_counter_conninfo(p_host, p_port);
begin
  perform *
  from extensions.dblink(
    v_conninfo, $call$select private.count_request('configure', 60)$call$
  ) as t (wait integer);

  insert into private.settings (name, value) values ('request_counter', v_conninfo)
  on conflict (name) do update set value = excluded.value;
  return 'ok';
end;
$$;

comment on function private.configure_request_counter is
  'Proves that the counter can be reached at this address of the database itself, by a path that asks for a password, and keeps it. Until then reads are not limited and failed writes are not counted.';

-- After a failure nobody tries for 30 seconds. The flag is an advisory lock of the session that saw
-- it, because nothing else outlives the transaction, is seen by all, and may be set in a READ ONLY one.
create function private.note_broken_request_counter(p_cause text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  raise warning 'the request counter cannot be reached, requests pass uncounted for 30 s: %', p_cause;
  perform
    pg_try_advisory_lock(7305, 2),
    set_config(
      'private.request_counter_retry_at', (clock_timestamp() + interval '30 s')::text, false
    );
end;
$$;

comment on function private.note_broken_request_counter is
  'One warning, and no further try for 30 seconds.';

create function private.forget_broken_request_counter()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- A lock counts how often it was taken.
  while exists (
    select
    from pg_catalog.pg_locks
    where pid = pg_backend_pid()
      and locktype = 'advisory'
      and (classid, objid, mode) = (7305::oid, 2::oid, 'ExclusiveLock')
  ) loop
    perform pg_advisory_unlock(7305, 2);
  end loop;
  perform set_config('private.request_counter_retry_at', '', false);
end;
$$;

comment on function private.forget_broken_request_counter is
  'Takes back what this backend said about a broken counter.';

-- A host that accepts and stays silent holds an attempt to connect until the statement times out, so
-- only one request at a time may find out; others wait for it 100 ms, which is plenty when all is well.
create function private.request_counter_is_reachable(p_conninfo text)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_cause text;
begin
  if nullif(current_setting('private.request_counter_retry_at', true), '')::timestamptz
    > clock_timestamp()
  then
    return false;
  end if;
  if 'request_counter' = any (extensions.dblink_get_connections()) then
    return true;
  end if;

  perform private.forget_broken_request_counter();
  for v_try in 1..20 loop
    if not pg_try_advisory_lock_shared(7305, 2) then
      return false;
    end if;
    perform pg_advisory_unlock_shared(7305, 2);

    if pg_try_advisory_lock(7305, 1) then
      begin
        perform extensions.dblink_connect('request_counter', p_conninfo);
      -- `others` alone does not catch a time-out.
      exception when query_canceled or others then
        v_cause := sqlerrm;
        perform private.note_broken_request_counter(v_cause);
      end;
      perform pg_advisory_unlock(7305, 1);
      return v_cause is null;
    end if;
    perform pg_sleep(0.005);
  end loop;
  return false;
end;
$$;

comment on function private.request_counter_is_reachable is
  'Makes this backend''s connection to the counter when it has none; false while that fails.';

create function private.seconds_to_wait(p_key text, p_per_minute integer)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_conninfo constant text := private.setting('request_counter');
  v_seconds integer;
begin
  if v_conninfo is null then
    return case current_setting('transaction_read_only')
      when 'off' then private.count_request(p_key, p_per_minute)
      else 0
    end;
  end if;
  if not private.request_counter_is_reachable(v_conninfo) then
    return 0;
  end if;

  begin
    select wait into v_seconds
    from extensions.dblink(
      'request_counter', format('select private.count_request(%L, %s)', p_key, p_per_minute)
    ) as t (wait integer);
  exception when query_canceled or others then
    perform private.note_broken_request_counter(sqlerrm);
    -- A killed connection keeps its name.
    perform extensions.dblink_disconnect('request_counter');
    v_seconds := 0;
  end;
  return v_seconds;
end;
$$;

comment on function private.seconds_to_wait is
  'Counts a request of a caller; 0 when it may pass, else the seconds until one would.';

create function private.request_counter_status()
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select case
    when private.setting('request_counter') is null
    then 'not configured: reads are not limited (see private.configure_request_counter)'
    when exists (
      select
      from pg_catalog.pg_locks
      where locktype = 'advisory'
        and database = (select oid from pg_catalog.pg_database where datname = current_database())
        and (classid, objid, mode) = (7305::oid, 2::oid, 'ExclusiveLock')
    )
    then 'unreachable: requests pass uncounted'
    else 'ok'
  end;
$$;

comment on function private.request_counter_status is 'ok, or what is wrong with the counter.';
