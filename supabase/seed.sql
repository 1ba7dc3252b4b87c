-- A demo for development machines: Ana, a hairdresser in Rome, with the last week of work behind her and the
-- next one ahead. Sign in with ana@example.com and the password below; her page is booking_page('ana').
-- Fixed ids, so that examples in the docs can name them, and that `npm start` can move these rows, and only
-- these, along with the calendar (local/demo.sql). Never run against a project with real data.

-- Nobody of this demo has just booked.
select set_config('private.mail', 'none', false);

-- On a development machine the whole public has one address.
update private.settings
set
  public_tries_per_address_hour = 1000,
  public_tries_per_network_hour = 1000,
  public_writes_per_network_hour = 1000;

insert into auth.users (
  instance_id,
  id,
  aud,
  role,
  email,
  encrypted_password,
  email_confirmed_at,
  raw_app_meta_data,
  raw_user_meta_data,
  created_at,
  updated_at,
  confirmation_token,
  recovery_token,
  email_change,
  email_change_token_new
)
values (
  '00000000-0000-0000-0000-000000000000',
  'a0000000-0000-4000-8000-000000000001',
  'authenticated',
  'authenticated',
  'ana@example.com',
  extensions.crypt('demo-password', extensions.gen_salt('bf', 10)),
  now(),
  '{"provider": "email", "providers": ["email"]}',
  '{"full_name": "Ana Bianchi", "username": "ana", "niche": "hairdresser"}',
  now(),
  now(),
  -- The auth service reads these as text and refuses null.
  '',
  '',
  '',
  ''
);

insert into auth.identities (
  id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at
)
values (
  'a0000000-0000-4000-8000-000000000002',
  'a0000000-0000-4000-8000-000000000001',
  'a0000000-0000-4000-8000-000000000001',
  '{"sub": "a0000000-0000-4000-8000-000000000001", "email": "ana@example.com"}',
  'email',
  now(),
  now(),
  now()
);

insert into private.confirmed_owners (professional_id, address_digest)
values ('a0000000-0000-4000-8000-000000000001', private.address_digest('ana@example.com'));

update public.profiles
set
  bio = 'Cuts and colour in Trastevere since 2009.',
  time_zone = 'Europe/Rome',
  accepts_bookings = true,
  accepts_orders = true,
  tax_rate = 22,
  prices_include_tax = true,
  availability = '{
    "weekly": {
      "mon": [["09:00", "13:00"], ["14:00", "19:00"]],
      "tue": [["09:00", "13:00"], ["14:00", "19:00"]],
      "wed": [["09:00", "13:00"], ["14:00", "19:00"]],
      "thu": [["09:00", "13:00"], ["14:00", "19:00"]],
      "fri": [["09:00", "13:00"], ["14:00", "20:00"]],
      "sat": [["09:00", "16:00"]]
    },
    "overrides": {}
  }'
where id = 'a0000000-0000-4000-8000-000000000001';

insert into public.services (
  id, professional_id, name, description, category, price, duration, buffer_after, slot_step,
  min_notice, cancellation_notice, requires_confirmation
)
values
  (
    'a0000000-0000-4000-8000-000000000011', 'a0000000-0000-4000-8000-000000000001',
    'Haircut', 'Wash, cut and blow-dry.', 'Cuts', 38, 45, 15, 15, 120, 1440, false
  ),
  (
    'a0000000-0000-4000-8000-000000000012', 'a0000000-0000-4000-8000-000000000001',
    'Beard trim', null, 'Cuts', 15.5, 20, 10, 15, 60, 120, false
  ),
  (
    'a0000000-0000-4000-8000-000000000013', 'a0000000-0000-4000-8000-000000000001',
    'Colour', 'Consultation first: Ana confirms the appointment.', 'Colour',
    95, 120, 15, 30, 1440, 2880, true
  );

insert into public.clients (id, professional_id, name, email, phone, notes, tags)
values
  (
    'a0000000-0000-4000-8000-000000000021', 'a0000000-0000-4000-8000-000000000001',
    'Marta Rossi', 'marta@example.com', '+39 06 5550101', 'Prefers mornings.', '{regular}'
  ),
  (
    'a0000000-0000-4000-8000-000000000022', 'a0000000-0000-4000-8000-000000000001',
    'Luca Conti', 'luca@example.com', null, null, '{}'
  ),
  (
    'a0000000-0000-4000-8000-000000000023', 'a0000000-0000-4000-8000-000000000001',
    'Giulia Ferrari', 'giulia@example.com', '+39 06 5550103', 'Allergic to ammonia.', '{colour}'
  ),
  (
    'a0000000-0000-4000-8000-000000000024', 'a0000000-0000-4000-8000-000000000001',
    'Paolo Esposito', 'paolo@example.com', '+39 06 5550104', null, '{}'
  ),
  (
    'a0000000-0000-4000-8000-000000000025', 'a0000000-0000-4000-8000-000000000001',
    'Chiara Romano', 'chiara@example.com', null, null, '{colour,regular}'
  ),
  (
    'a0000000-0000-4000-8000-000000000026', 'a0000000-0000-4000-8000-000000000001',
    'Davide Greco', 'davide@example.com', '+39 06 5550106', null, '{}'
  );

insert into public.products (
  id, professional_id, parent_id, name, category, sku, options, price, stock, low_stock_at
)
values
  (
    'a0000000-0000-4000-8000-000000000031', 'a0000000-0000-4000-8000-000000000001', null,
    'Shampoo', 'Care', null, '{}', 14.9, null, null
  ),
  (
    'a0000000-0000-4000-8000-000000000032', 'a0000000-0000-4000-8000-000000000001',
    'a0000000-0000-4000-8000-000000000031', 'Shampoo 250 ml', 'Care', 'SH-250',
    '{"size": "250 ml"}', 14.9, 20, 5
  ),
  (
    'a0000000-0000-4000-8000-000000000033', 'a0000000-0000-4000-8000-000000000001',
    'a0000000-0000-4000-8000-000000000031', 'Shampoo 500 ml', 'Care', 'SH-500',
    '{"size": "500 ml"}', 24.9, 8, 3
  ),
  (
    'a0000000-0000-4000-8000-000000000034', 'a0000000-0000-4000-8000-000000000001', null,
    'Gift card', 'Gifts', 'GIFT-50', '{}', 50, null, null
  );

-- By the clock in Rome: what is over in the week up to yesterday (6x, 7x), what is to come from today on (8x,
-- 9x), and two bookings a week later, which clients can still cancel (4x). One of another group never is at the same
-- time of the same weekday, so each can be moved by whole weeks.
create temporary table demo_bookings as
select
  ('a0000000-0000-4000-8000-0000000000' || d.id)::uuid as id,
  ('a0000000-0000-4000-8000-0000000000' || d.client)::uuid as client_id,
  ('a0000000-0000-4000-8000-0000000000' || d.service)::uuid as service_id,
  d.status,
  d.said,
  d.noted,
  (
    case
      when d.id < '60' then t.day + 7 + (d.weekday - t.weekday + 7) % 7
      when d.id < '80' then t.day - 1 - (t.weekday - d.weekday + 6) % 7
      else t.day + (d.weekday - t.weekday + 7) % 7
    end + d.start
  ) at time zone 'Europe/Rome' as starts_at
from (
  values
    ('61', 1, time '09:00', '22', '12', 'completed', null, null),
    ('62', 2, '09:00', '21', '11', 'completed', null, null),
    ('63', 2, '16:00', '24', '12', 'no_show', null, 'Second time: ask for a deposit.'),
    ('64', 3, '11:00', '23', '11', 'completed', null, null),
    ('65', 4, '09:30', '25', '13', 'completed', null, 'Copper 7.43, 35 minutes.'),
    ('66', 4, '15:00', '22', '12', 'completed', null, null),
    ('67', 5, '10:00', '26', '11', 'cancelled', null, null),
    ('68', 5, '17:00', '23', '11', 'completed', null, null),
    ('69', 6, '09:00', '21', '13', 'completed', null, null),
    ('70', 6, '14:00', '24', '12', 'completed', null, null),
    ('81', 1, '10:00', '26', '11', 'confirmed', null, null),
    ('82', 1, '15:00', '23', '13', 'pending', 'As last time, please.', null),
    ('83', 2, '11:30', '25', '11', 'confirmed', null, null),
    ('84', 2, '14:30', '22', '12', 'confirmed', null, null),
    ('85', 3, '09:00', '24', '12', 'confirmed', null, null),
    ('86', 3, '17:00', '26', '11', 'confirmed', 'Fringe only?', null),
    ('87', 4, '12:00', '24', '12', 'confirmed', null, null),
    ('88', 4, '17:30', null, null, 'confirmed', 'Dentist', null),
    ('89', 5, '11:30', '21', '11', 'confirmed', null, null),
    ('90', 5, '14:30', '25', '13', 'pending', null, null),
    ('91', 6, '12:00', '22', '11', 'confirmed', null, null),
    ('92', 7, '11:00', '25', '11', 'confirmed', null, 'Wedding: at her home.'),
    ('41', 2, '10:00', '21', '11', 'confirmed', null, null),
    ('42', 3, '15:30', '22', '12', 'confirmed', null, null)
) as d (id, weekday, start, client, service, status, said, noted)
cross join (
  select n.day, extract(isodow from n.day)::integer as weekday
  from (select (now() at time zone 'Europe/Rome')::date as day) as n
) as t;

insert into public.bookings (
  id, professional_id, client_id, service_id, created_at, starts_at, ends_at, status, notes,
  internal_notes
)
select
  id,
  'a0000000-0000-4000-8000-000000000001',
  client_id,
  service_id,
  starts_at - interval '15 days',
  starts_at,
  case when service_id is null then starts_at + interval '1 hour' end,
  case when status = 'pending' then 'pending' else 'confirmed' end,
  said,
  noted
from demo_bookings;

update public.bookings b
set
  status = d.status,
  cancel_reason = case when d.status = 'cancelled' then 'The salon had no water that day.' end
from demo_bookings d
where b.id = d.id and d.status not in ('pending', 'confirmed');

drop table demo_bookings;

insert into public.orders (id, professional_id, client_id, created_at, items)
values
  (
    'a0000000-0000-4000-8000-000000000051',
    'a0000000-0000-4000-8000-000000000001',
    'a0000000-0000-4000-8000-000000000021',
    now() - interval '3 days',
    '[{"product_id": "a0000000-0000-4000-8000-000000000032", "quantity": 2}]'
  ),
  -- Nothing of it is paid.
  (
    'a0000000-0000-4000-8000-000000000052',
    'a0000000-0000-4000-8000-000000000001',
    'a0000000-0000-4000-8000-000000000025',
    now() - interval '1 day',
    '[
      {"product_id": "a0000000-0000-4000-8000-000000000033", "quantity": 1},
      {"product_id": "a0000000-0000-4000-8000-000000000034", "quantity": 1}
    ]'
  );

update public.orders set status = 'confirmed' where id = 'a0000000-0000-4000-8000-000000000052';

select public.record_payment('a0000000-0000-4000-8000-000000000051', 29.8, 'card', 'demo-1');

select set_config('private.mail', '', false);
