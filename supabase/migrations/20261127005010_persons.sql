-- Persons and programs. A professional's own program has a token of its own (api_keys.sql) with the
-- same role and subject; what connects accounts, shows secrets or deletes the account wants the
-- person, who is whoever has a session of the auth service.

-- Definer, and stays with `postgres`: reads the auth service's sessions.
create function private.session_started_at()
returns timestamptz
language sql
stable
security definer
set search_path = ''
as $$
  select created_at
  from auth.sessions
  where id = (private.jwt_claims() ->> 'session_id')::uuid
    and user_id = (private.jwt_claims() ->> 'sub')::uuid;
$$;

comment on function private.session_started_at is
  'When the caller signed in; null for a key''s token, which the auth service knows nothing of.';

create function private.require_person()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if private.session_started_at() is null then
    perform private.raise_error(
      403,
      'person_required',
      'No key may do this.',
      p_hint => 'Sign in.'
    );
  end if;
end;
$$;

comment on function private.require_person is
  '403 person_required unless the caller has signed in: for what connects accounts, shows secrets or deletes the account.';

-- Definer: nobody may execute what it calls.
create function private.authorize_action(p_by_person boolean)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(case when p_by_person is null then 'by_person' end);
  if p_by_person then
    perform private.require_person();
  end if;
end;
$$;

create function public.authorize_action(by_person boolean default false)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.authorize_action($1);
$$;

comment on function public.authorize_action is
  'Does nothing, and may write: the check before each request ends what a revoked key or one that only reads begins. First call of every function route that changes something or reaches outside and has no other such RPC to begin with. Errors: 403 person_required with by_person, unless the caller has signed in.';

grant execute on function
  public.authorize_action (boolean),
  private.authorize_action (boolean)
to authenticated;

select private.hand_over('authorize_action');
