-- Settings of this installation: what differs between two projects with the same migrations.

-- One row with a column each: read before every request, and each value has its type and bounds.
create table private.settings (
  id boolean primary key default true
    constraint settings_is_one_row check (id),
  anon_tier text not null default 'pro'
    constraint settings_anon_tier_fkey references private.tiers (name) on delete no action,
  anon_per_network integer not null default 6
    constraint settings_anon_per_network_is_positive check (anon_per_network > 0),
  rest_pool_size integer not null default 20
    constraint settings_rest_pool_size_is_positive check (rest_pool_size > 0),
  public_tries_per_address_hour integer not null default 10
    constraint settings_public_tries_per_address_hour_is_positive
    check (public_tries_per_address_hour > 0),
  public_tries_per_network_hour integer not null default 30
    constraint settings_public_tries_per_network_hour_is_positive
    check (public_tries_per_network_hour > 0),
  public_writes_per_network_hour integer not null default 10
    constraint settings_public_writes_per_network_hour_is_positive
    check (public_writes_per_network_hour > 0),
  portal_url text,
  portal_reported_at timestamptz,
  payments_livemode boolean,
  request_counter text,
  request_counter_password text,
  request_counter_refused_at timestamptz
);

create index settings_anon_tier_idx on private.settings (anon_tier);

alter table private.settings enable row level security;

grant
  select (id, portal_url, portal_reported_at, payments_livemode),
  update (portal_url, portal_reported_at, payments_livemode)
on private.settings to rules;

create policy settings_all_rules on private.settings
  for all to rules
  using (true)
  with check (true);

insert into private.settings default values;

comment on table private.settings is
  'One row; docs/operations.md lists the settings. request_counter and request_counter_password are secrets, so rules have a grant on other columns only.';

comment on column private.settings.id is 'Always true: there is one row.';

comment on column private.settings.anon_tier is
  'The tier whose requests a minute the public has, each network for itself.';

comment on column private.settings.anon_per_network is
  'Requests of the public from one network that may run at the same time.';

comment on column private.settings.rest_pool_size is
  'Connections of the REST server to the database, as its own configuration has it: shares of it are kept for each kind of caller.';

comment on column private.settings.public_tries_per_address_hour is
  'Bookings and orders that the public may try for one e-mail address in an hour, per professional.';

comment on column private.settings.public_tries_per_network_hour is
  'Bookings and orders that the public may try from one network in an hour, per professional.';

comment on column private.settings.public_writes_per_network_hour is
  'Bookings and orders that the public may make from one network in an hour, per professional.';

comment on column private.settings.portal_url is
  'Where links in mails lead to, as the functions report PORTAL_URL; null: nowhere, and verify_public_email cannot be switched on.';

comment on column private.settings.portal_reported_at is
  'When the functions reported portal_url last, or that they know none.';

comment on column private.settings.payments_livemode is
  'Whether the key of the payments function moves real money; null before it has reported.';

comment on column private.settings.request_counter is
  'Secret. How the request counter''s own connection is made, password included; null: writes are counted in their own transaction, and reads not at all.';

comment on column private.settings.request_counter_password is
  'Secret. Password of the role that counts requests.';

comment on column private.settings.request_counter_refused_at is
  'Since when the counter has refused its login; null: it does not.';
