-- Sessions for one booking: the link in its mail becomes one as often as it is opened, until the
-- booking has ended, and as long as the client has the link_epoch that the link was made under.
--
-- A table of its own, so that what asks for sessions of the portal cannot find one of these, and
-- without a reference to the client, who is the booking's.

create table private.booking_sessions (
  id uuid primary key default gen_random_uuid(),
  professional_id uuid not null,
  booking_id uuid not null,
  link_epoch integer not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  constraint booking_sessions_professional_id_booking_id_fkey
    foreign key (professional_id, booking_id) references public.bookings (professional_id, id)
    on delete cascade
);

create index booking_sessions_professional_id_booking_id_idx
  on private.booking_sessions (professional_id, booking_id);

create index booking_sessions_expires_at_idx on private.booking_sessions (expires_at);

-- Asked before every request of the link's holder; PL/pgSQL keeps the plan.
create function private.booking_session_is_live(
  p_session_id uuid,
  p_professional_id uuid,
  p_client_id uuid,
  p_booking_id uuid
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
    from private.booking_sessions s
    join public.bookings b on b.professional_id = s.professional_id and b.id = s.booking_id
    join public.clients c on c.professional_id = b.professional_id and c.id = b.client_id
    where s.id = p_session_id
      and s.professional_id = p_professional_id
      and s.booking_id = p_booking_id
      and s.revoked_at is null
      and s.expires_at > now()
      and b.ends_at > now()
      and b.client_id = p_client_id
      and c.link_epoch = s.link_epoch
  );
end;
$$;

comment on function private.booking_session_is_live is
  'Whether the token of a booking''s link still counts: not signed out, not expired, the booking not over and still the client''s, who was neither archived nor given another address since.';

create function private.session_answer(
  p_session_id uuid,
  p_created_at timestamptz,
  p_expires_at timestamptz,
  p_professional_id uuid,
  p_client_id uuid,
  p_booking_id uuid
)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'session_id', p_session_id,
    'issued_at', floor(extract(epoch from p_created_at))::bigint,
    'expires_at', floor(extract(epoch from p_expires_at))::bigint,
    'booking_id', p_booking_id,
    'client', jsonb_build_object('id', c.id, 'name', c.name)
      -- Whoever holds a link need not know whose address it was sent to.
      || case when p_booking_id is null then jsonb_build_object('email', c.email) else '{}' end,
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
  where c.professional_id = p_professional_id and c.id = p_client_id;
$$;

comment on function private.session_answer is
  'What a function makes a token and an answer of, without the address where the session is for one booking; instants are Unix seconds.';

-- Whoever holds a link may use it as often as they like. Counted by itself, so that a token that is
-- not ours counts too.
create function private.count_link_use(p_ip text, p_ip_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(
    case when (char_length(p_ip) <= 100) is not true then 'ip' end,
    case when (p_ip_limit > 0) is not true then 'ip_limit' end
  );
  return private.count_request(
    format('link %s %s', private.network_of(p_ip), p_ip_limit), p_ip_limit, '1 hour'
  );
end;
$$;

create function private.start_booking_session(p_booking_id uuid, p_link_epoch integer)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_booking public.bookings;
  v_session private.booking_sessions;
begin
  perform private.check_arguments(
    case when p_booking_id is null then 'booking_id' end,
    case when p_link_epoch is null then 'link_epoch' end
  );

  -- One that somebody is deleting is passed over: anybody may call, so nobody waits here.
  select b.* into v_booking
  from public.bookings b
  join public.clients c on c.professional_id = b.professional_id and c.id = b.client_id
  where b.id = p_booking_id
    and b.ends_at > now()
    and c.link_epoch = p_link_epoch
    -- The epoch rose with archiving, but a link may have been made since.
    and not c.archived
  for key share of b skip locked;

  if not found then
    return null;
  end if;

  insert into private.booking_sessions (professional_id, booking_id, link_epoch, expires_at)
  values (
    v_booking.professional_id,
    p_booking_id,
    p_link_epoch,
    least(v_booking.ends_at, now() + interval '1 hour')
  )
  returning * into v_session;

  -- The link was mailed there.
  perform private.prove_address(
    v_booking.professional_id,
    (
      select email from public.clients
      where professional_id = v_booking.professional_id and id = v_booking.client_id
    )
  );

  return private.session_answer(
    v_session.id,
    v_session.created_at,
    v_session.expires_at,
    v_booking.professional_id,
    v_booking.client_id,
    p_booking_id
  );
end;
$$;

create function public.count_link_use(ip text, ip_limit integer)
returns integer
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.count_link_use($1, $2);
$$;

comment on function public.count_link_use is
  'Server only. Counts a use of a link that was mailed: seconds to wait when ip_limit an hour per IPv4 address or IPv6 /64 is reached, else 0.';

create function public.start_booking_session(booking_id uuid, link_epoch integer)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.start_booking_session($1, $2);
$$;

comment on function public.start_booking_session is
  'Server only. Starts a session for one booking, whose link was opened: as finish_portal_verification(), without the client''s e-mail; null unless the client has this link_epoch and the booking has not ended.';

alter table private.booking_sessions enable row level security;

grant select, insert, update (revoked_at), delete on private.booking_sessions to rules;

grant execute on function
  public.count_link_use (text, integer),
  private.count_link_use (text, integer),
  public.start_booking_session (uuid, integer),
  private.start_booking_session (uuid, integer)
to service_role;

create policy booking_sessions_all_rules on private.booking_sessions
  for all to rules
  using (true)
  with check (true);

comment on table private.booking_sessions is 'Who opened the link of a booking.';

select private.hand_over('count_link_use', 'start_booking_session');
