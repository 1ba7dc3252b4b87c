-- Refunds at Stripe: a row before the call, whose id is the idempotency key, and one for each that
-- was made in Stripe's dashboard. The ledger has an entry once Stripe has the refund, and another
-- when it takes it back.

create table private.provider_refunds (
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default now(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  payment_id uuid not null,
  account_id text not null,
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
  constraint provider_refunds_account_id_provider_id_key unique (account_id, provider_id),
  constraint provider_refunds_professional_id_payment_id_fkey
    foreign key (professional_id, payment_id) references private.payments (professional_id, id)
    on delete cascade,
  constraint provider_refunds_professional_id_account_id_fkey
    foreign key (professional_id, account_id)
    references private.payment_accounts (professional_id, id)
    on delete cascade
);

create index provider_refunds_payment_id_idx
  on private.provider_refunds (payment_id, professional_id);

create index provider_refunds_professional_id_account_id_idx
  on private.provider_refunds (professional_id, account_id);

create function private.account_of_payment(p_payment private.payments)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select a.id
    from private.payment_accounts a
    left join private.checkouts c
      on c.professional_id = a.professional_id
      and c.account_id = a.id
      and c.order_id = p_payment.order_id
    where a.professional_id = p_payment.professional_id
    -- Another session with our reference may have collected it; it was this order's account then.
    order by
      c.payment_intent = p_payment.reference desc nulls last,
      c.created_at desc nulls last,
      a.created_at desc
    limit 1
  );
end;
$$;

comment on function private.account_of_payment is 'Which account collected a payment.';

create function private.refunds_due(p_order_id uuid)
returns numeric
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select coalesce(sum(r.amount), 0)
    from public.orders o
    join private.payments p on p.professional_id = o.professional_id and p.order_id = o.id
    join private.provider_refunds r on r.payment_id = p.id and r.status = 'due'
    where o.id = p_order_id
  );
end;
$$;

comment on function private.refunds_due is
  'What of an order is to go back and not in the ledger yet, since Stripe has still to be asked.';

create function private.refundable(p_payment_id uuid)
returns numeric
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_payment private.payments;
  v_gone numeric;
  v_left numeric;
begin
  select * into strict v_payment from private.payments where id = p_payment_id;

  select coalesce(sum(amount), 0) into v_gone
  from private.provider_refunds
  where payment_id = p_payment_id and status in ('due', 'pending', 'succeeded');

  -- What was given back in cash is not given back again.
  select amount_paid - amount_refunded - private.refunds_due(id) into v_left
  from public.orders
  where professional_id = v_payment.professional_id and id = v_payment.order_id;

  return greatest(
    least(v_payment.amount - v_gone - private.taken_by_disputes(p_payment_id), v_left), 0
  );
end;
$$;

comment on function private.refundable is
  'What of a payment has neither gone back, by whichever way, nor is about to, nor was taken by a dispute.';

create function private.taken_by_disputes(p_payment_id uuid)
returns numeric
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select coalesce(sum(case e.kind when 'dispute' then e.amount else -e.amount end), 0)
    from private.disputes d
    join private.payments p on p.id = d.payment_id
    join private.payments e
      on e.professional_id = p.professional_id
      and e.order_id = p.order_id
      and e.kind in ('dispute', 'dispute_reversal')
      -- A bank may take it a second time (enter_dispute).
      and split_part(e.reference, ' ', 1) = d.id
    where d.payment_id = p_payment_id
  );
end;
$$;

comment on function private.taken_by_disputes is
  'What the payer''s bank has taken of a payment and not given back.';

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
    where payment_id = p_payment_id and status in ('needs_response', 'under_review')
  );
end;
$$;

comment on function private.is_disputed is
  'Whether the payer''s bank is at a payment. One that only asks (warning_…) is answered by a refund.';

create function private.minor_of_refund(p_amount numeric, p_currency text)
returns bigint
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- What is too little to be charged may be given back.
  return (
    select trunc(p_amount * 10::numeric ^ decimals / step)::bigint * step
    from private.payment_currencies
    where code = p_currency
  );
end;
$$;

comment on function private.minor_of_refund is
  'An amount to give back as Stripe counts it, never more than it.';

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
  v_currency text;
  v_minor bigint;
  v_refund private.provider_refunds;
begin
  select * into strict v_payment from private.payments where id = p_payment_id;

  select currency into strict v_currency
  from public.orders
  where professional_id = v_payment.professional_id and id = v_payment.order_id;

  v_minor := private.minor_of_refund(p_amount, v_currency);
  if v_minor = 0 then
    return null;
  end if;
  insert into private.provider_refunds (
    professional_id, payment_id, account_id, amount, minor, cause, reason
  )
  values (
    v_payment.professional_id,
    p_payment_id,
    private.account_of_payment(v_payment),
    private.amount_of_payment(v_minor, v_currency),
    v_minor,
    p_cause,
    p_reason
  )
  returning * into v_refund;

  perform private.plan_payment_task(
    v_refund.professional_id,
    v_refund.account_id,
    'refund',
    v_refund.id::text,
    -- The route makes it at once, and tells the caller how that went; should it die, somebody else.
    now() + case p_cause when 'route' then interval '10 seconds' else '0' end
  );
  return v_refund.id;
end;
$$;

comment on function private.queue_refund is
  'Sends some of a payment back, as soon as the dispatcher has time; null when it is less than Stripe counts in. Call it under the write lock.';

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
  v_currency text;
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

  select currency into strict v_currency
  from public.orders
  where professional_id = v_payment.professional_id and id = v_payment.order_id;

  -- What was typed to the last decimal is given back so, or not at all.
  if private.amount_of_payment(private.minor_of_refund(v_amount, v_currency), v_currency)
    <> v_amount
  then
    perform private.raise_amount_not_payable(v_amount, v_currency);
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

create function private.tell_failed_refund(p_refund_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_refund private.provider_refunds;
begin
  select * into strict v_refund from private.provider_refunds where id = p_refund_id;
  -- Who asked the route for it has its answer, and whoever made it at Stripe sees it there.
  if (v_refund.cause <> 'route') is not true then
    return;
  end if;
  update private.payments
  set
    flag = 'refund_failed',
    return_cause = case v_refund.failure when 'charge_disputed' then v_refund.cause end
  where id = v_refund.payment_id;

  perform private.queue_failed_refund_mail(v_refund);
  perform private.emit_failed_refund(v_refund);
end;
$$;

comment on function private.tell_failed_refund is
  'Of money that should have gone back by itself and did not, the professional is told. Where only a dispute is in the way, it is tried again when that is closed.';

create function private.refund_after_dispute(p_payment_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_payment private.payments;
  v_order public.orders;
  v_amount numeric;
begin
  select * into strict v_payment from private.payments where id = p_payment_id;
  if v_payment.return_cause is null or private.is_disputed(p_payment_id) then
    return;
  end if;
  select * into strict v_order
  from public.orders
  where professional_id = v_payment.professional_id and id = v_payment.order_id;

  v_amount := private.refundable(p_payment_id);
  if v_payment.return_cause = 'overpaid'
    or not (
      v_order.status = 'cancelled'
      or exists (
        select
        from private.payment_holds h
        join public.bookings b on b.professional_id = h.professional_id and b.id = h.booking_id
        where h.order_id = v_order.id and b.status = 'cancelled'
      )
    )
  then
    v_amount := least(
      v_amount,
      v_order.amount_paid - v_order.amount_refunded - private.refunds_due(v_order.id)
        - v_order.total
    );
  end if;
  if v_amount > 0 then
    perform private.queue_refund(p_payment_id, v_amount, v_payment.return_cause, null);
  end if;

  -- A bank that has lost may still have to give the money back.
  if not exists (
    select
    from private.disputes
    where payment_id = p_payment_id and private.next_look_at_dispute(id) is not null
  ) then
    update private.payments set return_cause = null where id = p_payment_id;
  end if;
end;
$$;

comment on function private.refund_after_dispute is
  'Sends back what waited for the end of a dispute, as far as there is a reason for it still: all of what is cancelled, else what is more than the total. Call it under the write lock.';

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
  v_is_entered boolean;
begin
  perform private.check_arguments(
    case when p_account_id is null then 'account_id' end,
    case
      when (
        v_provider_id ~ '^[A-Za-z0-9_]{1,200}$'
        and v_status in ('pending', 'succeeded', 'failed', 'canceled')
        and p_refund ->> 'amount' ~ '^[0-9]{1,15}$'
      ) is not true
      then 'refund'
    end
  );
  v_payment := private.find_provider_payment(p_account_id, p_refund ->> 'payment_intent');
  if v_payment.id is null then
    return;
  end if;
  perform private.lock_professional(v_payment.professional_id);

  -- By its own id, or by the try that made it.
  select * into v_refund
  from private.provider_refunds
  where payment_id = v_payment.id
    and (
      provider_id = v_provider_id
      or (provider_id is null and id = private.uuid_of(p_refund ->> 'attempt_id'))
    )
  order by provider_id
  limit 1;

  -- What is told late: one that failed at Stripe has failed, one that succeeded waits no more.
  if v_refund.provider_id is not null
    and (
      v_refund.status in ('failed', 'canceled')
      or (v_refund.status = 'succeeded' and v_status = 'pending')
    )
  then
    return;
  end if;

  v_refund.id := coalesce(v_refund.id, gen_random_uuid());
  v_refund.minor := (p_refund ->> 'amount')::bigint;
  v_refund.amount := coalesce(
    private.amount_of_payment(v_refund.minor, upper(p_refund ->> 'currency')),
    v_refund.amount,
    v_payment.amount
  );
  insert into private.provider_refunds as r (
    id, professional_id, payment_id, account_id, amount, minor, provider_id, status, failure
  )
  values (
    v_refund.id,
    v_payment.professional_id,
    v_payment.id,
    p_account_id,
    v_refund.amount,
    v_refund.minor,
    v_provider_id,
    v_status,
    case when v_status in ('failed', 'canceled') then left(p_refund ->> 'reason', 100) end
  )
  on conflict (id) do update
  set
    amount = excluded.amount,
    minor = excluded.minor,
    provider_id = excluded.provider_id,
    status = excluded.status,
    failure = excluded.failure;

  v_is_entered := exists (
    select
    from private.payments
    where professional_id = v_payment.professional_id
      and provider = 'stripe'
      and reference = v_provider_id
      and kind = 'refund'
  );
  if v_status in ('pending', 'succeeded') and not v_is_entered then
    perform private.enter_provider_entry(
      v_payment, 'refund', v_refund.amount, v_provider_id, v_refund.reason
    );
  elsif v_status in ('failed', 'canceled') and v_is_entered then
    perform private.enter_provider_entry(
      v_payment, 'refund_reversal', v_refund.amount, v_provider_id, left(p_refund ->> 'reason', 100)
    );
  end if;
  if v_status in ('pending', 'succeeded') then
    update private.payments
    set flag = null
    where id = v_payment.id and flag = 'refund_failed';
  -- As it was before.
  elsif v_refund.status in ('due', 'pending', 'succeeded') then
    perform private.tell_failed_refund(v_refund.id);
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
declare
  v_professional_id uuid;
  v_account_id text;
begin
  perform private.check_arguments(case when p_refund_id is null then 'refund_id' end);
  select professional_id into v_professional_id
  from private.provider_refunds
  where id = p_refund_id;

  if not found then
    return;
  end if;
  perform private.lock_professional(v_professional_id);

  update private.provider_refunds
  set status = 'failed', failure = left(p_code, 100)
  where id = p_refund_id and status = 'due'
  returning account_id into v_account_id;

  -- With the task goes its claim: nobody makes it after all.
  if found then
    delete from private.payment_tasks
    where account_id = v_account_id and object_id = p_refund_id::text;
    perform private.tell_failed_refund(p_refund_id);
  end if;
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
  'For POST /refunds of the payments function: {refund_id, status, amount}; all that is left of the payment without an amount. Errors: 404 PGRST301; 409 payment_disputed; 422 refund_exceeds_payment {"refundable"}, not_a_provider_payment, amount_not_payable, invalid_amount, too_many_decimals, validation_failed {"fields"}.';

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

grant select, insert, update (amount, minor, status, provider_id, failure, reason)
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
