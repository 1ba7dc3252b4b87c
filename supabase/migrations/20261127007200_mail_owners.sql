-- Whose mails go to clients: professionals whose own address is confirmed, and who are not
-- suspended. Anybody can sign up with anybody's address, and have us write to a list.

create table private.confirmed_owners (
  professional_id uuid primary key references public.profiles (id) on delete cascade,
  address_digest bytea not null,
  confirmed_at timestamptz not null default now()
);

-- The operator's switch: a row stops the professional's mails to clients.
create table private.suspended_owners (
  professional_id uuid primary key references public.profiles (id) on delete cascade,
  reason text not null,
  suspended_at timestamptz not null default now()
);

-- Definer, and stays with `postgres`: reads the auth service's users.
create function private.owner_email(p_professional_id uuid)
returns text
language sql
stable
security definer
set search_path = ''
as $$
  select email from auth.users where id = p_professional_id;
$$;

comment on function private.owner_email is
  'E-mail address of a professional''s account; null when there is none.';

create function private.owner_is_confirmed(p_professional_id uuid)
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select exists (
    select
    from private.confirmed_owners
    where professional_id = p_professional_id
      and address_digest = private.address_digest(private.owner_email(p_professional_id))
  );
$$;

comment on function private.owner_is_confirmed is
  'Whether the address that the account has now was confirmed.';

create function private.queue_address_confirmation(p_professional_id uuid)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  insert into private.mails (professional_id, audience, kind)
  select p_professional_id, 'professional', 'confirm_address'
  where not exists (
    select
    from private.mails
    where professional_id = p_professional_id
      and kind = 'confirm_address'
      and status = 'queued'
      and claim_token is null
  );
$$;

comment on function private.queue_address_confirmation is
  'Queues the mail by which a professional confirms the own address, unless it waits already.';

create function private.ask_to_confirm_address()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if private.wants_mail(new.id)
    and not private.owner_is_confirmed(new.id)
    -- The first time only; later ones are asked for.
    and not exists (
      select from private.mails where professional_id = new.id and kind = 'confirm_address'
    )
  then
    perform private.queue_address_confirmation(new.id);
  end if;
  return null;
end;
$$;

comment on function private.ask_to_confirm_address is
  'AFTER the public is let in for the first time: asks the professional to confirm the own address.';

create function private.end_owner_confirmation()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  delete from private.confirmed_owners where professional_id = new.id;
  return null;
end;
$$;

comment on function private.end_owner_confirmation is
  'AFTER UPDATE OF email on auth.users: another address has to be confirmed anew, and the earlier one too when it comes back.';

create function private.request_address_confirmation()
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_per_hour constant integer := 3;
  v_seconds integer;
begin
  if private.owner_is_confirmed(v_professional_id) then
    return jsonb_build_object('confirmed', true);
  end if;
  v_seconds := private.count_request(
    format('confirm address %s', v_professional_id), v_per_hour, '1 hour'
  );
  if v_seconds > 0 then
    perform private.raise_rate_limited(
      v_seconds, 'At most ' || v_per_hour || ' of these mails an hour.'
    );
  end if;
  perform private.lock_professional(v_professional_id);
  perform private.queue_address_confirmation(v_professional_id);
  return jsonb_build_object('confirmed', false);
end;
$$;

create function private.confirm_professional_address(p_professional_id uuid, p_email text)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(
    case when p_professional_id is null then 'professional_id' end,
    case when private.is_email(private.trim_invisible(p_email)) is not true then 'email' end
  );
  if private.email_key(private.owner_email(p_professional_id)) = private.email_key(p_email)
  then
    insert into private.confirmed_owners (professional_id, address_digest)
    select id, private.address_digest(p_email)
    from public.profiles
    where id = p_professional_id
    on conflict (professional_id) do update
    set address_digest = excluded.address_digest, confirmed_at = now();

    return found;
  end if;
  return false;
end;
$$;

create function public.request_address_confirmation()
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.request_address_confirmation();
$$;

comment on function public.request_address_confirmation is
  'Sends the mail again by which you confirm the address of your account; until then no mail goes to clients. {confirmed}: true when it is, and nothing is sent. Errors: 429 rate_limit_exceeded after three in an hour.';

create function public.confirm_professional_address(professional_id uuid, email text)
returns boolean
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.confirm_professional_address($1, $2);
$$;

comment on function public.confirm_professional_address is
  'Server only. The address of a professional''s account was proved by a link: true, or false when the account has another one by now. Errors: 422 validation_failed {"fields"}.';

create trigger profiles_6_ask_to_confirm_address_on_insert
  after insert on public.profiles
  for each row when (new.accepts_bookings or new.accepts_orders)
  execute function private.ask_to_confirm_address();

create trigger profiles_6_ask_to_confirm_address_on_update
  after update of accepts_bookings, accepts_orders on public.profiles
  for each row when (
    (new.accepts_bookings or new.accepts_orders)
    and not (old.accepts_bookings or old.accepts_orders)
  )
  execute function private.ask_to_confirm_address();

create trigger profiles_end_confirmation_on_address_change
  after update of email on auth.users
  for each row when (new.email is distinct from old.email)
  execute function private.end_owner_confirmation();

alter table private.confirmed_owners enable row level security;

grant select, insert, update, delete on private.confirmed_owners to rules;

create policy confirmed_owners_all_rules on private.confirmed_owners
  for all to rules
  using (true)
  with check (true);

alter table private.suspended_owners enable row level security;

grant select on private.suspended_owners to rules;

create policy suspended_owners_all_rules on private.suspended_owners
  for all to rules
  using (true)
  with check (true);

grant execute on function
  public.request_address_confirmation (),
  private.request_address_confirmation ()
to authenticated;

grant execute on function
  public.confirm_professional_address (uuid, text),
  private.confirm_professional_address (uuid, text)
to service_role;

comment on table private.confirmed_owners is
  'Professionals who have proved the address of their account, as a digest: the row counts for no other address.';

comment on table private.suspended_owners is
  'Professionals whose mails to clients the operator has stopped; docs/mail.md says how.';

select private.hand_over(
  'ask_to_confirm_address',
  'end_owner_confirmation',
  'request_address_confirmation',
  'confirm_professional_address'
);
