-- An amount may not be finer than the currency: no 30.555 in USD, no 500.5 in JPY.

-- Definer: reads the profile and the currency for callers who may read neither. PL/pgSQL, because
-- SQL that is not inlined is planned anew in every statement, which takes ten times the look-up.
create function private.minor_units(p_professional_id uuid)
returns integer
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  -- Not a join: it would read all currencies.
  return (
    select minor_units
    from private.currencies
    where code = (select currency from public.profiles where id = p_professional_id)
  );
end;
$$;

comment on function private.minor_units is
  'Decimals of the professional''s currency: 0 (JPY), 2 (EUR) or 3 (KWD).';

create function private.check_amount(p_amount numeric, p_minor_units integer)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_amount <> round(p_amount, p_minor_units) then
    perform private.raise_error(
      422,
      'too_many_decimals',
      'The amount has more decimals than the currency has.',
      json_build_object('amount', p_amount, 'decimals', p_minor_units)::text
    );
  end if;
end;
$$;

comment on function private.check_amount is
  '422 too_many_decimals for an amount finer than the minor unit.';

create function private.check_price()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if private.is_callers_row(new.professional_id) then
    perform private.check_amount(new.price, private.minor_units(new.professional_id));
  end if;
  return new;
end;
$$;

comment on function private.check_price is
  'BEFORE INSERT OR UPDATE OF price: the price fits the professional''s currency.';

select private.hand_over('minor_units', 'check_price');
