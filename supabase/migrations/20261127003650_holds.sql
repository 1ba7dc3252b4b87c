-- Holds: bookings and orders that block their time and stock for a while, until somebody confirms
-- them, or pays (payment_holds.sql). RPCs end those that are over before they look; what a direct
-- write meets is ended by it (end_met_holds, take_stock), and a job ends the rest.

create function private.hold_time()
returns interval
language sql
immutable
security invoker
set search_path = ''
as $$
  select interval '30 minutes';
$$;

comment on function private.hold_time is 'How long the public has to open the link in its mail.';

create function private.end_order_holds(p_professional_id uuid, p_except_order_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  with ended as (
    update public.orders
    set status = 'cancelled'
    where professional_id = p_professional_id
      and status = 'pending'
      and expires_at <= now()
      and not checkout_open
      and id is distinct from p_except_order_id
    returning id
  )
  update private.payment_holds
  set lapsed = true
  where order_id in (select id from ended);
end;
$$;

comment on function private.end_order_holds is
  'Ends a professional''s held orders that are over, but for one.';

-- Asked first, and of both at once: mostly there are none, and an update of no row would run the
-- statement triggers all the same.
create function private.end_expired_holds(p_professional_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if not exists (
    select from public.bookings
    where professional_id = p_professional_id
      and status = 'pending'
      and expires_at <= now()
      and not checkout_open
    union all
    select from public.orders
    where professional_id = p_professional_id
      and status = 'pending'
      and expires_at <= now()
      and not checkout_open
  ) then
    return;
  end if;

  update public.bookings
  set status = 'cancelled', cancelled_by = 'system'
  where professional_id = p_professional_id
    and status = 'pending'
    and expires_at <= now()
    and not checkout_open;

  perform private.end_order_holds(p_professional_id, null);
end;
$$;

comment on function private.end_expired_holds is
  'Ends a professional''s holds that are over; stock comes back, and nobody is told. Call it under the write lock, in a statement of its own.';

-- Definer, so that end_expired_holds() runs as `rules` for everybody.
create function private.sweep_holds()
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id uuid;
begin
  for v_professional_id in
    select professional_id
    from (
      select professional_id
      from public.bookings
      where status = 'pending' and expires_at <= now() and not checkout_open
      union
      select professional_id
      from public.orders
      where status = 'pending' and expires_at <= now() and not checkout_open
    ) as held
    order by random()
  loop
    if private.try_lock_professional(v_professional_id) then
      perform private.end_expired_holds(v_professional_id);
      return true;
    end if;
  end loop;
  return false;
end;
$$;

comment on function private.sweep_holds is
  'Ends the holds of one professional that are over, and says whether there were any. One a call, so that no write lock is held for another''s sake.';

create function private.raise_hold_expired()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.raise_error(409, 'hold_expired', 'It was not confirmed in time.');
end;
$$;

comment on function private.raise_hold_expired is
  '409 hold_expired: the link came too late, and there is nothing left to confirm.';

create function private.confirm_held_booking(p_booking public.bookings)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if p_booking.status = 'cancelled' and p_booking.cancelled_by <> 'system' then
    perform private.raise_invalid_transition('cancelled', 'confirmed');
  elsif p_booking.expires_at <= now() and (
    p_booking.starts_at <= now()
    or not (select accepts_bookings from public.profiles where id = p_booking.professional_id)
  ) then
    perform private.raise_hold_expired();
  end if;

  perform set_config('private.revives', p_booking.id::text, true);
  update public.bookings
  set
    status = case
      when p_booking.expires_at is null then status
      when (select requires_confirmation from public.services where id = p_booking.service_id)
      then 'pending'
      else 'confirmed'
    end,
    expires_at = null,
    email_confirmed_at = now()
  where id = p_booking.id;
  perform set_config('private.revives', '', true);
end;
$$;

comment on function private.confirm_held_booking is
  'Makes a hold what its service makes of a booking; one that is over too, while its time is free: 409 slot_taken, hold_expired when it would have begun or no bookings are accepted any more, invalid_transition when somebody cancelled it.';

create function private.confirm_held_order(p_order public.orders)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- Its stock has gone back, and nothing leaves cancelled.
  if p_order.status = 'cancelled' then
    if p_order.expires_at <= now() then
      perform private.raise_hold_expired();
    end if;
    perform private.raise_invalid_transition('cancelled', 'pending');
  end if;

  update public.orders
  set expires_at = null, email_confirmed_at = now()
  where id = p_order.id;
end;
$$;

comment on function private.confirm_held_order is
  'Makes a hold an order: 409 hold_expired when its stock has gone back, invalid_transition when somebody cancelled it.';

-- Definer: our server may write, but the rules decide what a hold becomes.
create function private.confirm_hold(p_kind text, p_id uuid, p_link_epoch integer)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id uuid;
  v_client_id uuid;
  v_booking public.bookings;
  v_order public.orders;
begin
  perform private.check_arguments(
    case when (p_kind in ('booking', 'order')) is not true then 'kind' end,
    case when p_id is null then 'id' end,
    case when p_link_epoch is null then 'link_epoch' end
  );

  select professional_id into v_professional_id
  from public.bookings
  where p_kind = 'booking' and id = p_id
  union all
  select professional_id
  from public.orders
  where p_kind = 'order' and id = p_id;

  if not found then
    perform private.raise_not_found('hold');
  end if;
  perform private.lock_professional(v_professional_id);

  -- Without end_expired_holds(), unlike other RPCs: this one may be confirmed although it is over.
  select * into v_booking from public.bookings where p_kind = 'booking' and id = p_id;
  select * into v_order from public.orders where p_kind = 'order' and id = p_id;
  v_client_id := coalesce(v_booking.client_id, v_order.client_id);
  if not exists (
    select from public.clients
    where professional_id = v_professional_id
      and id = v_client_id
      and link_epoch = p_link_epoch
      and not archived
  ) or exists (
    -- That one is paid for; no link was mailed.
    select from private.payment_holds
    where professional_id = v_professional_id and (order_id = p_id or booking_id = p_id)
  ) then
    perform private.raise_not_found('hold');
  end if;

  if p_kind = 'booking' then
    if v_booking.email_confirmed_at is null then
      perform private.confirm_held_booking(v_booking);
    end if;
    return jsonb_build_object(
      'kind', p_kind, 'booking', to_jsonb(private.booking_receipt(p_id)), 'order', null
    );
  end if;
  if v_order.email_confirmed_at is null then
    perform private.confirm_held_order(v_order);
  end if;
  return jsonb_build_object(
    'kind', p_kind, 'booking', null, 'order', to_jsonb(private.order_receipt(p_id))
  );
end;
$$;

create function public.confirm_hold(kind text, id uuid, link_epoch integer)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.confirm_hold($1, $2, $3);
$$;

grant execute on function
  public.confirm_hold (text, uuid, integer),
  private.confirm_hold (text, uuid, integer)
to service_role;

comment on function public.confirm_hold is
  'Server only, when the link of a hold was opened. kind is booking or order, link_epoch what the link was made under. {kind, booking, order}: the receipt of what it has become, the other null; the same again for one that was confirmed already. Errors: 404 PGRST301, also for another epoch; 409 slot_taken, hold_expired, invalid_transition; 422 validation_failed {"fields"}.';

select private.hand_over('sweep_holds', 'confirm_hold');
