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
