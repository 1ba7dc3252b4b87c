-- Value types shared by the tables: instants as the API shows them, and exact money.

create domain public.timestamp_ms as timestamptz(3)
  constraint timestamp_ms_is_finite check (pg_catalog.isfinite(value));

comment on domain public.timestamp_ms is
  'An instant to the millisecond, shown as YYYY-MM-DDTHH:MM:SS.mmmZ. What is stored is what is shown, so paging by it skips nothing.';

-- Every timestamp that leaves the database as text or JSON goes through here, so that no session
-- time zone or date style can change an answer. Called for each row, and a pinned search_path keeps
-- Postgres from inlining SQL: PL/pgSQL starts in a third of the time.
create function private.timestamp_text(p_instant timestamptz)
returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return to_char(p_instant at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end;
$$;

comment on function private.timestamp_text is
  'ISO 8601 in UTC with milliseconds and Z: the only form of a timestamp in any answer or event.';

create function private.timestamp_json(p_instant public.timestamp_ms)
returns json
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return to_json(to_char(p_instant at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
end;
$$;

comment on function private.timestamp_json is
  'Domain representation: the REST server renders every column of type timestamp_ms with it.';

-- The warning that the cast is ignored for a domain is expected: Postgres never uses it, the
-- REST server looks it up.
create cast (public.timestamp_ms as json)
  with function private.timestamp_json (public.timestamp_ms) as implicit;

-- Instants from outside are text: as timestamptz, `tomorrow`, `10:00` and a time without an
-- offset would all be taken for something.
create function private.parse_instant(p_text text)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_instant timestamptz;
begin
  -- [0-9] throughout: `\d` is the digits of every script where ICU orders texts, as hosted.
  if p_text ~*
      '^[0-9]{4}-[0-9]{2}-[0-9]{2}T'
      '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?'
      '(Z|[+-][0-9]{2}:[0-9]{2})$'
    and pg_input_is_valid(p_text, 'timestamptz')
  then
    v_instant := p_text::timestamptz(3);
    if v_instant >= '2000-01-01Z' and v_instant < '2200-01-01Z' then
      return v_instant;
    end if;
  end if;

  perform private.raise_error(
    422,
    'invalid_time',
    'A time must be RFC 3339 with an offset, between 2000 and 2199.',
    p_hint => 'For example 2027-03-01T09:00:00Z or 2027-03-01T10:00:00+01:00.'
  );
end;
$$;

comment on function private.parse_instant is
  'RFC 3339 date-time with an offset to an instant; anything else is 422 invalid_time.';

-- Text for the same reason: as date, `today` and `01/02/2027` would be taken for something.
create function private.parse_date(p_text text)
returns date
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' and pg_input_is_valid(p_text, 'date') then
    return p_text::date;
  end if;

  perform private.raise_error(
    422, 'invalid_date', 'A date must be YYYY-MM-DD.', p_hint => 'For example 2027-03-01.'
  );
end;
$$;

comment on function private.parse_date is
  'YYYY-MM-DD to a date; anything else is 422 invalid_date.';

-- Definer: API roles hold no EXECUTE on what it calls.
create function private.timestamp_from_json(p_value json)
returns public.timestamp_ms
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_text constant text := p_value #>> '{}';
begin
  -- Whether there has to be an instant is for the column to say.
  if v_text is null then
    return null;
  end if;
  return private.parse_instant(v_text);
end;
$$;

comment on function private.timestamp_from_json is
  'Domain representation: the REST server reads every value for a column of type timestamp_ms with it. 422 invalid_time for what the RPCs would refuse, numbers included.';

-- Ignored by Postgres like the other one; filters and plain SQL go past it.
create cast (json as public.timestamp_ms)
  with function private.timestamp_from_json (json) as implicit;

create domain public.money_amount as numeric
  constraint money_amount_is_between_0_and_999999999999_999
    check (value between 0 and 999999999999.999)
  constraint money_amount_has_at_most_3_decimals
    check (value = pg_catalog.round(value, 3));

comment on domain public.money_amount is
  'Exact decimal amount in the professional''s currency. Never a float; the range keeps NaN and Infinity out.';

create domain public.percentage as numeric
  constraint percentage_is_between_0_and_100 check (value between 0 and 100)
  constraint percentage_has_at_most_4_decimals check (value = pg_catalog.round(value, 4));

comment on domain public.percentage is 'Percent, 0 to 100: 22 means 22 %.';

-- Half away from zero is what numeric round() does, and what tax offices print.
create function private.round_money(p_amount numeric, p_minor_units integer)
returns numeric
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return round(p_amount, p_minor_units);
end;
$$;

comment on function private.round_money is
  'The one rounding of money: half away from zero, to the minor unit of the currency.';

-- authenticator looks the representations up, the others run them.
grant execute on function
  private.timestamp_json (public.timestamp_ms),
  private.timestamp_from_json (json)
to authenticator, anon, authenticated, service_role;

select private.hand_over('timestamp_from_json');
