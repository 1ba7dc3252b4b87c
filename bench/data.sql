-- What is measured on: 1 000 professionals. The first 16 are measured and hold the same rows at every level, while
-- the others' history grows to `bench.bookings` together, so that a ratio between levels compares like with like.
-- Rows are written in the order of time, as life would have written them. Ids are hashes, which requests can name.

create function pg_temp.id(kind text, p integer, k integer)
returns uuid
language sql
stable
return md5(kind || ' ' || p || ' ' || k)::uuid;

-- An earlier commit has no notice.
do $$
begin
  alter table public.bookings alter column cancellation_notice set default 0;
exception
  when undefined_column then null;
end;
$$;

-- The professionals, how many rows each holds, and on how many days ahead something is booked.
create temporary table held as
select p, md5('professional ' || p)::uuid as owner, h.*
from generate_series(1, 1000) p
cross join (select round(current_setting('bench.bookings')::numeric / 984)::integer) each (n)
cross join lateral (
  select 1000 as bookings, 200 as clients, 50 as services, 60 as products, 500 as orders, 62 as days
  where p <= 16
  union all
  select n, greatest(2, n / 5), greatest(5, n / 20), greatest(3, n * 6 / 100), n / 2, n / 80
  where p > 16
) h;

-- The k-th row is k times three hours old, a little different for everybody.
create function pg_temp.age(p integer, k integer)
returns timestamptz
language sql
stable
return now() - k * interval '3 hours' - p * interval '7 seconds';

insert into auth.users (id, aud, role, email, created_at, updated_at)
select owner, 'authenticated', 'authenticated', 'pro-' || p || '@example.com', now(), now()
from held;

insert into auth.sessions (id, user_id, aal, created_at, updated_at)
select pg_temp.id('session', p, 1), owner, 'aal1', now(), now()
from held where p <= 16;

insert into public.profiles (
  id, full_name, username, time_zone, accepts_bookings, accepts_orders, tax_rate, tier
)
select owner, 'Professional ' || p, 'pro-' || p, 'Europe/Rome', true, true, 22, 'pro'
from held;

insert into public.services (
  id, professional_id, created_at, name, price, duration, slot_step, max_advance_days
)
select pg_temp.id('service', p, k), owner, pg_temp.age(p, k), 'Service ' || k, 30, 30, 15, 1095
from held, generate_series(1, services) k
order by k desc, p;

insert into public.clients (id, professional_id, created_at, name, email, phone)
select
  pg_temp.id('client', p, k), owner, pg_temp.age(p, k),
  initcap(translate(left(md5('name ' || k || p), 9), '0123456789', 'aeiouaeiou')) || ' Rossi',
  'client-' || k || '@example.com', '+39 055 ' || k
from held, generate_series(1, clients) k
order by k desc, p;

insert into public.products (id, professional_id, created_at, name, sku, price, stock)
select
  pg_temp.id('product', p, k), owner, pg_temp.age(p, k), 'Product ' || k, 'SKU-' || k, 12.5, 1000000
from held, generate_series(1, products) k
order by k desc, p;

-- History: it blocks nothing any more.
insert into public.bookings (
  id, professional_id, client_id, service_id, service_name, created_at, starts_at, ends_at,
  buffer_before, buffer_after, status, price, currency, cancelled_at, cancelled_by
)
select
  pg_temp.id('booking', p, k), owner, pg_temp.id('client', p, 1 + k % clients),
  pg_temp.id('service', p, 1 + k % services), 'Service', at - interval '7 days', at,
  at + interval '30 minutes', 0, 0,
  case k % 10 when 0 then 'cancelled' when 1 then 'no_show' else 'completed' end, 30, 'EUR',
  case when k % 10 = 0 then at end, case when k % 10 = 0 then 'client' end
from held, generate_series(1, bookings) k, pg_temp.age(p, k) at
order by k desc, p;

-- A half-full calendar: every other hour.
insert into public.bookings (
  id, professional_id, client_id, service_id, service_name, starts_at, ends_at, buffer_before,
  buffer_after, status, price, currency
)
select
  pg_temp.id('live', p, day * 24 + hour), owner,
  pg_temp.id('client', p, 1 + (day * 4 + hour) % clients),
  pg_temp.id('service', p, 1 + (day * 4 + hour) % services), 'Service',
  at, at + interval '1 hour', 0, 0, 'confirmed', 30, 'EUR'
from held, generate_series(1, days) day, unnest(array[9, 11, 13, 15]) hour
cross join lateral (
  select (current_date + day + make_interval(hours => hour)) at time zone 'Europe/Rome' as at
) times;

-- One line each, with what the order holds and the stock it took.
create temporary table sold as
select
  p, k, owner, pg_temp.id('order', p, k) as order_id,
  pg_temp.id('client', p, 1 + k % clients) as client_id,
  pg_temp.id('product', p, 1 + k % products) as product_id
from held, generate_series(1, orders) k
order by k desc, p;

insert into public.orders (
  id, professional_id, client_id, number, created_at, items, subtotal, tax, total, currency, status,
  amount_paid
)
select
  order_id, owner, client_id, k, pg_temp.age(p, k),
  jsonb_build_array(jsonb_build_object(
    'product_id', product_id, 'name', 'Product', 'sku', 'SKU', 'options', '{}'::jsonb,
    'unit_price', 12.5, 'quantity', 1, 'total', 12.5
  )),
  12.5, 2.75, 15.25, 'EUR', 'fulfilled', 15.25
from sold;

insert into private.order_products (professional_id, order_id, product_id, quantity)
select owner, order_id, product_id, 1 from sold;

insert into private.stock_ledger (professional_id, product_id, order_id, delta, reason)
select owner, product_id, order_id, -1, 'ordered' from sold;

-- As many deliveries as bookings are finished, and a few are due, at two endpoints each of five professionals who
-- are not measured: none gets more than four tries at a time, and a claim takes sixteen.
insert into private.webhook_endpoints (id, professional_id, url, events, secret)
select pg_temp.id('endpoint', p, n), owner, 'https://example.com/' || n, '{*}', 'whsec_'
from held, generate_series(1, 2) n
where p between 17 and 21;

create temporary table emitted as
select p, k, owner, pg_temp.id('event', p, k) as id, k <= 32 as is_due
from held, generate_series(1, current_setting('bench.bookings')::integer / 10 + 32) k
where p between 17 and 21;

insert into private.webhook_events (id, professional_id, sequence, created_at, type, body)
select id, owner, k, now(), 'client.created', '{"type": "client.created", "data": {}}'
from emitted;

insert into private.webhook_deliveries (
  professional_id, endpoint_id, event_id, status, attempts, next_attempt_at
)
select
  owner, pg_temp.id('endpoint', p, n), id, case when is_due then 'pending' else 'succeeded' end,
  case when is_due then 0 else 1 end, case when is_due then now() end
from emitted, generate_series(1, 2) n;
