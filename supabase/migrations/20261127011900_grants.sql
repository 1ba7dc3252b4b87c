-- What the migrations granted, written down, so that health() can tell what else there is: a
-- restore by another way than docs/operations.md opens every table to the API by the platform's
-- defaults.

create table private.granted (
  privilege text primary key
);

create function private.current_grants()
returns setof text
language sql
stable
security invoker
set search_path = ''
as $$
  with objects (name, acl) as (
    select 'schema ' || oid::regnamespace, nspacl
    from pg_catalog.pg_namespace
    where nspname in ('public', 'private')
    union all
    select oid::regclass::text, relacl
    from pg_catalog.pg_class
    where relnamespace in ('public'::regnamespace, 'private'::regnamespace)
    union all
    select format('%s (%I)', c.oid::regclass, a.attname), a.attacl
    from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid
    where c.relnamespace in ('public'::regnamespace, 'private'::regnamespace)
    union all
    select oid::regprocedure::text, coalesce(proacl, acldefault('f', proowner))
    from pg_catalog.pg_proc
    where pronamespace in ('public'::regnamespace, 'private'::regnamespace)
  )
  select distinct
    format('%s on %s to %s', lower(a.privilege_type), o.name, coalesce(r.rolname, 'public'))
  from objects o
  cross join lateral aclexplode(o.acl) a
  left join pg_catalog.pg_roles r on r.oid = a.grantee
  where a.grantee = 0
    or r.rolname in (
      'anon',
      'authenticated',
      'portal_client',
      'portal_booking',
      'service_role',
      'authenticator',
      'request_counter',
      'rules'
    );
$$;

comment on function private.current_grants is
  'Whatever PUBLIC, the API''s roles and our own may do with schemas, tables, columns and functions.';

create function private.note_grants()
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  delete from private.granted;

  insert into private.granted (privilege)
  select privilege
  from private.current_grants() as g (privilege);
$$;

comment on function private.note_grants is
  'Writes down the grants as they are. The last migration ends with it.';

create function private.grant_status()
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  with current (privilege) as materialized (
    select * from private.current_grants()
  ),
  differences (what, privilege) as (
    (
      select 'granted by no migration', privilege
      from current
      except
      select 'granted by no migration', privilege
      from private.granted
    )
    union all
    (
      select 'missing', privilege
      from private.granted
      except
      select 'missing', privilege
      from current
    )
  ),
  -- All of it may be hundreds.
  sentences (sentence) as (
    select format(
      '%s %s: %s',
      count(*),
      what,
      array_to_string((array_agg(privilege order by privilege))[1:3], ', ')
    )
    from differences
    group by what
  )
  select coalesce(string_agg(sentence, '; ' order by sentence), 'ok')
  from sentences;
$$;

comment on function private.grant_status is
  'ok, or what is granted that no migration granted, and what is no longer: how many, and the first three.';

alter table private.granted enable row level security;

comment on table private.granted is
  'What the migrations granted to PUBLIC, to the API''s roles and to our own. For health().';
