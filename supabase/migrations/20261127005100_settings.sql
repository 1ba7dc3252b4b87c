-- Settings of this installation: what differs between two projects with the same migrations.

create table private.settings (
  name text primary key,
  value text not null
);

alter table private.settings enable row level security;

insert into private.settings (name, value) values ('anon_tier', 'pro');

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

comment on table private.settings is
  'anon_tier: the tier of callers without a token, per IP address (a page load is several calls, and an office shares one). request_counter: how the request counter is reached. webhooks_last_dispatch_at: as it says.';

comment on function private.setting is 'Value of a setting; null without one.';
