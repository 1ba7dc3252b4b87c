-- Appointments and blocked time. Price, duration, name, buffers and notice are copied from the
-- service when the booking is made, so a later edit of the service moves nothing. How a booking may
-- come about and change is in booking_rules.sql.

-- Immutable in fact, because minutes do not depend on the time zone; interval arithmetic as such is
-- only stable, and an exclusion constraint refuses it. PL/pgSQL, because it is called for each row
-- and SQL that cannot be inlined costs three times as much.
create function private.blocked_range(
  p_starts_at timestamptz,
  p_ends_at timestamptz,
  p_buffer_before integer,
  p_buffer_after integer
)
returns tstzrange
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return tstzrange(
    p_starts_at - make_interval(mins => p_buffer_before),
    p_ends_at + make_interval(mins => p_buffer_after),
    '[)'
  );
end;
$$;

comment on function private.blocked_range is
  'The half-open time a booking keeps free: the appointment with its buffers.';

create table public.bookings (
  id uuid primary key default gen_random_uuid(),
  created_at public.timestamp_ms not null default now(),
  updated_at public.timestamp_ms not null default now(),
  professional_id uuid not null default auth.uid()
    references public.profiles (id) on delete cascade,
  client_id uuid,
  service_id uuid,
  service_name text,
  starts_at public.timestamp_ms not null,
  -- Defaults that look odd are there for callers who leave the column to the trigger: without one,
  -- generated types would demand it. (A plain `default null` is not recorded by Postgres.)
  ends_at public.timestamp_ms not null default null,
  buffer_before integer not null default nullif(0, 0)
    constraint bookings_buffer_before_is_0_to_1440_minutes check (buffer_before between 0 and 1440),
  buffer_after integer not null default nullif(0, 0)
    constraint bookings_buffer_after_is_0_to_1440_minutes check (buffer_after between 0 and 1440),
  cancellation_notice integer not null default nullif(0, 0)
    constraint bookings_cancellation_notice_is_0_to_525600_minutes
      check (cancellation_notice between 0 and 525600),
  status text not null default 'confirmed'
    constraint bookings_status_is_known
      check (status in ('pending', 'confirmed', 'cancelled', 'completed', 'no_show')),
  price public.money_amount not null default null,
  currency text not null default '',
  notes text
    constraint bookings_notes_have_at_most_4000_characters check (char_length(notes) <= 4000),
  internal_notes text
    constraint bookings_internal_notes_have_at_most_10000_characters
      check (char_length(internal_notes) <= 10000),
  source text not null default 'owner'
    constraint bookings_source_is_known check (source in ('owner', 'public', 'portal')),
  cancel_reason text
    constraint bookings_cancel_reason_has_at_most_1000_characters
      check (char_length(cancel_reason) <= 1000),
  cancelled_at public.timestamp_ms,
  cancelled_by text
    constraint bookings_cancelled_by_is_known
      check (cancelled_by in ('owner', 'client', 'system')),
  expires_at public.timestamp_ms,
  checkout_open boolean not null default false,
  email_confirmed_at public.timestamp_ms,
  version integer not null default 1,
  metadata jsonb not null default '{}'
    constraint bookings_metadata_is_an_object_of_at_most_8_kb
      check (jsonb_typeof(metadata) = 'object' and octet_length(metadata::text) <= 8192),
  constraint bookings_professional_id_id_key unique (professional_id, id),
  constraint bookings_professional_id_client_id_fkey
    foreign key (professional_id, client_id) references public.clients (professional_id, id)
    on delete no action,
  constraint bookings_professional_id_service_id_fkey
    foreign key (professional_id, service_id) references public.services (professional_id, id)
    on delete no action,
  constraint bookings_have_client_and_service_or_neither
    check ((client_id is null) = (service_id is null)),
  constraint bookings_end_is_after_start check (ends_at > starts_at),
  constraint bookings_last_at_most_366_days check (ends_at - starts_at <= interval '366 days'),
  constraint bookings_are_between_2000_and_2200
    check (starts_at >= '2000-01-01Z' and ends_at < '2200-01-01Z'),
  constraint bookings_cancellation_is_recorded
    check ((status = 'cancelled') = (cancelled_at is not null and cancelled_by is not null)),
  constraint bookings_with_an_expiry_are_pending_or_cancelled
    check (expires_at is null or status in ('pending', 'cancelled')),
  constraint bookings_with_an_open_checkout_are_holds
    check (not checkout_open or (status = 'pending' and expires_at is not null)),
  -- Live, that is pending or confirmed, bookings block their time. Who looks for them by this index
  -- says so in the same words: behind a function the planner would not know the predicate. Checked
  -- at the end of a statement, so that what it met and is over can be ended first.
  constraint bookings_never_overlap
    exclude using gist (
      professional_id with =,
      private.blocked_range(starts_at, ends_at, buffer_before, buffer_after) with &&
    ) where (status in ('pending', 'confirmed'))
    deferrable initially immediate
);

create index bookings_professional_id_starts_at_idx
  on public.bookings (professional_id, starts_at desc, id);

create index bookings_professional_id_created_at_idx
  on public.bookings (professional_id, created_at desc, id);

create index bookings_professional_id_client_id_idx
  on public.bookings (professional_id, client_id, starts_at desc) where client_id is not null;

create index bookings_professional_id_service_id_idx
  on public.bookings (professional_id, service_id) where service_id is not null;

create index bookings_held_idx
  on public.bookings (professional_id, expires_at)
  where status = 'pending' and expires_at is not null;

alter table public.bookings enable row level security;

grant select (
  id,
  created_at,
  updated_at,
  professional_id,
  client_id,
  service_id,
  service_name,
  starts_at,
  ends_at,
  buffer_before,
  buffer_after,
  cancellation_notice,
  status,
  price,
  currency,
  notes,
  internal_notes,
  source,
  cancel_reason,
  cancelled_at,
  cancelled_by,
  expires_at,
  checkout_open,
  email_confirmed_at,
  version,
  metadata
) on public.bookings to authenticated;

-- No delete: bookings are cancelled. `cancellation_notice`, `source`, `version`, who cancelled
-- when, whether a payment page is open and what is known of the link in its mail are facts.
grant insert (
  id,
  professional_id,
  client_id,
  service_id,
  starts_at,
  ends_at,
  buffer_before,
  buffer_after,
  status,
  price,
  notes,
  internal_notes,
  metadata
), update (
  starts_at,
  ends_at,
  status,
  notes,
  internal_notes,
  cancel_reason,
  metadata
) on public.bookings to authenticated;

grant select, insert, update, delete on public.bookings to service_role;

grant select, insert, update on public.bookings to rules;

-- The exclusion constraint runs with the rights of whoever writes the row.
grant execute on function private.blocked_range (timestamptz, timestamptz, integer, integer)
  to authenticated, service_role;

create policy bookings_select_own on public.bookings
  for select to authenticated
  using ((select auth.uid()) = professional_id);

create policy bookings_insert_own on public.bookings
  for insert to authenticated
  with check ((select auth.uid()) = professional_id);

create policy bookings_update_own on public.bookings
  for update to authenticated
  using ((select auth.uid()) = professional_id)
  with check ((select auth.uid()) = professional_id);

create policy bookings_all_rules on public.bookings
  for all to rules
  using (true)
  with check (true);

comment on table public.bookings is
  'Appointments. Without client and service it is blocked time. Live bookings (pending, confirmed) of one professional never overlap, buffers included.';

comment on column public.bookings.id is 'Made here unless the caller chooses one; never changes.';

comment on column public.bookings.created_at is 'When the row was made; never changes.';

comment on column public.bookings.updated_at is 'When something in the row last really changed.';

comment on column public.bookings.professional_id is
  'Whose row it is: the caller''s own, or the one a server names. Never changes.';

comment on column public.bookings.client_id is
  'Whose appointment it is; null with service_id for blocked time.';

comment on column public.bookings.service_id is
  'What was booked; null with client_id for blocked time.';

comment on column public.bookings.service_name is 'Copied from the service when booked.';

comment on column public.bookings.starts_at is
  'Without buffers, from 2000 to 2199. Moved alone, ends_at moves with it.';

comment on column public.bookings.ends_at is
  'Left out: the start plus the duration of the service. Required for blocked time.';

comment on column public.bookings.buffer_before is 'Minutes kept free before; copied when booked.';

comment on column public.bookings.buffer_after is 'Minutes kept free after; copied when booked.';

comment on column public.bookings.cancellation_notice is
  'Until how many minutes before the start the client may cancel or move; copied from the service when booked.';

comment on column public.bookings.status is
  'pending → confirmed | cancelled; confirmed → completed | no_show (once started) | cancelled; completed ↔ no_show; cancelled → confirmed if still free. A hold that was over and is paid after all may also come back as pending, by the system alone.';

comment on column public.bookings.price is 'In currency; copied from the service when booked.';

comment on column public.bookings.currency is
  'ISO 4217 code of price: the professional''s when booked.';

comment on column public.bookings.notes is 'The client sees these.';

comment on column public.bookings.internal_notes is 'The client never sees these.';

comment on column public.bookings.source is 'Who made it: owner, public, portal.';

comment on column public.bookings.cancel_reason is
  'At most 1000 characters; the client sees it. Gone when the booking comes back.';

comment on column public.bookings.cancelled_at is
  'Set by the change to cancelled, null in every other state.';

comment on column public.bookings.cancelled_by is
  'owner or client; system for a hold that was over.';

comment on column public.bookings.expires_at is
  'Of a hold: until when it keeps its time unless it is confirmed. Null for a booking; a hold that ended otherwise keeps it.';

comment on column public.bookings.checkout_open is
  'Of a hold: whether a payment page may be open. It then keeps its time beyond expires_at, until that page is known to be closed.';

comment on column public.bookings.email_confirmed_at is
  'When the link in its own mail was opened; null when it never was.';

comment on column public.bookings.version is
  'Rises on every real change: PATCH …&version=eq.n is compare-and-set.';

comment on column public.bookings.metadata is
  'An object of at most 8 kB that the rules do not read; the client never sees it.';

comment on policy bookings_select_own on public.bookings is 'A professional reads own bookings.';

comment on policy bookings_insert_own on public.bookings is 'A professional adds own bookings.';

comment on policy bookings_update_own on public.bookings is
  'A professional edits, moves and cancels own bookings.';
