/**
 * The catalogue as plain data: what the types, the reference and the OpenAPI document are written
 * from. One read, so that all of them describe the same database.
 */
import type postgres from "postgres";

export const ROLES = [
  "anon",
  "authenticated",
  "portal_client",
  "portal_booking",
  "service_role",
] as const;
export type Role = (typeof ROLES)[number];

export interface Column {
  name: string;
  /** As Postgres writes it: a domain by its name (`timestamp_ms`), an array with `[]`. */
  type: string;
  /** What a domain is made of; else the type itself. */
  baseType: string;
  nullable: boolean;
  /** An expression; null without one. */
  default: string | null;
  generated: boolean;
  comment: string | null;
  /** Every value it may have (or its items, of an array), where the schema lists them. */
  values: string[] | null;
}

export interface Grants {
  select: string[];
  insert: string[];
  update: string[];
  delete: boolean;
}

export interface Policy {
  name: string;
  command: "select" | "insert" | "update" | "delete";
  roles: Role[];
}

export interface Relationship {
  foreignKeyName: string;
  columns: string[];
  isOneToOne: boolean;
  referencedRelation: string;
  referencedColumns: string[];
}

export interface Table {
  name: string;
  comment: string | null;
  columns: Column[];
  grants: Record<Role, Grants>;
  policies: Policy[];
  relationships: Relationship[];
}

export interface Constraint {
  name: string;
  /** Null for a constraint of a domain. */
  table: string | null;
  domain: string | null;
  kind: "primary key" | "unique" | "foreign key" | "check" | "exclusion";
  columns: string[];
  definition: string;
}

export interface Composite {
  name: string;
  comment: string | null;
  columns: Column[];
}

export interface Domain {
  name: string;
  baseType: string;
  comment: string | null;
}

export interface Argument {
  name: string;
  type: string;
  /** An expression; null for one that has to be given. */
  default: string | null;
}

export interface Fn {
  name: string;
  comment: string | null;
  arguments: Argument[];
  /** A composite, table or scalar type, or `void`. */
  returns: string;
  isSet: boolean;
  volatility: "immutable" | "stable" | "volatile";
  roles: Role[];
  /** The table that a computed relationship belongs to; null for an RPC. */
  relationshipOf: string | null;
  /** Of a computed relationship: at most one row. */
  isOne: boolean;
}

export interface Setting {
  name: string;
  type: string;
  default: string | null;
  comment: string | null;
}

export interface Model {
  tables: Table[];
  composites: Composite[];
  domains: Domain[];
  constraints: Constraint[];
  functions: Fn[];
  settings: Setting[];
}

const byName = <T extends { name: string }>(a: T, b: T) => (a.name < b.name ? -1 : 1);

interface ColumnRow extends Omit<Column, "values"> {
  relation: string;
  readers: Record<Role, Record<"select" | "insert" | "update", boolean>>;
}

const readColumns = (sql: postgres.Sql, kind: "r" | "c") => sql<ColumnRow[]>`
  select c.relname as relation, a.attname as name, format_type(a.atttypid, null) as type,
    format_type(case when t.typtype = 'd' then t.typbasetype else a.atttypid end, null)
      as "baseType",
    not a.attnotnull as nullable, pg_get_expr(d.adbin, d.adrelid) as default,
    a.attgenerated <> '' as generated, col_description(c.oid, a.attnum) as comment,
    (
      select jsonb_object_agg(role, jsonb_build_object(
        'select', has_column_privilege(role, c.oid, a.attnum, 'select'),
        'insert', has_column_privilege(role, c.oid, a.attnum, 'insert'),
        'update', has_column_privilege(role, c.oid, a.attnum, 'update')
      ))
      from unnest(${[...ROLES]}::text[]) as role
    ) as readers
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  join pg_type t on t.oid = a.atttypid
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace = 'public'::regnamespace and c.relkind = ${kind}
    and a.attnum > 0 and not a.attisdropped
  order by c.relname, a.attnum`;

const readTables = (sql: postgres.Sql) => sql<
  { name: string; comment: string | null; deleters: Role[] }[]
>`
  select c.relname as name, obj_description(c.oid, 'pg_class') as comment,
    array(
      select role from unnest(${[...ROLES]}::text[]) as role
      where has_table_privilege(role, c.oid, 'delete')
    ) as deleters
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
  order by c.relname`;

const readPolicies = (sql: postgres.Sql) => sql<(Policy & { table: string })[]>`
  select c.relname as table, p.polname as name,
    case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update'
      when 'd' then 'delete' end as command,
    array(select rolname::text from pg_roles where oid = any (p.polroles) order by rolname) as roles
  from pg_policy p
  join pg_class c on c.oid = p.polrelid
  -- Without those for all commands, which are the rules' own.
  where c.relnamespace = 'public'::regnamespace and p.polcmd <> '*'
  order by c.relname, p.polname`;

const readConstraints = (sql: postgres.Sql) => sql<Constraint[]>`
  select k.conname as name, c.relname as table, t.typname as domain,
    case k.contype when 'p' then 'primary key' when 'u' then 'unique' when 'f' then 'foreign key'
      when 'c' then 'check' when 'x' then 'exclusion' end as kind,
    array(
      select a.attname::text
      from unnest(k.conkey) with ordinality as key (attnum, place)
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = key.attnum
      order by key.place
    ) as columns,
    pg_get_constraintdef(k.oid) as definition
  from pg_constraint k
  left join pg_class c on c.oid = k.conrelid
  left join pg_type t on t.oid = k.contypid
  where k.connamespace = 'public'::regnamespace and k.contype in ('p', 'u', 'f', 'c', 'x')
  order by k.conname`;

/** Unique indexes refuse like constraints, by their name. */
const readUniqueIndexes = (sql: postgres.Sql) => sql<Constraint[]>`
  select i.relname as name, c.relname as table, null as domain, 'unique' as kind,
    array(
      select distinct a.attname::text from pg_depend d
      join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
      where d.classid = 'pg_class'::regclass and d.objid = i.oid and d.refobjid = c.oid
        and d.refobjsubid > 0
    ) as columns,
    pg_get_indexdef(i.oid) as definition
  from pg_index x
  join pg_class i on i.oid = x.indexrelid
  join pg_class c on c.oid = x.indrelid
  where c.relnamespace = 'public'::regnamespace and x.indisunique
    and not exists (select from pg_constraint k where k.conindid = i.oid)
  order by i.relname`;

const readRelationships = (sql: postgres.Sql) => sql<(Relationship & { table: string })[]>`
  select c.relname as table, k.conname as "foreignKeyName", r.relname as "referencedRelation",
    array(
      select attname::text from unnest(k.conkey) with ordinality as key (attnum, place)
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = key.attnum order by place
    ) as columns,
    array(
      select attname::text from unnest(k.confkey) with ordinality as key (attnum, place)
      join pg_attribute a on a.attrelid = k.confrelid and a.attnum = key.attnum order by place
    ) as "referencedColumns",
    exists (
      select from pg_constraint u
      where u.conrelid = k.conrelid and u.contype in ('p', 'u')
        and u.conkey <@ k.conkey and k.conkey <@ u.conkey
    ) as "isOneToOne"
  from pg_constraint k
  join pg_class c on c.oid = k.conrelid
  join pg_class r on r.oid = k.confrelid
  where k.contype = 'f' and c.relnamespace = 'public'::regnamespace
    and r.relnamespace = 'public'::regnamespace
  order by k.conname`;

const readFunctions = (sql: postgres.Sql) => sql<Fn[]>`
  select p.proname as name, obj_description(p.oid, 'pg_proc') as comment,
    coalesce((
      select jsonb_agg(
        jsonb_build_object(
          'name', coalesce(p.proargnames[place], ''),
          'type', format_type(type, null),
          'default', pg_get_function_arg_default(p.oid, place::integer)
        ) order by place
      )
      from unnest(p.proargtypes::oid[]) with ordinality as argument (type, place)
    ), '[]') as arguments,
    format_type(p.prorettype, null) as returns, p.proretset as "isSet",
    case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end
      as volatility,
    array(
      select role from unnest(${[...ROLES]}::text[]) as role
      where has_function_privilege(role, p.oid, 'execute')
    ) as roles,
    (
      select relname from pg_class c
      where p.pronargs = 1 and c.reltype = p.proargtypes[0] and c.relkind = 'r'
    ) as "relationshipOf",
    p.prorows = 1 as "isOne"
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
  order by p.proname`;

const readTypes = (sql: postgres.Sql) => sql<
  { name: string; isDomain: boolean; baseType: string; comment: string | null }[]
>`
  select t.typname as name, t.typtype = 'd' as "isDomain", obj_description(t.oid, 'pg_type') as comment,
    format_type(t.typbasetype, null) as "baseType"
  from pg_type t
  left join pg_class c on c.oid = t.typrelid
  where t.typnamespace = 'public'::regnamespace and (t.typtype = 'd' or c.relkind = 'c')
  order by t.typname`;

const readSettings = (sql: postgres.Sql) => sql<Setting[]>`
  select a.attname as name, format_type(a.atttypid, null) as type,
    pg_get_expr(d.adbin, d.adrelid) as default, col_description(a.attrelid, a.attnum) as comment
  from pg_attribute a
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = 'private.settings'::regclass and a.attnum > 0 and not a.attisdropped
  order by a.attnum`;

const literals = (text: string) =>
  [...text.matchAll(/'((?:[^']|'')*)'::text/g)].map(([, value]) => value?.replaceAll("''", "'"));

/**
 * The values that the schema lists: in a check, by a function that a check calls, in a small table
 * of ours that a foreign key names, or as the outcomes of a generated column.
 */
async function readValues(
  sql: postgres.Sql,
  constraints: Constraint[],
): Promise<(table: string, column: Column) => string[] | null> {
  const found = new Map<string, string[]>();
  for (const { table, columns, kind, definition } of constraints) {
    const key = `${table}.${columns[0]}`;
    if (columns.length !== 1) continue;
    if (kind === "check") {
      const list = /^CHECK \(\(\w+ = ANY \(ARRAY\[([^\]]*)\]\)\)\)$/.exec(definition)?.[1];
      const items = /\(\w+ <@ ARRAY\[([^\]]*)\]\)/.exec(definition)?.[1];
      const call = /^CHECK \(\(\w+ = ANY \((private\.\w+\(\))\)\)\)$/.exec(definition)?.[1];
      if (list ?? items) found.set(key, literals(list ?? items ?? "") as string[]);
      if (call) {
        const [row] = await sql.unsafe<{ values: string[] }[]>(`select ${call} as values`);
        found.set(key, row?.values ?? []);
      }
    }
    if (kind === "foreign key" && definition.includes("private.tiers(name)")) {
      const rows = await sql<
        { name: string }[]
      >`select name from private.tiers order by requests_per_minute`;
      found.set(
        key,
        rows.map((row) => row.name),
      );
    }
  }
  return (table, column) => {
    if (column.generated && column.default?.trim().startsWith("CASE")) {
      return [...new Set(literals(column.default) as string[])];
    }
    return found.get(`${table}.${column.name}`) ?? null;
  };
}

export async function readModel(sql: postgres.Sql): Promise<Model> {
  const constraints = [...(await readConstraints(sql)), ...(await readUniqueIndexes(sql))];
  constraints.sort(byName);
  const valuesOf = await readValues(sql, constraints);
  const policies = await readPolicies(sql);
  const relationships = await readRelationships(sql);
  const tableColumns = await readColumns(sql, "r");
  const attributes = await readColumns(sql, "c");
  const types = await readTypes(sql);

  const column = (row: ColumnRow): Column => {
    const { relation, readers: _, ...rest } = row;
    const column = { ...rest, values: null };
    return { ...column, values: valuesOf(relation, column) };
  };

  const tables = (await readTables(sql)).map(({ name, comment, deleters }): Table => {
    const rows = tableColumns.filter((row) => row.relation === name);
    const may = (role: Role, command: "select" | "insert" | "update") =>
      rows.filter((row) => row.readers[role][command]).map((row) => row.name);
    const grants = ROLES.map((role) => [
      role,
      {
        select: may(role, "select"),
        insert: may(role, "insert"),
        update: may(role, "update"),
        delete: deleters.includes(role),
      },
    ]);
    return {
      name,
      comment,
      columns: rows.map(column),
      grants: Object.fromEntries(grants) as Table["grants"],
      policies: policies
        .filter((policy) => policy.table === name)
        .map(({ name, command, roles }) => ({ name, command, roles })),
      relationships: relationships
        .filter(({ table }) => table === name)
        .map(({ table: _, ...relationship }) => relationship),
    };
  });

  return {
    tables,
    composites: types
      .filter((type) => !type.isDomain)
      .map(({ name, comment }) => ({
        name,
        comment,
        columns: attributes.filter((row) => row.relation === name).map(column),
      })),
    domains: types
      .filter((type) => type.isDomain)
      .map(({ name, comment, baseType }) => ({ name, comment, baseType })),
    constraints,
    functions: [...(await readFunctions(sql))],
    settings: [...(await readSettings(sql))],
  };
}
