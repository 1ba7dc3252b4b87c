-- What a payment does that a provider has collected, when it comes late, twice or for what is gone.
-- A hold that is still there was made an order by the ledger itself (change_order).

create function private.booking_may_come_back(p_booking public.bookings)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return p_booking.starts_at > now()
    and (select accepts_bookings from public.profiles where id = p_booking.professional_id)
    and isempty(
      private.busy_time(
        p_booking.professional_id,
        p_booking.starts_at - make_interval(mins => p_booking.buffer_before),
        p_booking.ends_at + make_interval(mins => p_booking.buffer_after),
        p_booking.id
      )
    );
end;
$$;

comment on function private.booking_may_come_back is
  'Whether the time of a cancelled booking is to come and free, and bookings are wanted.';

create function private.order_may_come_back(p_order public.orders)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_booking public.bookings;
begin
  if current_setting('private.underpaid', true) is not distinct from p_order.id::text
    or not exists (
      select
      from private.payment_holds h
      join public.clients c on c.professional_id = h.professional_id and c.id = p_order.client_id
      where h.order_id = p_order.id and h.lapsed and not c.archived
    )
  then
    return false;
  elsif p_order.booking_id is null then
    return (select accepts_orders from public.profiles where id = p_order.professional_id)
      and private.short_of(p_order.professional_id, p_order.items) is null;
  end if;

  select * into v_booking
  from public.bookings
  where professional_id = p_order.professional_id and id = p_order.booking_id;

  return (v_booking.status <> 'cancelled' or private.booking_may_come_back(v_booking))
    -- The owner may have brought the booking back, and ordered it.
    and not exists (
      select from public.orders
      where professional_id = p_order.professional_id
        and booking_id = p_order.booking_id
        and status <> 'cancelled'
    );
end;
$$;

comment on function private.order_may_come_back is
  'Whether a cancelled order was a hold that nobody ended, and its time or stock is still to be had.';

create function private.bring_order_back(p_order public.orders)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform set_config('private.revives', p_order.booking_id::text, true);
  update public.bookings b
  set
    status = case
      when (
        select requires_confirmation from public.services
        where professional_id = b.professional_id and id = b.service_id
      ) then 'pending'
      else 'confirmed'
    end,
    expires_at = null
  where b.professional_id = p_order.professional_id
    and b.id = p_order.booking_id
    and b.status = 'cancelled';

  perform set_config('private.revives', p_order.id::text, true);
  update public.orders set status = 'pending', expires_at = null where id = p_order.id;
  perform set_config('private.revives', '', true);

  update private.payment_holds set lapsed = false where order_id = p_order.id;
end;
$$;

comment on function private.bring_order_back is
  'Makes an order, and the booking it was made with, of a hold that was over; its stock is taken again.';

create function private.return_payment(p_payment private.payments, p_amount numeric, p_cause text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.queue_refund(p_payment.id, p_amount, p_cause, null);
  -- Of all of it, both are told that it goes back, instead of that it came.
  if p_amount = p_payment.amount then
    update private.mails
    set kind = 'payment_returned'
    where payment_id = p_payment.id
      and kind = 'payment_received'
      and status = 'queued'
      and claim_token is null;
  end if;
end;
$$;

comment on function private.return_payment is
  'Sends a payment, or some of it, back to who paid it by mistake or too late.';

create function private.settle_order(p_order_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_order public.orders;
  v_payment private.payments;
  v_is_gone boolean;
  v_excess numeric;
  v_back numeric;
begin
  select * into strict v_order from public.orders where id = p_order_id;
  v_is_gone := v_order.status = 'cancelled';
  if v_is_gone and private.order_may_come_back(v_order) then
    perform private.bring_order_back(v_order);
    v_is_gone := false;
  end if;
  v_excess := v_order.amount_paid - v_order.amount_refunded - v_order.total;

  -- Of this transaction: what was kept of others when the order was cancelled stays kept.
  for v_payment in
    select *
    from private.payments
    where professional_id = v_order.professional_id
      and order_id = p_order_id
      and provider <> 'manual'
      and kind = 'payment'
      and created_at = now()
  loop
    v_back := private.refundable(v_payment.id);
    if not v_is_gone then
      v_back := least(v_back, v_excess);
      v_excess := v_excess - v_back;
    end if;
    if v_back > 0 then
      perform private.return_payment(
        v_payment, v_back, case when v_is_gone then 'late' else 'overpaid' end
      );
    end if;
  end loop;
end;
$$;

comment on function private.settle_order is
  'After a provider''s payment was recorded, in the same transaction and under the write lock: what is gone comes back if its time or stock is to be had, else the money goes back; what is more than the total goes back.';
