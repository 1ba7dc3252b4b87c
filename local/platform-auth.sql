-- The auth service's tables as the hosted platform guards them. Runs at every start after the
-- tables exist, before the migrations, as the superuser `supabase_admin`.

-- The platform has it and the API's implementation does not; a seed or a restored dump names it.
alter table auth.users add column if not exists instance_id uuid;

-- Without a policy: only the owner and roles with bypassrls see a row.
do $$
declare
  v_table name;
begin
  for v_table in select relname from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r'
  loop
    execute format('alter table auth.%I enable row level security', v_table);
  end loop;
end
$$;

-- `postgres` references the users, puts triggers on them, deletes them and reads sessions, but owns
-- nothing here; what it may read it may let others read.
grant all on all tables in schema auth to postgres;
grant select on all tables in schema auth to postgres with grant option;

set local role supabase_auth_admin;

create or replace function auth.jwt() returns jsonb
language sql stable
return nullif(current_setting('request.jwt.claims', true), '')::jsonb;

create or replace function auth.uid() returns uuid
language sql stable
return (auth.jwt() ->> 'sub')::uuid;
