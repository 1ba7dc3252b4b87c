-- What is known of addresses. Whoever books may type anybody's: one has proved itself to a
-- professional when its owner entered a code or opened a link, or the professional typed it. One
-- that mail does not reach, or whose owner complained, gets none from anybody.

create table private.proven_addresses (
  professional_id uuid not null references public.profiles (id) on delete cascade,
  address_digest bytea not null,
  proven_at timestamptz not null default now(),
  primary key (professional_id, address_digest)
);

-- Of all professionals: none is told why, and no row of theirs is written before a mail of their
-- own has been stopped.
create table private.suppressed_addresses (
  address_digest bytea primary key,
  reason text not null
    constraint suppressed_addresses_reason_is_known
      check (reason in ('bounced', 'complained', 'suppressed')),
  created_at timestamptz not null default now()
);

create function private.prove_address(p_professional_id uuid, p_email text)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  insert into private.proven_addresses (professional_id, address_digest)
  select p_professional_id, private.address_digest(p_email)
  where p_email is not null
  on conflict do nothing;
$$;

comment on function private.prove_address is
  'Notes that an address proved itself to a professional: a code or a link was used, or the professional entered it. Never because of a booking.';

create function private.address_is_proven(p_professional_id uuid, p_email text)
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select exists (
    select
    from private.proven_addresses
    where professional_id = p_professional_id
      and address_digest = private.address_digest(p_email)
  );
$$;

comment on function private.address_is_proven is
  'Whether an address has proved itself to this professional.';

create function private.welcome_address(p_professional_id uuid, p_client_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_email constant text := (
    select email from public.clients
    where professional_id = p_professional_id and id = p_client_id
  );
begin
  if v_email is null then
    return;
  end if;
  perform private.prove_address(p_professional_id, v_email);

  delete from private.suppressed_addresses
  where address_digest = private.address_digest(v_email);

  -- Who signs in waits for nobody; while the lock is another's, the next mail that arrives says it.
  if exists (
    select from public.clients
    where professional_id = p_professional_id and id = p_client_id and mail_status <> 'ok'
  ) and private.try_lock_professional(p_professional_id) then
    update public.clients
    set mail_status = 'ok'
    where professional_id = p_professional_id and id = p_client_id;
  end if;
end;
$$;

comment on function private.welcome_address is
  'After a code or a link that was mailed to a client has come back: the address is proven, and gets mails again.';

-- Definer, like every trigger function here: API roles hold no EXECUTE on what it calls.
create function private.prove_entered_address()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if private.caller_role() = 'authenticated'
    and private.caller_professional_id() = new.professional_id
  then
    perform private.prove_address(new.professional_id, new.email);
  end if;
  return null;
end;
$$;

comment on function private.prove_entered_address is
  'AFTER INSERT OR UPDATE OF email: what the professional enters is proven.';

create trigger clients_6_prove_address_on_insert
  after insert on public.clients
  for each row when (new.email is not null)
  execute function private.prove_entered_address();

create trigger clients_6_prove_address_on_update
  after update of email on public.clients
  for each row when (new.email is not null and new.email_key is distinct from old.email_key)
  execute function private.prove_entered_address();

alter table private.proven_addresses enable row level security;

grant select, insert, delete on private.proven_addresses to rules;

create policy proven_addresses_all_rules on private.proven_addresses
  for all to rules
  using (true)
  with check (true);

alter table private.suppressed_addresses enable row level security;

grant select, insert, update, delete on private.suppressed_addresses to rules;

create policy suppressed_addresses_all_rules on private.suppressed_addresses
  for all to rules
  using (true)
  with check (true);

comment on table private.proven_addresses is
  'Addresses, as digests, that have proved themselves to a professional.';

comment on table private.suppressed_addresses is
  'Addresses, as digests, that get no more mails of the queue from anybody: mail came back for good, or was complained about.';

select private.hand_over('prove_entered_address');
