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
