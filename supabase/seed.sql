-- A demo for development machines: Ana, a hairdresser in Rome, with a week of work. Sign in with
-- ana@example.com and the password below; her page is booking_page('ana').
-- Fixed ids, so that examples in the docs can name them. Never run against a project with real data.

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

-- Next week, by the clock in Rome.
insert into public.bookings (id, professional_id, client_id, service_id, starts_at)
select
  b.id,
  'a0000000-0000-4000-8000-000000000001',
  b.client_id,
  b.service_id,
  (date_trunc('week', now() at time zone 'Europe/Rome') + b.start) at time zone 'Europe/Rome'
from (
  values
    (
      'a0000000-0000-4000-8000-000000000041'::uuid,
      'a0000000-0000-4000-8000-000000000021'::uuid,
      'a0000000-0000-4000-8000-000000000011'::uuid,
      interval '8 days 10 hours'
    ),
    (
      'a0000000-0000-4000-8000-000000000042',
      'a0000000-0000-4000-8000-000000000022',
      'a0000000-0000-4000-8000-000000000012',
      interval '9 days 15 hours 30 minutes'
    )
) as b (id, client_id, service_id, start);

insert into public.orders (id, professional_id, client_id, items)
values (
  'a0000000-0000-4000-8000-000000000051',
  'a0000000-0000-4000-8000-000000000001',
  'a0000000-0000-4000-8000-000000000021',
  '[{"product_id": "a0000000-0000-4000-8000-000000000032", "quantity": 2}]'
);

select public.record_payment('a0000000-0000-4000-8000-000000000051', 29.8, 'card', 'demo-1');

select set_config('private.mail', '', false);
