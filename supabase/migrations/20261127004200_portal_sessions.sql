-- Portal sessions: a code becomes a session once, and a session ends when its time, its client or
-- the client's link_epoch does. The epoch rises with archiving and with another address and never
-- falls, so what was ended stays so when the client is restored or gets the old address back.

create table private.portal_sessions (
  id uuid primary key default gen_random_uuid(),
  professional_id uuid not null,
  client_id uuid not null,
  -- The client's when the code was asked for; under a later one the address must be proved again.
  link_epoch integer not null,
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

-- Asked before every request of a portal client; PL/pgSQL keeps the plan.
create function private.portal_session_is_live(
  p_session_id uuid,
  p_professional_id uuid,
  p_client_id uuid
)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (
    select
    from private.portal_sessions s
    join public.clients c on c.professional_id = s.professional_id and c.id = s.client_id
    where s.id = p_session_id
      and s.professional_id = p_professional_id
      and s.client_id = p_client_id
      and s.revoked_at is null
      and s.expires_at > now()
      and c.link_epoch = s.link_epoch
  );
end;
$$;

comment on function private.portal_session_is_live is
  'Whether a portal token still counts: not signed out, not expired, the client neither archived nor given another address since.';

create function private.portal_code_is_live(p_code private.portal_codes)
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select p_code.code_hmac is not null
    and p_code.expires_at > now()
    and (p_code.locked_until is null or p_code.locked_until <= now())
    and exists (
      select
      from public.clients c
      where c.professional_id = p_code.professional_id
        and c.id = p_code.client_id
        and c.link_epoch = p_code.link_epoch
    );
$$;

comment on function private.portal_code_is_live is
  'Whether a code can still be used: not used, withdrawn, expired or locked, the client neither archived nor given another address since.';

create function private.start_portal_verification(
  p_professional_id uuid,
  p_email text,
  p_ip text,
  p_ip_limit integer
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_retry_after integer;
  v_client_id uuid;
  v_generation integer;
begin
  perform private.check_arguments(
    case when p_professional_id is null then 'professional_id' end,
    case when private.is_email(private.trim_invisible(p_email)) is not true then 'email' end,
    case when (char_length(p_ip) <= 100) is not true then 'ip' end,
    case when (p_ip_limit > 0) is not true then 'ip_limit' end
  );
  v_retry_after := private.count_request(
    format('verify %s %s', private.network_of(p_ip), p_ip_limit), p_ip_limit, '1 hour'
  );
  if v_retry_after > 0 then
    return jsonb_build_object(
      'retry_after', v_retry_after, 'client_id', null, 'generation', null
    );
  end if;

  update private.portal_codes k
  set attempts = k.attempts + 1
  from public.clients c
  where c.professional_id = p_professional_id
    and c.email_key = private.email_key(p_email)
    and k.professional_id = c.professional_id
    and k.client_id = c.id
    and k.attempts < 5
    and private.portal_code_is_live(k)
  returning k.client_id, k.generation into v_client_id, v_generation;

  if not found then
    -- Nobody's id where no code can be right, and a commit that waits for the disk as a counted
    -- attempt does: the caller does the same work and takes the same time.
    v_client_id := gen_random_uuid();
    v_generation := 0;
    perform pg_logical_emit_message(true, 'portal', '');
  end if;
  return jsonb_build_object(
    'retry_after', null, 'client_id', v_client_id, 'generation', v_generation
  );
end;
$$;

create function private.finish_portal_verification(
  p_professional_id uuid,
  p_client_id uuid,
  p_generation integer,
  p_code_hmac text
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_is_there boolean;
  v_link_epoch integer;
  v_session private.portal_sessions;
begin
  perform private.check_arguments(
    case when p_professional_id is null then 'professional_id' end,
    case when p_client_id is null then 'client_id' end,
    case when p_generation is null then 'generation' end,
    case when (char_length(p_code_hmac) between 1 and 100) is not true then 'code_hmac' end
  );

  -- Locked before its code, as a deletion does it, so that the two never wait for each other. One
  -- that somebody else holds is passed over, like one that is gone: anybody may call, so nobody
  -- waits here.
  select exists (
    select from public.clients
    where professional_id = p_professional_id and id = p_client_id
    for key share skip locked
  )
  into v_is_there;

  -- Single use by one conditional update: of many at once, one finds the code. The generation is
  -- the one that the attempt was counted on.
  update private.portal_codes k
  set code_hmac = null, failures = 0
  where k.professional_id = p_professional_id
    and k.client_id = p_client_id
    and k.generation = p_generation
    and k.code_hmac = p_code_hmac
    and v_is_there
    and private.portal_code_is_live(k)
  returning k.link_epoch into v_link_epoch;

  if not found then
    update private.portal_codes
    set
      failures = case when failures + 1 >= 20 then 0 else failures + 1 end,
      locked_until = case
        when failures + 1 >= 20 then now() + interval '1 hour' else locked_until
      end
    where professional_id = p_professional_id and client_id = p_client_id;

    if not found then
      perform pg_logical_emit_message(true, 'portal', '');
    end if;
    return null;
  end if;

  insert into private.portal_sessions (professional_id, client_id, link_epoch)
  values (p_professional_id, p_client_id, v_link_epoch)
  returning * into v_session;

  perform private.welcome_address(p_professional_id, p_client_id);

  return private.session_answer(
    v_session.id,
    v_session.created_at,
    v_session.expires_at,
    p_professional_id,
    p_client_id,
    null
  );
end;
$$;

create function private.end_portal_session(p_session_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(case when p_session_id is null then 'session_id' end);

  update private.portal_sessions
  set revoked_at = now()
  where id = p_session_id and revoked_at is null;

  update private.booking_sessions
  set revoked_at = now()
  where id = p_session_id and revoked_at is null;
end;
$$;

create function public.start_portal_verification(
  professional_id uuid,
  email text,
  ip text,
  ip_limit integer
)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.start_portal_verification($1, $2, $3, $4);
$$;

comment on function public.start_portal_verification is
  'Server only. Counts an attempt (five a code): {retry_after, client_id, generation} to hash and finish with; made-up ones where no code can be right. retry_after is seconds, and the others null, when limited (ip_limit an hour per IPv4 address or IPv6 /64).';

create function public.finish_portal_verification(
  professional_id uuid,
  client_id uuid,
  generation integer,
  code_hmac text
)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.finish_portal_verification($1, $2, $3, $4);
$$;

comment on function public.finish_portal_verification is
  'Server only. Uses the code up and starts a session: {session_id, issued_at, expires_at, booking_id, client, professional}, instants in Unix seconds, booking_id null; null for a wrong code. 20 wrong ones in a row lock the address for an hour.';

create function public.end_portal_session(session_id uuid)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.end_portal_session($1);
$$;

comment on function public.end_portal_session is 'Server only. Ends a session of the portal, or of a booking''s link, at once.';

alter table private.portal_sessions enable row level security;

grant select, insert, update, delete on private.portal_sessions to rules;

create policy portal_sessions_all_rules on private.portal_sessions
  for all to rules
  using (true)
  with check (true);

grant execute on function
  public.start_portal_verification (uuid, text, text, integer),
  private.start_portal_verification (uuid, text, text, integer),
  public.finish_portal_verification (uuid, uuid, integer, text),
  private.finish_portal_verification (uuid, uuid, integer, text),
  public.end_portal_session (uuid),
  private.end_portal_session (uuid)
to service_role;

comment on table private.portal_sessions is 'Signed-in portal clients.';

select private.hand_over(
  'start_portal_verification',
  'finish_portal_verification',
  'end_portal_session'
);
