-- The people a professional works for: contact data, notes, tags.

-- In PL/pgSQL, like every function that runs for each row that is written.
create function private.tags_are_short(p_tags text[])
returns boolean
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return (
    select coalesce(bool_and(tag is not null and char_length(tag) <= 50), true)
    from unnest(p_tags) as tag
  );
end;
$$;

comment on function private.tags_are_short is 'Whether every tag is there and has at most 50 characters.';

create table public.clients (
  id uuid primary key default gen_random_uuid(),
  created_at public.timestamp_ms not null default now(),
  updated_at public.timestamp_ms not null default now(),
  professional_id uuid not null default auth.uid()
    references public.profiles (id) on delete cascade,
  name text not null
    constraint clients_name_has_1_to_200_characters
      check (not private.is_blank(name) and char_length(name) <= 200),
  email text
    constraint clients_email_is_an_address check (private.is_email(email)),
  phone text
    constraint clients_phone_has_at_most_40_characters check (char_length(phone) <= 40),
  notes text
    constraint clients_notes_have_at_most_10000_characters check (char_length(notes) <= 10000),
  tags text[] not null default '{}'
    constraint clients_tags_are_at_most_50_of_50_characters
      check (
        cardinality(tags) <= 50
        and coalesce(array_ndims(tags), 1) = 1
        and private.tags_are_short(tags)
      ),
  archived boolean not null default false,
  metadata jsonb not null default '{}'
    constraint clients_metadata_is_an_object_of_at_most_8_kb
      check (jsonb_typeof(metadata) = 'object' and octet_length(metadata::text) <= 8192),
  language text
    constraint clients_language_is_known check (language = any (private.languages())),
  reminders boolean not null default true,
  mail_status text not null default 'ok'
    constraint clients_mail_status_is_known check (mail_status in ('ok', 'undeliverable')),
  link_epoch integer not null default 1,
  email_key text generated always as (private.email_key(email)) stored,
  constraint clients_professional_id_id_key unique (professional_id, id),
  constraint clients_professional_id_email_key_key unique (professional_id, email_key)
);

create index clients_professional_id_created_at_idx
  on public.clients (professional_id, created_at desc, id);

create function private.normalize_client()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  new.name := private.trim_invisible(new.name);
  new.email := nullif(private.trim_invisible(new.email), '');
  new.phone := nullif(private.trim_invisible(new.phone), '');
  return new;
end;
$$;

comment on function private.normalize_client is
  'BEFORE INSERT OR UPDATE: trims name, e-mail and phone as people paste them; the spelling stays, an empty e-mail or phone is null.';

-- The one who decides the epoch, whoever writes the row and whatever they write.
create function private.keep_link_epoch()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    new.link_epoch := 1;
    return new;
  end if;

  new.link_epoch := old.link_epoch;
  if private.email_key(new.email) is distinct from old.email_key
    or (new.archived and not old.archived)
    -- Also of one who was archived and without an address before; not twice for the same.
    or (current_setting('private.erasing', true) = 'on' and new is distinct from old)
  then
    new.link_epoch := old.link_epoch + 1;
  end if;
  return new;
end;
$$;

comment on function private.keep_link_epoch is
  'BEFORE INSERT OR UPDATE, once the address is trimmed: raises link_epoch with every other address, with archiving and with erasing, and lets nobody else change it.';

-- What the rules learn of an address is theirs to say, and nothing is known of a new one.
create function private.keep_mail_status()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if tg_op = 'INSERT' or private.email_key(new.email) is distinct from old.email_key then
    new.mail_status := 'ok';
  elsif current_user <> 'rules' then
    new.mail_status := old.mail_status;
  end if;
  return new;
end;
$$;

comment on function private.keep_mail_status is
  'BEFORE INSERT OR UPDATE: mail_status is ok with every new address, and only the rules change it.';

-- The same answer whether or not the address belongs to a client: what is wrong with them is found
-- before anybody is looked up.
create function private.invalid_client_fields(
  p_name text,
  p_email text,
  p_phone text,
  p_language text,
  p_required boolean
)
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return array[
    case
      when (p_required and p_name is null)
        or private.is_blank(p_name)
        or char_length(private.trim_invisible(p_name)) > 200
      then 'client_name'
    end,
    case
      when private.is_email(private.trim_invisible(p_email)) is not true
        and (p_required or p_email is not null)
      then 'client_email'
    end,
    case when char_length(private.trim_invisible(p_phone)) > 40 then 'client_phone' end,
    case when p_language <> all (private.languages()) then 'language' end
  ];
end;
$$;

comment on function private.invalid_client_fields is
  'For check_arguments(): which of client_name, client_email, client_phone and language cannot be used. p_required: name and address have to be there.';

-- The person on the other side of a public page becomes a client; one who is there already keeps
-- the data the professional has.
create function private.find_or_create_client(
  p_professional_id uuid,
  p_name text,
  p_email text,
  p_phone text,
  p_language text,
  p_for_hold boolean
)
returns uuid
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_id uuid;
begin
  select id into v_id
  from public.clients
  where professional_id = p_professional_id and email_key = private.email_key(p_email);

  if v_id is null then
    perform set_config('private.holding', case when p_for_hold then 'on' else '' end, true);
    insert into public.clients (professional_id, name, email, phone, language)
    values (p_professional_id, p_name, p_email, p_phone, p_language)
    returning id into v_id;
    perform set_config('private.holding', '', true);
  end if;
  return v_id;
end;
$$;

comment on function private.find_or_create_client is
  'Id of the professional''s client with this e-mail address, made when missing; an existing one is not changed. One that is made for a hold is no news before that is a booking. Call it under the write lock, after check_arguments().';

-- Asked of portal clients alone: for an address that anybody may type, an answer would tell of its
-- owner, and others could use the five up.
create function private.check_open_count(p_what text, p_open bigint)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if p_open >= 5 then
    perform private.raise_error(
      422, 'too_many_open', format('You have five open %s already.', p_what)
    );
  end if;
end;
$$;

comment on function private.check_open_count is
  '422 too_many_open for a portal client that has five bookings or orders of its own making open.';

create function private.touch_client()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- A generated column of NEW is still null here.
  new.email_key := old.email_key;
  if new is distinct from old then
    new.updated_at := now();
  end if;
  return new;
end;
$$;

comment on function private.touch_client is
  'BEFORE UPDATE, after whatever else changes the row: dates every real change in updated_at.';

create trigger clients_lock
  before insert or update or delete on public.clients
  for each statement execute function private.take_write_lock();

create trigger clients_normalize
  before insert or update of name, email, phone on public.clients
  for each row execute function private.normalize_client();

create trigger clients_raise_link_epoch
  before insert or update on public.clients
  for each row execute function private.keep_link_epoch();

create trigger clients_reset_mail_status
  before insert or update on public.clients
  for each row execute function private.keep_mail_status();

create trigger clients_keep_identity
  before update on public.clients
  for each row
  when (
    (new.id, new.created_at, new.professional_id)
    is distinct from (old.id, old.created_at, old.professional_id)
  )
  execute function private.refuse_identity_change();

create trigger clients_touch
  before update on public.clients
  for each row execute function private.touch_client();

alter table public.clients enable row level security;

grant select (
  id,
  created_at,
  updated_at,
  professional_id,
  name,
  email,
  phone,
  notes,
  tags,
  archived,
  metadata,
  language,
  reminders,
  mail_status,
  link_epoch,
  email_key
) on public.clients to authenticated;

grant insert (
  id,
  professional_id,
  name,
  email,
  phone,
  notes,
  tags,
  archived,
  metadata,
  language,
  reminders
), update (
  name,
  email,
  phone,
  notes,
  tags,
  archived,
  metadata,
  language,
  reminders
), delete on public.clients to authenticated;

grant select, insert, update, delete on public.clients to service_role;

grant select, insert, update on public.clients to rules;

-- Check constraints run with the rights of whoever writes the row.
grant execute on function private.tags_are_short (text[]) to authenticated, service_role;

create policy clients_select_own on public.clients
  for select to authenticated
  using ((select auth.uid()) = professional_id);

create policy clients_insert_own on public.clients
  for insert to authenticated
  with check ((select auth.uid()) = professional_id);

create policy clients_update_own on public.clients
  for update to authenticated
  using ((select auth.uid()) = professional_id)
  with check ((select auth.uid()) = professional_id);

create policy clients_delete_own on public.clients
  for delete to authenticated
  using ((select auth.uid()) = professional_id);

create policy clients_all_rules on public.clients
  for all to rules
  using (true)
  with check (true);

comment on table public.clients is
  'Client database. One row per e-mail address and professional; email and phone may both be null.';

comment on column public.clients.id is 'Made here unless the caller chooses one; never changes.';

comment on column public.clients.created_at is 'When the row was made; never changes.';

comment on column public.clients.updated_at is 'When something in the row last really changed.';

comment on column public.clients.professional_id is
  'Whose row it is: the caller''s own, or the one a server names. Never changes.';

comment on column public.clients.name is
  '1 to 200 characters; the client may change it in the portal.';

comment on column public.clients.email is
  'As written, without surrounding space; ASCII, an international domain in its xn-- form. Compared by email_key.';

comment on column public.clients.phone is
  'As written, without surrounding space, at most 40 characters; the client may change it in the portal.';

comment on column public.clients.notes is
  'About the client, who never sees them; at most 10000 characters.';

comment on column public.clients.tags is
  'At most 50, of at most 50 characters each; the client never sees them.';

comment on column public.clients.email_key is
  'Lower-case form of email, unique per professional. Upsert with on_conflict=professional_id,email_key.';

comment on column public.clients.link_epoch is
  'Rises when the address changes and when the client is archived or erased, and never falls. Portal sessions, codes and links in mails count only under the epoch they were made under.';

comment on column public.clients.archived is
  'Hidden from daily work; an archived client cannot use the portal.';

comment on column public.clients.metadata is
  'An object of at most 8 kB that the rules do not read; the client never sees it.';

comment on column public.clients.language is
  'Of mails to the client: en or it; null means the professional''s.';

comment on column public.clients.reminders is
  'Whether the client wants reminders; the link in each of them sets it to false.';

comment on column public.clients.mail_status is
  'ok, or undeliverable: mails to this address came back, or were complained about. Nobody sets it; a new address, or a code that its owner entered, makes it ok.';

comment on policy clients_select_own on public.clients is 'A professional reads own clients.';

comment on policy clients_insert_own on public.clients is 'A professional adds own clients.';

comment on policy clients_update_own on public.clients is 'A professional edits own clients.';

comment on policy clients_delete_own on public.clients is
  'A professional deletes own clients; one with bookings or orders is kept by their foreign keys.';

select private.hand_over('normalize_client');
