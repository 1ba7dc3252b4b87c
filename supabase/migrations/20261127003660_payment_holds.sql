-- Holds that are paid for instead of confirmed by a link: a booking of a service that costs with an
-- order of its own, or an order where profiles.orders_need_payment. While a payment page may be
-- open (checkout_open) the clock does not end them: whoever closed that page at the provider does,
-- since what is paid there in time has to find its time and stock.

create table private.payment_holds (
  order_id uuid primary key,
  created_at timestamptz not null default now(),
  professional_id uuid not null,
  -- Null for an order of products.
  booking_id uuid,
  -- Whoever made it pays with this, signed in or not.
  token text not null,
  -- While it is unpaid, of the public alone.
  network_digest bytea,
  prolonged boolean not null default false,
  -- When, and when it would have ended: it is given back where no page comes of it.
  prolonged_at timestamptz,
  prolonged_from timestamptz,
  -- Ended because it was not paid in time, by nobody's will: it comes back if it is paid after all.
  lapsed boolean not null default false,
  constraint payment_holds_token_key unique (token),
  constraint payment_holds_professional_id_order_id_fkey
    foreign key (professional_id, order_id) references public.orders (professional_id, id)
    on delete cascade,
  constraint payment_holds_professional_id_booking_id_fkey
    foreign key (professional_id, booking_id) references public.bookings (professional_id, id)
    on delete cascade
);

create index payment_holds_professional_id_order_id_idx
  on private.payment_holds (professional_id, order_id);

create index payment_holds_professional_id_booking_id_idx
  on private.payment_holds (professional_id, booking_id) where booking_id is not null;

create index payment_holds_network_digest_idx
  on private.payment_holds (professional_id, network_digest) where network_digest is not null;

-- Of three random UUIDs, not of pgcrypto: `rules` may not call extensions.
create function private.new_checkout_token()
returns text
language sql
volatile
security invoker
set search_path = ''
as $$
  select rtrim(
    translate(
      encode(
        sha256(
          uuid_send(gen_random_uuid())
            || uuid_send(gen_random_uuid())
            || uuid_send(gen_random_uuid())
        ),
        'base64'
      ),
      '+/',
      '-_'
    ),
    '='
  );
$$;

comment on function private.new_checkout_token is '32 bytes that nobody can guess, in base64url.';

create function private.due_now(p_order public.orders)
returns numeric
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  -- A bank may take back what had gone back already: nobody pays more than the total for that.
  v_paid constant numeric := greatest(p_order.amount_paid - p_order.amount_refunded, 0);
begin
  return case
    when p_order.status = 'cancelled' then 0
    when v_paid < p_order.deposit then p_order.deposit - v_paid
    else greatest(p_order.total - v_paid, 0)
  end;
end;
$$;

comment on function private.due_now is
  'What is to be paid next of an order: what is missing of the deposit, then the rest; 0 when cancelled.';

create function private.network_digest(p_professional_id uuid)
returns bytea
language sql
stable
security invoker
set search_path = ''
as $$
  select case
    when not private.caller_is_server()
    then sha256(convert_to(p_professional_id || ' ' || private.caller_network(), 'UTF8'))
  end;
$$;

comment on function private.network_digest is
  'What unpaid holds of the public are counted by; null for a server, which asks for many.';

-- Not by an address that was typed: its answer would tell of its owner, and others could use the
-- two up.
create function private.check_unpaid_holds(p_professional_id uuid, p_portal_client_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_network_digest constant bytea := case
    when p_portal_client_id is null then private.network_digest(p_professional_id)
  end;
  v_held integer;
  v_first timestamptz;
begin
  if p_portal_client_id is null and v_network_digest is null then
    return;
  end if;
  select count(*), min(o.expires_at) into v_held, v_first
  from public.orders o
  join private.payment_holds h on h.professional_id = o.professional_id and h.order_id = o.id
  where o.professional_id = p_professional_id
    and o.status = 'pending'
    and o.expires_at is not null
    and case
      when p_portal_client_id is null then h.network_digest = v_network_digest
      else o.client_id = p_portal_client_id and o.source = 'portal'
    end;

  if v_held < 2 then
    return;
  elsif p_portal_client_id is not null then
    perform private.raise_error(
      422,
      'too_many_open',
      'Two of yours wait for their payment already.',
      p_hint => 'Pay or cancel one of them.'
    );
  end if;
  perform private.raise_rate_limited(
    greatest(60, ceil(extract(epoch from v_first - now()))::integer),
    'At most 2 bookings and orders at a time that wait for their payment, from one network.'
  );
end;
$$;

comment on function private.check_unpaid_holds is
  'Two unpaid holds at a time: 422 too_many_open for a portal client, 429 rate_limit_exceeded for the public, by network. Call it after end_expired_holds().';

create function private.payment_time(p_professional_id uuid)
returns interval
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select make_interval(mins => payment_minutes)
    from public.profiles
    where id = p_professional_id
  );
end;
$$;

comment on function private.payment_time is 'How long a professional''s payment holds last.';

create function private.hold_for_payment(p_order_id uuid, p_is_public boolean)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_order public.orders;
begin
  perform set_config('private.awaits_payment', '', true);
  select * into strict v_order from public.orders where id = p_order_id;

  perform private.check_payable(
    v_order.professional_id, private.due_now(v_order), v_order.currency
  );

  insert into private.payment_holds (
    order_id, professional_id, booking_id, token, network_digest
  )
  values (
    v_order.id,
    v_order.professional_id,
    v_order.booking_id,
    private.new_checkout_token(),
    case when p_is_public then private.network_digest(v_order.professional_id) end
  );
end;
$$;

comment on function private.hold_for_payment is
  'Makes the hold that an order was placed as one for its payment; of the public is also what a portal client makes for an address that it types. 422 payments_unavailable, amount_not_payable when nobody could pay it, and then nothing is kept.';

create function private.order_held_booking(p_booking_id uuid, p_is_public boolean)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_order_id uuid;
begin
  insert into public.orders (
    professional_id, client_id, booking_id, deposit, source, expires_at
  )
  select
    b.professional_id,
    b.client_id,
    b.id,
    case when s.payment = 'deposit' then s.deposit end,
    b.source,
    b.expires_at
  from public.bookings b
  join public.services s on s.professional_id = b.professional_id and s.id = b.service_id
  where b.id = p_booking_id
  returning id into v_order_id;

  perform private.hold_for_payment(v_order_id, p_is_public);
end;
$$;

comment on function private.order_held_booking is
  'Gives a booking that waits for its payment the order by which it is paid, held as long as it is.';

-- A page lives for half an hour at least, and is closed five minutes before its hold is over.
create function private.open_checkout_of(p_order_id uuid)
returns timestamptz
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_order public.orders;
  -- As it is stored.
  v_ends_at public.timestamp_ms;
begin
  select * into strict v_order from public.orders where id = p_order_id;
  v_ends_at := v_order.expires_at;

  if v_order.status = 'cancelled' then
    perform private.raise_hold_expired();
  elsif v_order.status <> 'pending' then
    return null;
  elsif v_ends_at <= now() and not v_order.checkout_open then
    perform private.raise_hold_expired();
  elsif v_ends_at < now() + interval '36 minutes' then
    update private.payment_holds
    set prolonged = true, prolonged_at = now(), prolonged_from = v_ends_at
    where order_id = p_order_id and not prolonged;

    if not found then
      perform private.raise_hold_expired();
    end if;
    v_ends_at := now() + interval '40 minutes';
  end if;

  update public.bookings
  set checkout_open = true, expires_at = v_ends_at
  where professional_id = v_order.professional_id
    and id = v_order.booking_id
    and status = 'pending'
    and expires_at is not null
    and (not checkout_open or expires_at < v_ends_at);

  update public.orders
  set checkout_open = true, expires_at = v_ends_at
  where id = p_order_id and (not checkout_open or expires_at < v_ends_at);
  return v_ends_at;
end;
$$;

comment on function private.open_checkout_of is
  'Before a payment page is opened: from now on the clock does not end its hold, which is prolonged once when less than 36 minutes are left. The end of the hold, null for what is none; 409 hold_expired when it is over, or too near its end. Call it under the write lock.';

-- With its time: whoever is refused again and again keeps no time for longer.
create function private.take_back_prolongation(p_order_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_hold private.payment_holds;
begin
  select * into v_hold from private.payment_holds where order_id = p_order_id and prolonged;
  -- Another page has lived by it, or may.
  if not found or exists (
    select
    from private.checkouts
    where professional_id = v_hold.professional_id
      and order_id = p_order_id
      and created_at >= v_hold.prolonged_at
      and (session_id is not null or status in ('creating', 'open'))
  ) then
    return;
  end if;
  update private.payment_holds
  set prolonged = false, prolonged_at = null, prolonged_from = null
  where order_id = p_order_id;

  update public.bookings
  set expires_at = v_hold.prolonged_from
  where professional_id = v_hold.professional_id
    and id = v_hold.booking_id
    and status = 'pending'
    and expires_at > v_hold.prolonged_from;

  update public.orders
  set expires_at = v_hold.prolonged_from
  where id = p_order_id and status = 'pending' and expires_at > v_hold.prolonged_from;
end;
$$;

comment on function private.take_back_prolongation is
  'After a try that has made no page: its hold may be prolonged by another one. Call it under the write lock.';

create function private.close_checkout_of(p_order_id uuid)
returns timestamptz
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_order public.orders;
begin
  select * into strict v_order from public.orders where id = p_order_id;

  update public.bookings
  set checkout_open = false
  where professional_id = v_order.professional_id and id = v_order.booking_id and checkout_open;

  update public.orders set checkout_open = false where id = p_order_id and checkout_open;
  return case when v_order.status = 'pending' then v_order.expires_at end;
end;
$$;

comment on function private.close_checkout_of is
  'Once nobody can pay on the page of an order any more: from now on the clock ends its hold. The end of the hold, null for what is none. Call it under the write lock.';

create function private.end_unpaid_hold(p_order_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_professional_id uuid;
begin
  perform private.close_checkout_of(p_order_id);
  select professional_id into strict v_professional_id from public.orders where id = p_order_id;
  -- This one is among them if it is over.
  perform private.end_expired_holds(v_professional_id);
end;
$$;

comment on function private.end_unpaid_hold is
  'Ends a hold that is over, once its page is known to be closed. Call it under the write lock.';

create function private.keeps_money(p_professional_id uuid)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return current_setting('private.refund', true) = 'none' or coalesce(
    current_setting('request.headers', true) like '%"x-refund"%'
      and nullif(current_setting('request.headers', true), '')::jsonb ->> 'x-refund' = 'none'
      -- A client gets it back.
      and private.caller_manages(p_professional_id),
    false
  );
end;
$$;

comment on function private.keeps_money is
  'Whether a cancellation keeps what was collected: cancel_booking(…, refund => false), the header x-refund: none of the professional or a server, or the setting private.refund = none in SQL.';

create function private.refund_collected(p_order public.orders)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_payment_id uuid;
  v_amount numeric;
begin
  if private.keeps_money(p_order.professional_id) then
    return;
  end if;
  -- One by one: what is left of the order is less for the second of two.
  for v_payment_id in
    select id
    from private.payments
    where professional_id = p_order.professional_id
      and order_id = p_order.id
      and provider <> 'manual'
      and kind = 'payment'
    order by created_at, id
  loop
    v_amount := private.refundable(v_payment_id);
    if private.is_disputed(v_payment_id) then
      update private.payments set return_cause = 'cancelled' where id = v_payment_id;
    elsif v_amount > 0 then
      perform private.queue_refund(v_payment_id, v_amount, 'cancelled', null);
    end if;
  end loop;
end;
$$;

comment on function private.refund_collected is
  'Sends back what the provider collected for an order and still has, unless the money is kept; of a disputed payment when the dispute is closed.';

-- Definer, like the next one: API roles hold no EXECUTE on what they call.
create function private.change_order_of_booking()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_order public.orders;
begin
  select o.* into v_order
  from private.payment_holds h
  join public.orders o on o.professional_id = h.professional_id and o.id = h.order_id
  where h.professional_id = new.professional_id and h.booking_id = new.id;

  if not found then
    return null;
  elsif new.status <> 'cancelled' then
    update public.orders
    set expires_at = null
    where id = v_order.id and status = 'pending' and expires_at is not null;
    return null;
  end if;

  update private.payment_holds
  set lapsed = new.cancelled_by = 'system'
  where order_id = v_order.id;

  if v_order.status in ('pending', 'confirmed') then
    update public.orders set status = 'cancelled' where id = v_order.id;
  else
    perform private.refund_collected(v_order);
  end if;
  return null;
end;
$$;

comment on function private.change_order_of_booking is
  'AFTER a hold became a booking, or a booking was cancelled: the order made with it is an order, or cancelled, and what was collected goes back.';

create function private.change_booking_of_order()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if new.status = 'cancelled' then
    perform private.ring_checkouts(new.id);
    perform private.refund_collected(new);
  end if;
  if old.expires_at is null then
    return null;
  end if;

  update private.payment_holds
  set network_digest = null
  where order_id = new.id and network_digest is not null;

  -- Nothing to do where the booking was first.
  update public.bookings b
  set
    status = case
      when new.status = 'cancelled' then 'cancelled'
      when (
        select requires_confirmation from public.services
        where professional_id = b.professional_id and id = b.service_id
      ) then 'pending'
      else 'confirmed'
    end,
    -- It was over, and nobody's will.
    cancelled_by = case
      when new.status = 'cancelled' and old.expires_at <= now() and not old.checkout_open
      then 'system'
    end,
    expires_at = case when new.status = 'cancelled' then b.expires_at end
  where b.professional_id = new.professional_id
    and b.id = new.booking_id
    and b.status = 'pending'
    and b.expires_at is not null
    and new.source <> 'owner';
  return null;
end;
$$;

comment on function private.change_booking_of_order is
  'AFTER an order was cancelled, or a hold was paid: its payment pages are closed, what was collected goes back, and the booking it was made with is one, or cancelled while it was a hold.';

create trigger bookings_6_change_order
  after update on public.bookings
  for each row when (
    new.client_id is not null
    and (
      (new.status = 'cancelled' and old.status <> 'cancelled')
      or (old.expires_at is not null and new.expires_at is null)
    )
  )
  execute function private.change_order_of_booking();

create trigger orders_6_change_booking
  after update on public.orders
  for each row when (
    (new.status = 'cancelled' and old.status <> 'cancelled')
    or (old.status = 'pending' and old.expires_at is not null and new.expires_at is null)
  )
  execute function private.change_booking_of_order();

alter table private.payment_holds enable row level security;

grant select, insert, update on private.payment_holds to rules;

create policy payment_holds_all_rules on private.payment_holds
  for all to rules
  using (true)
  with check (true);

comment on table private.payment_holds is
  'Orders that had to be paid before they, and the booking they were made with, were more than a hold; with the token that pays them.';

select private.hand_over('change_order_of_booking', 'change_booking_of_order');
