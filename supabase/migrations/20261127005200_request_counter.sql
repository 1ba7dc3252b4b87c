-- How often a caller may ask: the counter, and the connection on which it counts.
--
-- A read runs in a READ ONLY transaction and a failed request is rolled back, yet both count. So
-- the counter is updated on a connection of its own (dblink), which each backend of the REST server
-- keeps. A limit must never turn into an outage: where the counter cannot be reached, requests
-- pass.

-- Lost in a crash, which gives everybody a fresh window. No index on full_at: without one an update
-- stays on its page (HOT) and the table does not grow.
create unlogged table private.request_counters (
  key text primary key,
  -- Theoretical arrival time: when the caller's budget will be full again.
  full_at timestamptz not null
);

create function private.seconds_over(p_full_at timestamptz, p_limit integer, p_window interval)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  -- When one more fits: its share of the window must be left.
  v_passes_at constant timestamptz := p_full_at + p_window / p_limit - p_window;
begin
  return case
    when v_passes_at > clock_timestamp()
    then ceil(extract(epoch from v_passes_at - clock_timestamp()))
    else 0
  end;
end;
$$;

comment on function private.seconds_over is
  'Whole seconds until one more request of p_limit in a window passes, given when the budget is full again (null: it is); 0 for now.';

-- Definer, and stays with `postgres`: its callers are the role of the counter, which may read no
-- table, and what runs before requests.
create function private.count_request(p_key text, p_limit integer, p_window interval)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_cost constant interval := p_window / p_limit;
begin
  insert into private.request_counters as c (key, full_at)
  values (p_key, v_now + v_cost)
  on conflict (key) do update
  set full_at = greatest(c.full_at, v_now) + v_cost
  where greatest(c.full_at, v_now) + v_cost <= v_now + p_window;

  if found then
    return 0;
  end if;
  return greatest(
    1,
    private.seconds_over(
      (select full_at from private.request_counters where key = p_key), p_limit, p_window
    )
  );
end;
$$;

comment on function private.count_request is
  'Counts one request of p_limit in a window and returns 0, or without counting the whole seconds until the next one would pass.';

-- Definer like the one it calls, for the same callers.
create function private.count_requests(p_keys text[], p_limits integer[], p_window interval)
returns integer[]
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_seconds integer[];
begin
  for v_index in 1..cardinality(p_keys) loop
    v_seconds[v_index] := private.count_request(p_keys[v_index], p_limits[v_index], p_window);
  end loop;
  return v_seconds;
end;
$$;

comment on function private.count_requests is
  'Counts one request under several keys, each with its limit, and returns what count_request() does for each.';

do $$
begin
  -- Roles outlive a database reset.
  if not exists (select from pg_roles where rolname = 'request_counter') then
    create role request_counter login noinherit;
  end if;
end
$$;

grant usage on schema private to request_counter;

-- Nobody types this password: it is made here, and set again with every new database. One round of
-- hashing protects 24 random bytes as well as 4096 do, and a new connection takes milliseconds
-- less.
do $$
declare
  v_password constant text := encode(extensions.gen_random_bytes(24), 'hex');
begin
  set local scram_iterations = 1;
  execute format('alter role request_counter with password %L', v_password);
  update private.settings set request_counter_password = v_password;
end
$$;

create function private.conninfo_value(p_value text)
returns text
language sql
immutable
security invoker
set search_path = ''
as $$
  select '''' || regexp_replace(p_value, '([''\\])', '\\\1', 'g') || '''';
$$;

comment on function private.conninfo_value is
  'A value of a connection string in quotes: space, quote and backslash are part of it.';

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
    private.conninfo_value(p_host),
    p_port,
    private.conninfo_value(current_database()),
    private.conninfo_value((select request_counter_password from private.settings))
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
    v_conninfo, $call$select private.count_request('configure', 60, '1 minute')$call$
  ) as t (wait integer);

  update private.settings
  set request_counter = v_conninfo, request_counter_refused_at = null;
  return 'ok';
end;
$$;

comment on function private.configure_request_counter is
  'Proves that the counter can be reached at this address of the database itself, by a path that asks for a password, and keeps it. Until then reads are not limited and failed writes are not counted.';

-- What is wrong is said by advisory locks of the session that saw it, because nothing else outlives
-- the transaction, is seen by all, and may be set in a READ ONLY one. Of class 7305, object 1:
-- somebody is connecting; 2: out of reach; 3: the login was refused.
create function private.note_broken_request_counter(p_cause text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  -- Platforms ban an address after a few of these, so nobody tries again but a job (below).
  v_is_refusal constant boolean := p_cause ~* 'authentication failed|pg_hba\.conf';
begin
  raise warning 'the request counter cannot be reached, requests pass uncounted for now: %',
    p_cause;
  perform
    pg_try_advisory_lock(7305, case when v_is_refusal then 3 else 2 end),
    set_config(
      'private.request_counter_retry_at',
      (clock_timestamp() + case when v_is_refusal then interval '5 minutes' else '30 s' end)::text,
      false
    );
end;
$$;

comment on function private.note_broken_request_counter is
  'One warning, and no further try for 30 seconds, or for minutes after a refused login: by this session, and while it says so by anybody.';

create function private.forget_broken_request_counter()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- A lock counts how often it was taken.
  perform pg_advisory_unlock(7305, objid::integer)
  from pg_catalog.pg_locks l
  cross join generate_series(1, 100)
  where l.pid = pg_backend_pid()
    and l.locktype = 'advisory'
    and l.classid = 7305
    and l.objid in (2, 3)
    and l.mode = 'ExclusiveLock';
  perform set_config('private.request_counter_retry_at', '', false);
end;
$$;

comment on function private.forget_broken_request_counter is
  'Takes back what this session said about a broken counter.';

-- A host that accepts and stays silent holds an attempt to connect until the statement times out,
-- so only one request at a time may find out; the others do not wait for it and pass uncounted.
create function private.connect_request_counter(p_conninfo text)
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
  -- Whatever the setting says: a rollback takes it back, and the lock stays.
  perform private.forget_broken_request_counter();

  for v_fault in 2..3 loop
    if not pg_try_advisory_lock_shared(7305, v_fault) then
      return false;
    end if;
    perform pg_advisory_unlock_shared(7305, v_fault);
  end loop;

  if not pg_try_advisory_lock(7305, 1) then
    return false;
  end if;
  begin
    perform
      extensions.dblink_connect('request_counter', p_conninfo),
      extensions.dblink_exec(
        'request_counter',
        'prepare count_request (text, integer) as '
        'select private.count_request($1, $2, ''1 minute'')'
      );
  -- `others` alone does not catch a time-out.
  exception when query_canceled or others then
    get stacked diagnostics v_cause = pg_exception_detail;
    v_cause := concat_ws(': ', sqlerrm, v_cause);
    perform private.note_broken_request_counter(v_cause);
  end;
  perform pg_advisory_unlock(7305, 1);
  return v_cause is null;
end;
$$;

comment on function private.connect_request_counter is
  'Makes this backend''s connection to the counter; false while that fails, or somebody else is at it.';

-- Sends without waiting for the answer, which the next call picks up: a round trip would be half of
-- what the whole check costs. At most the requests in flight pass too many.
create function private.send_request_count(
  p_conninfo text,
  p_key text,
  p_per_minute integer
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- The first request of a database connection has enough to do, and passes uncounted: the server
  -- makes connections when it needs them, not when a caller likes.
  if 'request_counter' = any (extensions.dblink_get_connections()) is not true then
    if coalesce(current_setting('private.request_counter_met', true), '') = '' then
      perform set_config('private.request_counter_met', 'yes', false);
      return;
    elsif not private.connect_request_counter(p_conninfo) then
      return;
    end if;
  end if;

  begin
    -- What was sent before is answered; once for the answer, once for its end.
    perform from extensions.dblink_get_result('request_counter') as t (wait integer);
    perform from extensions.dblink_get_result('request_counter') as t (wait integer);
    if extensions.dblink_send_query(
      'request_counter',
      'execute count_request(' || quote_literal(p_key) || ', ' || p_per_minute || ')'
    ) = 0 then
      raise exception 'the connection is lost';
    end if;
  exception when query_canceled or others then
    perform private.drop_request_counter(sqlerrm);
  end;
end;
$$;

comment on function private.send_request_count is
  'Counts a request on the counter''s connection, where no rollback takes it back; but for the first of a database connection.';

create function private.drain_request_counter()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- Once for the answer, once for its end. Nothing when nothing was sent.
  perform from extensions.dblink_get_result('request_counter') as t (wait integer);
  perform from extensions.dblink_get_result('request_counter') as t (wait integer);
end;
$$;

comment on function private.drain_request_counter is
  'Picks up the answer to what was sent before; raises what went wrong with that.';

create function private.drop_request_counter(p_cause text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.note_broken_request_counter(p_cause);
  -- A killed connection keeps its name.
  perform extensions.dblink_disconnect('request_counter');
end;
$$;

comment on function private.drop_request_counter is
  'Ends a connection to the counter that has failed.';

-- For what must not pass even once too often: waits for the answer.
create function private.seconds_to_wait(p_keys text[], p_limits integer[], p_window interval)
returns integer[]
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_conninfo text;
  v_seconds integer[];
begin
  select request_counter into v_conninfo
  from private.settings
  where request_counter_refused_at is null;

  if v_conninfo is null then
    return private.count_requests(p_keys, p_limits, p_window);
  end if;
  -- Somebody else may be connecting, which takes milliseconds.
  for v_try in 1..20 loop
    exit when 'request_counter' = any (extensions.dblink_get_connections())
      or private.connect_request_counter(v_conninfo);
    perform pg_sleep(0.005);
  end loop;
  if 'request_counter' = any (extensions.dblink_get_connections()) is not true then
    return private.count_requests(p_keys, p_limits, p_window);
  end if;

  begin
    perform private.drain_request_counter();
    select wait into v_seconds
    from extensions.dblink(
      'request_counter',
      format('select private.count_requests(%L, %L, %L)', p_keys, p_limits, p_window)
    ) as t (wait integer[]);
  exception when query_canceled or others then
    perform private.drop_request_counter(sqlerrm);
    v_seconds := private.count_requests(p_keys, p_limits, p_window);
  end;
  return v_seconds;
end;
$$;

comment on function private.seconds_to_wait is
  'Counts under several keys in a transaction that may write; for each 0 when it may pass, else the seconds until one would. Where the counter cannot be reached, it counts in that transaction, and what is rolled back does not count.';

create function private.request_counter_fault()
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select case max(objid::integer) when 2 then 'unreachable' when 3 then 'refused' end
  from pg_catalog.pg_locks
  where locktype = 'advisory'
    and database = (select oid from pg_catalog.pg_database where datname = current_database())
    and classid = 7305
    and objid in (2, 3)
    and mode = 'ExclusiveLock';
$$;

comment on function private.request_counter_fault is
  'unreachable or refused, as some session has seen it; null when none says so.';

-- Every minute: what a request in a READ ONLY transaction could not write down. A refused login is
-- tried again by this job alone, every ten minutes.
create function private.check_request_counter()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings private.settings;
begin
  select * into v_settings from private.settings;
  if v_settings.request_counter_refused_at is null
    and private.request_counter_fault() = 'refused'
  then
    update private.settings set request_counter_refused_at = now();
  elsif v_settings.request_counter_refused_at < now() - interval '10 minutes' then
    begin
      perform extensions.dblink_connect('check_counter', v_settings.request_counter);
      perform extensions.dblink_disconnect('check_counter');
      update private.settings set request_counter_refused_at = null;
    exception when query_canceled or others then
      raise warning 'the request counter still refuses its login: %', sqlerrm;
      update private.settings set request_counter_refused_at = now();
    end;
  end if;
end;
$$;

comment on function private.check_request_counter is
  'Notes in the settings that the counter refuses its login, and tries again from time to time.';

create function private.request_counter_status()
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select case
    when request_counter is null
    then 'not configured: reads are not limited (see private.configure_request_counter)'
    when request_counter_refused_at is not null or private.request_counter_fault() = 'refused'
    then 'its login is refused: reads are not limited'
    when private.request_counter_fault() is not null
    then 'unreachable: requests pass uncounted'
    else 'ok'
  end
  from private.settings;
$$;

comment on function private.request_counter_status is 'ok, or what is wrong with the counter.';

alter table private.request_counters enable row level security;

grant execute on function
  private.count_request (text, integer, interval),
  private.count_requests (text[], integer[], interval)
to request_counter;

comment on table private.request_counters is
  'One timestamp per caller and limit (GCRA): a burst of one window''s budget, then an even refill.';
