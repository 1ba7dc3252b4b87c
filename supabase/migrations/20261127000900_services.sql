-- What a professional offers by appointment.

create table public.services (
  id uuid primary key default gen_random_uuid(),
  created_at public.timestamp_ms not null default now(),
  updated_at public.timestamp_ms not null default now(),
  professional_id uuid not null default auth.uid()
    references public.profiles (id) on delete cascade,
  name text not null
    constraint services_name_has_1_to_200_characters
      check (not private.is_blank(name) and char_length(name) <= 200),
  description text
    constraint services_description_has_at_most_10000_characters
      check (char_length(description) <= 10000),
  category text
    constraint services_category_has_at_most_100_characters check (char_length(category) <= 100),
  image_url text
    constraint services_image_url_is_a_web_address
      check (image_url ~ '^https?://[^\s<>"]+$' and char_length(image_url) <= 2048),
  price public.money_amount not null,
  payment text not null default 'none'
    constraint services_payment_is_known check (payment in ('none', 'deposit', 'full')),
  deposit public.money_amount,
  duration integer not null
    constraint services_duration_is_1_to_1440_minutes check (duration between 1 and 1440),
  buffer_before integer not null default 0
    constraint services_buffer_before_is_0_to_1440_minutes check (buffer_before between 0 and 1440),
  buffer_after integer not null default 0
    constraint services_buffer_after_is_0_to_1440_minutes check (buffer_after between 0 and 1440),
  slot_step integer
    constraint services_slot_step_is_5_to_1440_minutes check (slot_step between 5 and 1440),
  min_notice integer not null default 0
    constraint services_min_notice_is_0_to_525600_minutes check (min_notice between 0 and 525600),
  max_advance_days integer not null default 365
    constraint services_max_advance_days_are_0_to_1095 check (max_advance_days between 0 and 1095),
  cancellation_notice integer not null default 0
    constraint services_cancellation_notice_is_0_to_525600_minutes
      check (cancellation_notice between 0 and 525600),
  requires_confirmation boolean not null default false,
  active boolean not null default true,
  location text
    constraint services_location_has_at_most_500_characters check (char_length(location) <= 500)
    constraint services_location_is_a_text_or_a_https_link
      check (location !~* '^\s*[a-z][a-z0-9+.-]*://' or location ~ '^https://[^\s<>"]+$'),
  instructions text
    constraint services_instructions_have_at_most_4000_characters
      check (char_length(instructions) <= 4000),
  metadata jsonb not null default '{}'
    constraint services_metadata_is_an_object_of_at_most_8_kb
      check (jsonb_typeof(metadata) = 'object' and octet_length(metadata::text) <= 8192),
  constraint services_professional_id_id_key unique (professional_id, id),
  constraint services_deposit_is_more_than_0_and_at_most_the_price
    check (payment <> 'deposit' or coalesce(deposit > 0 and deposit <= price, false))
);

-- The list as the dashboard shows it: own rows, newest first.
create index services_professional_id_created_at_idx
  on public.services (professional_id, created_at desc, id);

-- Anything that could be opened counts as a link, wherever it stands: who gets it can join.
create function private.is_link(p_text text)
returns boolean
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return p_text ~* '://|(^|[^a-z0-9.-])www[.]|[a-z0-9][.][a-z]{2,}(:[0-9]+)?/[^[:space:]]';
end;
$$;

comment on function private.is_link is
  'Whether a text is or holds a link, with or without its scheme; null for null.';

-- Definer, as check_price() is.
create function private.check_deposit()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if private.is_callers_row(new.professional_id) then
    perform private.check_amount(new.deposit, private.minor_units(new.professional_id));
  end if;
  return new;
end;
$$;

comment on function private.check_deposit is
  'BEFORE INSERT OR UPDATE OF deposit: it fits the professional''s currency.';

create trigger services_lock
  before insert or update or delete on public.services
  for each statement execute function private.take_write_lock();

create trigger services_check_price
  before insert or update of price on public.services
  for each row execute function private.check_price();

create trigger services_check_deposit
  before insert or update of deposit on public.services
  for each row when (new.deposit is not null)
  execute function private.check_deposit();

create trigger services_normalize
  before insert or update of name on public.services
  for each row execute function private.trim_name();

create trigger services_keep_identity
  before update on public.services
  for each row
  when (
    (new.id, new.created_at, new.professional_id)
    is distinct from (old.id, old.created_at, old.professional_id)
  )
  execute function private.refuse_identity_change();

create trigger services_touch
  before update on public.services
  for each row execute function private.touch_row();

alter table public.services enable row level security;

grant select (
  id,
  created_at,
  updated_at,
  professional_id,
  name,
  description,
  category,
  image_url,
  price,
  payment,
  deposit,
  duration,
  buffer_before,
  buffer_after,
  slot_step,
  min_notice,
  max_advance_days,
  cancellation_notice,
  requires_confirmation,
  active,
  location,
  instructions,
  metadata
) on public.services to authenticated;

-- Not location, instructions, metadata: where a client goes is told to clients.
grant select (
  id,
  created_at,
  updated_at,
  professional_id,
  name,
  description,
  category,
  image_url,
  price,
  payment,
  deposit,
  duration,
  buffer_before,
  buffer_after,
  slot_step,
  min_notice,
  max_advance_days,
  cancellation_notice,
  requires_confirmation,
  active
) on public.services to anon;

grant insert (
  id,
  professional_id,
  name,
  description,
  category,
  image_url,
  price,
  payment,
  deposit,
  duration,
  buffer_before,
  buffer_after,
  slot_step,
  min_notice,
  max_advance_days,
  cancellation_notice,
  requires_confirmation,
  active,
  location,
  instructions,
  metadata
), update (
  name,
  description,
  category,
  image_url,
  price,
  payment,
  deposit,
  duration,
  buffer_before,
  buffer_after,
  slot_step,
  min_notice,
  max_advance_days,
  cancellation_notice,
  requires_confirmation,
  active,
  location,
  instructions,
  metadata
), delete on public.services to authenticated;

grant select, insert, update, delete on public.services to service_role;

grant select on public.services to rules;

create policy services_select_public on public.services
  for select to anon
  using (active and private.is_open_to_public(professional_id));

create policy services_select_own on public.services
  for select to authenticated
  using ((select auth.uid()) = professional_id);

create policy services_insert_own on public.services
  for insert to authenticated
  with check ((select auth.uid()) = professional_id);

create policy services_update_own on public.services
  for update to authenticated
  using ((select auth.uid()) = professional_id)
  with check ((select auth.uid()) = professional_id);

create policy services_delete_own on public.services
  for delete to authenticated
  using ((select auth.uid()) = professional_id);

create policy services_all_rules on public.services
  for all to rules
  using (true)
  with check (true);

comment on table public.services is
  'Service catalogue. duration, buffers, slot_step, min_notice and cancellation_notice are minutes; price is in the professional''s currency.';

comment on column public.services.id is 'Made here unless the caller chooses one; never changes.';

comment on column public.services.created_at is 'When the row was made; never changes.';

comment on column public.services.updated_at is 'When something in the row last really changed.';

comment on column public.services.professional_id is
  'Whose row it is: the caller''s own, or the one a server names. Never changes.';

comment on column public.services.name is
  '1 to 200 characters; copied onto bookings and order lines.';

comment on column public.services.description is 'For the public, at most 10000 characters.';

comment on column public.services.category is
  'What a page may group by; public, at most 100 characters.';

comment on column public.services.image_url is
  'Address of a picture, http or https, at most 2048 characters; public.';

comment on column public.services.price is
  'Of one appointment, in the professional''s currency; copied onto bookings and order lines.';

comment on column public.services.payment is
  'What the public and portal clients pay when they book: none, deposit, or full (the price, with tax). Until then the booking is a hold.';

comment on column public.services.deposit is
  'What has to be paid first where payment is deposit, at most the price; copied onto the order.';

comment on column public.services.duration is 'Minutes.';

comment on column public.services.buffer_before is 'Minutes kept free before the appointment.';

comment on column public.services.buffer_after is 'Minutes kept free after the appointment.';

comment on column public.services.slot_step is
  'Minutes between two offered starts; null means the duration.';

comment on column public.services.min_notice is
  'Minutes between booking and start, for the public.';

comment on column public.services.max_advance_days is
  'How many local days ahead the public may book; 0 is today only.';

comment on column public.services.cancellation_notice is
  'Minutes before the start until which a client may cancel or move a booking.';

comment on column public.services.requires_confirmation is
  'Bookings by the public start as pending.';

comment on column public.services.active is
  'Inactive services are hidden from the public and cannot be booked by it.';

comment on column public.services.location is
  'Where it is: a text, which the booking page shows, or a https link, which confirmed clients alone are told. At most 500 characters.';

comment on column public.services.instructions is
  'For clients, in mails about their bookings; at most 4000 characters.';

comment on column public.services.metadata is
  'An object of at most 8 kB that the rules do not read; the public does not see it.';

comment on policy services_select_public on public.services is
  'Anybody reads active services of professionals who accept bookings or orders.';

comment on policy services_select_own on public.services is 'A professional reads own services.';

comment on policy services_insert_own on public.services is 'A professional adds own services.';

comment on policy services_update_own on public.services is 'A professional edits own services.';

comment on policy services_delete_own on public.services is 'A professional deletes own services.';

select private.hand_over('check_deposit');
