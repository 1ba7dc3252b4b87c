-- One row per professional, made at sign-up (sign_up.sql). Everything about how they work: hours,
-- zone, currency, tax, what the public may do.

create table public.profiles (
  id uuid primary key references auth.users (id) on delete cascade,
  created_at public.timestamp_ms not null default now(),
  updated_at public.timestamp_ms not null default now(),
  full_name text not null default ''
    constraint profiles_full_name_has_at_most_200_characters check (char_length(full_name) <= 200)
    constraint profiles_full_name_is_empty_or_can_be_seen
      check (full_name = '' or not private.is_blank(full_name)),
  username text not null
    constraint profiles_username_is_a_slug
      check (username ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length(username) <= 60),
  niche text
    constraint profiles_niche_has_at_most_100_characters check (char_length(niche) <= 100),
  bio text
    constraint profiles_bio_has_at_most_4000_characters check (char_length(bio) <= 4000),
  image_url text
    constraint profiles_image_url_is_a_web_address
      check (image_url ~ '^https?://[^\s<>"]+$' and char_length(image_url) <= 2048),
  time_zone text not null default 'UTC'
    references private.time_zones (name) on delete no action,
  currency text not null default 'EUR'
    references private.currencies (code) on delete no action,
  availability jsonb not null
    default '{"weekly": {"mon": [["09:00", "17:00"]], "tue": [["09:00", "17:00"]], '
      '"wed": [["09:00", "17:00"]], "thu": [["09:00", "17:00"]], "fri": [["09:00", "17:00"]]}, '
      '"overrides": {}}'
    constraint profiles_availability_is_valid
      check (private.availability_problem(availability) is null),
  accepts_bookings boolean not null default false,
  accepts_orders boolean not null default false,
  tax_rate public.percentage not null default 0,
  prices_include_tax boolean not null default false,
  unpaid_order_hours integer default 48
    constraint profiles_unpaid_order_hours_are_1_to_8760
      check (unpaid_order_hours between 1 and 8760),
  verify_public_email boolean not null default false,
  payment_minutes integer not null default 45
    constraint profiles_payment_minutes_are_40_to_1440
      check (payment_minutes between 40 and 1440),
  orders_need_payment boolean not null default false,
  tier text not null default 'free' references private.tiers (name) on delete no action,
  language text not null default 'en'
    constraint profiles_language_is_known check (language = any (private.languages())),
  mail_settings jsonb not null default '{}'
    constraint profiles_mail_settings_are_switches_of_known_kinds
      check (private.are_mail_settings(mail_settings)),
  reminders integer[] not null default '{1440}'
    constraint profiles_reminders_are_at_most_2_of_30_to_20160_minutes
      check (private.are_reminders(reminders)),
  contact_email text
    constraint profiles_contact_email_is_an_address check (private.is_email(contact_email)),
  contact_phone text
    constraint profiles_contact_phone_has_at_most_40_characters
      check (char_length(contact_phone) <= 40),
  address text
    constraint profiles_address_has_at_most_500_characters check (char_length(address) <= 500),
  public_contact text[] not null default '{}'
    constraint profiles_public_contact_is_of_email_phone_and_address
      check (
        public_contact <@ array['contact_email', 'contact_phone', 'address']
        and cardinality(public_contact) <= 3
      ),
  mail_footer text
    constraint profiles_mail_footer_has_at_most_1000_characters
      check (char_length(mail_footer) <= 1000),
  constraint profiles_username_key unique (username)
);

create index profiles_time_zone_idx on public.profiles (time_zone);

create index profiles_tier_idx on public.profiles (tier);

create index profiles_currency_idx on public.profiles (currency);

-- Definer: policies and row triggers ask this about a professional whose profile they cannot read.
create function private.is_open_to_public(p_professional_id uuid)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return exists (
    select from public.profiles
    where id = p_professional_id and (accepts_bookings or accepts_orders)
  );
end;
$$;

comment on function private.is_open_to_public is
  'Whether the public may see this professional''s catalogue: bookings or orders are accepted.';

-- Definer, like every trigger function here: API roles hold no EXECUTE on what it calls.
create function private.check_availability()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_problem text := private.availability_problem(new.availability);
begin
  if v_problem is not null then
    perform private.raise_error(
      422, 'invalid_availability', 'The working hours cannot be used.', v_problem
    );
  end if;
  return new;
end;
$$;

comment on function private.check_availability is
  'Says what is wrong with working hours (422 invalid_availability) before the constraint only says that something is.';

create function private.normalize_profile()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  new.full_name := private.trim_invisible(new.full_name);
  new.contact_email := nullif(private.trim_invisible(new.contact_email), '');
  new.contact_phone := nullif(private.trim_invisible(new.contact_phone), '');
  return new;
end;
$$;

comment on function private.normalize_profile is
  'BEFORE INSERT OR UPDATE: trims name, e-mail and phone as people paste them; an empty e-mail or phone is null.';

-- Not on insert: a new account has nothing to decide, and sign-ups need not wait for each other.
create trigger profiles_lock
  before update or delete on public.profiles
  for each statement execute function private.take_write_lock();

create trigger profiles_check_availability
  before insert or update of availability on public.profiles
  for each row execute function private.check_availability();

create trigger profiles_normalize
  before insert or update of full_name, contact_email, contact_phone on public.profiles
  for each row execute function private.normalize_profile();

create trigger profiles_keep_identity
  before update on public.profiles
  for each row
  when (
    (new.id, new.created_at)
    is distinct from (old.id, old.created_at)
  )
  execute function private.refuse_identity_change();

create trigger profiles_touch
  before update on public.profiles
  for each row execute function private.touch_row();

alter table public.profiles enable row level security;

-- No insert and no delete: the profile comes with the account and goes with it. `tier` is ours to
-- set.
-- By columns, like all that follow: a grant of the whole table would show ctid and xmin too, which
-- count the rows and writes of everybody.
grant select (
  id,
  created_at,
  updated_at,
  full_name,
  username,
  niche,
  bio,
  image_url,
  time_zone,
  currency,
  availability,
  accepts_bookings,
  accepts_orders,
  tax_rate,
  prices_include_tax,
  unpaid_order_hours,
  verify_public_email,
  payment_minutes,
  orders_need_payment,
  tier,
  language,
  mail_settings,
  reminders,
  contact_email,
  contact_phone,
  address,
  public_contact,
  mail_footer
) on public.profiles to authenticated;

grant update (
  full_name,
  username,
  niche,
  bio,
  image_url,
  time_zone,
  currency,
  availability,
  accepts_bookings,
  accepts_orders,
  tax_rate,
  prices_include_tax,
  unpaid_order_hours,
  verify_public_email,
  payment_minutes,
  orders_need_payment,
  language,
  mail_settings,
  reminders,
  contact_email,
  contact_phone,
  address,
  public_contact,
  mail_footer
) on public.profiles to authenticated;

grant select, insert, update, delete on public.profiles to service_role;

grant select, insert on public.profiles to rules;

grant execute on function private.is_open_to_public (uuid) to anon;

-- Nothing for anon: with a policy here anybody could list the names of all professionals.
-- booking_page() shows one.
create policy profiles_select_own on public.profiles
  for select to authenticated
  using ((select auth.uid()) = id);

create policy profiles_update_own on public.profiles
  for update to authenticated
  using ((select auth.uid()) = id)
  with check ((select auth.uid()) = id);

create policy profiles_all_rules on public.profiles
  for all to rules
  using (true)
  with check (true);

comment on table public.profiles is
  'The professional: one row per user, created at sign-up. Names, working hours, time zone, currency, tax and what the public may do.';

comment on column public.profiles.id is
  'The user''s id in the auth service, and professional_id of all that is theirs.';

comment on column public.profiles.created_at is 'When the account was made.';

comment on column public.profiles.updated_at is 'When something in the row last really changed.';

comment on column public.profiles.full_name is
  'Shown on the booking page and in mails to clients; at most 200 characters, may be empty.';

comment on column public.profiles.username is
  'Slug of the public page: lower-case letters, digits and single hyphens, unique.';

comment on column public.profiles.niche is
  'The trade in own words, such as hairdresser; public, at most 100 characters.';

comment on column public.profiles.bio is 'Text for the booking page, at most 4000 characters.';

comment on column public.profiles.image_url is
  'Address of a picture, http or https, at most 2048 characters; nothing is uploaded here.';

comment on column public.profiles.time_zone is 'IANA name; working hours are local times of it.';

comment on column public.profiles.currency is
  'ISO 4217 code of every price, booking and order of this professional.';

comment on column public.profiles.availability is
  'Working hours: {"weekly": {"mon": [["09:00","12:30"],["13:30","18:00"]]}, "overrides": {"2027-12-25": []}}. An override replaces its whole date.';

comment on column public.profiles.accepts_bookings is
  'Whether the public may book. Without it and accepts_orders there is no booking page.';

comment on column public.profiles.accepts_orders is 'Whether the public may order.';

comment on column public.profiles.tax_rate is 'Percent applied to orders.';

comment on column public.profiles.prices_include_tax is
  'Whether tax_rate is contained in prices; else it is added to the total.';

comment on column public.profiles.unpaid_order_hours is
  'Unpaid orders from the public are cancelled after this many hours; null keeps them.';

comment on column public.profiles.verify_public_email is
  'Bookings and orders of the public are held for 30 minutes, until the link mailed to their address is opened.';

comment on column public.profiles.payment_minutes is
  'How long a booking or order that has to be paid first is held for its payment: 40 to 1440 minutes.';

comment on column public.profiles.orders_need_payment is
  'Orders of the public and of portal clients are held until they are paid, for payment_minutes.';

comment on column public.profiles.tier is
  'Rate limit tier: free, plus, pro, max, ultra. Set by the server only.';

comment on column public.profiles.language is
  'Of mails to the professional, and to clients that have none of their own: en or it.';

comment on column public.profiles.mail_settings is
  'Which mails are sent: {"client": {"booking_confirmed": false}, "professional": {"new_order": false}}. A kind that is not named is sent.';

comment on column public.profiles.reminders is
  'Minutes before the start at which clients are reminded: at most two, 30 to 20160; none for an empty list.';

comment on column public.profiles.contact_email is
  'Where clients'' answers to mails go (Reply-To); shown on the page when public_contact names it.';

comment on column public.profiles.contact_phone is
  'In mails to clients, at most 40 characters; shown on the page when public_contact names it.';

comment on column public.profiles.address is
  'In mails to clients, at most 500 characters; shown on the page when public_contact names it, since it may be a home.';

comment on column public.profiles.public_contact is
  'Which of contact_email, contact_phone and address the booking page shows.';

comment on column public.profiles.mail_footer is
  'Text at the end of mails to clients, at most 1000 characters.';

comment on policy profiles_select_own on public.profiles is 'A professional reads the own profile.';

comment on policy profiles_update_own on public.profiles is 'A professional edits the own profile.';

select private.hand_over('is_open_to_public', 'check_availability');
