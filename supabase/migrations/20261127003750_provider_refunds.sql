-- Refunds at Stripe: a row before the call, whose id is the idempotency key, and one for each that
-- was made in Stripe's dashboard. The ledger has an entry once Stripe has the refund, and another
-- when it takes it back.

create table private.provider_refunds (
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default now(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  payment_id uuid not null references private.payments (id) on delete cascade,
  account_id text not null references private.payment_accounts (id) on delete cascade,
  amount public.money_amount not null
    constraint provider_refunds_amount_is_positive check (amount > 0),
  minor bigint not null,
  status text not null default 'due'
    constraint provider_refunds_status_is_known
      check (status in ('due', 'pending', 'succeeded', 'failed', 'canceled')),
  provider_id text,
  -- Null: made at Stripe, without us.
  cause text
    constraint provider_refunds_cause_is_known
      check (cause in ('route', 'cancelled', 'overpaid', 'late')),
  reason text
    constraint provider_refunds_reason_has_at_most_1000_characters
      check (char_length(reason) <= 1000),
  failure text,
  constraint provider_refunds_account_id_provider_id_key unique (account_id, provider_id)
);

create index provider_refunds_professional_id_idx on private.provider_refunds (professional_id);

create index provider_refunds_payment_id_idx on private.provider_refunds (payment_id);

create function private.account_of_payment(p_payment private.payments)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select c.account_id
    from private.checkouts c
    where c.professional_id = p_payment.professional_id
      and c.order_id = p_payment.order_id
      and c.payment_intent = p_payment.reference
  );
end;
$$;

comment on function private.account_of_payment is 'Which account collected a payment.';

create function private.refundable(p_payment_id uuid)
returns numeric
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select greatest(
      p.amount
        - coalesce((
          select sum(r.amount)
          from private.provider_refunds r
          where r.payment_id = p.id and r.status in ('due', 'pending', 'succeeded')
        ), 0)
        - coalesce((
          select sum(case e.kind when 'dispute' then e.amount else -e.amount end)
          from private.disputes d
          join private.payments e
            on e.professional_id = d.professional_id
            and e.provider = 'stripe'
            and e.kind in ('dispute', 'dispute_reversal')
            and split_part(e.reference, ' ', 1) = d.id
          where d.payment_id = p.id
        ), 0),
      0
    )
    from private.payments p
    where p.id = p_payment_id
  );
end;
$$;

comment on function private.refundable is
  'What of a payment has neither gone back nor is about to, nor was taken by a dispute.';

create function private.is_disputed(p_payment_id uuid)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (
    select
    from private.disputes
    where payment_id = p_payment_id
      and status not in ('won', 'lost', 'warning_closed', 'prevented')
  );
end;
$$;

comment on function private.is_disputed is 'Whether the payer''s bank is at a payment.';

create function private.queue_refund(
  p_payment_id uuid,
  p_amount numeric,
  p_cause text,
  p_reason text
)
returns uuid
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_payment private.payments;
  v_refund private.provider_refunds;
begin
  select * into strict v_payment from private.payments where id = p_payment_id;

  insert into private.provider_refunds (
    professional_id, payment_id, account_id, amount, minor, cause, reason
  )
  select
    v_payment.professional_id,
    p_payment_id,
    private.account_of_payment(v_payment),
    p_amount,
    private.payment_amount_of_refund(p_amount, o.currency),
    p_cause,
    p_reason
  from public.orders o
  where o.professional_id = v_payment.professional_id and o.id = v_payment.order_id
  returning * into v_refund;

  perform private.ring_payment_task(
    v_refund.professional_id, v_refund.account_id, 'refund', v_refund.id::text
  );
  return v_refund.id;
end;
$$;

comment on function private.queue_refund is
  'Sends some of a payment back, as soon as the dispatcher has time. Call it under the write lock.';

create function private.payment_amount_of_refund(p_amount numeric, p_currency text)
returns bigint
language sql
stable
security invoker
set search_path = ''
as $$
  -- What is too little to be charged may be given back.
  select trunc(p_amount * 10::numeric ^ decimals / step)::bigint * step
  from private.payment_currencies
  where code = p_currency;
$$;

comment on function private.payment_amount_of_refund is
  'An amount to give back as Stripe counts it, never more than it.';

-- Definer: nobody has rights on the ledger.
create function private.begin_refund(p_payment_id uuid, p_amount numeric, p_reason text)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_payment private.payments;
  v_refundable numeric;
  v_amount numeric;
begin
  perform private.check_arguments(
    case when p_payment_id is null then 'payment_id' end,
    case when char_length(p_reason) > 1000 then 'reason' end
  );
  select * into v_payment
  from private.payments
  where id = p_payment_id and professional_id = private.caller_professional_id();

  if not found then
    perform private.raise_not_found('payment');
  elsif v_payment.provider <> 'stripe' or v_payment.kind <> 'payment' then
    perform private.raise_error(
      422,
      'not_a_provider_payment',
      'Nothing was collected online that could be given back.',
      p_hint => 'refund_payment records what was given back otherwise.'
    );
  elsif p_amount <= 0 then
    perform private.raise_error(422, 'invalid_amount', 'The amount must be more than 0.');
  end if;
  perform private.lock_professional(v_payment.professional_id);
  perform private.check_amount(p_amount, private.minor_units(v_payment.professional_id));

  if private.is_disputed(p_payment_id) then
    perform private.raise_error(409, 'payment_disputed', 'The payment is disputed.');
  end if;
  v_refundable := private.refundable(p_payment_id);
  v_amount := coalesce(p_amount, v_refundable);
  if v_amount > v_refundable or v_refundable = 0 then
    perform private.raise_error(
      422,
      'refund_exceeds_payment',
      'More than is left of the payment.',
      json_build_object('refundable', trim_scale(v_refundable))::text
    );
  end if;

  return jsonb_build_object(
    'refund_id', private.queue_refund(p_payment_id, v_amount, 'route', p_reason),
    'status', 'due',
    'amount', trim_scale(v_amount)
  );
end;
$$;

create function private.find_provider_payment(p_account_id text, p_payment_intent text)
returns private.payments
language sql
stable
security invoker
set search_path = ''
as $$
  select p
  from private.payment_accounts a
  join private.payments p
    on p.professional_id = a.professional_id
    and p.provider = 'stripe'
    and p.reference = p_payment_intent
    and p.kind = 'payment'
  where a.id = p_account_id;
$$;

comment on function private.find_provider_payment is
  'The payment that an account collected; null for what was not sold here.';

create function private.enter_provider_entry(
  p_payment private.payments,
  p_kind text,
  p_amount numeric,
  p_reference text,
  p_reason text
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  insert into private.payments (
    professional_id, order_id, kind, amount, provider, reference, reason, flag
  )
  select
    p_payment.professional_id,
    p_payment.order_id,
    p_kind,
    p_amount,
    'stripe',
    p_reference,
    p_reason,
    private.payment_flag(o, p_kind, p_amount)
  from public.orders o
  where o.professional_id = p_payment.professional_id and o.id = p_payment.order_id
  on conflict do nothing;
end;
$$;

comment on function private.enter_provider_entry is
  'What Stripe says about the money of a payment, once, whoever reports it; it is never refused.';

create function private.record_refund(p_account_id text, p_refund jsonb)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_provider_id constant text := p_refund ->> 'id';
  v_status constant text := case p_refund ->> 'status'
    when 'requires_action' then 'pending'
    else p_refund ->> 'status'
  end;
  v_payment private.payments;
  v_refund private.provider_refunds;
  v_amount numeric;
begin
  perform private.check_arguments(
    case when p_account_id is null then 'account_id' end,
    case
      when (
        v_provider_id ~ '^\w{1,255}$'
        and v_status in ('pending', 'succeeded', 'failed', 'canceled')
        and jsonb_typeof(p_refund -> 'amount') = 'number'
      ) is not true
      then 'refund'
    end
  );
  v_payment := private.find_provider_payment(p_account_id, p_refund ->> 'payment_intent');
  if v_payment.id is null then
    return;
  end if;
  perform private.lock_professional(v_payment.professional_id);
  v_amount := private.amount_of_payment(
    (p_refund ->> 'amount')::bigint, upper(p_refund ->> 'currency')
  );

  -- Found by its own id, or by the try that made it.
  select * into v_refund
  from private.provider_refunds
  where payment_id = v_payment.id
    and (
      provider_id = v_provider_id
      or (provider_id is null and id::text = p_refund ->> 'attempt_id')
    )
  order by provider_id
  limit 1;

  if not found then
    insert into private.provider_refunds (
      professional_id, payment_id, account_id, amount, minor, provider_id
    )
    values (
      v_payment.professional_id,
      v_payment.id,
      p_account_id,
      v_amount,
      (p_refund ->> 'amount')::bigint,
      v_provider_id
    )
    returning * into v_refund;
  end if;

  update private.provider_refunds
  set
    provider_id = v_provider_id,
    status = v_status,
    failure = case when v_status in ('failed', 'canceled') then left(p_refund ->> 'reason', 100) end
  where id = v_refund.id;

  if v_status in ('pending', 'succeeded') then
    perform private.enter_provider_entry(
      v_payment, 'refund', v_amount, v_provider_id, v_refund.reason
    );
  elsif exists (
    select
    from private.payments
    where professional_id = v_payment.professional_id
      and provider = 'stripe'
      and reference = v_provider_id
      and kind = 'refund'
  ) then
    perform private.enter_provider_entry(
      v_payment, 'refund_reversal', v_amount, v_provider_id, null
    );
  end if;

  if v_status = 'pending' then
    perform private.plan_payment_task(
      v_payment.professional_id,
      p_account_id,
      'refund',
      v_refund.id::text,
      now() + interval '1 day'
    );
  end if;
end;
$$;

create function private.fail_refund(p_refund_id uuid, p_code text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(case when p_refund_id is null then 'refund_id' end);
  update private.provider_refunds
  set status = 'failed', failure = left(p_code, 100)
  where id = p_refund_id and status = 'due';
end;
$$;

create function public.begin_refund(
  payment_id uuid,
  amount numeric default null,
  reason text default null
)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.begin_refund($1, $2, $3);
$$;

comment on function public.begin_refund is
  'For POST /refunds of the payments function: {refund_id, status, amount}; all that is left of the payment without an amount. Errors: 404 PGRST301; 409 payment_disputed; 422 refund_exceeds_payment {"refundable"}, not_a_provider_payment, invalid_amount, too_many_decimals, validation_failed {"fields"}.';

create function public.record_refund(account_id text, refund jsonb)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.record_refund($1, $2);
$$;

comment on function public.record_refund is
  'Server only. A refund as Stripe has it now: {id, attempt_id, payment_intent, amount, currency, status, reason}. Errors: 422 validation_failed.';

create function public.fail_refund(refund_id uuid, code text)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.fail_refund($1, $2);
$$;

comment on function public.fail_refund is
  'Server only. A refund that Stripe has refused for good. Errors: 422 validation_failed.';

alter table private.provider_refunds enable row level security;

grant select, insert, update (status, provider_id, failure, reason)
on private.provider_refunds to rules;

create policy provider_refunds_all_rules on private.provider_refunds
  for all to rules
  using (true)
  with check (true);

grant execute on function
  public.begin_refund (uuid, numeric, text),
  private.begin_refund (uuid, numeric, text)
to authenticated;

grant execute on function
  public.record_refund (text, jsonb),
  private.record_refund (text, jsonb),
  public.fail_refund (uuid, text),
  private.fail_refund (uuid, text)
to service_role;

comment on table private.provider_refunds is
  'Refunds at Stripe, those that are still to be made among them.';

select private.hand_over('begin_refund', 'record_refund', 'fail_refund');
