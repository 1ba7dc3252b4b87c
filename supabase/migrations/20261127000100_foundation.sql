-- What everything else stands on: schemas, extensions, and nobody may do anything until it is
-- granted. `public` is the API: six tables, their RPCs, and the types these show. `private` is
-- everything else; it is never exposed, and API roles reach only the functions granted by name.

create schema private;

comment on schema private is
  'Rules and bookkeeping behind the API. Not exposed; API roles hold EXECUTE on listed functions and no table privilege.';

-- `if not exists` below would pass over one that is in another schema, and what needs it would fail
-- later, some of it not before it is called.
do $$
declare
  v_found record;
begin
  for v_found in
    select extname as name, extnamespace::regnamespace as schema
    from pg_extension
    where extname in ('btree_gist', 'dblink', 'pgcrypto')
      and extnamespace is distinct from to_regnamespace('extensions')
  loop
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = format(
        'extension %s is in schema %s, but belongs into extensions', v_found.name, v_found.schema
      ),
      hint = format('alter extension %I set schema extensions;', v_found.name);
  end loop;
end
$$;

create extension if not exists btree_gist with schema extensions;

create extension if not exists dblink with schema extensions;

create extension if not exists pgcrypto with schema extensions;

-- The platform may grant every new object to the API roles; here each grant is written down.
alter default privileges for role postgres in schema public
  revoke all on tables from anon, authenticated, service_role;

alter default privileges for role postgres in schema public
  revoke all on sequences from anon, authenticated, service_role;

alter default privileges for role postgres in schema public
  revoke execute on functions from anon, authenticated, service_role;

-- Without `in schema`: a per-schema default cannot take away what PUBLIC gets by birth.
alter default privileges for role postgres revoke execute on functions from public;

grant usage on schema public to anon, authenticated, service_role;

grant usage on schema private to authenticator, anon, authenticated, service_role;

-- Whom the rules run as. A definer function of `postgres` bypasses row-level security, and Postgres
-- then shows the whole row in the error of a check that fails. This role has a policy on every
-- table that the rules need (`<table>_all_rules`) and owns none, so an error shows nothing.
do $$
begin
  -- Roles outlive a database reset.
  if not exists (select from pg_roles where rolname = 'rules') then
    create role rules nologin noinherit;
  end if;
end
$$;

-- So that migrations can hand functions over and replace them.
grant rules to postgres with inherit true, set true;

grant usage on schema public, private to rules;

alter default privileges for role postgres in schema private grant execute on functions to rules;

create function private.hand_over(variadic p_functions text[])
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_name text;
  v_function regprocedure;
begin
  grant create on schema private to rules;
  foreach v_name in array p_functions loop
    select oid into strict v_function
    from pg_catalog.pg_proc
    where pronamespace = 'private'::regnamespace and proname = v_name and prosecdef;

    execute format('alter function %s owner to rules', v_function);
  end loop;
  revoke create on schema private from rules;
end;
$$;

comment on function private.hand_over is
  'Gives definer functions of `private`, by name, to the role `rules`. Those that read `auth`, `vault` or `cron` or call extensions stay with `postgres` and write no row of a tenant.';
