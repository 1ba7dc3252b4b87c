-- What a line of an order may be. Strict, because a field that is ignored is a misunderstanding:
-- who sends a price or a total believes that it counts.

create function private.raise_invalid_items(p_index integer, p_problem text)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.raise_error(
    422,
    'invalid_items',
    'A line of the order cannot be used.',
    json_build_object('index', p_index, 'problem', p_problem)::text
  );
$$;

comment on function private.raise_invalid_items is
  '422 invalid_items; details say which line (from 0, null for all of them) and what is wrong.';

create function private.json_number(p_value jsonb)
returns numeric
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return case jsonb_typeof(p_value) when 'number' then p_value::numeric end;
end;
$$;

comment on function private.json_number is
  'A JSON number; null for anything else, such as "2" in quotes.';

create function private.check_order_line(
  p_line jsonb,
  p_index integer,
  p_kind text,
  p_products_only boolean,
  p_minor_units integer
)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_is_object constant boolean := jsonb_typeof(p_line) = 'object';
  v_keys constant text[] := case
    when p_products_only or p_line ? 'product_id' then array['product_id', 'quantity']
    when p_line ? 'service_id' then array['service_id', 'quantity']
    else array['name', 'unit_price', 'quantity']
  end;
  v_unexpected constant jsonb := case when v_is_object then p_line - v_keys else '{}' end;
  v_quantity constant numeric := private.json_number(p_line -> 'quantity');
  v_unit_price constant numeric := private.json_number(p_line -> 'unit_price');
  -- What the public may take away at once, or one unpaid order would hold a whole stock.
  v_most constant integer := case when p_products_only then 100 else 100000 end;
  v_problem text;
begin
  if v_unexpected <> '{}' then
    perform private.raise_error(
      422,
      'unexpected_field',
      'A line has fields that are not taken.',
      jsonb_build_object(
        'index', p_index, 'fields', (select jsonb_agg(k) from jsonb_object_keys(v_unexpected) as k)
      )::text
    );
  end if;

  v_problem := case
    when not v_is_object then 'must be an object'
    when not p_line ?& v_keys then 'needs ' || array_to_string(v_keys, ', ')
    when v_quantity between 1 and v_most and v_quantity = trunc(v_quantity) then null
    else 'quantity must be a whole number from 1 to ' || v_most
  end;

  if v_problem is null and v_keys[1] = 'name' then
    v_problem := case
      when jsonb_typeof(p_line -> 'name') <> 'string'
        or private.is_blank(p_line ->> 'name')
        or char_length(private.trim_invisible(p_line ->> 'name')) > 200
      then 'name must be a text of 1 to 200 characters'
      when v_unit_price between 0 and 999999999999.999 then null
      else 'unit_price must be a number from 0 to 999999999999.999'
    end;
    if v_problem is null then
      perform private.check_amount(v_unit_price, p_minor_units);
    end if;
  elsif v_problem is null then
    v_problem := case
      when jsonb_typeof(p_line -> v_keys[1]) <> 'string'
        or p_line ->> v_keys[1] !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then v_keys[1] || ' must be a UUID'
      when v_keys[1] <> p_kind || '_id' then 'a ' || p_kind || ' order takes no ' || v_keys[1]
    end;
  end if;

  if v_problem is not null then
    perform private.raise_invalid_items(p_index, v_problem);
  end if;
end;
$$;

comment on function private.check_order_line is
  'Shape of a line: exactly {product_id, quantity}, {service_id, quantity} or {name, unit_price, quantity}; 422 unexpected_field, invalid_items, too_many_decimals.';

create function private.check_order_lines(
  p_items jsonb,
  p_kind text,
  p_products_only boolean,
  p_minor_units integer
)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if jsonb_typeof(p_items) is distinct from 'array'
    or jsonb_array_length(p_items) not between 1 and 200
  then
    perform private.raise_invalid_items(null, 'items must be a list of 1 to 200 lines');
  end if;

  for v_index in 0..(jsonb_array_length(p_items) - 1) loop
    perform private.check_order_line(
      p_items -> v_index, v_index, p_kind, p_products_only, p_minor_units
    );
  end loop;

  if p_products_only and exists (
    select
    from jsonb_array_elements(p_items) as line
    group by lower(line ->> 'product_id')
    having sum((line ->> 'quantity')::numeric) > 100
  ) then
    perform private.raise_invalid_items(null, 'at most 100 pieces of a product');
  end if;
end;
$$;

comment on function private.check_order_lines is
  'Shape of all lines, 1 to 200 of them; lines of the public ask for at most 100 pieces of a product together. p_minor_units matter to lines with a price only.';
