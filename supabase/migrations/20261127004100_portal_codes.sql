-- One-time passwords of the portal: issued, counted, used once. The edge functions make and hash
-- the codes with a key that the database does not have; what is here can neither be read back nor
-- guessed from a dump. Functions return a status where a failure must be remembered: raising would
-- undo it.

create table private.portal_codes (
  professional_id uuid not null,
  client_id uuid not null,
  -- The client's when the code was asked for; the code is worth nothing under a later one.
  link_epoch integer not null,
  -- Rises with every code asked for, so that of two asked for at once the second one counts.
  generation integer not null default 1,
  -- HMAC of the code; null while none is valid.
  code_hmac text,
  expires_at timestamptz not null,
  attempts integer not null default 0,
  -- Wrong codes in a row, over all codes.
  failures integer not null default 0,
  locked_until timestamptz,
  -- One row a client: a new code replaces the earlier one, whatever became of that.
  primary key (professional_id, client_id),
  constraint portal_codes_professional_id_client_id_fkey
    foreign key (professional_id, client_id) references public.clients (professional_id, id)
    on delete cascade
);

-- Every code asked for, for known and unknown addresses alike. Digests, because an unknown address
-- is somebody's too; no foreign key, because an unknown professional is counted as well.
create table private.portal_code_requests (
  id bigint generated always as identity primary key,
  address_digest bytea not null,
  network text not null,
  created_at timestamptz not null default now()
);

create index portal_code_requests_address_digest_created_at_idx
  on private.portal_code_requests (address_digest, created_at desc);

create index portal_code_requests_network_created_at_idx
  on private.portal_code_requests (network, created_at desc);

create index portal_code_requests_created_at_idx on private.portal_code_requests (created_at);

create function private.portal_address_digest(p_professional_id uuid, p_email text)
returns bytea
language sql
immutable
security invoker
set search_path = ''
as $$
  select sha256(convert_to(p_professional_id || ' ' || private.email_key(p_email), 'UTF8'));
$$;

comment on function private.portal_address_digest is
  'What codes asked for an address at a professional are counted under.';

create function private.seconds_until_allowed(
  p_times timestamptz[],
  p_limit integer,
  p_window interval
)
returns integer
language sql
stable
security invoker
set search_path = ''
as $$
  -- Once the p_limit-th leaves the window, one more fits; greatest() ignores one that is not there.
  select greatest(0, ceil(extract(epoch from p_times[p_limit] + p_window - now())))::integer;
$$;

comment on function private.seconds_until_allowed is
  'Seconds to wait before one more is allowed, given earlier times newest first, a number and a sliding window; 0 for now.';

create function private.start_portal_code(
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
  v_digest bytea;
  v_network text;
  v_times timestamptz[];
  v_network_times timestamptz[];
  v_retry_after integer;
  v_client public.clients;
  -- Nobody's, for an address that is nobody's: what is done with it afterwards is the same work,
  -- and ends where no code of that generation is found.
  v_client_id uuid := gen_random_uuid();
  v_generation integer := 0;
begin
  perform private.check_arguments(
    case when p_professional_id is null then 'professional_id' end,
    case when private.is_email(private.trim_invisible(p_email)) is not true then 'email' end,
    case when (char_length(p_ip) <= 100) is not true then 'ip' end,
    case when (p_ip_limit > 0) is not true then 'ip_limit' end
  );
  v_digest := private.portal_address_digest(p_professional_id, p_email);
  v_network := private.network_of(p_ip);

  -- Two requests for one address, or from one network, are counted one after the other, always in
  -- this order.
  perform pg_advisory_xact_lock(7302, hashtext(encode(v_digest, 'hex')));
  perform pg_advisory_xact_lock(7303, hashtext(v_network));

  v_times := array(
    select created_at from private.portal_code_requests
    where address_digest = v_digest and created_at > now() - interval '1 day'
    order by created_at desc
    limit 20
  );
  v_network_times := array(
    select created_at from private.portal_code_requests
    where network = v_network and created_at > now() - interval '1 hour'
    order by created_at desc
    limit p_ip_limit
  );
  v_retry_after := greatest(
    private.seconds_until_allowed(v_times, 3, interval '1 minute'),
    private.seconds_until_allowed(v_times, 6, interval '1 hour'),
    private.seconds_until_allowed(v_times, 20, interval '1 day'),
    private.seconds_until_allowed(v_network_times, p_ip_limit, interval '1 hour')
  );
  if v_retry_after > 0 then
    return jsonb_build_object('retry_after', v_retry_after, 'recipient', null);
  end if;

  insert into private.portal_code_requests (address_digest, network) values (v_digest, v_network);

  -- Locked before its code, as a deletion does it, so that the two never wait for each other. One
  -- that somebody else holds is passed over, like one that is gone: anybody may call, so nobody
  -- waits here.
  select * into v_client
  from public.clients
  where professional_id = p_professional_id
    and email_key = private.email_key(p_email)
    and not archived
    -- Its mail would carry the name of somebody whose mails have been stopped.
    and not exists (
      select from private.suspended_owners where professional_id = p_professional_id
    )
  for key share skip locked;

  if found then
    v_client_id := v_client.id;
    insert into private.portal_codes as c (professional_id, client_id, link_epoch, expires_at)
    values (p_professional_id, v_client.id, v_client.link_epoch, now())
    on conflict (professional_id, client_id) do update
    set
      link_epoch = excluded.link_epoch,
      generation = c.generation + 1,
      code_hmac = null,
      attempts = 0,
      expires_at = now()
    returning generation into v_generation;
  end if;

  return jsonb_build_object(
    'retry_after', null,
    'recipient', jsonb_build_object(
      'client_id', v_client_id,
      'generation', v_generation,
      'email', coalesce(v_client.email, p_email),
      'professional_name',
        coalesce(
          (
            select coalesce(nullif(full_name, ''), username)
            from public.profiles
            where id = p_professional_id
          ),
          ''
        )
    )
  );
end;
$$;

create function private.set_portal_code(
  p_professional_id uuid,
  p_client_id uuid,
  p_generation integer,
  p_code_hmac text
)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(
    case when p_professional_id is null then 'professional_id' end,
    case when p_client_id is null then 'client_id' end,
    case when p_generation is null then 'generation' end,
    case when char_length(p_code_hmac) not between 1 and 100 then 'code_hmac' end
  );

  update private.portal_codes
  set code_hmac = p_code_hmac, attempts = 0, expires_at = now() + interval '10 minutes'
  where professional_id = p_professional_id
    and client_id = p_client_id
    and generation = p_generation;

  if not found then
    -- A commit that waits for the disk as one that stores a code does.
    perform pg_logical_emit_message(true, 'portal', '');
    return false;
  end if;
  return true;
end;
$$;

create function public.start_portal_code(
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
  select private.start_portal_code($1, $2, $3, $4);
$$;

comment on function public.start_portal_code is
  'Server only. Counts a code asked for and ends all earlier codes of the client: {retry_after, recipient: {client_id, generation, email, professional_name}}. Unknown and archived addresses get a made-up recipient, whom set_portal_code does not know; retry_after is seconds, and recipient null, when limited (3 a minute, 6 an hour, 20 a day per address, ip_limit an hour per IPv4 address or IPv6 /64).';

create function public.set_portal_code(
  professional_id uuid,
  client_id uuid,
  generation integer,
  code_hmac text default null
)
returns boolean
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.set_portal_code($1, $2, $3, $4);
$$;

comment on function public.set_portal_code is
  'Server only. Makes a code valid for ten minutes, or withdraws it (code_hmac null). False when a newer one was asked for meanwhile, or the recipient was made up.';

alter table private.portal_codes enable row level security;

grant select, insert, update, delete on private.portal_codes to rules;

create policy portal_codes_all_rules on private.portal_codes
  for all to rules
  using (true)
  with check (true);

alter table private.portal_code_requests enable row level security;

grant select, insert on private.portal_code_requests to rules;

create policy portal_code_requests_all_rules on private.portal_code_requests
  for all to rules
  using (true)
  with check (true);

grant execute on function
  public.start_portal_code (uuid, text, text, integer),
  private.start_portal_code (uuid, text, text, integer),
  public.set_portal_code (uuid, uuid, integer, text),
  private.set_portal_code (uuid, uuid, integer, text)
to service_role;

comment on table private.portal_codes is
  'The newest portal code of each client, as an HMAC, with its attempts and the lock after 20 failures.';

comment on table private.portal_code_requests is
  'Codes asked for in the last day, for the limits per address and per network.';

select private.hand_over('start_portal_code', 'set_portal_code');
