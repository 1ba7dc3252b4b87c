-- Payment pages: a row for each try to make a session at Stripe, with all that Stripe is asked for.
-- Its id is the idempotency key, so the same row is asked for again while it is unclear what became
-- of it, and a new one only after that is known.

create table private.checkouts (
  id uuid primary key default gen_random_uuid(),
  -- By the clock: whoever waited for the write lock came later.
  created_at timestamptz not null default clock_timestamp(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  order_id uuid not null,
  account_id text not null,
  amount public.money_amount not null,
  currency text not null,
  -- The amount as Stripe counts it.
  minor bigint not null,
  params jsonb not null,
  session_id text,
  url text,
  payment_intent text,
  -- Complete: done with, by somebody who has paid or whose money is on its way.
  status text not null default 'creating'
    constraint checkouts_status_is_known
      check (status in ('creating', 'open', 'complete', 'expired', 'failed')),
  failure text,
  expires_at timestamptz not null,
  constraint checkouts_account_id_session_id_key unique (account_id, session_id),
  constraint checkouts_professional_id_account_id_fkey
    foreign key (professional_id, account_id)
    references private.payment_accounts (professional_id, id)
    on delete cascade,
  -- Somebody may be paying.
  constraint checkouts_professional_id_order_id_fkey
    foreign key (professional_id, order_id) references public.orders (professional_id, id)
    on delete no action
);

create index checkouts_order_id_idx
  on private.checkouts (order_id, professional_id, created_at);

create index checkouts_professional_id_account_id_idx
  on private.checkouts (professional_id, account_id);

-- Money that comes days later comes after the time was given away.
create function private.slow_payment_methods()
returns text[]
language sql
immutable
security invoker
set search_path = ''
as $$
  select array[
    'acss_debit', 'au_becs_debit', 'bacs_debit', 'boleto', 'customer_balance', 'konbini',
    'multibanco', 'nz_bank_account', 'oxxo', 'payto', 'sepa_debit', 'sofort', 'us_bank_account'
  ];
$$;

comment on function private.slow_payment_methods is
  'Stripe''s methods of payment that settle days later.';

create function private.checkout_lines(p_order public.orders, p_minor bigint)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_lines jsonb;
  v_sum numeric;
  v_are_whole boolean;
begin
  select
    jsonb_agg(
      jsonb_build_object(
        'quantity', l.quantity,
        'price_data', jsonb_build_object(
          'currency', lower(p_order.currency),
          'unit_amount', trunc(l.unit),
          'product_data', jsonb_build_object('name', left(l.name, 200))
        )
      )
      order by l.place
    ),
    sum(l.unit * l.quantity),
    bool_and(l.unit = trunc(l.unit) and l.unit % c.step = 0)
  into v_lines, v_sum, v_are_whole
  from private.payment_currencies c
  cross join lateral (
    select
      line ->> 'name' as name,
      (line ->> 'quantity')::integer as quantity,
      (line ->> 'unit_price')::numeric * 10::numeric ^ c.decimals as unit,
      place
    from jsonb_array_elements(p_order.items) with ordinality as lines (line, place)
  ) as l
  where c.code = p_order.currency;

  if v_sum = p_minor and v_are_whole and jsonb_array_length(v_lines) <= 100 then
    return v_lines;
  end if;
  return jsonb_build_array(jsonb_build_object(
    'quantity', 1,
    'price_data', jsonb_build_object(
      'currency', lower(p_order.currency),
      'unit_amount', p_minor,
      'product_data', jsonb_build_object(
        'name',
        case
          when jsonb_array_length(p_order.items) = 1 then left(p_order.items -> 0 ->> 'name', 200)
          else '#' || p_order.number
        end
      )
    )
  ));
end;
$$;

comment on function private.checkout_lines is
  'What is shown as bought: the lines of the order where they make the amount, else one: a deposit, a rest, with tax or less a discount.';

create function private.checkout_params(
  p_checkout_id uuid,
  p_order public.orders,
  p_minor bigint,
  p_success_url text,
  p_cancel_url text,
  p_expires_at timestamptz
)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'mode', 'payment',
    'line_items', private.checkout_lines(p_order, p_minor),
    'success_url', p_success_url,
    'cancel_url', p_cancel_url,
    'client_reference_id', p_checkout_id,
    'expires_at', floor(extract(epoch from p_expires_at)),
    'adaptive_pricing', jsonb_build_object('enabled', false),
    'excluded_payment_method_types', private.slow_payment_methods(),
    'metadata', jsonb_build_object('attempt_id', p_checkout_id, 'order_id', p_order.id),
    'payment_intent_data', jsonb_build_object(
      'metadata', jsonb_build_object('attempt_id', p_checkout_id, 'order_id', p_order.id)
    )
  );
$$;

comment on function private.checkout_params is
  'All that Stripe is asked for, to the last parameter: the same each time, and nothing that a caller could choose but the way back.';

create function private.checkout_json(p_checkout private.checkouts)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'id', p_checkout.id,
    'account_id', p_checkout.account_id,
    'session_id', p_checkout.session_id,
    'url', p_checkout.url,
    'amount', trim_scale(p_checkout.amount),
    'currency', p_checkout.currency,
    'minor', p_checkout.minor,
    'expires_at', private.timestamp_text(p_checkout.expires_at),
    'created_at', floor(extract(epoch from p_checkout.created_at)),
    'params', p_checkout.params
  );
$$;

comment on function private.checkout_json is 'A try as the payments function reads it.';

create function private.is_page_wanted(p_checkout private.checkouts)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (
    select
    from public.orders o
    join private.payment_accounts a on a.id = p_checkout.account_id
    where o.professional_id = p_checkout.professional_id
      and o.id = p_checkout.order_id
      and o.status <> 'cancelled'
      and (o.expires_at is null or o.expires_at > now())
      and private.due_now(o) = p_checkout.amount
      and a.detached_at is null
  ) and not exists (
    select
    from private.checkouts newer
    where newer.professional_id = p_checkout.professional_id
      and newer.order_id = p_checkout.order_id
      and newer.status in ('creating', 'open')
      and newer.created_at > p_checkout.created_at
  );
end;
$$;

comment on function private.is_page_wanted is
  'Whether somebody may still pay on the page of a try: the order stands, this is due, and it is the newest.';

create function private.next_look_at_checkout(p_checkout private.checkouts)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return case
    when p_checkout.status in ('creating', 'open') then greatest(
      now() + interval '1 minute',
      least(
        p_checkout.expires_at + interval '1 minute',
        (
          select expires_at
          from public.orders
          where professional_id = p_checkout.professional_id and id = p_checkout.order_id
        )
      )
    )
    -- Complete, and the money is on its way.
    when p_checkout.status = 'complete' and p_checkout.created_at > now() - interval '30 days'
    then case
      when not exists (
        select
        from private.payments
        where professional_id = p_checkout.professional_id
          and provider = 'stripe'
          and reference = p_checkout.payment_intent
      )
      then now() + interval '1 day'
    end
  end;
end;
$$;

comment on function private.next_look_at_checkout is
  'When a session is looked at although nothing rang: when it or its hold ends, and daily for a month while it is complete without money; null when all is known.';

create function private.plan_checkout(p_checkout private.checkouts)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_due_at constant timestamptz := private.next_look_at_checkout(p_checkout);
begin
  if v_due_at is not null then
    perform private.plan_payment_task(
      p_checkout.professional_id,
      p_checkout.account_id,
      'checkout',
      p_checkout.id::text,
      v_due_at
    );
  end if;
end;
$$;

comment on function private.plan_checkout is 'Plans the next look at a session.';

create function private.ring_checkouts(p_order_id uuid)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.ring_payment_task(professional_id, account_id, 'checkout', id::text)
  from private.checkouts
  where order_id = p_order_id and status in ('creating', 'open');
$$;

comment on function private.ring_checkouts is
  'Something of an order has changed: its open pages are looked at now, and those closed on which nobody may pay any more.';

create function private.forget_checkouts()
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  -- Those that were paid say which account has the money.
  delete from private.checkouts
  where id in (
    select id
    from private.checkouts
    where status in ('expired', 'failed') and created_at < now() - interval '90 days'
    for update skip locked
  );
$$;

comment on function private.forget_checkouts is
  'Removes pages on which nobody has paid, after 90 days.';

create function private.find_checkout_order(p_order_id uuid, p_token text)
returns public.orders
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_order public.orders;
begin
  select o.* into v_order
  from public.orders o
  where o.id = p_order_id
    and (
      p_token is null
      or exists (
        select from private.payment_holds h where h.order_id = o.id and h.token = p_token
      )
    );

  if not found then
    perform private.raise_not_found('order');
  end if;
  return v_order;
end;
$$;

comment on function private.find_checkout_order is
  'An order, for a caller who was authorized (no token) or has its receipt''s token; 404 PGRST301.';

-- Definer: callers have no rights on payments, and clients none on others' orders.
create function private.authorize_checkout(p_order_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(case when p_order_id is null then 'order_id' end);
  if not exists (
    select
    from public.orders
    where id = p_order_id
      and (
        private.caller_manages(professional_id)
        or client_id = private.portal_client_id(professional_id)
        or booking_id = private.portal_booking_id(professional_id)
      )
  ) then
    perform private.raise_not_found('order');
  end if;
end;
$$;

create function private.begin_checkout(
  p_order_id uuid,
  p_success_url text,
  p_cancel_url text,
  p_livemode boolean,
  p_token text
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_order public.orders;
  v_checkout private.checkouts;
  v_account_id text;
  v_ends_at timestamptz;
  v_state text;
begin
  perform private.check_arguments(
    case when p_order_id is null then 'order_id' end,
    case when char_length(p_token) > 200 then 'token' end,
    case when (char_length(p_success_url) <= 2000) is not true then 'success_url' end,
    case when (char_length(p_cancel_url) <= 2000) is not true then 'cancel_url' end,
    case when p_livemode is null then 'livemode' end
  );
  v_order := private.find_checkout_order(p_order_id, p_token);
  perform private.lock_professional(v_order.professional_id);
  perform private.end_expired_holds(v_order.professional_id);
  v_order := private.find_checkout_order(p_order_id, p_token);

  if v_order.status = 'cancelled'
    and exists (select from private.payment_holds where order_id = p_order_id and lapsed)
  then
    perform private.raise_hold_expired();
  elsif private.due_now(v_order) = 0 then
    perform private.raise_error(422, 'nothing_due', 'Nothing of this order is to be paid.');
  end if;

  -- The oldest first: of those before the newest nobody may pay.
  select * into v_checkout
  from private.checkouts
  where professional_id = v_order.professional_id
    and order_id = p_order_id
    and status in ('creating', 'open')
  order by created_at
  limit 1;

  if found then
    v_state := case
      when not private.is_page_wanted(v_checkout) then 'expire'
      when v_checkout.status = 'open' and v_checkout.expires_at > now() then 'open'
      -- Stripe takes no session that is to end within half an hour.
      when v_checkout.status = 'creating'
        and v_checkout.expires_at > now() + interval '30 minutes 30 seconds'
      then 'create'
      else 'check'
    end;
    return jsonb_build_object('state', v_state, 'checkout', private.checkout_json(v_checkout));
  end if;

  v_account_id := private.charging_account(v_order.professional_id);
  if not exists (
    select from private.payment_accounts where id = v_account_id and livemode = p_livemode
  ) then
    perform private.raise_payments_unavailable();
  end if;

  v_checkout.id := gen_random_uuid();
  v_checkout.minor := private.payment_amount(private.due_now(v_order), v_order.currency);
  v_ends_at := private.open_checkout_of(p_order_id);
  -- Stripe's bounds: half an hour and a day.
  v_checkout.expires_at := date_trunc(
    'second',
    least(
      coalesce(v_ends_at - interval '5 minutes', now() + interval '12 hours'),
      now() + interval '23 hours 50 minutes'
    )
  );
  insert into private.checkouts (
    id, professional_id, order_id, account_id, amount, currency, minor, expires_at, params
  )
  values (
    v_checkout.id,
    v_order.professional_id,
    p_order_id,
    v_account_id,
    private.due_now(v_order),
    v_order.currency,
    v_checkout.minor,
    v_checkout.expires_at,
    private.checkout_params(
      v_checkout.id,
      v_order,
      v_checkout.minor,
      p_success_url,
      p_cancel_url,
      v_checkout.expires_at
    )
  )
  returning * into v_checkout;
  perform private.plan_checkout(v_checkout);
  return jsonb_build_object('state', 'create', 'checkout', private.checkout_json(v_checkout));
end;
$$;

create function private.after_checkout(p_checkout private.checkouts)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.plan_checkout(p_checkout);
  if p_checkout.status in ('creating', 'open') or exists (
    select
    from private.checkouts
    where professional_id = p_checkout.professional_id
      and order_id = p_checkout.order_id
      and status in ('creating', 'open')
  ) then
    return;
  end if;
  perform private.end_unpaid_hold(p_checkout.order_id);
end;
$$;

comment on function private.after_checkout is
  'What follows from a session''s new state: the next look; once nobody can pay on any page of the order, its hold ends by the clock. It does not wait for money that is on its way, which may never come: then it comes late.';

create function private.record_provider_payment(p_checkout private.checkouts, p_session jsonb)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_currency constant text := upper(p_session ->> 'currency');
  v_minor constant bigint := (p_session ->> 'amount_total')::bigint;
  v_order public.orders;
  v_amount numeric;
begin
  select * into strict v_order
  from public.orders
  where professional_id = p_checkout.professional_id and id = p_checkout.order_id;
  v_amount := coalesce(private.amount_of_payment(v_minor, v_currency), p_checkout.amount);

  -- It is recorded, but what was asked for was not paid.
  perform set_config(
    'private.underpaid',
    case
      when v_currency = p_checkout.currency and v_minor >= p_checkout.minor then ''
      else v_order.id::text
    end,
    true
  );
  insert into private.payments (
    professional_id, order_id, kind, amount, method, provider, reference, flag
  )
  values (
    p_checkout.professional_id,
    p_checkout.order_id,
    'payment',
    v_amount,
    'Stripe',
    'stripe',
    p_session ->> 'payment_intent',
    case
      when (v_minor, v_currency) is distinct from (p_checkout.minor, p_checkout.currency)
      then 'amount_differs'
      else private.payment_flag(v_order, 'payment', v_amount)
    end
  )
  on conflict do nothing;

  if found then
    perform private.settle_order(p_checkout.order_id);
  end if;
  perform set_config('private.underpaid', '', true);
end;
$$;

comment on function private.record_provider_payment is
  'A session was paid: once in the ledger, whoever reports it, and then what follows for the order. Less than was asked for, or another currency, makes nothing of a hold.';

create function private.record_session(p_account_id text, p_session jsonb)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_session_id constant text := p_session ->> 'id';
  v_attempt_id constant uuid := private.uuid_of(p_session ->> 'attempt_id');
  v_checkout private.checkouts;
begin
  perform private.check_arguments(
    case when p_account_id is null then 'account_id' end,
    case
      when (
        v_session_id ~ '^cs_[A-Za-z0-9_]{1,250}$'
        and p_session ->> 'status' in ('open', 'complete', 'expired')
        and p_session ->> 'expires_at' ~ '^[0-9]{1,11}$'
        and coalesce(p_session ->> 'amount_total', '0') ~ '^[0-9]{1,15}$'
      ) is not true
      then 'session'
    end
  );
  select * into v_checkout
  from private.checkouts
  where account_id = p_account_id
    and (session_id = v_session_id or id = v_attempt_id)
  order by session_id = v_session_id desc nulls last
  limit 1;

  -- The professional may sell by other ways too.
  if not found then
    return;
  end if;
  perform private.lock_professional(v_checkout.professional_id);

  update private.checkouts
  set
    session_id = v_session_id,
    url = p_session ->> 'url',
    payment_intent = p_session ->> 'payment_intent',
    expires_at = to_timestamp((p_session ->> 'expires_at')::bigint),
    -- What is told late: nothing is open again that was closed, nor unpaid what was paid.
    status = case
      when status = 'complete' or (status = 'expired' and p_session ->> 'status' = 'open')
      then status
      else p_session ->> 'status'
    end
  where id = v_checkout.id
    -- The professional can give any session of theirs our reference.
    and (session_id is null or session_id = v_session_id);

  if p_session ->> 'status' = 'complete'
    and p_session ->> 'payment_status' = 'paid'
    and p_session ->> 'payment_intent' is not null
    and (p_session ->> 'amount_total')::bigint > 0
  then
    perform private.record_provider_payment(v_checkout, p_session);
  end if;

  select * into v_checkout from private.checkouts where id = v_checkout.id;
  perform private.after_checkout(v_checkout);
end;
$$;

create function private.fail_checkout(p_checkout_id uuid, p_code text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_checkout private.checkouts;
begin
  perform private.check_arguments(case when p_checkout_id is null then 'checkout_id' end);
  select * into v_checkout from private.checkouts where id = p_checkout_id;

  if not found then
    perform private.raise_not_found('checkout');
  end if;
  perform private.lock_professional(v_checkout.professional_id);

  update private.checkouts
  set status = 'failed', failure = left(p_code, 100)
  where id = p_checkout_id and status in ('creating', 'open')
  returning * into v_checkout;

  if found then
    perform private.take_back_prolongation(v_checkout.order_id);
    perform private.after_checkout(v_checkout);
  end if;
end;
$$;

create function public.authorize_checkout(order_id uuid)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.authorize_checkout($1);
$$;

comment on function public.authorize_checkout is
  'For POST /checkout of the payments function: nothing, when the order may be paid by you. Errors: 404 PGRST301; 422 validation_failed {"fields"}.';

create function public.begin_checkout(
  order_id uuid,
  success_url text,
  cancel_url text,
  livemode boolean,
  token text default null
)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.begin_checkout($1, $2, $3, $4, $5);
$$;

comment on function public.begin_checkout is
  'Server only. The payment page of an order for what is due now: {state, checkout}. open: its page may be used; create, expire, check: that is to be done at Stripe and recorded, then it is asked again. token null only for a caller whom authorize_checkout let pass. Errors: 404 PGRST301; 409 hold_expired; 422 nothing_due, payments_unavailable, amount_not_payable, validation_failed.';

create function public.record_session(account_id text, session jsonb)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.record_session($1, $2);
$$;

comment on function public.record_session is
  'Server only. A session as Stripe has it now: {id, attempt_id, status, payment_status, payment_intent, amount_total, currency, url, expires_at}. What was paid is in the ledger once. Errors: 422 validation_failed.';

create function public.fail_checkout(checkout_id uuid, code text)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.fail_checkout($1, $2);
$$;

comment on function public.fail_checkout is
  'Server only. A try that has no session and never will have. Errors: 404 PGRST301; 422 validation_failed.';

alter table private.checkouts enable row level security;

grant
  select,
  insert,
  update (session_id, url, payment_intent, status, failure, expires_at)
on private.checkouts to rules;

create policy checkouts_all_rules on private.checkouts
  for all to rules
  using (true)
  with check (true);

grant execute on function
  public.authorize_checkout (uuid),
  private.authorize_checkout (uuid)
to authenticated;

grant execute on function
  public.begin_checkout (uuid, text, text, boolean, text),
  private.begin_checkout (uuid, text, text, boolean, text),
  public.record_session (text, jsonb),
  private.record_session (text, jsonb),
  public.fail_checkout (uuid, text),
  private.fail_checkout (uuid, text)
to service_role;

comment on table private.checkouts is
  'Tries to make a session of Stripe Checkout, and what became of each.';

select private.hand_over(
  'authorize_checkout', 'begin_checkout', 'record_session', 'fail_checkout'
);
