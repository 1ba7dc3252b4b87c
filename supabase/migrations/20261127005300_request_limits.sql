-- What runs before every request: is the session still there, or the key, and may it write; is
-- there a place, is there budget left. Tiers limit professionals, clients under their
-- professional's tier, and the public per network; servers are not limited, and a role that is not
-- known here gets nowhere.
--
-- It runs once the request has a connection of the REST server's pool. Places are therefore shares
-- of that pool (setting rest_pool_size), so that nobody can take all of it, running or waiting.

-- A lock per place, freed by Postgres itself when the transaction ends, however it does.
create function private.take_place(p_what text, p_count integer)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  -- Anywhere: the first places would be taken, and looked at in vain.
  v_first constant integer := floor(random() * p_count);
begin
  for v_place in v_first..v_first + p_count - 1 loop
    if pg_try_advisory_xact_lock(hashtextextended(p_what, v_place % p_count)) then
      return true;
    end if;
  end loop;
  return false;
end;
$$;

comment on function private.take_place is
  'Takes one of so many places until the transaction ends; false when all are taken.';

create function private.raise_too_many_connections(p_count integer)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.raise_error(
    429,
    'too_many_connections',
    'Too many requests at the same time.',
    json_build_object('retry_after', 1)::text,
    'At most ' || p_count || ' at a time.',
    '{"Retry-After": "1"}'
  );
end;
$$;

comment on function private.raise_too_many_connections is
  '429 too_many_connections: the caller''s own number is reached.';

create function private.check_places(
  p_caller text,
  p_professional_id uuid,
  p_network text,
  p_count integer,
  p_pool_size integer
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_half constant integer := greatest(p_pool_size / 2, 1);
  v_until constant timestamptz := clock_timestamp() + interval '1 s';
begin
  -- Of the pool, running or waiting: half for a professional with all clients, and three fifths for
  -- a network, however many accounts are made there.
  if not private.take_place(format('half of the pool %s', p_professional_id), v_half) then
    if p_count > v_half then
      perform private.raise_busy();
    end if;
    perform private.raise_too_many_connections(p_count);
  elsif not private.take_place('share of the pool ' || p_network, greatest(p_pool_size * 3 / 5, 1))
  then
    perform private.raise_busy();
  end if;
  if p_count >= v_half then
    return;
  end if;

  -- A page that opens with eight reads at once is not an overload: the last ones wait a moment.
  while not private.take_place('request of ' || p_caller, p_count) loop
    if clock_timestamp() > v_until then
      perform private.raise_too_many_connections(p_count);
    end if;
    perform pg_sleep(0.005);
  end loop;
end;
$$;

comment on function private.check_places is
  'Specification, Limits: concurrent connections per tier. More than that wait up to a second for a place, then 429 too_many_connections; no professional with all clients has more than half the pool, no network more than three fifths, 429 busy.';

create function private.check_public_places(
  p_network text,
  p_per_network integer,
  p_pool_size integer
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if not private.take_place('request of ' || p_network, p_per_network) then
    perform private.raise_too_many_connections(p_per_network);
  elsif not private.take_place('requests of the public', greatest(p_pool_size * 2 / 5, 1)) then
    perform private.raise_busy();
  end if;
end;
$$;

comment on function private.check_public_places is
  'Callers without a token: so many at a time per network (429 too_many_connections), together at most 40 % of the pool (429 busy). They never wait.';

create function private.raise_unknown_role()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.raise_error(403, 'unknown_role', 'The role of this token has no access.');
end;
$$;

comment on function private.raise_unknown_role is
  '403 unknown_role: nothing here would limit a caller of this role.';

create function private.raise_rate_limited(p_seconds integer, p_hint text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.raise_error(
    429,
    'rate_limit_exceeded',
    'Too many requests.',
    json_build_object('retry_after', p_seconds)::text,
    p_hint,
    jsonb_build_object('Retry-After', p_seconds::text)
  );
end;
$$;

comment on function private.raise_rate_limited is
  '429 rate_limit_exceeded with Retry-After and {"retry_after"} in seconds.';

create function private.count_here(p_key text, p_per_minute integer)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- The job has taken over what this session may still say.
  if current_setting('private.request_counter_retry_at', true) <> '' then
    perform private.forget_broken_request_counter();
  end if;
  return case
    when current_setting('transaction_read_only') = 'off'
    then private.count_request(p_key, p_per_minute, '1 minute')
    else 0
  end;
end;
$$;

comment on function private.count_here is
  'Where there is no counter to reach: counts in the request''s own transaction, if that may write.';

-- Row-level security does not bind the planner: its guess counts rows that the caller may not see.
-- In whatever company these two preferences stand, the REST server knows them by exactly this text.
create function private.check_count_preference()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_headers constant jsonb := nullif(current_setting('request.headers', true), '')::jsonb;
begin
  if v_headers ->> 'prefer' ~ 'count=(planned|estimated)' and not private.caller_is_server() then
    perform private.raise_error(
      400,
      'count_not_allowed',
      'Rows are counted exactly or not at all.',
      null,
      'Ask with Prefer: count=exact.'
    );
  end if;
end;
$$;

comment on function private.check_count_preference is
  '400 count_not_allowed for Prefer: count=planned and count=estimated, but to servers.';

-- Definer, and stays with `postgres`: reads sessions of the auth service, and calls dblink.
--
-- Every function and every expression costs a few microseconds in each transaction, so what mostly
-- happens stands here in few of them, and what seldom does in functions of their own. Look-ups are
-- short ones by key: one statement for all takes longer to start. Their plans are kept from the
-- first, since making one takes longer than running it.
create function private.check_request()
returns void
language plpgsql
volatile
security definer
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  v_role constant text := v_claims ->> 'role';
  v_subject uuid;
  v_session_id uuid;
  v_professional_id uuid;
  v_network text;
  v_caller text;
  v_key text;
  v_settings private.settings;
  v_limits private.tiers;
  v_full_at timestamptz;
  v_seconds integer := 0;
  -- Of a key's token alone.
  v_access text;
begin
  if v_role = 'service_role' or v_role is null then
    return;
  end if;

  select * into v_settings from private.settings;
  v_network := private.caller_network();
  if v_role = 'anon' then
    v_caller := 'ip ' || v_network;
    select * into v_limits from private.tiers where name = v_settings.anon_tier;
    perform private.check_public_places(
      v_caller, v_settings.anon_per_network, v_settings.rest_pool_size
    );
  else
    v_subject := v_claims ->> 'sub';
    v_session_id := v_claims ->> 'session_id';
    if v_role = 'authenticated' then
      v_professional_id := v_subject;
      v_caller := concat('professional ', v_subject);
      -- Tokens without a session are the platform's own. The session of a program is its key, which
      -- is looked for where there is no other.
      if v_session_id is not null and not exists (
        select
        from auth.sessions
        where id = v_session_id and (not_after is null or not_after > now())
      ) then
        v_access := private.key_access(v_session_id, v_subject);
        if v_access is null then
          perform private.raise_session_not_found();
        end if;
      end if;
    elsif v_role = 'portal_client' then
      v_professional_id := v_claims ->> 'professional_id';
      v_caller := concat('client ', v_subject);
      if not private.portal_session_is_live(v_session_id, v_professional_id, v_subject) then
        perform private.raise_session_not_found();
      end if;
    elsif v_role = 'portal_booking' then
      v_professional_id := v_claims ->> 'professional_id';
      -- With the client's other sessions: a link for each booking is no budget for each.
      v_caller := concat('client ', v_subject);
      if not private.booking_session_is_live(
        v_session_id, v_professional_id, v_subject, (v_claims ->> 'booking_id')::uuid
      ) then
        perform private.raise_session_not_found();
      end if;
    else
      perform private.raise_unknown_role();
    end if;
    select * into v_limits
    from private.tiers
    where name = coalesce(
      (select tier from public.profiles where id = v_professional_id), 'free'
    );
    perform private.check_places(
      v_caller,
      v_professional_id,
      v_network,
      v_limits.concurrent_requests,
      v_settings.rest_pool_size
    );
  end if;

  -- The limit is part of the key, so that another tier starts with a fresh budget.
  v_key := v_caller || ' ' || v_limits.requests_per_minute;
  if v_settings.request_counter is null or v_settings.request_counter_refused_at is not null then
    v_seconds := private.count_here(v_key, v_limits.requests_per_minute);
  else
    -- A read replica has no counters, and refuses every statement that names an unlogged table;
    -- what it counts is on the other side of its connection.
    if not pg_is_in_recovery() then
      select full_at into v_full_at from private.request_counters where key = v_key;
      if v_full_at > clock_timestamp() then
        v_seconds := private.seconds_over(v_full_at, v_limits.requests_per_minute, '1 minute');
      end if;
    end if;
    if v_seconds = 0 then
      perform private.send_request_count(
        v_settings.request_counter, v_key, v_limits.requests_per_minute
      );
    end if;
  end if;
  if v_seconds > 0 then
    perform private.raise_rate_limited(
      v_seconds, 'At most ' || v_limits.requests_per_minute || ' requests a minute.'
    );
  end if;

  -- Counted like every other. Lists, and calls of functions that only read, are READ ONLY already.
  if v_access <> 'write' and current_setting('transaction_read_only') = 'off' then
    perform private.raise_key_is_read_only();
  end if;

  if current_setting('request.headers', true) like '%count=%' then
    perform private.check_count_preference();
  end if;

  -- These keep somebody else's write lock until the answer is made, and a filter on the answer can
  -- take as long as it likes. Of the next statement, which is the call.
  if v_role <> 'anon'
    and current_setting('request.path', true) in ('/rpc/create_booking', '/rpc/place_order')
  then
    perform
      set_config('statement_timeout', '1s', true),
      set_config('lock_timeout', '400ms', true);
  end if;
end;
$$;

comment on function private.check_request is
  'Runs before every Data API request, in its transaction (READ ONLY for reads): session or key, places, rate, what a key may do. Specification, token lifecycle (after sign-out both tokens are invalid: 401 session_not_found) and Limits. 403 unknown_role for a role that it does not know.';

grant execute on function private.check_request ()
to anon, authenticated, service_role, portal_client, portal_booking;

alter role authenticator set pgrst.db_pre_request = 'private.check_request';

-- One statement of the public, or of a client, may take a second: it must not hold a connection, or
-- the professional's write lock, for longer. Waiting for a lock ends earlier; two may have to be
-- waited for within one statement.
alter role anon set statement_timeout = '1s';

alter role anon set lock_timeout = '400ms';

alter role portal_client set statement_timeout = '1s';

alter role portal_client set lock_timeout = '400ms';

alter role portal_booking set statement_timeout = '1s';

alter role portal_booking set lock_timeout = '400ms';

alter role authenticated set lock_timeout = '2s';

notify pgrst, 'reload config';
