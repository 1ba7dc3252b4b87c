-- Settings of this installation: what differs between two projects with the same migrations.

create table private.settings (
  name text primary key,
  value text not null
);

create function private.setting(p_name text)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (select value from private.settings where name = p_name);
end;
$$;

comment on function private.setting is 'Value of a setting; null without one.';

alter table private.settings enable row level security;

-- Its other values, a password among them, are not for rules.
grant select (name), insert (name, value), update (value) on private.settings to rules;

create policy settings_all_rules on private.settings
  for all to rules
  using (name = 'webhooks_last_dispatch_at')
  with check (name = 'webhooks_last_dispatch_at');

insert into private.settings (name, value)
values
  ('anon_tier', 'pro'),
  ('anon_per_network', '6'),
  ('rest_pool_size', '20'),
  ('public_tries_per_address_hour', '10'),
  ('public_tries_per_network_hour', '30'),
  ('public_writes_per_network_hour', '10');

comment on table private.settings is
  'One row a setting; docs/operations.md lists them. request_counter and request_counter_password are secrets.';
