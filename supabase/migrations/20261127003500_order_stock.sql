-- Which products an order holds. Keeps them from being deleted, takes their stock when the order is
-- placed and gives it back when it is cancelled. Only AFTER triggers: an insert that `on conflict
-- do nothing` skips has run its BEFORE triggers all the same.

create table private.order_products (
  professional_id uuid not null references public.profiles (id) on delete cascade,
  order_id uuid not null,
  product_id uuid not null,
  quantity integer not null
    constraint order_products_quantity_is_positive check (quantity > 0),
  primary key (professional_id, order_id, product_id),
  constraint order_products_professional_id_order_id_fkey
    foreign key (professional_id, order_id) references public.orders (professional_id, id)
    on delete no action,
  constraint order_products_professional_id_product_id_fkey
    foreign key (professional_id, product_id) references public.products (professional_id, id)
    on delete no action
);

create index order_products_professional_id_product_id_idx
  on private.order_products (professional_id, product_id);

create function private.ordered_quantities(p_lines jsonb)
returns table (product_id uuid, quantity integer)
language plpgsql
immutable
-- A basket, not the thousand rows Postgres would guess, for which it would read the whole
-- catalogue.
rows 3
security invoker
set search_path = ''
as $$
begin
  return query
    select (line ->> 'product_id')::uuid, sum((line ->> 'quantity')::integer)::integer
    from jsonb_array_elements(p_lines) as line
    where line ? 'product_id'
    group by 1;
end;
$$;

comment on function private.ordered_quantities is
  'Pieces of each product in priced lines, lines of one product summed.';

create function private.stock_of_expired_holds(p_professional_id uuid, p_product_id uuid)
returns bigint
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select coalesce(-sum(l.delta), 0)
    from public.orders o
    join private.stock_ledger l on l.professional_id = o.professional_id and l.order_id = o.id
    where o.professional_id = p_professional_id
      and o.status = 'pending'
      and o.expires_at <= now()
      and not o.checkout_open
      and l.product_id = p_product_id
  );
end;
$$;

comment on function private.stock_of_expired_holds is
  'Pieces of a product that holds which are over have taken and not given back yet.';

create function private.short_of(p_professional_id uuid, p_lines jsonb)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- What holds that are over still keep is looked up for what is short only.
  return (
    select jsonb_agg(jsonb_build_object(
      'product_id', o.product_id, 'requested', o.quantity, 'available', a.available
    ))
    from private.ordered_quantities(p_lines) o
    join public.products p on p.professional_id = p_professional_id and p.id = o.product_id
    cross join lateral (
      select case
        when p.stock < o.quantity
        then p.stock + private.stock_of_expired_holds(p_professional_id, p.id)
        else p.stock
      end
    ) as a (available)
    where a.available < o.quantity
  );
end;
$$;

comment on function private.short_of is
  'Products of priced lines of which there is too little, with what holds that are over will give back: [{"product_id", "requested", "available"}]; null when there is enough.';

create function private.check_stock(p_professional_id uuid, p_lines jsonb)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_short constant jsonb := private.short_of(p_professional_id, p_lines);
begin
  if v_short is not null then
    perform private.raise_insufficient_stock(p_professional_id, v_short);
  end if;
end;
$$;

comment on function private.check_stock is
  '409 insufficient_stock when the tracked stock, with what holds that are over will give back, does not cover priced lines.';

-- The check constraint on stock stands behind check_stock().
create function private.take_stock()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    insert into private.order_products (professional_id, order_id, product_id, quantity)
    select new.professional_id, new.id, product_id, quantity
    from private.ordered_quantities(new.items);
  end if;

  if exists (
    select
    from private.order_products o
    join public.products p on p.professional_id = o.professional_id and p.id = o.product_id
    where o.professional_id = new.professional_id
      and o.order_id = new.id
      and p.stock < o.quantity
  ) then
    perform private.check_stock(new.professional_id, new.items);
    -- What is there includes what these give back; an RPC has ended them before.
    perform private.end_order_holds(new.professional_id, new.id);
  end if;

  perform private.set_stock_reason('ordered', new.id);
  update public.products p
  set stock = p.stock - o.quantity
  from private.order_products o
  where o.professional_id = new.professional_id
    and o.order_id = new.id
    and p.professional_id = new.professional_id
    and p.id = o.product_id
    and p.stock is not null;
  perform private.set_stock_reason(null, null);
  return null;
end;
$$;

comment on function private.take_stock is
  'AFTER INSERT, or when a cancelled order comes back: notes what the order holds and takes it from stock, or 409 insufficient_stock. Ends holds that are over when stock is short without theirs.';

-- What the ledger says was taken: a product that was not tracked then gets nothing back now.
create function private.give_stock_back()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.set_stock_reason('cancelled', new.id);
  update public.products p
  -- A stock at the end of its type must not keep an order, or a night's clean-up, from going on.
  set stock = least(p.stock + taken.quantity, 2147483647)
  from (
    select product_id, -sum(delta) as quantity
    from private.stock_ledger
    where professional_id = new.professional_id and order_id = new.id
    group by product_id
  ) as taken
  where p.professional_id = new.professional_id
    and p.id = taken.product_id
    and p.stock is not null
    and taken.quantity > 0;
  perform private.set_stock_reason(null, null);
  return null;
end;
$$;

comment on function private.give_stock_back is
  'AFTER UPDATE to cancelled: gives back what the order took, by the ledger, and so once.';

create trigger orders_5_take_stock
  after insert on public.orders
  for each row execute function private.take_stock();

create trigger orders_5_take_stock_again
  after update on public.orders
  for each row when (old.status = 'cancelled' and new.status <> 'cancelled')
  execute function private.take_stock();

create trigger orders_6_give_stock_back
  after update on public.orders
  for each row when (new.status = 'cancelled' and old.status <> 'cancelled')
  execute function private.give_stock_back();

alter table private.order_products enable row level security;

grant select, insert on private.order_products to rules;

create policy order_products_all_rules on private.order_products
  for all to rules
  using (true)
  with check (true);

comment on table private.order_products is
  'Products and pieces of each order. Its foreign key keeps an ordered product from being deleted.';

select private.hand_over('take_stock', 'give_stock_back');
