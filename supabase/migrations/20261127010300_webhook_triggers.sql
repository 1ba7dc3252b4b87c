-- Which change is which event. AFTER triggers on the rows themselves, so there is no path around
-- them; last of their table's, so that an event tells of what is there. One statement on one row is
-- one event.

create function private.event_kind(p_object text, p_old jsonb, p_new jsonb)
returns text
language sql
immutable
security invoker
set search_path = ''
as $$
  select case
    when p_old is null then 'created'
    when p_new is null then 'deleted'
    when p_object in ('booking', 'order')
      and p_new ->> 'status' <> p_old ->> 'status'
      and p_new ->> 'status' <> 'pending'
      then p_new ->> 'status'
    when p_object = 'booking'
      and (p_new ->> 'starts_at', p_new ->> 'ends_at')
        <> (p_old ->> 'starts_at', p_old ->> 'ends_at')
      then 'rescheduled'
    when p_object = 'product'
      and (p_old ->> 'in_stock')::boolean
      and not (p_new ->> 'in_stock')::boolean
      then 'out_of_stock'
    when p_object = 'product'
      and (p_new ->> 'stock')::integer <= (p_new ->> 'low_stock_at')::integer
      and ((p_old ->> 'stock')::integer <= (p_old ->> 'low_stock_at')::integer) is not true
      then 'low_stock'
    else 'updated'
  end;
$$;

comment on function private.event_kind is
  'What follows the dot in the type of an event: the first that applies of created, deleted, a new state, rescheduled, out_of_stock, low_stock, updated.';

-- Definer, like emit_payment_event: whoever changes a row holds no rights on the outbox.
create function private.emit_row_event()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_object constant text := tg_argv[0];
  v_professional_id constant uuid := coalesce(new.professional_id, old.professional_id);
  v_old jsonb;
  v_new jsonb;
  v_previous jsonb;
  v_told jsonb;
  v_client_id uuid;
begin
  if not private.records_events(v_professional_id) then
    return null;
  end if;
  if v_object = 'client' and tg_op = 'INSERT' and current_setting('private.holding', true) = 'on'
  then
    insert into private.unheard_clients (professional_id, client_id)
    values (new.professional_id, new.id);
    return null;
  end if;

  if tg_op <> 'INSERT' then
    v_old := private.event_data(tg_relid, to_jsonb(old));
  end if;
  if tg_op <> 'DELETE' then
    v_new := private.event_data(tg_relid, to_jsonb(new));
  end if;
  v_client_id :=
    (coalesce(v_new, v_old) ->> case v_object when 'client' then 'id' else 'client_id' end)::uuid;

  if tg_op = 'UPDATE' and v_object = 'client' then
    if private.is_first_heard_of(v_professional_id, v_client_id) then
      -- Who is forgotten before anybody has heard of them is nobody's news.
      if current_setting('private.erasing', true) = 'on' then
        return null;
      end if;
      v_old := null;
    end if;
  elsif v_object in ('booking', 'order') then
    -- Nobody has heard of a hold that has become a booking or an order.
    if v_old ->> 'expires_at' is not null then
      v_old := null;
    end if;
    if v_old is null and private.is_first_heard_of(v_professional_id, v_client_id) then
      perform private.emit_event(
        v_professional_id,
        'client.created',
        (
          select private.event_data('public.clients', to_jsonb(c))
          from public.clients c
          where professional_id = v_professional_id and id = v_client_id
        ),
        null,
        v_client_id
      );
    end if;
  end if;

  if v_old is not null and v_new is not null then
    v_previous := private.changed_fields(v_old, v_new);
    -- What a payment does to its order is told by payment.* alone, what variants do to in_stock of
    -- their product by their own events; a link that is opened late and a payment page that opens
    -- change nothing.
    v_told := v_previous - array[
      'amount_paid', 'amount_refunded', 'payment_status', 'in_stock', 'email_confirmed_at',
      'checkout_open'
    ];
    if coalesce(v_told, '{}') = '{}' then
      return null;
    end if;
  end if;

  perform private.emit_event(
    v_professional_id,
    v_object || '.' || private.event_kind(v_object, v_old, v_new),
    coalesce(v_new, v_old),
    v_previous,
    v_client_id
  );
  return null;
end;
$$;

comment on function private.emit_row_event is
  'AFTER row trigger with the name of the object: writes the event of the change, if it is one.';

create function private.payment_event(p_payment private.payments)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select
      to_jsonb(private.order_payment(p_payment)) || jsonb_build_object(
        'order',
        jsonb_build_object(
          'id', id,
          'number', number,
          'currency', currency,
          'payment_status', payment_status
        )
      )
    from public.orders
    where professional_id = p_payment.professional_id and id = p_payment.order_id
  );
end;
$$;

comment on function private.payment_event is 'What events say of an entry of the ledger.';

create function private.client_of_payment(p_payment private.payments)
returns uuid
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select client_id
    from public.orders
    where professional_id = p_payment.professional_id and id = p_payment.order_id
  );
end;
$$;

comment on function private.client_of_payment is 'Whose order was paid.';

create function private.emit_payment_event()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if not private.records_events(new.professional_id) then
    return null;
  end if;

  perform private.emit_event(
    new.professional_id,
    case new.kind
      when 'payment' then 'payment.succeeded'
      when 'refund' then 'payment.refunded'
      when 'refund_reversal' then 'payment.refund_reversed'
      when 'dispute' then 'payment.disputed'
      else 'payment.dispute_reversed'
    end,
    private.payment_event(new),
    null,
    private.client_of_payment(new)
  );
  return null;
end;
$$;

comment on function private.emit_payment_event is
  'AFTER INSERT on payments, once the order follows: payment.succeeded, payment.refunded, payment.disputed, and what is taken back of the last two.';

create function private.emit_failed_refund(p_refund private.provider_refunds)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_payment private.payments;
begin
  if not private.records_events(p_refund.professional_id) then
    return;
  end if;

  select * into strict v_payment from private.payments where id = p_refund.payment_id;
  perform private.emit_event(
    p_refund.professional_id,
    'payment.refund_failed',
    private.payment_event(v_payment) || jsonb_build_object(
      'refund',
      jsonb_build_object(
        'amount', p_refund.amount,
        'cause', p_refund.cause,
        'failure', p_refund.failure
      )
    ),
    null,
    private.client_of_payment(v_payment)
  );
end;
$$;

comment on function private.emit_failed_refund is
  'payment.refund_failed: the payment, and what of it should have gone back by itself.';

create trigger services_9_emit_event
  after insert or update or delete on public.services
  for each row execute function private.emit_row_event('service');

create trigger clients_9_emit_event
  after insert or update or delete on public.clients
  for each row execute function private.emit_row_event('client');

create trigger products_9_emit_event
  after insert or update or delete on public.products
  for each row execute function private.emit_row_event('product');

-- Blocked time has no client and is nobody else's business; a hold is not before it is confirmed,
-- and one that ends otherwise never is. Bookings and orders are never deleted
-- but with the account, or by a server that cleans up.
create trigger bookings_9_emit_event
  after insert or update on public.bookings
  for each row when (new.client_id is not null and new.expires_at is null)
  execute function private.emit_row_event('booking');

create trigger orders_9_emit_event
  after insert or update on public.orders
  for each row when (new.expires_at is null)
  execute function private.emit_row_event('order');

create trigger payments_9_emit_event
  after insert on private.payments
  for each row execute function private.emit_payment_event();

select private.hand_over('emit_row_event', 'emit_payment_event');
