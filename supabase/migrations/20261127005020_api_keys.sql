-- Keys of a professional's own programs. A key is exchanged for a token that is valid for a quarter
-- of an hour (key_exchange.sql); the token's session is the key, so that it ends with it.

create table private.api_keys (
  id uuid primary key default gen_random_uuid(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  name text not null
    constraint api_keys_name_has_1_to_100_characters check (char_length(name) between 1 and 100),
  access text not null
    constraint api_keys_access_is_known check (access in ('read', 'write')),
  -- SHA-256: a key has 244 random bits, which nobody finds by trying.
  key_digest bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_on date,
  revoked_at timestamptz,
  constraint api_keys_key_digest_key unique (key_digest)
);

create index api_keys_professional_id_idx on private.api_keys (professional_id);

-- Not `sb_`: the platform's gateway takes such an Authorization away.
create function private.new_api_key()
returns text
language sql
volatile
security invoker
set search_path = ''
as $$
  select random.key || left(encode(sha256(convert_to(random.key, 'utf8')), 'hex'), 8)
  from (
    select 'sac_' || encode(
      sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'hex'
    ) as key
  ) as random;
$$;

comment on function private.new_api_key is
  'A key: sac_, 32 bytes in hexadecimal made of 244 random bits, and the first 8 digits of the SHA-256 of all that, by which the function knows a mistyped one.';

create function private.api_key_digest(p_key text)
returns bytea
language sql
immutable
security invoker
set search_path = ''
as $$
  select sha256(convert_to(p_key, 'utf8'));
$$;

comment on function private.api_key_digest is 'What is kept of a key.';

-- Definer, like all that follow: nobody has rights on the table.
create function private.create_api_key(p_name text, p_access text, p_expires_at text)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_key constant text := private.new_api_key();
  v_expires_at timestamptz;
  v_id uuid;
begin
  perform private.require_person();
  perform private.check_arguments(
    case
      when (char_length(p_name) <= 100 and not private.is_blank(p_name)) is not true then 'name'
    end,
    case when (p_access in ('read', 'write')) is not true then 'access' end
  );
  if p_expires_at is not null then
    v_expires_at := private.parse_instant(p_expires_at);
    perform private.check_arguments(case when v_expires_at <= now() then 'expires_at' end);
  end if;
  perform private.lock_professional(v_professional_id);

  if (
    select count(*) >= 20
    from private.api_keys
    where professional_id = v_professional_id and revoked_at is null
  ) then
    perform private.raise_error(
      422,
      'too_many_keys',
      'There are twenty keys already.',
      p_hint => 'Revoke one; those that have expired count until then.'
    );
  end if;

  insert into private.api_keys (professional_id, name, access, key_digest, expires_at)
  values (v_professional_id, p_name, p_access, private.api_key_digest(v_key), v_expires_at)
  returning id into v_id;

  return jsonb_build_object('id', v_id, 'key', v_key);
end;
$$;

create function private.api_keys()
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.require_person();
  return (
    select jsonb_build_object(
      'data',
      coalesce(
        jsonb_agg(
          jsonb_build_object(
            'id', id,
            'name', name,
            'access', access,
            'created_at', private.timestamp_text(created_at),
            'expires_at', private.timestamp_text(expires_at),
            'last_used_on', last_used_on
          )
          order by created_at, id
        ),
        '[]'
      ),
      'next_cursor',
      null
    )
    from private.api_keys
    where professional_id = private.caller_professional_id() and revoked_at is null
  );
end;
$$;

-- Without the write lock: a key in wrong hands must not be able to hold up its own end.
create function private.revoke_api_key(p_key_id uuid)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.require_person();
  perform private.check_arguments(case when p_key_id is null then 'key_id' end);

  update private.api_keys
  set revoked_at = coalesce(revoked_at, now())
  where professional_id = private.caller_professional_id() and id = p_key_id;

  if not found then
    perform private.raise_not_found('key');
  end if;
  return jsonb_build_object('id', p_key_id);
end;
$$;

create function private.revoke_api_keys()
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_revoked integer;
begin
  perform private.require_person();

  update private.api_keys
  set revoked_at = now()
  where professional_id = private.caller_professional_id() and revoked_at is null;

  get diagnostics v_revoked = row_count;
  return jsonb_build_object('revoked', v_revoked);
end;
$$;

create function public.create_api_key(name text, access text, expires_at text default null)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.create_api_key($1, $2, $3);
$$;

comment on function public.create_api_key is
  'Makes a key for a program of yours; access is read or write, expires_at an instant or null for never. {id, key}: the key is not shown again. Errors: 403 person_required; 422 invalid_time; 422 validation_failed; 422 too_many_keys beyond twenty.';

create function public.api_keys()
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.api_keys();
$$;

comment on function public.api_keys is
  'Your keys that are not revoked, oldest first: {data: [{id, name, access, created_at, expires_at, last_used_on}], next_cursor: null}. last_used_on is a date in UTC. Errors: 403 person_required.';

create function public.revoke_api_key(key_id uuid)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.revoke_api_key($1);
$$;

comment on function public.revoke_api_key is
  'Ends a key, and its tokens with their next request: {id}. Once more changes nothing. Errors: 403 person_required; 404 PGRST301.';

create function public.revoke_api_keys()
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.revoke_api_keys();
$$;

comment on function public.revoke_api_keys is
  'Ends all your keys: {revoked}, how many. Errors: 403 person_required.';

alter table private.api_keys enable row level security;

grant select, insert, update (last_used_on, revoked_at) on private.api_keys to rules;

create policy api_keys_all_rules on private.api_keys
  for all to rules
  using (true)
  with check (true);

grant execute on function
  public.create_api_key (text, text, text),
  private.create_api_key (text, text, text),
  public.api_keys (),
  private.api_keys (),
  public.revoke_api_key (uuid),
  private.revoke_api_key (uuid),
  public.revoke_api_keys (),
  private.revoke_api_keys ()
to authenticated;

comment on table private.api_keys is
  'Keys of professionals'' own programs, as digests; those that have ended stay for 30 days.';

select private.hand_over('create_api_key', 'api_keys', 'revoke_api_key', 'revoke_api_keys');
