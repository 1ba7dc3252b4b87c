-- RPCs: money came in, money went back, and what there was of both.

create type public.order_payment as (
  id uuid,
  kind text,
  amount numeric,
  method text,
  reference text,
  reason text,
  created_at text,
  provider text,
  flag text
);

comment on type public.order_payment is
  'An entry of the ledger of an order, in its currency. Times are ISO 8601 with milliseconds and Z.';

comment on column public.order_payment.id is
  'Of the entry; that of a payment by Stripe is the payment_id of its refunds.';

comment on column public.order_payment.kind is
  'payment, refund, refund_reversal (a refund that failed after all), dispute (the payer''s bank took it back), dispute_reversal; every amount is positive.';

comment on column public.order_payment.amount is 'Always positive; kind says which way it went.';

comment on column public.order_payment.provider is 'manual, or who collected it: stripe.';

comment on column public.order_payment.flag is
  'What should be looked at: exceeds_total, refund_exceeds_paid, amount_differs (from what was asked for), refund_failed (what should have gone back by itself did not); mostly null.';

comment on column public.order_payment.method is 'Such as cash or card; null for a refund.';

comment on column public.order_payment.reference is
  'What the payment provider calls it, unique per professional and provider; null without one.';

comment on column public.order_payment.reason is 'Of a refund; null for a payment.';

comment on column public.order_payment.created_at is
  'When it was recorded, which may be after the money moved.';

create type public.payment_receipt as (
  payment jsonb,
  "order" jsonb
);

comment on type public.payment_receipt is
  'A payment or refund (an order_payment) with its order as it is now (an order_receipt).';

comment on column public.payment_receipt.payment is 'The entry, as order_payments shows it.';

comment on column public.payment_receipt.order is 'The order after it, as place_order answers.';

create function private.order_payment(p_payment private.payments)
returns public.order_payment
language sql
immutable
security invoker
set search_path = ''
as $$
  select row(
    p_payment.id,
    p_payment.kind,
    p_payment.amount,
    p_payment.method,
    p_payment.reference,
    p_payment.reason,
    private.timestamp_text(p_payment.created_at),
    p_payment.provider,
    p_payment.flag
  )::public.order_payment;
$$;

comment on function private.order_payment is 'A ledger row as the API shows it.';

create function private.find_managed_order(p_order_id uuid)
returns public.orders
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_order public.orders;
begin
  select * into v_order
  from public.orders
  where id = p_order_id and private.caller_manages(professional_id);

  if not found then
    perform private.raise_not_found('order');
  end if;
  return v_order;
end;
$$;

comment on function private.find_managed_order is
  'An order of the caller, or any for a server; 404 PGRST301 for any other, there or not.';

create function private.payment_flag(p_order public.orders, p_kind text, p_amount numeric)
returns text
language sql
immutable
security invoker
set search_path = ''
as $$
  select case
    when p_kind = 'payment'
      and p_amount > greatest(p_order.total - p_order.amount_paid + p_order.amount_refunded, 0)
    then 'exceeds_total'
    when p_kind in ('refund', 'dispute')
      and p_amount > p_order.amount_paid - p_order.amount_refunded
    then 'refund_exceeds_paid'
  end;
$$;

comment on function private.payment_flag is
  'How an entry does not fit the order as it was before; null for one that does.';

create function private.write_payment(
  p_order_id uuid,
  p_kind text,
  p_amount numeric,
  p_method text,
  p_reference text,
  p_reason text
)
returns public.payment_receipt
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_order public.orders;
  v_payment private.payments;
  v_due numeric;
  v_refundable numeric;
begin
  perform private.check_arguments(
    case when p_order_id is null then 'order_id' end,
    case when char_length(p_method) > 50 then 'method' end,
    case
      when private.is_blank(p_reference) or char_length(p_reference) > 200 then 'reference'
    end,
    case when char_length(p_reason) > 1000 then 'reason' end
  );
  if (p_amount > 0 and p_amount <= 999999999999.999) is not true then
    perform private.raise_error(422, 'invalid_amount', 'The amount must be more than 0.');
  end if;

  v_order := private.find_managed_order(p_order_id);
  perform private.lock_professional(v_order.professional_id);
  v_order := private.find_managed_order(p_order_id);
  v_due := greatest(v_order.total - v_order.amount_paid + v_order.amount_refunded, 0);
  -- What is about to go back at the provider is not given back by hand too. More than all may
  -- have gone back.
  v_refundable := greatest(
    v_order.amount_paid - v_order.amount_refunded - private.refunds_due(p_order_id), 0
  );

  perform private.check_amount(p_amount, private.minor_units(v_order.professional_id));

  select * into v_payment
  from private.payments
  where professional_id = v_order.professional_id
    and provider = 'manual'
    and reference = p_reference;

  if v_payment.id is null then
    -- What a server reports has happened, a second charge too: it is kept, and marked.
    if p_kind = 'payment' and p_amount > v_due and not private.caller_is_server() then
      perform private.raise_error(
        409,
        'exceeds_total',
        'The payment is more than is due.',
        json_build_object('due', v_due)::text
      );
    elsif p_kind = 'refund' and p_amount > v_refundable and not private.caller_is_server() then
      perform private.raise_error(
        409,
        'refund_exceeds_paid',
        'The refund is more than was paid.',
        json_build_object('refundable', v_refundable)::text
      );
    end if;

    insert into private.payments (
      professional_id, order_id, kind, amount, method, reference, reason, flag
    )
    values (
      v_order.professional_id,
      p_order_id,
      p_kind,
      p_amount,
      p_method,
      p_reference,
      p_reason,
      private.payment_flag(v_order, p_kind, p_amount)
    )
    returning * into v_payment;
  elsif (v_payment.order_id, v_payment.kind, v_payment.amount)
    is distinct from (p_order_id, p_kind, p_amount)
  then
    perform private.raise_error(
      409, 'reference_reused', 'This reference belongs to another payment.'
    );
  end if;

  return row(
    to_jsonb(private.order_payment(v_payment)), to_jsonb(private.order_receipt(p_order_id))
  )::public.payment_receipt;
end;
$$;

comment on function private.write_payment is
  'Adds a payment or refund to the ledger, or finds it by its reference. Due is the total less what was paid and not refunded; only a server may exceed it, and what is paid.';

-- Definer, like refund_payment and order_payments: nobody has rights on the ledger.
create function private.record_payment(
  p_order_id uuid,
  p_amount numeric,
  p_method text,
  p_reference text
)
returns public.payment_receipt
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if private.is_blank(p_method) is not false then
    perform private.raise_error(422, 'method_required', 'A method of payment is required.');
  end if;
  return private.write_payment(p_order_id, 'payment', p_amount, p_method, p_reference, null);
end;
$$;

create function private.refund_payment(
  p_order_id uuid,
  p_amount numeric,
  p_reason text,
  p_reference text
)
returns public.payment_receipt
language sql
volatile
security definer
set search_path = ''
as $$
  select private.write_payment(p_order_id, 'refund', p_amount, null, p_reference, p_reason);
$$;

create function private.order_payments(p_order_id uuid)
returns setof public.order_payment
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(case when p_order_id is null then 'order_id' end);
  perform private.find_managed_order(p_order_id);
  return query
    select shown.*
    from public.orders o
    join private.payments p on p.professional_id = o.professional_id and p.order_id = o.id
    cross join private.order_payment(p) as shown
    where o.id = p_order_id
    order by p.created_at, p.id;
end;
$$;

create function public.record_payment(
  order_id uuid,
  amount numeric,
  method text,
  reference text default null
)
returns public.payment_receipt
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.record_payment($1, $2, $3, $4);
$$;

comment on function public.record_payment is
  'Records that a client paid. The same reference again is the same payment. A cancelled order stays cancelled. A server may report more than is due, which is marked and can then be refunded. Errors: 404 PGRST301; 409 exceeds_total {"due"} (a professional), reference_reused; 422 invalid_amount, too_many_decimals, method_required, validation_failed {"fields"}.';

create function public.refund_payment(
  order_id uuid,
  amount numeric,
  reason text default null,
  reference text default null
)
returns public.payment_receipt
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.refund_payment($1, $2, $3, $4);
$$;

comment on function public.refund_payment is
  'Records that money went back to a client. The same reference again is the same refund. Errors: 404 PGRST301; 409 refund_exceeds_paid {"refundable"} (a professional), reference_reused; 422 invalid_amount, too_many_decimals, validation_failed {"fields"}.';

create function public.order_payments(order_id uuid)
returns setof public.order_payment
language sql
stable
security invoker
set search_path = ''
as $$
  select * from private.order_payments($1);
$$;

comment on function public.order_payments is
  'Entries of the ledger of an order, oldest first. Errors: 404 PGRST301; 422 validation_failed {"fields"}.';

grant execute on function
  public.record_payment (uuid, numeric, text, text),
  private.record_payment (uuid, numeric, text, text),
  public.refund_payment (uuid, numeric, text, text),
  private.refund_payment (uuid, numeric, text, text),
  public.order_payments (uuid),
  private.order_payments (uuid)
to authenticated, service_role;

select private.hand_over('record_payment', 'refund_payment', 'order_payments');
