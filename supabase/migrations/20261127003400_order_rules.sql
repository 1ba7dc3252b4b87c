-- How an order comes about and changes, for every writer: number, lines and totals are computed
-- when it is placed and never again; which state follows which.

create function private.order_may_become(p_old text, p_new text)
returns boolean
language sql
immutable
security invoker
set search_path = ''
as $$
  select p_old = p_new
    -- Unknown states are the check constraint's to refuse.
    or p_new not in ('pending', 'confirmed', 'fulfilled', 'cancelled')
    or case p_old
      when 'pending' then p_new in ('confirmed', 'cancelled')
      when 'confirmed' then p_new in ('fulfilled', 'cancelled')
      else false
    end;
$$;

comment on function private.order_may_become is
  'The state machine of orders. Repeating a state is allowed and changes nothing.';

create function private.booking_line(p_booking public.bookings, p_minor_units integer)
returns jsonb
language sql
immutable
security invoker
set search_path = ''
as $$
  select jsonb_build_array(private.order_line(
    jsonb_build_object('service_id', p_booking.service_id),
    p_booking.service_name,
    null,
    null,
    p_booking.price,
    1,
    p_minor_units
  ));
$$;

comment on function private.booking_line is
  'The line of an order that is made from a booking: the service as it was booked.';

create function private.find_ordered_booking(p_professional_id uuid, p_booking_id uuid)
returns public.bookings
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_booking public.bookings;
begin
  select * into v_booking
  from public.bookings
  where professional_id = p_professional_id and id = p_booking_id;

  if not found then
    raise exception using
      errcode = 'foreign_key_violation',
      constraint = 'orders_professional_id_booking_id_fkey',
      table = 'orders',
      message = 'the booking does not exist';
  elsif v_booking.service_id is null then
    perform private.raise_error(
      422,
      'booking_is_blocked_time',
      'Blocked time cannot be ordered: it has no client and no service.'
    );
  elsif v_booking.status = 'cancelled' then
    perform private.raise_error(
      422, 'booking_is_cancelled', 'A cancelled booking cannot be ordered.'
    );
  end if;
  return v_booking;
end;
$$;

comment on function private.find_ordered_booking is
  'The booking an order is for; 23503 as the foreign key would, 422 booking_is_blocked_time, booking_is_cancelled.';

create function private.fill_order()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_minor_units constant integer := private.minor_units(new.professional_id);
  v_booking public.bookings;
  v_quote public.order_quote;
begin
  if not private.is_callers_row(new.professional_id) then
    return new;
  end if;
  if new.status in ('confirmed', 'fulfilled', 'cancelled') then
    perform private.raise_invalid_transition(null, new.status);
  end if;

  -- Under the write lock nobody else can read the same maximum, and what fails leaves no gap.
  new.number := (
    select coalesce(max(number), 0) + 1
    from public.orders
    where professional_id = new.professional_id
  );
  new.version := 1;
  new.amount_paid := 0;
  new.amount_refunded := 0;
  if v_minor_units is null then
    -- No such professional: the foreign key says so.
    return new;
  end if;

  if new.booking_id is not null then
    v_booking := private.find_ordered_booking(new.professional_id, new.booking_id);
    new.client_id := coalesce(new.client_id, v_booking.client_id);
  end if;

  if v_booking.id is not null and coalesce(new.items, '[]') = '[]' then
    new.kind := 'service';
    v_quote := private.add_up(
      new.professional_id, private.booking_line(v_booking, v_minor_units), new.discount
    );
  else
    v_quote := private.price_order(
      new.professional_id, new.kind, new.items, new.discount, new.source <> 'owner'
    );
  end if;

  new.items := v_quote.items;
  new.subtotal := v_quote.subtotal;
  new.discount := v_quote.discount;
  new.tax := v_quote.tax;
  new.total := v_quote.total;
  new.currency := v_quote.currency;
  return new;
end;
$$;

comment on function private.fill_order is
  'BEFORE INSERT: the next number, lines and totals priced here whatever was sent, client and line from the booking when left out.';

create function private.change_order()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if not (
    private.order_may_become(old.status, new.status)
    -- A hold that was over is paid after all.
    or (
      old.status = 'cancelled'
      and new.status = 'pending'
      and current_setting('private.revives', true) is not distinct from new.id::text
    )
  ) then
    perform private.raise_invalid_transition(old.status, new.status);
  end if;

  if (
    new.number,
    new.kind,
    new.booking_id,
    new.items,
    new.subtotal,
    new.discount,
    new.tax,
    new.total,
    new.deposit,
    new.currency,
    new.source
  ) is distinct from (
    old.number,
    old.kind,
    old.booking_id,
    old.items,
    old.subtotal,
    old.discount,
    old.tax,
    old.total,
    old.deposit,
    old.currency,
    old.source
  ) then
    raise exception using
      errcode = 'check_violation',
      constraint = 'orders_what_was_placed_never_changes',
      table = 'orders',
      message = 'number, lines and totals of an order cannot be changed';
  end if;

  -- Money says as much as a click on a link.
  if new.status in ('confirmed', 'fulfilled')
    or (
      new.status = 'pending'
      and new.amount_paid > old.amount_paid
      -- Less than a page asked for (record_provider_payment).
      and current_setting('private.underpaid', true) is distinct from new.id::text
    )
  then
    new.expires_at := null;
  end if;
  if new.status <> 'pending' then
    new.checkout_open := false;
  end if;

  new.version := old.version;
  -- Generated, so it is still null here.
  new.payment_status := old.payment_status;
  if new is distinct from old then
    new.version := old.version + 1;
  end if;
  return new;
end;
$$;

comment on function private.change_order is
  'BEFORE UPDATE: the state machine; what was placed never changes; a hold that is confirmed or paid is one no more; version rises.';

create trigger orders_1_fill
  before insert on public.orders
  for each row execute function private.fill_order();

create trigger orders_2_change
  before update on public.orders
  for each row execute function private.change_order();

select private.hand_over('fill_order', 'change_order');
