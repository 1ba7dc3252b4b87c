-- Portal sessions: a code becomes a session once, and a session ends when its time, its client or the
-- client's address does.

create table private.portal_sessions (
  id uuid primary key default gen_random_uuid(),
  professional_id uuid not null,
  client_id uuid not null,
  -- The address that was proved; a client who has another one now must prove that.
  email_key text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '1 hour',
  revoked_at timestamptz,
  constraint portal_sessions_professional_id_client_id_fkey
    foreign key (professional_id, client_id) references public.clients (professional_id, id)
    on delete cascade
);

create index portal_sessions_professional_id_client_id_idx
  on private.portal_sessions (professional_id, client_id);

create index portal_sessions_expires_at_idx on private.portal_sessions (expires_at);

comment on table private.portal_sessions is 'Signed-in portal clients.';

alter table private.portal_sessions enable row level security;

create function private.portal_session_is_live(
  p_session_id uuid,
  p_professional_id uuid,
  p_client_id uuid
)
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select exists (
    select
    from private.portal_sessions s
    join public.clients c on c.professional_id = s.professional_id and c.id = s.client_id
    where s.id = p_session_id
      and s.professional_id = p_professional_id
      and s.client_id = p_client_id
      and s.revoked_at is null
      and s.expires_at > now()
      and not c.archived
      and c.email_key = s.email_key
  );
$$;

comment on function private.portal_session_is_live is
  'Whether a portal token still counts: not signed out, not expired, the client neither archived nor under another address.';

create function private.start_portal_verification(p_professional_id uuid, p_email text)
returns uuid
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_client_id uuid;
begin
  update private.portal_codes k
  set attempts = k.attempts + 1
  from public.clients c
  where c.professional_id = p_professional_id
    and c.email_key = private.email_key(p_email)
    and not c.archived
    and k.professional_id = c.professional_id
    and k.client_id = c.id
    and k.code_hmac is not null
    and k.expires_at > now()
    and k.attempts < 5
    and (k.locked_until is null or k.locked_until <= now())
  returning k.client_id into v_client_id;

  -- Nobody's id where no code can be right, so that the caller does the same work either way.
  return coalesce(v_client_id, gen_random_uuid());
end;
$$;

comment on function private.start_portal_verification is 'See public.start_portal_verification.';

create function private.finish_portal_verification(
  p_professional_id uuid,
  p_client_id uuid,
  p_code_hmac text
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_session private.portal_sessions;
begin
  -- Single use by one conditional update: of many at once, one finds the code.
  update private.portal_codes
  set code_hmac = null, failures = 0
  where professional_id = p_professional_id
    and client_id = p_client_id
    and code_hmac = p_code_hmac
    and expires_at > now();

  if not found then
    update private.portal_codes
    set
      failures = case when failures + 1 >= 20 then 0 else failures + 1 end,
      locked_until = case when failures + 1 >= 20 then now() + interval '1 hour' else locked_until end
    where professional_id = p_professional_id and client_id = p_client_id;
    return null;
  end if;

  insert into private.portal_sessions (professional_id, client_id, email_key)
  select professional_id, id, email_key
  from public.clients
  where professional_id = p_professional_id and id = p_client_id
  returning * into v_session;

  return (
    select jsonb_build_object(
      'session_id', v_session.id,
      'expires_at', floor(extract(epoch from v_session.expires_at))::bigint,
      'client', jsonb_build_object('id', c.id, 'name', c.name, 'email', c.email),
      'professional', jsonb_build_object(
        'id', p.id,
        'full_name', p.full_name,
        'username', p.username,
        'time_zone', p.time_zone,
        'currency', p.currency
      )
    )
    from public.clients c
    join public.profiles p on p.id = c.professional_id
    where c.professional_id = p_professional_id and c.id = p_client_id
  );
end;
$$;

comment on function private.finish_portal_verification is 'See public.finish_portal_verification.';

create function private.end_portal_session(p_session_id uuid)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  update private.portal_sessions
  set revoked_at = now()
  where id = p_session_id and revoked_at is null;
$$;

comment on function private.end_portal_session is 'See public.end_portal_session.';

create function public.start_portal_verification(professional_id uuid, email text)
returns uuid
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.start_portal_verification($1, $2);
$$;

comment on function public.start_portal_verification is
  'Server only. Counts an attempt (five a code) and returns the client id to hash the code with; a made-up one where no code can be right.';

create function public.finish_portal_verification(
  professional_id uuid,
  client_id uuid,
  code_hmac text
)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.finish_portal_verification($1, $2, $3);
$$;

comment on function public.finish_portal_verification is
  'Server only. Uses the code up and starts a session: {session_id, expires_at, client, professional}; null for a wrong code. 20 wrong ones in a row lock the address for an hour.';

create function public.end_portal_session(session_id uuid)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.end_portal_session($1);
$$;

comment on function public.end_portal_session is 'Server only. Ends a portal session at once.';

grant execute on function
  public.start_portal_verification (uuid, text),
  private.start_portal_verification (uuid, text),
  public.finish_portal_verification (uuid, uuid, text),
  private.finish_portal_verification (uuid, uuid, text),
  public.end_portal_session (uuid),
  private.end_portal_session (uuid)
to service_role;
