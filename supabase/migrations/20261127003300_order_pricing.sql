-- What an order costs. One set of functions for the quote, the public's order and the owner's:
-- lines are named and priced from the catalogue and added up to the minor unit.

create type public.order_quote as (
  items jsonb,
  subtotal numeric,
  discount numeric,
  tax numeric,
  total numeric,
  currency text
);

create function private.order_line(
  p_ids jsonb,
  p_name text,
  p_sku text,
  p_options jsonb,
  p_unit_price numeric,
  p_quantity integer,
  p_minor_units integer
)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_ids || jsonb_build_object(
    'name', p_name,
    'sku', p_sku,
    'options', coalesce(p_options, '{}'),
    'unit_price', private.round_money(p_unit_price, p_minor_units),
    'quantity', p_quantity,
    'total', private.round_money(p_unit_price * p_quantity, p_minor_units)
  );
end;
$$;

comment on function private.order_line is
  'A line as it is kept: {product_id | service_id, name, sku, options, unit_price, quantity, total}.';

create function private.price_lines(
  p_professional_id uuid,
  p_kind text,
  p_items jsonb,
  p_products_only boolean
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_minor_units constant integer := private.minor_units(p_professional_id);
  v_line record;
  v_lines jsonb := '[]';
  v_product public.products;
  v_service public.services;
  v_missing_products jsonb := '[]';
  v_missing_services jsonb := '[]';
begin
  perform private.check_order_lines(p_items, p_kind, p_products_only, v_minor_units);

  for v_line in
    select
      value,
      (value ->> 'product_id')::uuid as product_id,
      (value ->> 'service_id')::uuid as service_id,
      (value ->> 'quantity')::numeric::integer as quantity
    from jsonb_array_elements(p_items)
  loop
    if v_line.product_id is not null then
      -- A variant needs an active parent; the parent of variants is a heading, not an article.
      select p.* into v_product
      from public.products p
      left join public.products parent
        on parent.professional_id = p.professional_id and parent.id = p.parent_id
      where p.professional_id = p_professional_id
        and p.id = v_line.product_id
        and p.active
        and parent.active is not false
        and not exists (
          select from public.products variant
          where variant.professional_id = p.professional_id and variant.parent_id = p.id
        );

      if found then
        v_lines := v_lines || private.order_line(
          jsonb_build_object('product_id', v_product.id),
          v_product.name,
          v_product.sku,
          v_product.options,
          v_product.price,
          v_line.quantity,
          v_minor_units
        );
      else
        v_missing_products := v_missing_products || to_jsonb(v_line.product_id);
      end if;

    elsif v_line.service_id is not null then
      select * into v_service
      from public.services
      where professional_id = p_professional_id and id = v_line.service_id and active;

      if found then
        v_lines := v_lines || private.order_line(
          jsonb_build_object('service_id', v_service.id),
          v_service.name,
          null,
          null,
          v_service.price,
          v_line.quantity,
          v_minor_units
        );
      else
        v_missing_services := v_missing_services || to_jsonb(v_line.service_id);
      end if;

    else
      v_lines := v_lines || private.order_line(
        '{}',
        private.trim_invisible(v_line.value ->> 'name'),
        null,
        null,
        (v_line.value ->> 'unit_price')::numeric,
        v_line.quantity,
        v_minor_units
      );
    end if;
  end loop;

  -- Unknown, somebody else's, archived or a heading: one answer.
  if v_missing_products <> '[]' then
    perform private.raise_error(
      422,
      'product_unavailable',
      'A product cannot be ordered.',
      jsonb_build_object('product_ids', v_missing_products)::text
    );
  elsif v_missing_services <> '[]' then
    perform private.raise_error(
      422,
      'service_unavailable',
      'A service cannot be ordered.',
      jsonb_build_object('service_ids', v_missing_services)::text
    );
  end if;
  return v_lines;
end;
$$;

comment on function private.price_lines is
  'Lines as asked for, checked, named and priced from the catalogue: 422 invalid_items, unexpected_field, product_unavailable, service_unavailable.';

create function private.add_up(p_professional_id uuid, p_lines jsonb, p_discount numeric)
returns public.order_quote
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_minor_units constant integer := private.minor_units(p_professional_id);
  v_profile public.profiles;
  v_quote public.order_quote;
  v_taxable numeric;
begin
  perform private.check_amount(p_discount, v_minor_units);
  select * into strict v_profile from public.profiles where id = p_professional_id;

  v_quote.items := p_lines;
  v_quote.currency := v_profile.currency;
  v_quote.subtotal := (
    select sum((line ->> 'total')::numeric) from jsonb_array_elements(p_lines) as line
  );
  v_quote.discount := private.round_money(
    least(coalesce(p_discount, 0), v_quote.subtotal), v_minor_units
  );
  v_taxable := v_quote.subtotal - v_quote.discount;
  v_quote.tax := private.round_money(
    -- Twelve more decimals in the quotient, so that it is rounded once, here.
    v_taxable * v_profile.tax_rate * 1.000000000000
      / (100 + case when v_profile.prices_include_tax then v_profile.tax_rate else 0 end),
    v_minor_units
  );
  v_quote.total := v_taxable + case when v_profile.prices_include_tax then 0 else v_quote.tax end;

  if greatest(v_quote.subtotal, v_quote.total) > 999999999999.999 then
    perform private.raise_error(422, 'total_too_large', 'The total is more than can be kept.');
  end if;
  return v_quote;
end;
$$;

comment on function private.add_up is
  'Totals of priced lines: discount capped at the subtotal; tax on the rest, added, or contained when prices include it.';

create function private.price_order(
  p_professional_id uuid,
  p_kind text,
  p_items jsonb,
  p_discount numeric,
  p_products_only boolean
)
returns public.order_quote
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return private.add_up(
    p_professional_id,
    private.price_lines(p_professional_id, p_kind, p_items, p_products_only),
    p_discount
  );
end;
$$;

comment on function private.price_order is
  'The one pricing: lines and totals of an order. p_products_only is for lines from the public.';

comment on type public.order_quote is
  'What an order costs: its lines as they will be kept, and totals in currency.';

comment on column public.order_quote.items is
  'Lines in the order given: product_id, name, sku, options, unit_price, quantity, total.';

comment on column public.order_quote.subtotal is 'Sum of the lines.';

comment on column public.order_quote.discount is '0: only the professional takes something off.';

comment on column public.order_quote.tax is
  'tax_rate percent of the subtotal, rounded once; part of it where prices include tax.';

comment on column public.order_quote.total is
  'What place_order would charge, and takes as expected_total.';

comment on column public.order_quote.currency is
  'ISO 4217 code of every amount here: the professional''s.';
