-- The currency of a profile stays while amounts have it. This stands behind the tables that have
-- amounts, because it asks them all.

-- Definer: reads every priced row of the professional.
create function private.check_currency_change()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_minor_units integer := (select minor_units from private.currencies where code = new.currency);
begin
  if exists (select from public.bookings where professional_id = new.id)
    or exists (select from public.orders where professional_id = new.id)
    or exists (
      select from public.services
      where professional_id = new.id
        and (
          price <> round(price, v_minor_units)
          or deposit <> round(deposit, v_minor_units)
        )
    )
    or exists (
      select from public.products
      where professional_id = new.id and price <> round(price, v_minor_units)
    )
  then
    perform private.raise_error(
      409,
      'currency_in_use',
      'The currency cannot change: bookings or orders exist, or a price does not fit the new one.'
    );
  end if;
  return new;
end;
$$;

comment on function private.check_currency_change is
  'Amounts never change their meaning: 409 currency_in_use while bookings, orders or finer prices exist.';

create trigger profiles_check_currency_change
  before update of currency on public.profiles
  for each row when (new.currency <> old.currency)
  execute function private.check_currency_change();

select private.hand_over('check_currency_change');
