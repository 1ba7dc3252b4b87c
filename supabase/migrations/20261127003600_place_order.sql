-- RPCs: the public asks what a basket costs, and orders it.

create type public.order_receipt as (
  id uuid,
  professional_id uuid,
  number integer,
  kind text,
  status text,
  payment_status text,
  items jsonb,
  subtotal numeric,
  discount numeric,
  tax numeric,
  total numeric,
  amount_paid numeric,
  amount_refunded numeric,
  currency text,
  version integer,
  created_at text,
  expires_at text,
  checkout_token text,
  amount_due numeric
);

comment on type public.order_receipt is
  'An order as its client sees it. Times are ISO 8601 with milliseconds and Z.';

comment on column public.order_receipt.id is 'The order''s, for the checkout route.';

comment on column public.order_receipt.professional_id is 'Whose order it is.';

comment on column public.order_receipt.number is
  '1, 2, 3 … per professional: what people call the order.';

comment on column public.order_receipt.kind is 'product or service: what its lines are.';

comment on column public.order_receipt.status is
  'As in orders.status; pending also for a hold, which expires_at tells apart.';

comment on column public.order_receipt.payment_status is
  'unpaid, partially_paid, paid, partially_refunded, refunded: follows the amounts.';

comment on column public.order_receipt.items is
  'Lines as ordered: product_id or service_id, name, sku, options, unit_price, quantity, total.';

comment on column public.order_receipt.subtotal is 'Sum of the lines.';

comment on column public.order_receipt.discount is 'What the professional took off.';

comment on column public.order_receipt.tax is
  'Rounded once for the whole order; part of the subtotal where prices include tax.';

comment on column public.order_receipt.total is 'What is to be paid in all.';

comment on column public.order_receipt.amount_paid is
  'Sum of the payments recorded; refunds are not taken off.';

comment on column public.order_receipt.amount_refunded is 'Sum of what went back.';

comment on column public.order_receipt.currency is
  'ISO 4217 code of every amount here: the professional''s when it was ordered.';

comment on column public.order_receipt.version is 'Rises on every real change.';

comment on column public.order_receipt.created_at is 'When it was placed.';

comment on column public.order_receipt.expires_at is
  'Of a hold: until when it has to be confirmed by the link that was mailed, or paid. Null unless it is one.';

comment on column public.order_receipt.checkout_token is
  'What opens a payment page to whoever has it (POST /functions/v1/payments/checkout); null unless the order was a hold for its payment and something is due.';

comment on column public.order_receipt.amount_due is
  'For how much that page is, in currency; null with checkout_token.';

create function private.order_receipt(p_order_id uuid)
returns public.order_receipt
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_receipt public.order_receipt;
begin
  select
    id,
    professional_id,
    number,
    kind,
    status,
    payment_status,
    items,
    subtotal,
    discount,
    tax,
    total,
    amount_paid,
    amount_refunded,
    currency,
    version,
    private.timestamp_text(created_at),
    case when status = 'pending' then private.timestamp_text(expires_at) end
  into v_receipt
  from public.orders
  where id = p_order_id;

  -- A server may have deleted what an idempotency key still remembers.
  if not found then
    perform private.raise_not_found('order');
  end if;

  select h.token, due.amount into v_receipt.checkout_token, v_receipt.amount_due
  from private.payment_holds h
  join public.orders o on o.professional_id = h.professional_id and o.id = h.order_id
  cross join lateral (select nullif(private.due_now(o), 0)) as due (amount)
  where h.order_id = p_order_id and due.amount is not null;

  return v_receipt;
end;
$$;

comment on function private.order_receipt is
  'The receipt of an order as it is now; 404 PGRST301 when it is gone.';

create function private.check_accepts_orders(p_professional_id uuid)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_accepts_orders constant boolean := (
    select accepts_orders from public.profiles where id = p_professional_id
  );
begin
  if v_accepts_orders is null then
    perform private.raise_not_found('professional');
  elsif not v_accepts_orders then
    perform private.raise_error(422, 'not_accepting', 'Orders are not accepted at the moment.');
  end if;
end;
$$;

comment on function private.check_accepts_orders is
  '404 PGRST301 for an unknown professional, 422 not_accepting for one who takes no orders.';

-- Definer: the public reads no profiles and no stock.
create function private.quote_order(p_professional_id uuid, p_items jsonb)
returns public.order_quote
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_quote public.order_quote;
begin
  perform private.check_arguments(case when p_professional_id is null then 'professional_id' end);
  perform private.check_order_lines(p_items, 'product', true, null);

  perform private.check_accepts_orders(p_professional_id);
  v_quote := private.price_order(p_professional_id, 'product', p_items, 0, true);
  perform private.check_stock(p_professional_id, v_quote.items);
  return v_quote;
end;
$$;

-- Definer: the public writes neither orders nor clients itself.
create function private.place_order(
  p_professional_id uuid,
  p_items jsonb,
  p_client_name text,
  p_client_email text,
  p_client_phone text,
  p_notes text,
  p_shipping_address jsonb,
  p_expected_total numeric,
  p_idempotency_key text,
  p_language text
)
returns public.order_receipt
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  -- The client who is asking; null for everybody who has to say who it is for.
  v_portal_client_id constant uuid := private.portal_client_id(p_professional_id);
  v_is_public constant boolean := v_portal_client_id is null or p_client_email is not null;
  v_client_id uuid;
  -- Also who asks: two clients of the portal may choose the same key.
  v_request constant jsonb := jsonb_build_array(
    v_portal_client_id,
    p_items,
    p_client_name,
    p_client_email,
    p_client_phone,
    p_notes,
    p_shipping_address,
    p_expected_total,
    p_language
  );
  v_verify_public_email boolean;
  v_needs_payment boolean;
  v_is_hold boolean;
  v_id uuid;
  v_total numeric;
begin
  perform private.check_arguments(variadic array[
    case when p_professional_id is null then 'professional_id' end,
    case when char_length(p_notes) > 4000 then 'notes' end,
    case
      when jsonb_typeof(p_shipping_address) <> 'object'
        or octet_length(p_shipping_address::text) > 4096
      then 'shipping_address'
    end,
    case when p_expected_total not between 0 and 999999999999.999 then 'expected_total' end
  ] || private.invalid_client_fields(
    p_client_name,
    p_client_email,
    p_client_phone,
    p_language,
    v_is_public
  ));
  perform private.check_order_lines(p_items, 'product', true, null);
  perform private.check_idempotency_key(p_idempotency_key);

  if v_is_public then
    perform private.count_public_try(p_professional_id, p_client_email);
  end if;

  perform private.lock_professional(p_professional_id);
  perform private.end_expired_holds(p_professional_id);

  v_id := private.find_replay(p_professional_id, 'place_order', p_idempotency_key, v_request);
  if v_id is not null then
    return private.order_receipt(v_id);
  end if;

  perform private.check_accepts_orders(p_professional_id);
  select
    verify_public_email,
    -- What the professional enters is an order at once.
    orders_need_payment and private.is_own_change(p_professional_id) is not true
  into v_verify_public_email, v_needs_payment
  from public.profiles
  where id = p_professional_id;

  if v_needs_payment then
    -- Nothing has to be paid for what costs nothing.
    v_needs_payment :=
      (private.price_order(p_professional_id, 'product', p_items, 0, true)).total > 0;
  end if;
  if v_needs_payment then
    perform private.check_unpaid_holds(
      p_professional_id, case when not v_is_public then v_portal_client_id end
    );
  end if;

  v_client_id := case
    when p_client_email is null then v_portal_client_id
    else private.find_or_create_client(
      p_professional_id,
      p_client_name,
      p_client_email,
      p_client_phone,
      p_language,
      v_verify_public_email or v_needs_payment
    )
  end;
  if v_client_id = v_portal_client_id then
    perform private.check_open_count('unpaid orders', (
      select count(*)
      from public.orders
      where professional_id = p_professional_id
        and client_id = v_client_id
        and source = 'portal'
        and status in ('pending', 'confirmed')
        and payment_status = 'unpaid'
    ));
  end if;

  if v_is_public then
    perform private.count_public_write(p_professional_id);
  end if;
  v_is_hold := v_verify_public_email and v_client_id is distinct from v_portal_client_id;
  if v_needs_payment then
    perform set_config('private.awaits_payment', 'on', true);
  end if;
  insert into public.orders (
    professional_id, client_id, kind, items, notes, shipping_address, source, expires_at
  )
  values (
    p_professional_id,
    v_client_id,
    'product',
    p_items,
    p_notes,
    p_shipping_address,
    case when v_client_id = v_portal_client_id then 'portal' else 'public' end,
    case
      -- Money says as much as a link.
      when v_needs_payment then now() + private.payment_time(p_professional_id)
      when v_is_hold then now() + private.hold_time()
    end
  )
  returning id, total into v_id, v_total;

  if p_expected_total <> v_total then
    perform private.raise_error(
      409,
      'total_changed',
      'The total is not the one you expected.',
      json_build_object('expected_total', p_expected_total, 'total', v_total)::text
    );
  end if;

  if v_needs_payment then
    perform private.hold_for_payment(v_id, v_is_public);
  end if;

  perform private.remember_call(
    p_professional_id, 'place_order', p_idempotency_key, v_request, v_id
  );
  return private.order_receipt(v_id);
end;
$$;

create function public.quote_order(professional_id uuid, items jsonb)
returns public.order_quote
language sql
stable
security invoker
set search_path = ''
as $$
  select private.quote_order($1, $2);
$$;

comment on function public.quote_order is
  'What place_order would charge for these lines [{"product_id", "quantity"}] now, without ordering. Errors: 404 PGRST301; 409 insufficient_stock; 422 not_accepting, validation_failed {"fields"}, invalid_items, unexpected_field, product_unavailable, total_too_large.';

-- PL/pgSQL here, because SQL would plan the one call anew each time.
create function public.place_order(
  professional_id uuid,
  items jsonb,
  client_name text default null,
  client_email text default null,
  client_phone text default null,
  notes text default null,
  shipping_address jsonb default null,
  expected_total numeric default null,
  idempotency_key text default null,
  language text default null
)
returns public.order_receipt
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return private.place_order($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);
end;
$$;

comment on function public.place_order is
  'Orders products of a professional for a client, found or made by e-mail: lines [{"product_id", "quantity"}], priced here. With profiles.verify_public_email an order by the public is a hold, and keeps its stock until expires_at, until the link mailed to the client is opened; with profiles.orders_need_payment an order of the public or of a portal client is one until it is paid with its checkout_token. client_name and client_email are required but for a portal client; language (en, it) is kept for a new client. Errors: 404 PGRST301; 409 insufficient_stock, total_changed when expected_total is given and differs; 422 those of quote_order, invalid_idempotency_key, idempotency_key_reused, payments_unavailable, amount_not_payable, for portal clients too_many_open; 429 rate_limit_exceeded for too many, or too many tries, by the public.';

grant execute on function public.quote_order (uuid, jsonb) to anon, authenticated, service_role;

grant execute on function private.quote_order (uuid, jsonb) to anon, authenticated, service_role;

grant execute on function public.place_order (
  uuid, jsonb, text, text, text, text, jsonb, numeric, text, text
) to anon, authenticated, service_role;

grant execute on function private.place_order (
  uuid, jsonb, text, text, text, text, jsonb, numeric, text, text
) to anon, authenticated, service_role;

select private.hand_over('quote_order', 'place_order');
