-- A call that is repeated with the same key has its effect once. The key is stored in the
-- transaction of the effect, so a call that failed leaves none, and under the write lock, so two
-- at once are one after the other.

create table private.idempotency_keys (
  professional_id uuid not null references public.profiles (id) on delete cascade,
  function text not null,
  key text not null,
  request_digest bytea not null,
  result_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (professional_id, function, key)
);

create index idempotency_keys_created_at_idx on private.idempotency_keys (created_at);

create index idempotency_keys_result_id_idx on private.idempotency_keys (result_id);

-- Only a digest is kept: the request holds personal data.
create function private.request_digest(p_request jsonb)
returns bytea
language sql
immutable
security invoker
set search_path = ''
as $$
  select sha256(convert_to(p_request::text, 'UTF8'));
$$;

comment on function private.request_digest is
  'SHA-256 of the arguments as received, to tell a replay from a reused key.';

create function private.check_idempotency_key(p_key text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if char_length(p_key) not between 1 and 255 then
    perform private.raise_error(
      422, 'invalid_idempotency_key', 'An idempotency key has 1 to 255 characters.'
    );
  end if;
end;
$$;

comment on function private.check_idempotency_key is
  '422 invalid_idempotency_key for an empty or too long one; null is none.';

create function private.find_replay(
  p_professional_id uuid,
  p_function text,
  p_key text,
  p_request jsonb
)
returns uuid
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_found private.idempotency_keys;
begin
  if p_key is null then
    return null;
  end if;
  select * into v_found
  from private.idempotency_keys
  where professional_id = p_professional_id
    and function = p_function
    and key = p_key
    and created_at > now() - interval '7 days';

  if v_found.request_digest <> private.request_digest(p_request) then
    perform private.raise_error(
      422, 'idempotency_key_reused', 'This idempotency key was used with other input.'
    );
  end if;
  return v_found.result_id;
end;
$$;

comment on function private.find_replay is
  'Id of what an earlier call with this key made, null without one; 422 idempotency_key_reused for other input. Call it under the write lock.';

create function private.remember_call(
  p_professional_id uuid,
  p_function text,
  p_key text,
  p_request jsonb,
  p_result_id uuid
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if p_key is null then
    return;
  end if;

  insert into private.idempotency_keys as k (
    professional_id, function, key, request_digest, result_id
  )
  values (p_professional_id, p_function, p_key, private.request_digest(p_request), p_result_id)
  -- A key older than seven days is forgotten, whether or not it was cleaned up yet.
  on conflict (professional_id, function, key) do update
  set
    request_digest = excluded.request_digest,
    result_id = excluded.result_id,
    created_at = excluded.created_at;
end;
$$;

comment on function private.remember_call is
  'Keeps an idempotency key with the id of its effect for seven days; does nothing without a key.';

alter table private.idempotency_keys enable row level security;

grant select, insert, update, delete on private.idempotency_keys to rules;

create policy idempotency_keys_all_rules on private.idempotency_keys
  for all to rules
  using (true)
  with check (true);

comment on table private.idempotency_keys is
  'Keys of calls whose effect is stored, per professional and function, for seven days.';
