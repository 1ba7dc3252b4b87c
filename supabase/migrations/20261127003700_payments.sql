-- What was paid and refunded. The ledger is the truth; amounts and payment status of an order
-- follow it and cannot be set by hand. Append-only by grants: nobody holds any on it. What a
-- provider took back again (a refund that failed, a dispute that was won) is an entry of its own.

create table private.payments (
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default now(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  order_id uuid not null,
  kind text not null
    constraint payments_kind_is_known
      check (kind in ('payment', 'refund', 'refund_reversal', 'dispute', 'dispute_reversal')),
  amount public.money_amount not null
    constraint payments_amount_is_positive check (amount > 0),
  method text
    constraint payments_method_has_1_to_50_characters
      check (not private.is_blank(method) and char_length(method) <= 50),
  reference text
    constraint payments_reference_has_1_to_200_characters
      check (not private.is_blank(reference) and char_length(reference) <= 200),
  reason text
    constraint payments_reason_has_at_most_1000_characters check (char_length(reason) <= 1000),
  -- Written by the rules alone: what somebody types as a reference is in nobody's way.
  provider text not null default 'manual'
    constraint payments_provider_is_known check (provider in ('manual', 'stripe')),
  flag text
    constraint payments_flag_is_known
      check (flag in ('exceeds_total', 'refund_exceeds_paid', 'amount_differs', 'refund_failed')),
  -- Why it goes back once the payer's bank has decided: Stripe refunds nothing before.
  return_cause text
    constraint payments_return_cause_is_known
      check (return_cause in ('cancelled', 'overpaid', 'late')),
  constraint payments_by_hand_are_payments_or_refunds
    check (provider <> 'manual' or kind in ('payment', 'refund')),
  constraint payments_of_a_provider_have_a_reference
    check (provider = 'manual' or reference is not null),
  constraint payments_professional_id_id_key unique (professional_id, id),
  constraint payments_professional_id_order_id_fkey
    foreign key (professional_id, order_id) references public.orders (professional_id, id)
    on delete no action
);

create unique index payments_professional_id_reference_key
  on private.payments (professional_id, reference) where provider = 'manual';

create unique index payments_professional_id_provider_reference_kind_key
  on private.payments (professional_id, provider, reference, kind) where provider <> 'manual';

create index payments_professional_id_order_id_idx
  on private.payments (professional_id, order_id, created_at);

-- One statement on the order, after the ledger has its row: what comes after this trigger sees
-- both.
create function private.apply_payment()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  update public.orders
  set
    amount_paid = amount_paid + case new.kind when 'payment' then new.amount else 0 end,
    amount_refunded = amount_refunded + case
      when new.kind in ('refund', 'dispute') then new.amount
      when new.kind in ('refund_reversal', 'dispute_reversal') then -new.amount
      else 0
    end
  where professional_id = new.professional_id and id = new.order_id;

  -- What did not go back by itself was given back by hand.
  if new.provider = 'manual' and new.kind = 'refund' then
    update private.payments
    set flag = null
    where professional_id = new.professional_id
      and order_id = new.order_id
      and flag = 'refund_failed';
  end if;

  -- What is due has changed.
  perform private.ring_checkouts(new.order_id);
  return null;
end;
$$;

comment on function private.apply_payment is
  'AFTER INSERT on payments: adds to what the order says was paid or refunded; its open payment pages are for another amount now.';

create function private.check_order_payments()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if not private.is_callers_row(new.professional_id) then
    return new;
  end if;
  -- `is distinct from` takes no row from a query; nulls are the columns' to refuse.
  if (new.amount_paid, new.amount_refunded) <> (
    select
      coalesce(sum(amount) filter (where kind = 'payment'), 0),
      coalesce(sum(amount) filter (where kind in ('refund', 'dispute')), 0)
        - coalesce(sum(amount) filter (where kind in ('refund_reversal', 'dispute_reversal')), 0)
    from private.payments
    where professional_id = new.professional_id and order_id = new.id
  ) then
    raise exception using
      errcode = 'check_violation',
      constraint = 'orders_amounts_follow_the_payments',
      table = 'orders',
      message = 'paid and refunded amounts follow the payments';
  end if;
  return new;
end;
$$;

comment on function private.check_order_payments is
  'BEFORE UPDATE of the payment amounts: they are what the ledger adds up to.';

create trigger payments_1_apply
  after insert on private.payments
  for each row execute function private.apply_payment();

create trigger orders_3_check_payments
  before update on public.orders
  for each row
  when (
    (new.amount_paid, new.amount_refunded)
      is distinct from (old.amount_paid, old.amount_refunded)
  )
  execute function private.check_order_payments();

alter table private.payments enable row level security;

grant select, insert, update (reason, flag, return_cause) on private.payments to rules;

create policy payments_all_rules on private.payments
  for all to rules
  using (true)
  with check (true);

comment on table private.payments is
  'Payments of orders, and what went back: refunds and disputes, less what came back of these. Append-only; a reference is unique per professional and provider.';

select private.hand_over('apply_payment', 'check_order_payments');
