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

-- As on the platform: one setting a claim (how PostgREST once did it), or all claims in one object.
create or replace function auth.uid() returns uuid
language sql stable
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'
  )::uuid
$$;

create or replace function auth.role() returns text
language sql stable
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.role', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role'
  )
$$;

create or replace function auth.email() returns text
language sql stable
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.email', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'email'
  )
$$;

create or replace function auth.jwt() returns jsonb
language sql stable
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')
  )::jsonb
$$;
