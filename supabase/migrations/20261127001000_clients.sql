-- The people a professional works for: contact data, notes, tags.

create table public.clients (
  id uuid primary key default gen_random_uuid(),
  created_at public.timestamp_ms not null default now(),
  updated_at public.timestamp_ms not null default now(),
  professional_id uuid not null default auth.uid()
    references public.profiles (id) on delete cascade,
  name text not null
    constraint clients_name_has_1_to_200_characters
      check (name ~ '\S' and char_length(name) <= 200),
  email text
    constraint clients_email_is_an_address
      check (email ~ '^[^\s@<>(),;:"\\[:cntrl:]]+@[^\s@<>(),;:"\\[:cntrl:]]+\.[^\s@<>(),;:"\\[:cntrl:]]+$'
        and char_length(email) <= 254),
  phone text
    constraint clients_phone_has_at_most_40_characters check (char_length(phone) <= 40),
  notes text
    constraint clients_notes_have_at_most_10000_characters check (char_length(notes) <= 10000),
  tags text[] not null default '{}'
    constraint clients_tags_are_at_most_50_of_50_characters
      check (
        cardinality(tags) <= 50
        and array_position(tags, null) is null
        and array_to_string(tags, ',') !~ '[^,]{51}'
      ),
  archived boolean not null default false,
  metadata jsonb not null default '{}'
    constraint clients_metadata_is_an_object_of_at_most_8_kb
      check (jsonb_typeof(metadata) = 'object' and octet_length(metadata::text) <= 8192),
  -- The collation is named so that every database lowers the same way.
  email_key text generated always as (lower(normalize(email, nfc) collate pg_catalog.pg_c_utf8)) stored,
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
  new.email := nullif(private.trim_invisible(new.email), '');
  new.phone := nullif(private.trim_invisible(new.phone), '');
  return new;
end;
$$;

comment on function private.normalize_client is
  'BEFORE INSERT OR UPDATE: trims e-mail and phone as people paste them; the spelling stays, an empty one is null.';

create trigger clients_lock
  before insert or update or delete on public.clients
  for each statement execute function private.take_write_lock();

create trigger clients_normalize
  before insert or update of email, phone on public.clients
  for each row execute function private.normalize_client();

create trigger clients_touch
  before update on public.clients
  for each row execute function private.keep_row_identity();

alter table public.clients enable row level security;

grant select on public.clients to authenticated;

grant insert (
  id,
  professional_id,
  name,
  email,
  phone,
  notes,
  tags,
  archived,
  metadata
), update (
  name,
  email,
  phone,
  notes,
  tags,
  archived,
  metadata
), delete on public.clients to authenticated;

grant select, insert, update, delete on public.clients to service_role;

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

comment on table public.clients is
  'Client database. One row per e-mail address and professional; email and phone may both be null.';

comment on column public.clients.email is
  'As written, without surrounding space. Compared by email_key.';

comment on column public.clients.email_key is
  'Lower-case form of email, unique per professional. Upsert with on_conflict=professional_id,email_key.';

comment on column public.clients.archived is
  'Hidden from daily work; an archived client cannot use the portal.';

comment on policy clients_select_own on public.clients is 'A professional reads own clients.';

comment on policy clients_insert_own on public.clients is 'A professional adds own clients.';

comment on policy clients_update_own on public.clients is 'A professional edits own clients.';

comment on policy clients_delete_own on public.clients is
  'A professional deletes own clients; one with bookings or orders is kept by their foreign keys.';
