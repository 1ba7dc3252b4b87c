-- Who is limited to what: tiers per professional, portal clients under their professional's tier, the
-- public per IP address, servers not at all.

create type private.request_limit as (
  key text,
  requests_per_minute integer,
  concurrent_requests integer
);

comment on type private.request_limit is 'What a caller is counted under, and its tier''s numbers.';

create function private.caller_ip()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_headers constant jsonb := nullif(current_setting('request.headers', true), '')::jsonb;
begin
  return coalesce(
    -- The edge overwrites it; the caller cannot make it up.
    nullif(v_headers ->> 'cf-connecting-ip', ''),
    -- Of these, only the last hop was not written by the caller.
    nullif(btrim(split_part(v_headers ->> 'x-forwarded-for', ',', -1)), ''),
    'unknown'
  );
end;
$$;

comment on function private.caller_ip is 'Address of the caller as the edge in front of us saw it.';

create function private.caller_limit()
returns private.request_limit
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_claims constant jsonb := private.jwt_claims();
  v_caller text;
  v_tier text;
  v_limit private.request_limit;
begin
  case v_claims ->> 'role'
    when 'anon' then
      v_caller := 'ip ' || private.caller_network(private.caller_ip());
      v_tier := private.setting('anon_tier');
    when 'authenticated' then
      v_caller := 'professional ' || (v_claims ->> 'sub');
      v_tier := (select tier from public.profiles where id = (v_claims ->> 'sub')::uuid);
    when 'portal_client' then
      v_caller := 'client ' || (v_claims ->> 'sub');
      v_tier := (
        select tier from public.profiles where id = (v_claims ->> 'professional_id')::uuid
      );
    else
      return null;
  end case;

  -- The limit is part of the key, so that another tier starts with a fresh budget.
  select
    v_caller || ' ' || requests_per_minute,
    requests_per_minute,
    concurrent_requests
  into v_limit
  from private.tiers
  where name = coalesce(v_tier, 'free');
  return v_limit;
end;
$$;

comment on function private.caller_limit is
  'Key and numbers of the caller''s tier; null for callers without a limit.';

create function private.check_concurrency(p_limit private.request_limit)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- A lock per request under way, freed by Postgres itself when the transaction ends, however it does.
  for v_slot in 1..p_limit.concurrent_requests loop
    if pg_try_advisory_xact_lock(hashtextextended('request of ' || p_limit.key, v_slot)) then
      return;
    end if;
  end loop;

  perform private.raise_error(
    429,
    'too_many_connections',
    'Too many requests at the same time.',
    json_build_object('retry_after', 1)::text,
    'At most ' || p_limit.concurrent_requests || ' at a time.',
    '{"Retry-After": "1"}'
  );
end;
$$;

comment on function private.check_concurrency is
  'Specification, Limits: concurrent connections per tier. 429 too_many_connections.';

create function private.check_rate(p_limit private.request_limit)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_seconds constant integer :=
    private.seconds_to_wait(p_limit.key, p_limit.requests_per_minute);
begin
  if v_seconds > 0 then
    perform private.raise_error(
      429,
      'rate_limit_exceeded',
      'Too many requests.',
      json_build_object('retry_after', v_seconds)::text,
      'At most ' || p_limit.requests_per_minute || ' requests a minute.',
      jsonb_build_object('Retry-After', v_seconds::text)
    );
  end if;
end;
$$;

comment on function private.check_rate is
  'Specification, Limits: requests per minute per tier. 429 rate_limit_exceeded with Retry-After.';

-- Row-level security does not bind the planner: its guess counts rows that the caller may not see. In
-- whatever company these two preferences stand, the REST server knows them by exactly this text.
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

-- Definer, so that API roles need no EXECUTE on the checks themselves.
create function private.check_request()
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_limit private.request_limit;
begin
  perform private.check_session();
  v_limit := private.caller_limit();
  if v_limit is not null then
    perform private.check_concurrency(v_limit);
    perform private.check_rate(v_limit);
  end if;
  perform private.check_count_preference();
end;
$$;

comment on function private.check_request is
  'Runs before every Data API request, in its transaction (READ ONLY for reads): session, concurrency, rate, and how rows are to be counted.';

grant execute on function private.check_request () to anon, authenticated, service_role, portal_client;

alter role authenticator set pgrst.db_pre_request = 'private.check_request';

notify pgrst, 'reload config';
