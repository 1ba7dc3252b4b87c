-- What clients bought: lines priced and kept as they were, totals that add up, a number per
-- professional without gaps. How an order comes about and changes is in order_rules.sql.

create table public.orders (
  id uuid primary key default gen_random_uuid(),
  created_at public.timestamp_ms not null default now(),
  updated_at public.timestamp_ms not null default now(),
  professional_id uuid not null default auth.uid()
    references public.profiles (id) on delete cascade,
  -- Left out with booking_id: then client and lines come from the booking.
  client_id uuid not null default nullif(auth.uid(), auth.uid()),
  number integer not null default nullif(0, 0)
    constraint orders_number_is_positive check (number > 0),
  kind text not null default 'product'
    constraint orders_kind_is_known check (kind in ('product', 'service')),
  booking_id uuid,
  items jsonb not null default '[]'
    constraint orders_items_are_1_to_200_lines
      check (jsonb_typeof(items) = 'array' and jsonb_array_length(items) between 1 and 200),
  subtotal public.money_amount not null default 0,
  discount public.money_amount not null default 0,
  tax public.money_amount not null default 0,
  total public.money_amount not null default 0,
  deposit public.money_amount,
  currency text not null default '',
  status text not null default 'pending'
    constraint orders_status_is_known
      check (status in ('pending', 'confirmed', 'fulfilled', 'cancelled')),
  amount_paid public.money_amount not null default 0,
  amount_refunded public.money_amount not null default 0,
  payment_status text not null generated always as (
    case
      when amount_paid > 0 and amount_refunded >= amount_paid then 'refunded'
      when amount_paid - amount_refunded >= total then 'paid'
      when amount_refunded > 0 then 'partially_refunded'
      when amount_paid = 0 then 'unpaid'
      else 'partially_paid'
    end
  ) stored,
  shipping_address jsonb
    constraint orders_shipping_address_is_an_object_of_at_most_4_kb
      check (
        jsonb_typeof(shipping_address) = 'object' and octet_length(shipping_address::text) <= 4096
      ),
  notes text
    constraint orders_notes_have_at_most_4000_characters check (char_length(notes) <= 4000),
  internal_notes text
    constraint orders_internal_notes_have_at_most_10000_characters
      check (char_length(internal_notes) <= 10000),
  source text not null default 'owner'
    constraint orders_source_is_known check (source in ('owner', 'public', 'portal')),
  expires_at public.timestamp_ms,
  checkout_open boolean not null default false,
  email_confirmed_at public.timestamp_ms,
  version integer not null default 1,
  metadata jsonb not null default '{}'
    constraint orders_metadata_is_an_object_of_at_most_8_kb
      check (jsonb_typeof(metadata) = 'object' and octet_length(metadata::text) <= 8192),
  constraint orders_professional_id_id_key unique (professional_id, id),
  constraint orders_professional_id_number_key unique (professional_id, number),
  constraint orders_professional_id_client_id_fkey
    foreign key (professional_id, client_id) references public.clients (professional_id, id)
    on delete no action,
  constraint orders_professional_id_booking_id_fkey
    foreign key (professional_id, booking_id) references public.bookings (professional_id, id)
    on delete no action,
  constraint orders_with_an_expiry_are_pending_or_cancelled
    check (expires_at is null or status in ('pending', 'cancelled')),
  constraint orders_with_an_open_checkout_are_pending
    check (not checkout_open or status = 'pending'),
  constraint orders_deposit_is_more_than_0_and_at_most_the_total
    check (deposit > 0 and deposit <= total),
  constraint orders_discount_is_at_most_the_subtotal check (discount <= subtotal),
  constraint orders_total_adds_up
    check (total = subtotal - discount + tax or total = subtotal - discount)
);

create index orders_professional_id_created_at_idx
  on public.orders (professional_id, created_at desc, id);

create index orders_professional_id_client_id_idx
  on public.orders (professional_id, client_id, created_at desc);

create unique index orders_one_live_order_per_booking
  on public.orders (professional_id, booking_id)
  where booking_id is not null and status <> 'cancelled';

create index orders_professional_id_booking_id_idx
  on public.orders (professional_id, booking_id) where booking_id is not null;

create index orders_held_idx
  on public.orders (professional_id, expires_at)
  where status = 'pending' and expires_at is not null;

create function private.touch_order()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- A generated column of NEW is still null here.
  new.payment_status := old.payment_status;
  if new is distinct from old then
    new.updated_at := now();
  end if;
  return new;
end;
$$;

comment on function private.touch_order is
  'BEFORE UPDATE, after whatever else changes the row: dates every real change in updated_at.';

create trigger orders_lock
  before insert or update or delete on public.orders
  for each statement execute function private.take_write_lock();

create trigger orders_3_keep_identity
  before update on public.orders
  for each row
  when (
    (new.id, new.created_at, new.professional_id)
    is distinct from (old.id, old.created_at, old.professional_id)
  )
  execute function private.refuse_identity_change();

create trigger orders_4_touch
  before update on public.orders
  for each row execute function private.touch_order();

alter table public.orders enable row level security;

grant select (
  id,
  created_at,
  updated_at,
  professional_id,
  client_id,
  number,
  kind,
  booking_id,
  items,
  subtotal,
  discount,
  tax,
  total,
  deposit,
  currency,
  status,
  amount_paid,
  amount_refunded,
  payment_status,
  shipping_address,
  notes,
  internal_notes,
  source,
  expires_at,
  checkout_open,
  email_confirmed_at,
  version,
  metadata
) on public.orders to authenticated;

-- No delete: an order is cancelled. Number, totals, payment columns, `source`, whether a payment
-- page is open and what is known of the link in its mail are facts.
grant insert (
  id,
  professional_id,
  client_id,
  kind,
  booking_id,
  items,
  discount,
  shipping_address,
  notes,
  internal_notes,
  metadata
), update (
  status,
  shipping_address,
  notes,
  internal_notes,
  metadata
) on public.orders to authenticated;

grant select, insert, update, delete on public.orders to service_role;

grant select, insert, update on public.orders to rules;

create policy orders_select_own on public.orders
  for select to authenticated
  using ((select auth.uid()) = professional_id);

create policy orders_insert_own on public.orders
  for insert to authenticated
  with check ((select auth.uid()) = professional_id);

create policy orders_update_own on public.orders
  for update to authenticated
  using ((select auth.uid()) = professional_id)
  with check ((select auth.uid()) = professional_id);

create policy orders_all_rules on public.orders
  for all to rules
  using (true)
  with check (true);

comment on table public.orders is
  'Orders of products or services with their lines, totals and payment status. Amounts are in currency.';

comment on column public.orders.id is 'Made here unless the caller chooses one; never changes.';

comment on column public.orders.created_at is 'When the row was made; never changes.';

comment on column public.orders.updated_at is 'When something in the row last really changed.';

comment on column public.orders.professional_id is
  'Whose row it is: the caller''s own, or the one a server names. Never changes.';

comment on column public.orders.client_id is
  'Who pays; left out with booking_id: the client of the booking.';

comment on column public.orders.number is
  '1, 2, 3 … per professional, without gaps; given when it is placed, to holds too.';

comment on column public.orders.kind is 'product or service: what its lines may be.';

comment on column public.orders.booking_id is
  'The booking that is charged; it has one order at a time that is not cancelled.';

comment on column public.orders.items is
  'Lines as ordered, with name, unit price and total; they never change.';

comment on column public.orders.subtotal is 'Sum of the lines.';

comment on column public.orders.discount is
  'An amount that the professional takes off, cut down to the subtotal.';

comment on column public.orders.tax is
  'tax_rate percent of subtotal less discount, rounded once; part of it where prices include tax.';

comment on column public.orders.total is
  'What is to be paid: subtotal less discount, and tax unless prices include it.';

comment on column public.orders.deposit is
  'What has to be paid first of a booking''s price: the service''s deposit when it was booked. Null: all of it.';

comment on column public.orders.currency is
  'ISO 4217 code of every amount here: the professional''s when ordered.';

comment on column public.orders.status is
  'pending → confirmed → fulfilled; pending | confirmed → cancelled. A hold that was over and is paid after all comes back as pending, by the system alone.';

comment on column public.orders.amount_paid is
  'Sum of the payments recorded; refunds are not taken off.';

comment on column public.orders.amount_refunded is
  'Sum of the refunds recorded and of what banks took back, less what was taken back of these. More than amount_paid where a provider says so.';

comment on column public.orders.payment_status is
  'unpaid, partially_paid, paid, partially_refunded, refunded: follows the amounts. What was refunded in part and paid again is paid.';

comment on column public.orders.shipping_address is
  'An object of at most 4 kB, its fields free; the client sees it.';

comment on column public.orders.notes is 'The client sees these.';

comment on column public.orders.internal_notes is 'The client never sees these.';

comment on column public.orders.source is 'Who placed it: owner, public, portal.';

comment on column public.orders.expires_at is
  'Of a hold: until when it keeps its stock unless it is confirmed. Null for an order; a hold that ended otherwise keeps it.';

comment on column public.orders.checkout_open is
  'While pending: whether a payment page may be open. A hold then keeps its stock beyond expires_at, until that page is known to be closed.';

comment on column public.orders.email_confirmed_at is
  'When the link in its own mail was opened; null when it never was.';

comment on column public.orders.version is
  'Rises on every real change: PATCH …&version=eq.n is compare-and-set.';

comment on column public.orders.metadata is
  'An object of at most 8 kB that the rules do not read; the client never sees it.';

comment on policy orders_select_own on public.orders is 'A professional reads own orders.';

comment on policy orders_insert_own on public.orders is 'A professional adds own orders.';

comment on policy orders_update_own on public.orders is
  'A professional confirms, fulfils and cancels own orders.';
