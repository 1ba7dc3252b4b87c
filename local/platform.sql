-- What the hosted platform has before a project's first migration: roles, schemas, extensions and
-- default privileges. Runs once, as the superuser `supabase_admin`, in one transaction.

-- Passwords are those of `supabase start`; the database listens on 127.0.0.1 only.
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
create role authenticator login noinherit password 'postgres';
create role supabase_auth_admin login noinherit createrole password 'postgres';
-- Owns the migrations. Not a superuser: what it may not do hosted fails here as well.
create role postgres login createdb createrole replication bypassrls password 'postgres';

alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';
alter role supabase_auth_admin set search_path = auth;
alter role postgres set search_path = "$user", public, extensions;
alter role supabase_admin set search_path = "$user", public, extensions;

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

create schema extensions;
grant usage on schema extensions to anon, authenticated, service_role;
grant all on schema extensions to postgres;

-- Not a trusted extension: `postgres` could not create it.
create extension dblink with schema extensions;

-- Closed to any other role, as on the platform: a custom role cannot call auth.uid().
create schema auth authorization supabase_auth_admin;
grant usage on schema auth to anon, authenticated, service_role, postgres;

-- The platform exposes every new object to the API; closing that is the project's business.
alter default privileges for role postgres in schema public
  grant all on tables to anon, authenticated, service_role;
alter default privileges for role postgres in schema public
  grant all on functions to anon, authenticated, service_role;
alter default privileges for role postgres in schema public
  grant all on sequences to anon, authenticated, service_role;

-- The API serves a migration pushed to a running stack at once.
create function extensions.pgrst_ddl_watch() returns event_trigger
language plpgsql
set search_path = ''
as $$
begin
  notify pgrst, 'reload schema';
end
$$;

create event trigger pgrst_ddl_watch on ddl_command_end
  execute function extensions.pgrst_ddl_watch();
