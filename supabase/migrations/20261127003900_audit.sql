-- RPC: does everything add up? Looks at the books from outside the rules that keep them, so that a
-- rule that is missing or wrong shows.

create type public.audit_finding as (
  finding text,
  subject_id uuid,
  expected numeric,
  actual numeric
);

create function private.audit_orders(p_professional_id uuid)
returns setof public.audit_finding
language sql
stable
security invoker
set search_path = ''
as $$
  with orders as (
    select o.id, o.number, o.items, o.subtotal, o.discount, o.tax, o.total, c.minor_units
    from public.orders o
    join private.currencies c on c.code = o.currency
    where o.professional_id = p_professional_id
  ),
  lines as (
    select
      o.id,
      sum((line ->> 'total')::numeric) as total,
      sum(
        private.round_money(
          (line ->> 'unit_price')::numeric * (line ->> 'quantity')::numeric, o.minor_units
        )
      ) as computed
    from orders o
    cross join jsonb_array_elements(o.items) as line
    group by o.id
  )
  select 'order_lines_make_subtotal', o.id, l.total, o.subtotal
  from orders o
  join lines l using (id)
  where l.total <> o.subtotal
  union all
  select 'order_line_is_price_times_quantity', o.id, l.computed, l.total
  from orders o
  join lines l using (id)
  where l.computed <> l.total
  union all
  select 'order_total_adds_up', o.id, o.subtotal - o.discount + o.tax, o.total
  from orders o
  where o.total not in (o.subtotal - o.discount + o.tax, o.subtotal - o.discount)
  union all
  select 'order_numbers_have_no_gap', p_professional_id, max(o.number), count(distinct o.number)
  from orders o
  having max(o.number) <> count(distinct o.number);
$$;

comment on function private.audit_orders is
  'Orders whose lines and totals differ, and gaps in their numbers.';

create function private.audit_payments(p_professional_id uuid)
returns setof public.audit_finding
language sql
stable
security invoker
set search_path = ''
as $$
  with ledger as (
    select
      o.id,
      o.amount_paid,
      o.amount_refunded,
      coalesce(sum(p.amount) filter (where p.kind = 'payment'), 0) as paid,
      coalesce(sum(p.amount) filter (where p.kind in ('refund', 'dispute')), 0)
        - coalesce(
          sum(p.amount) filter (where p.kind in ('refund_reversal', 'dispute_reversal')), 0
        ) as refunded
    from public.orders o
    left join private.payments p on p.professional_id = o.professional_id and p.order_id = o.id
    where o.professional_id = p_professional_id
    group by o.id
  )
  select 'order_paid_is_ledger', id, paid, amount_paid
  from ledger
  where paid <> amount_paid
  union all
  select 'order_refunded_is_ledger', id, refunded, amount_refunded
  from ledger
  where refunded <> amount_refunded;
$$;

comment on function private.audit_payments is 'Orders whose amounts differ from their payments.';

create function private.audit_stock(p_professional_id uuid)
returns setof public.audit_finding
language sql
stable
security invoker
set search_path = ''
as $$
  with orders as (
    select id, status, items
    from public.orders
    where professional_id = p_professional_id
  ),
  held as (
    select
      o.id as order_id,
      o.status,
      coalesce(q.product_id, h.product_id) as product_id,
      coalesce(q.quantity, 0) as ordered,
      coalesce(h.quantity, 0) as held
    from orders o
    cross join private.ordered_quantities(o.items) q
    full join (
      select order_id, product_id, quantity
      from private.order_products
      where professional_id = p_professional_id
    ) h on h.order_id = o.id and h.product_id = q.product_id
  ),
  taken as (
    select order_id, product_id, -sum(delta) as quantity
    from private.stock_ledger
    where professional_id = p_professional_id and order_id is not null
    group by order_id, product_id
  ),
  headings as (
    select parent_id, bool_or(active and stock is distinct from 0) as in_stock
    from public.products
    where professional_id = p_professional_id and parent_id is not null
    group by parent_id
  )
  select 'stock_is_ledger', p.id, coalesce(sum(l.delta), 0)::numeric, coalesce(p.stock, 0)::numeric
  from public.products p
  left join private.stock_ledger l
    on l.professional_id = p.professional_id and l.product_id = p.id
  where p.professional_id = p_professional_id
  group by p.id
  having coalesce(sum(l.delta), 0) <> coalesce(p.stock, 0)
  union all
  select
    'in_stock_is_stock',
    p.id,
    coalesce(h.in_stock, p.stock is distinct from 0)::integer::numeric,
    p.in_stock::integer::numeric
  from public.products p
  left join headings h on h.parent_id = p.id
  where p.professional_id = p_professional_id
    and p.in_stock <> coalesce(h.in_stock, p.stock is distinct from 0)
  union all
  select 'order_products_are_its_lines', product_id, ordered::numeric, held::numeric
  from held
  where ordered <> held
  union all
  -- An untracked product gives and gets nothing, so 0 and everything are both right.
  select 'stock_taken_is_ordered', t.product_id, h.held::numeric, t.quantity::numeric
  from taken t
  left join held h on h.order_id = t.order_id and h.product_id = t.product_id
  where t.quantity <> 0 and t.quantity is distinct from h.held;
$$;

comment on function private.audit_stock is
  'Products whose stock differs from the ledger or in_stock from the stock, and orders that hold or took something else than their lines say.';

-- Definer: reads the ledgers.
create function private.audit()
returns setof public.audit_finding
language sql
stable
security definer
set search_path = ''
as $$
  select * from private.audit_orders(private.caller_professional_id())
  union all
  select * from private.audit_payments(private.caller_professional_id())
  union all
  select * from private.audit_stock(private.caller_professional_id());
$$;

create function public.audit()
returns setof public.audit_finding
language sql
stable
security invoker
set search_path = ''
as $$
  select * from private.audit();
$$;

comment on type public.audit_finding is
  'Something that does not add up: which rule, of which row, and the two figures.';

comment on column public.audit_finding.finding is 'Name of the rule, such as stock_is_ledger.';

comment on column public.audit_finding.subject_id is
  'The product, order or professional that it is about.';

comment on column public.audit_finding.expected is 'What it should be, by the rest of the books.';

comment on column public.audit_finding.actual is 'What it is.';

comment on function public.audit is
  'Checks stock, lines, totals, payments and numbers of your orders against each other; a row for each thing that does not add up, so normally none.';

grant execute on function public.audit () to authenticated;

grant execute on function private.audit () to authenticated;

select private.hand_over('audit');
