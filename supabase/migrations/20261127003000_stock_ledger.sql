-- Stock as a ledger: whatever changes products.stock leaves a row here, so that what is on hand can
-- always be explained. Untracked stock (null) counts as 0: the rows of a product add up to
-- coalesce(stock, 0). Append-only by grants: nobody holds any on it.

create table private.stock_ledger (
  id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  product_id uuid not null,
  order_id uuid,
  delta integer not null
    constraint stock_ledger_delta_is_a_change check (delta <> 0),
  reason text not null
    constraint stock_ledger_reason_has_1_to_200_characters
      check (not private.is_blank(reason) and char_length(reason) <= 200),
  -- Goes with its product; one that was ever ordered is kept by private.order_products.
  constraint stock_ledger_professional_id_product_id_fkey
    foreign key (professional_id, product_id) references public.products (professional_id, id)
    on delete cascade,
  constraint stock_ledger_professional_id_order_id_fkey
    foreign key (professional_id, order_id) references public.orders (professional_id, id)
    on delete no action
);

create index stock_ledger_professional_id_product_id_idx
  on private.stock_ledger (professional_id, product_id);

create index stock_ledger_professional_id_order_id_idx
  on private.stock_ledger (professional_id, order_id) where order_id is not null;

-- A trigger cannot be told why a statement was made; settings of the transaction can.
create function private.set_stock_reason(p_reason text, p_order_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform
    set_config('private.stock_reason', coalesce(p_reason, ''), true),
    set_config('private.stock_order_id', coalesce(p_order_id::text, ''), true);
end;
$$;

comment on function private.set_stock_reason is
  'Reason and order of the stock changes that follow in this transaction; nulls end it.';

-- Once a statement: an order changes several products, and an import hundreds.
create function private.write_stock_ledger()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_order_id constant uuid := nullif(current_setting('private.stock_order_id', true), '');
  v_reason constant text := coalesce(
    nullif(current_setting('private.stock_reason', true), ''),
    case tg_op when 'INSERT' then 'created' else 'edited' end
  );
begin
  if tg_op = 'INSERT' then
    insert into private.stock_ledger (professional_id, product_id, order_id, delta, reason)
    select professional_id, id, v_order_id, stock, v_reason
    from new_products
    where stock <> 0;
  else
    insert into private.stock_ledger (professional_id, product_id, order_id, delta, reason)
    select
      n.professional_id,
      n.id,
      v_order_id,
      coalesce(n.stock, 0) - coalesce(o.stock, 0),
      v_reason
    from new_products n
    join old_products o on o.id = n.id
    where coalesce(n.stock, 0) <> coalesce(o.stock, 0);
  end if;
  return null;
end;
$$;

comment on function private.write_stock_ledger is
  'AFTER INSERT OR UPDATE on products: one ledger row for each change of stock, whichever path made it.';

-- How much is left is the professional's business: the public only learns which product is short.
create function private.raise_insufficient_stock(p_professional_id uuid, p_short jsonb)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.raise_error(
    409,
    'insufficient_stock',
    'There is not enough in stock.',
    (
      select jsonb_agg(
        case
          when private.caller_manages(p_professional_id) then line
          else line - 'available'
        end
        order by line ->> 'product_id'
      )
      from jsonb_array_elements(p_short) as line
    )::text
  );
$$;

comment on function private.raise_insufficient_stock is
  '409 insufficient_stock with [{"product_id", "requested", "available"}] in details; the public gets no available.';

create trigger products_5_write_stock_ledger_on_insert
  after insert on public.products
  referencing new table as new_products
  for each statement execute function private.write_stock_ledger();

create trigger products_5_write_stock_ledger_on_update
  after update on public.products
  referencing old table as old_products new table as new_products
  for each statement execute function private.write_stock_ledger();

alter table private.stock_ledger enable row level security;

grant select, insert on private.stock_ledger to rules;

create policy stock_ledger_all_rules on private.stock_ledger
  for all to rules
  using (true)
  with check (true);

comment on table private.stock_ledger is
  'Every change of stock with its reason and, for orders, the order. Append-only.';

select private.hand_over('write_stock_ledger');
