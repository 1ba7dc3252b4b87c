-- A key becomes a token, and each request with the token asks for the key again.

create function private.raise_key_is_read_only()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.raise_error(
    403, 'key_is_read_only', 'This key may only read.', p_hint => 'Use one that may write.'
  );
end;
$$;

comment on function private.raise_key_is_read_only is
  '403 key_is_read_only: the request may write, whether or not it would have.';

-- Called by check_request() alone, which runs as `postgres`: the rules may not read the users.
create function private.key_access(p_key_id uuid, p_professional_id uuid)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select k.access
    from private.api_keys k
    join auth.users u on u.id = k.professional_id
    where k.id = p_key_id
      and k.professional_id = p_professional_id
      and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now())
      and (u.banned_until is null or u.banned_until <= now())
      and u.deleted_at is null
  );
end;
$$;

comment on function private.key_access is
  'read or write; null when no token of the key counts any more: revoked, expired, its owner banned or gone.';

-- Definer, and stays with `postgres`: reads the auth service's users.
create function private.owner_may_sign_in(p_professional_id uuid)
returns boolean
language sql
stable
security definer
set search_path = ''
as $$
  select exists (
    select
    from auth.users
    where id = p_professional_id
      and (banned_until is null or banned_until <= now())
      and deleted_at is null
  );
$$;

comment on function private.owner_may_sign_in is
  'Whether the account is there, and not banned.';

-- Definer: servers have no rights in private. A limit is returned, not raised: raising would undo
-- the count.
create function private.exchange_api_key(p_key_digest text, p_ip text, p_ip_limit integer)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_per_key constant integer := 20;
  v_now constant timestamptz := clock_timestamp();
  v_key private.api_keys;
  v_retry_after integer;
begin
  perform private.check_arguments(
    case when (p_key_digest ~ '^[0-9a-f]{64}$') is not true then 'key_digest' end,
    case when (char_length(p_ip) <= 100) is not true then 'ip' end,
    case when (p_ip_limit > 0) is not true then 'ip_limit' end
  );
  v_retry_after := private.count_request(
    format('key exchange %s %s', private.network_of(p_ip), p_ip_limit), p_ip_limit, '1 minute'
  );
  if v_retry_after > 0 then
    return jsonb_build_object('retry_after', v_retry_after, 'session', null);
  end if;

  select * into v_key
  from private.api_keys
  where key_digest = decode(p_key_digest, 'hex')
    and revoked_at is null
    and (expires_at is null or expires_at > v_now);

  if not found or not private.owner_may_sign_in(v_key.professional_id) then
    return jsonb_build_object('retry_after', null, 'session', null);
  end if;

  v_retry_after := private.count_request(
    format('key exchange of %s', v_key.id), v_per_key, '1 minute'
  );
  if v_retry_after > 0 then
    return jsonb_build_object('retry_after', v_retry_after, 'session', null);
  end if;

  -- By day, so that a key in use writes a row once a day.
  update private.api_keys
  set last_used_on = (v_now at time zone 'UTC')::date
  where id = v_key.id and last_used_on is distinct from (v_now at time zone 'UTC')::date;

  return jsonb_build_object(
    'retry_after', null,
    'session', jsonb_build_object(
      'key_id', v_key.id,
      'professional_id', v_key.professional_id,
      'issued_at', floor(extract(epoch from v_now))::bigint,
      'expires_at', floor(
        extract(epoch from least(v_now + interval '15 minutes', v_key.expires_at))
      )::bigint
    )
  );
end;
$$;

create function private.forget_api_keys()
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  delete from private.api_keys
  where id in (
    select id
    from private.api_keys
    where least(revoked_at, expires_at) < now() - interval '30 days'
    for update skip locked
  );
$$;

comment on function private.forget_api_keys is
  'Removes keys that were revoked, or expired, more than 30 days ago.';

create function public.exchange_api_key(key_digest text, ip text, ip_limit integer)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.exchange_api_key($1, $2, $3);
$$;

comment on function public.exchange_api_key is
  'Server only. Counts an exchange and finds the key by the SHA-256 of its text in hexadecimal: {retry_after, session: {key_id, professional_id, issued_at, expires_at}}, instants in Unix seconds. retry_after is seconds, and the session null, when limited (ip_limit a minute per IPv4 address or IPv6 /64, 20 a minute per key); both are null for a key that does not count.';

grant execute on function
  public.exchange_api_key (text, text, integer),
  private.exchange_api_key (text, text, integer)
to service_role;

select private.hand_over('exchange_api_key');
