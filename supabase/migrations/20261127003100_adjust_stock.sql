-- RPC: pieces come in, break or are counted, without two people overwriting each other.

create type public.stock_level as (
  product_id uuid,
  stock integer
);

-- Definer: the ledger's reason is a setting that only code here may choose.
create function private.adjust_stock(
  p_product_id uuid,
  p_delta integer,
  p_reason text,
  p_expected_stock integer
)
returns public.stock_level
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_product public.products;
begin
  perform private.check_arguments(
    case when p_product_id is null then 'product_id' end,
    case when char_length(p_reason) > 200 then 'reason' end,
    case when p_expected_stock < 0 then 'expected_stock' end
  );
  if coalesce(p_delta, 0) = 0 then
    perform private.raise_error(
      422, 'delta_required', 'A number of pieces is required, and 0 changes nothing.'
    );
  elsif private.is_blank(p_reason) is not false then
    perform private.raise_error(422, 'reason_required', 'A reason is required.');
  end if;

  perform
    private.lock_professional(professional_id),
    private.end_expired_holds(professional_id)
  from public.products
  where id = p_product_id and private.caller_manages(professional_id);

  select * into v_product
  from public.products
  where id = p_product_id and private.caller_manages(professional_id);

  if not found then
    perform private.raise_not_found('product');
  elsif v_product.stock is null then
    perform private.raise_error(
      422, 'stock_not_tracked', 'The stock of this product is not tracked; set stock first.'
    );
  elsif p_expected_stock <> v_product.stock then
    perform private.raise_error(
      409,
      'stock_changed',
      'The stock is not what you expected.',
      json_build_object('stock', v_product.stock)::text
    );
  elsif v_product.stock::bigint + p_delta > 2147483647 then
    perform private.raise_error(422, 'stock_too_large', 'The stock is more than can be kept.');
  elsif v_product.stock::bigint + p_delta < 0 then
    perform private.raise_insufficient_stock(
      v_product.professional_id,
      jsonb_build_array(jsonb_build_object(
        'product_id', p_product_id, 'requested', -p_delta::bigint, 'available', v_product.stock
      ))
    );
  end if;

  perform private.set_stock_reason(p_reason, null);
  update public.products
  set stock = stock + p_delta
  where id = p_product_id
  returning stock into v_product.stock;
  perform private.set_stock_reason(null, null);

  return row(p_product_id, v_product.stock)::public.stock_level;
end;
$$;

create function public.adjust_stock(
  product_id uuid,
  delta integer,
  reason text,
  expected_stock integer default null
)
returns public.stock_level
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.adjust_stock($1, $2, $3, $4);
$$;

grant execute on function public.adjust_stock (uuid, integer, text, integer)
  to authenticated, service_role;

grant execute on function private.adjust_stock (uuid, integer, text, integer)
  to authenticated, service_role;

comment on type public.stock_level is 'A product and the pieces on hand.';

comment on column public.stock_level.product_id is 'Of the product, or of the variant.';

comment on column public.stock_level.stock is 'Pieces on hand after the call.';

comment on function public.adjust_stock is
  'Adds delta pieces (negative: takes) to the stock of a product, atomically, with a reason for the ledger. Errors: 404 PGRST301; 409 stock_changed {"stock"} when expected_stock is given and wrong, insufficient_stock below zero; 422 stock_not_tracked, stock_too_large, reason_required, delta_required (also for 0), validation_failed {"fields"}.';

select private.hand_over('adjust_stock');
