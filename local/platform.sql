-- What the hosted platform has before a project's first migration: roles, schemas, extensions and
-- default privileges. Runs at every start as the superuser `supabase_admin`, in one transaction.

-- Passwords are those of `supabase start`; the database listens on 127.0.0.1 only.
do $$
declare
  v_role record;
begin
  for v_role in
    select *
    from (
      values
        ('anon', 'nologin noinherit'),
        ('authenticated', 'nologin noinherit'),
        ('service_role', 'nologin noinherit bypassrls'),
        ('authenticator', 'login noinherit password ''postgres'''),
        ('supabase_auth_admin', 'login noinherit createrole password ''postgres'''),
        -- Owns the migrations. Not a superuser: what it may not do hosted fails here as well.
        ('postgres', 'login createdb createrole replication bypassrls password ''postgres''')
    ) as wanted (name, options)
    where not exists (select from pg_roles where rolname = wanted.name)
  loop
    execute format('create role %I %s', v_role.name, v_role.options);
  end loop;
end
$$;

grant anon, authenticated, service_role to authenticator;

-- On the platform an extension of the server (supautils) lets `postgres` change these roles and
-- their settings; plain PostgreSQL wants them granted.
grant anon, authenticated, service_role, authenticator to postgres with admin option;
grant set on parameter pgrst.db_pre_request to postgres;
-- Data are restored without what triggers would make of them.
grant set on parameter session_replication_role to postgres;
-- To look at sessions and to end them.
grant pg_monitor, pg_signal_backend to postgres;

-- Schema public follows: it belongs to whoever owns the database.
alter database postgres owner to postgres;
grant usage on schema public to anon, authenticated, service_role;

create schema if not exists extensions;
grant usage on schema extensions to anon, authenticated, service_role;
grant all on schema extensions to postgres;

create extension if not exists pgcrypto with schema extensions;
create extension if not exists "uuid-ossp" with schema extensions;
create extension if not exists btree_gist with schema extensions;
create extension if not exists citext with schema extensions;
-- Not a trusted extension: `postgres` could not create it.
create extension if not exists dblink with schema extensions;

-- Closed to any other role, as on the platform: a custom role cannot call auth.uid().
create schema if not exists auth authorization supabase_auth_admin;
grant usage on schema auth to anon, authenticated, service_role, postgres;

-- What a migration may change is set once: afterwards the migrations decide.
do $$
begin
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    return;
  end if;

  alter role anon set statement_timeout = '3s';
  alter role authenticated set statement_timeout = '8s';
  alter role authenticator set statement_timeout = '8s';
  alter role authenticator set lock_timeout = '8s';
  alter role supabase_auth_admin set search_path = auth;
  alter role postgres set search_path = "$user", public, extensions;
  alter role supabase_admin set search_path = "$user", public, extensions;

  -- The platform exposes every new object to the API; closing that is the project's business.
  alter default privileges for role postgres in schema public
    grant all on tables to anon, authenticated, service_role;
  alter default privileges for role postgres in schema public
    grant all on functions to anon, authenticated, service_role;
  alter default privileges for role postgres in schema public
    grant all on sequences to anon, authenticated, service_role;
end
$$;

-- The API serves a migration pushed to a running stack at once.
create or replace function extensions.pgrst_ddl_watch() returns event_trigger
language plpgsql
set search_path = ''
as $$
begin
  notify pgrst, 'reload schema';
end
$$;

drop event trigger if exists pgrst_ddl_watch;
create event trigger pgrst_ddl_watch on ddl_command_end
  execute function extensions.pgrst_ddl_watch();
