-- What Stripe counts in, and what it does not take: asked before anything is held that nobody could
-- pay. From its pages on currencies; what it settles in decides the least amount, so that some
-- currencies have none here, and its own refusal comes later.

create table private.payment_currencies (
  code text primary key references private.currencies (code) on delete no action,
  -- Of the amounts that are sent: 3050 for 30.50.
  decimals smallint not null
    constraint payment_currencies_decimals_are_0_to_3 check (decimals between 0 and 3),
  -- What these have to be divisible by.
  step integer not null default 1
    constraint payment_currencies_step_is_positive check (step > 0),
  minimum bigint not null default 1,
  constraint payment_currencies_minimum_is_some_steps
    check (minimum > 0 and minimum % step = 0)
);

insert into private.payment_currencies (code, decimals)
select code, 2
from unnest(string_to_array(
  'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BWP BYN BZD CAD CDF '
  'CHF CNY COP CRC CVE CZK DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GTQ GYD HKD HNL HTG HUF '
  'IDR ILS INR JMD KES KGS KHR KYD KZT LAK LBP LKR LRD LSL MAD MDL MKD MMK MNT MOP MUR MVR MWK MXN '
  'MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SEK SGD SHP '
  'SLE SOS SRD SZL THB TJS TOP TRY TTD TWD TZS UAH USD UYU UZS WST XCD XCG YER ZAR ZMW',
  ' '
)) as code
union all
select code, 0
from unnest(string_to_array(
  'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF', ' '
)) as code;

-- Counted in hundredths that are always none, and in thousandths that end in 0.
insert into private.payment_currencies (code, decimals, step, minimum)
values
  ('ISK', 2, 100, 100),
  ('UGX', 2, 100, 100),
  ('BHD', 3, 10, 10),
  ('JOD', 3, 10, 10),
  ('KWD', 3, 10, 10),
  ('OMR', 3, 10, 10),
  ('TND', 3, 10, 10);

update private.payment_currencies c
set minimum = least_of.amount
from (
  values
    ('AED', 200), ('AUD', 50), ('BGN', 100), ('BRL', 50), ('CAD', 50), ('CHF', 50), ('CZK', 1500),
    ('DKK', 250), ('EUR', 50), ('GBP', 30), ('HKD', 400), ('HUF', 17500), ('INR', 50), ('JPY', 50),
    ('MXN', 1000), ('MYR', 200), ('NOK', 300), ('NZD', 50), ('PLN', 200), ('RON', 200),
    ('SEK', 300), ('SGD', 50), ('THB', 1000), ('USD', 50)
) as least_of (code, amount)
where c.code = least_of.code;

create function private.raise_amount_not_payable(p_amount numeric, p_currency text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.raise_error(
    422,
    'amount_not_payable',
    'Stripe does not move this amount.',
    json_build_object('amount', p_amount, 'currency', p_currency)::text
  );
end;
$$;

comment on function private.raise_amount_not_payable is
  '422 amount_not_payable: too little, too fine, or of a currency that Stripe does not have.';

create function private.payment_amount(p_amount numeric, p_currency text)
returns bigint
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_currency private.payment_currencies;
  v_minor numeric;
begin
  select * into v_currency from private.payment_currencies where code = p_currency;
  v_minor := p_amount * 10::numeric ^ v_currency.decimals;

  -- 8 digits is the most that is charged anywhere, 12 in Indonesia; more is Stripe's to refuse.
  if (
    v_minor = trunc(v_minor)
    and v_minor % v_currency.step = 0
    and v_minor between v_currency.minimum and 999999999999
  ) is not true then
    perform private.raise_amount_not_payable(p_amount, p_currency);
  end if;
  return v_minor::bigint;
end;
$$;

comment on function private.payment_amount is
  'An amount as Stripe counts it: 3050 for EUR 30.5, 500 for JPY 500; 422 amount_not_payable for what it does not take.';

create function private.amount_of_payment(p_minor bigint, p_currency text)
returns numeric
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select trim_scale(p_minor / 10::numeric ^ decimals)
    from private.payment_currencies
    where code = p_currency
  );
end;
$$;

comment on function private.amount_of_payment is
  'What Stripe counted, as an amount; null for a currency that it does not have.';

create function private.check_payable(p_professional_id uuid, p_amount numeric, p_currency text)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if not exists (
    select
    from private.payment_accounts a
    cross join private.settings s
    where a.id = private.charging_account(p_professional_id)
      -- Until the functions have told theirs, any may be.
      and a.livemode = coalesce(s.payments_livemode, a.livemode)
  ) then
    perform private.raise_payments_unavailable();
  end if;
  perform private.payment_amount(p_amount, p_currency);
end;
$$;

comment on function private.check_payable is
  'Before a hold is made: 422 payments_unavailable when no account can charge, or only with a key of the other mode, amount_not_payable.';

alter table private.payment_currencies enable row level security;

grant select on private.payment_currencies to rules;

create policy payment_currencies_all_rules on private.payment_currencies
  for all to rules
  using (true)
  with check (true);

comment on table private.payment_currencies is
  'Currencies that Stripe charges in; those of currencies that are not here it does not have.';
