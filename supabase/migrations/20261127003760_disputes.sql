-- Disputes: the payer's bank takes money back, and Stripe says what moved and when.

create table private.disputes (
  id text primary key,
  created_at timestamptz not null default now(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  payment_id uuid not null,
  account_id text not null,
  -- In Stripe's words, like the reason.
  status text not null,
  reason text,
  constraint disputes_professional_id_payment_id_fkey
    foreign key (professional_id, payment_id) references private.payments (professional_id, id)
    on delete cascade,
  constraint disputes_professional_id_account_id_fkey
    foreign key (professional_id, account_id)
    references private.payment_accounts (professional_id, id)
    on delete cascade
);

create index disputes_payment_id_idx on private.disputes (payment_id, professional_id);

create index disputes_professional_id_account_id_idx
  on private.disputes (professional_id, account_id);

create function private.enter_dispute(
  p_payment private.payments,
  p_dispute_id text,
  p_kind text,
  p_minor bigint,
  p_currency text
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_entered numeric;
  v_count integer;
  v_amount constant numeric := private.amount_of_payment(p_minor, p_currency);
begin
  select coalesce(sum(amount), 0), count(*) into v_entered, v_count
  from private.payments
  where professional_id = p_payment.professional_id
    and order_id = p_payment.order_id
    and kind = p_kind
    and split_part(reference, ' ', 1) = p_dispute_id;

  if v_amount > v_entered then
    perform private.enter_provider_entry(
      p_payment,
      p_kind,
      v_amount - v_entered,
      -- A bank may take it again; a reference is there once.
      p_dispute_id || case when v_count > 0 then ' ' || v_count + 1 else '' end,
      null
    );
  end if;
end;
$$;

comment on function private.enter_dispute is
  'What a dispute has moved one way until now, as far as the ledger does not have it.';

create function private.next_look_at_dispute(p_dispute_id text)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select now() + interval '1 day'
    from private.disputes
    where id = p_dispute_id
      and (
        status not in ('won', 'lost', 'warning_closed', 'prevented')
        -- Won, and the money is on its way.
        or (
          status = 'won'
          and created_at > now() - interval '200 days'
          and private.taken_by_disputes(payment_id) > 0
        )
      )
  );
end;
$$;

comment on function private.next_look_at_dispute is
  'A dispute is looked at daily until it is closed, and what it took is back if it was won; null then.';

-- Definer: nobody has rights on the ledger.
create function private.record_dispute(p_account_id text, p_dispute jsonb)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_id constant text := p_dispute ->> 'id';
  v_currency constant text := upper(p_dispute ->> 'currency');
  v_payment private.payments;
  v_taken bigint;
  v_returned bigint;
  v_next_look timestamptz;
begin
  perform private.check_arguments(
    case when p_account_id is null then 'account_id' end,
    case
      when (
        v_id ~ '^[A-Za-z0-9_]{1,200}$'
        and char_length(p_dispute ->> 'status') between 1 and 100
        and jsonb_typeof(p_dispute -> 'entries') = 'array'
        and not exists (
          select
          from jsonb_array_elements(
            case jsonb_typeof(p_dispute -> 'entries')
              when 'array' then p_dispute -> 'entries'
              else '[]'
            end
          ) as entry
          where (entry ->> 'amount' ~ '^-?[0-9]{1,15}$') is not true
        )
      ) is not true
      then 'dispute'
    end
  );
  v_payment := private.find_provider_payment(p_account_id, p_dispute ->> 'payment_intent');
  if v_payment.id is null then
    return;
  end if;
  perform private.lock_professional(v_payment.professional_id);

  insert into private.disputes as d (
    id, professional_id, payment_id, account_id, status, reason
  )
  values (
    v_id,
    v_payment.professional_id,
    v_payment.id,
    p_account_id,
    p_dispute ->> 'status',
    left(p_dispute ->> 'reason', 100)
  )
  on conflict (id) do update set status = excluded.status, reason = excluded.reason;

  select
    coalesce(-sum(amount) filter (where amount < 0), 0),
    coalesce(sum(amount) filter (where amount > 0), 0)
  into v_taken, v_returned
  from (
    select (entry ->> 'amount')::bigint as amount
    from jsonb_array_elements(p_dispute -> 'entries') as entry
  ) as entries;

  perform private.enter_dispute(v_payment, v_id, 'dispute', v_taken, v_currency);
  perform private.enter_dispute(v_payment, v_id, 'dispute_reversal', v_returned, v_currency);

  v_next_look := private.next_look_at_dispute(v_id);
  if v_next_look is not null then
    perform private.plan_payment_task(
      v_payment.professional_id, p_account_id, 'dispute', v_id, v_next_look
    );
  end if;
  perform private.refund_after_dispute(v_payment.id);
end;
$$;

create function public.record_dispute(account_id text, dispute jsonb)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.record_dispute($1, $2);
$$;

comment on function public.record_dispute is
  'Server only. A dispute as Stripe has it now: {id, payment_intent, status, reason, amount, currency, entries: [{id, amount}]}, amounts less than 0 were taken. Errors: 422 validation_failed.';

alter table private.disputes enable row level security;

grant select, insert, update (status, reason) on private.disputes to rules;

create policy disputes_all_rules on private.disputes
  for all to rules
  using (true)
  with check (true);

grant execute on function
  public.record_dispute (text, jsonb),
  private.record_dispute (text, jsonb)
to service_role;

comment on table private.disputes is
  'Payments that the payer''s bank took back, or wants to know more of.';

select private.hand_over('record_dispute');
