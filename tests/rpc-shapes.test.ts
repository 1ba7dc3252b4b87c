/** The shapes of reference/ against the catalogue: functions, arguments, types, columns, values, codes. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { COMMON_ERRORS } from "../reference/shapes/errors.ts";
import {
  BookingRow,
  ClientRow,
  OrderRow,
  ProductRow,
  ProfileRow,
  ServiceRow,
} from "../reference/shapes/rows.ts";
import { RPCS } from "../reference/shapes/rpc.ts";
import { sql } from "./support/database.ts";
import { mismatches } from "./support/held.ts";
import { bare, fieldsOf, formsOf, takesNull, valuesOf } from "./support/shapes.ts";

interface Argument {
  name: string;
  type: string;
  has_default: boolean;
}

interface Fn {
  name: string;
  returns: string;
  is_set: boolean;
  is_row: boolean;
  /** Of the type it returns, when that has any. */
  attributes: string[];
  arguments: Argument[];
}

const functions = await sql<Fn[]>`
  select
    p.proname as name,
    format_type(p.prorettype, null) as returns,
    p.proretset as is_set,
    t.typtype = 'c' as is_row,
    array(
      select attname::text from pg_attribute
      where attrelid = t.typrelid and attnum > 0 and not attisdropped
    ) as attributes,
    (
      select coalesce(
        json_agg(json_build_object(
          'name', p.proargnames[place],
          'type', format_type(argument.type, null),
          'has_default', place > p.pronargs - p.pronargdefaults
        )),
        '[]'
      )
      from unnest(p.proargtypes) with ordinality as argument (type, place)
      where p.proargnames is not null
    ) as arguments
  from pg_proc p
  join pg_type t on t.oid = p.prorettype
  where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'`;

interface Column {
  table: string;
  name: string;
  not_null: boolean;
  values: string[] | null;
}

const columns = await sql<Column[]>`
  select
    c.relname as table,
    a.attname as name,
    a.attnotnull as not_null,
    (
      select array(
        select match[1] from regexp_matches(pg_get_constraintdef(k.oid), '''(\\w+)''::text', 'g') as match
      )
      from pg_constraint k
      where k.conrelid = c.oid
        and k.conkey = array[a.attnum]
        and pg_get_constraintdef(k.oid) ~ '^CHECK \\(\\(\\w+ = ANY \\(ARRAY'
    ) as values
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace in ('public'::regnamespace, 'private'::regnamespace) and c.relkind = 'r'`;

function shapeOf(name: string): z.ZodType {
  const shape = RPCS[name]?.answer;
  if (!shape) throw new Error(`${name} has no shape`);
  return shape;
}

/** Of one row, where the answer is a list. */
function rowOf({ name, is_set }: Fn): z.ZodType {
  const shape = shapeOf(name);
  return is_set ? (shape as z.ZodArray<z.ZodType>).element : shape;
}

describe("RPCs", () => {
  test("all have a shape, and nothing else does", () => {
    expect(Object.keys(RPCS).toSorted()).toEqual(functions.map(({ name }) => name).toSorted());
  });

  test("what a type or a table has is in the shape of its rows, and no more", () => {
    const rows = functions.filter(({ is_row }) => is_row);
    expect(rows.length).toBeGreaterThan(10);
    for (const fn of rows) {
      for (const form of formsOf(rowOf(fn))) {
        expect(Object.keys(fieldsOf(form)).toSorted(), fn.name).toEqual(fn.attributes.toSorted());
      }
    }
  });

  test("sets are lists, and what has no answer has none", () => {
    const kinds = { void: "undefined", boolean: "boolean", integer: "number", text: "string" };
    for (const { name, returns, is_set, is_row } of functions) {
      const kind = bare(shapeOf(name)).def.type;
      const expected = is_set ? "array" : kinds[returns as keyof typeof kinds];
      if (expected) expect(kind, name).toBe(expected);
      else expect(is_row || /^jsonb?$/.test(returns), name).toBe(true);
    }
  });

  test("arguments of JSON have a shape, what has one is there, and those that take null have no default", () => {
    for (const { name, arguments: all } of functions) {
      const json = all.filter(({ type }) => /^jsonb?$/.test(type)).map((argument) => argument.name);
      const described = Object.keys(RPCS[name]?.args ?? {});
      expect(described, name).toEqual(expect.arrayContaining(json));
      expect(all.map((argument) => argument.name)).toEqual(expect.arrayContaining(described));
      const required = all.filter(({ has_default }) => !has_default);
      for (const argument of RPCS[name]?.nullable ?? []) {
        expect(required.map((each) => each.name)).toContain(argument);
      }
    }
  });
});

test("an answer to a test that is not as its shape says fails, and is kept for the end of the test", async () => {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json").end('{"stock": "many"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/rest/v1/rpc/adjust_stock`;
  await expect(fetch(url, { method: "POST" })).rejects.toThrow("adjust_stock answered 200");
  expect([...mismatches]).toHaveLength(1);
  // Else this test fails by what it has found.
  mismatches.clear();
  await new Promise((resolve) => server.close(resolve));
});

describe("rows", () => {
  const exported = (name: "export_client" | "export_account") =>
    Object.entries(fieldsOf(fieldsOf(shapeOf(name)).data as z.ZodType)).map(
      ([table, list]) => [table, (bare(list) as z.ZodArray<z.ZodType>).element] as const,
    );

  const ROWS: [string, z.ZodType][] = [
    ["profiles", ProfileRow],
    ["services", ServiceRow],
    ["products", ProductRow],
    ["clients", ClientRow],
    ["bookings", BookingRow],
    ["orders", OrderRow],
  ];

  test.each(ROWS)("those of %s have its columns", (table, shape) => {
    const names = columns.filter((column) => column.table === table).map(({ name }) => name);
    expect(Object.keys(fieldsOf(shape)).toSorted()).toEqual(names.toSorted());
  });

  test("of exports are those of its tables", async () => {
    const lists = await sql<{ name: string; columns: string[]; of_client: boolean }[]>`
      select private.export_name(e) as name, e.columns, e.of_client is not null as of_client
      from private.exports() as e`;
    for (const name of ["export_client", "export_account"] as const) {
      const wanted = lists.filter(({ of_client }) => of_client || name === "export_account");
      const shapes = Object.fromEntries(exported(name));
      expect(Object.keys(shapes).toSorted()).toEqual(wanted.map((list) => list.name).toSorted());
      for (const list of wanted) {
        const fields = Object.keys(fieldsOf(shapes[list.name] as z.ZodType));
        expect(fields.toSorted(), list.name).toEqual(list.columns.toSorted());
      }
    }
  });

  test("are null where a column may be, and have its values", () => {
    let values = 0;
    for (const [table, shape] of [...ROWS, ...exported("export_account")]) {
      for (const [name, field] of Object.entries(fieldsOf(shape))) {
        const column = columns.find((each) => each.table === table && each.name === name);
        const where = `${table}.${name}`;
        // It may be -infinity, which comes as null.
        const isNullable = !column?.not_null || where === "calendar_connections.paused_until";
        expect(takesNull(field), where).toBe(isNullable);
        if (!column?.values) continue;
        values++;
        expect(valuesOf(field)?.toSorted(), where).toEqual(column.values.toSorted());
      }
    }
    expect(values).toBeGreaterThan(20);
  });
});

describe("values", () => {
  const sourceOf = async (name: string) => {
    const [row] = await sql<{ source: string }[]>`
      select string_agg(prosrc, '') as source from pg_proc
      where pronamespace = 'private'::regnamespace and proname like ${name}`;
    return row?.source ?? "";
  };
  const found = (text: string, pattern: RegExp) =>
    [...new Set([...text.matchAll(pattern)].map(([, value]) => value))].toSorted();
  const field = (name: string, key: string) => {
    const shape = shapeOf(name);
    const row = bare(shape).def.type === "array" ? (shape as z.ZodArray<z.ZodType>).element : shape;
    return valuesOf(fieldsOf(row)[key] as z.ZodType) ?? [];
  };

  test("of a start's reason are those that the rules know", async () => {
    const reasons = found(await sourceOf("slot_reason"), /return '(\w+)'/g);
    expect(field("explain_slot", "reason").toSorted()).toEqual(reasons);
  });

  test("of a finding are those that the audit looks for", async () => {
    const findings = found(await sourceOf("audit\\_%"), /select\s+'(\w+)'/g);
    expect(field("audit", "finding").toSorted()).toEqual(findings);
  });

  test("of a mail's kind and outcome are those that the rules know", async () => {
    const [check] = await sql<{ text: string }[]>`
      select pg_get_constraintdef(oid) as text from pg_constraint
      where conname = 'mails_kind_is_known'`;
    const [kinds] = await sql<{ all: string[] }[]>`
      select private.mail_kinds('client') || private.mail_kinds('professional') as all`;
    const others = found(check?.text ?? "", /'(\w+_to_confirm|confirm_\w+)'/g);
    const all = new Set([...(kinds?.all ?? []), ...others]);
    expect(field("mails", "kind").toSorted()).toEqual([...all].toSorted());

    const dropped = found(await sourceOf("reason_to_drop"), /then '(\w+)'/g);
    const said = found(
      await sourceOf("record_mail_event"),
      /'(\w+)'[,\s]*(?=[^(]*\)\s*\) is not true\s+then 'type')/g,
    );
    const failed = found(await sourceOf("%mail"), /'failed', '(\w+)'/g);
    const outcomes = new Set([...dropped, ...said, ...failed]);
    expect(field("mails", "outcome").toSorted()).toEqual([...outcomes].toSorted());
  });

  test("of languages and tiers are those that there are", async () => {
    const [known] = await sql<{ languages: string[]; tiers: string[] }[]>`
      select private.languages() as languages, array(select name from private.tiers) as tiers`;
    const profile = fieldsOf(ProfileRow);
    expect(valuesOf(profile.language as z.ZodType)).toEqual(known?.languages);
    expect(valuesOf(profile.tier as z.ZodType)?.toSorted()).toEqual(known?.tiers.toSorted());
  });
});

describe("errors", () => {
  /** What is behind a condition that does not hold in these. */
  const NEVER: Record<string, string[]> = {
    place_order: ["service_unavailable"],
    quote_order: ["service_unavailable"],
    record_payment: ["refund_exceeds_paid"],
    refund_payment: ["exceeds_total"],
  };

  test("an RPC lists what the rules that it calls raise", async () => {
    const rows = await sql<{ name: string; source: string }[]>`
      select proname as name, prosrc as source from pg_proc
      where pronamespace = 'private'::regnamespace`;
    const sources = new Map(rows.map(({ name, source }) => [name, source]));
    // Called with a space before the parenthesis it is a table.
    const calls = (source: string) => found(source, /private\.(\w+)\(/g);
    const codes = (name: string, depth: number): string[] => {
      const source = sources.get(name) ?? "";
      const raised = found(source, /raise_error\(\s*\d+,\s*'(\w+)'/g);
      return depth === 0
        ? raised
        : [...raised, ...calls(source).flatMap((each) => codes(each, depth - 1))];
    };
    const found = (text: string, pattern: RegExp) =>
      [...text.matchAll(pattern)].map(([, value]) => value as string);

    const missing = Object.entries(RPCS).flatMap(([name, { errors }]) => {
      const listed: string[] = [...errors, ...(NEVER[name] ?? [])];
      return [...new Set(codes(name, 2))]
        .filter(
          (code) => code === "PGRST301" || !(COMMON_ERRORS as readonly string[]).includes(code),
        )
        .filter((code) => !listed.includes(code))
        .map((code) => `${name}: ${code}`);
    });
    expect(missing).toEqual([]);
  });
});
