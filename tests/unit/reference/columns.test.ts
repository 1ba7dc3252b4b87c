/** The shapes of JSON columns against the tables that have them. */
import { expect, test } from "vitest";
import {
  CLIENT_MAILS,
  COLUMNS,
  PROFESSIONAL_MAILS,
  WRITTEN_COLUMNS,
} from "../../../reference/shapes/columns.ts";
import { migrations } from "../../support/raised-errors.ts";

test("every JSON column of a table has a shape, and no other", () => {
  const tables = [...migrations().matchAll(/create table public\.(\w+) \(([\s\S]*?)^\);/gm)];
  const columns = tables.flatMap(([, table, body = ""]) =>
    [...body.matchAll(/^ {2}(\w+) jsonb\b/gm)].map(([, column]) => `${table}.${column}`),
  );
  expect(tables).toHaveLength(6);
  expect(Object.keys(COLUMNS).toSorted()).toEqual(columns.toSorted());
  expect(columns).toEqual(expect.arrayContaining(Object.keys(WRITTEN_COLUMNS)));
});

test.each([
  ["client", CLIENT_MAILS],
  ["professional", PROFESSIONAL_MAILS],
])(
  "mails to the %s that can be switched off are those of private.mail_kinds()",
  (audience, kinds) => {
    const [, list = ""] =
      new RegExp(`when '${audience}' then array\\[([^\\]]+)\\]`).exec(migrations()) ?? [];
    expect([...list.matchAll(/'(\w+)'/g)].map(([, kind]) => kind)).toEqual(kinds);
  },
);

const line = { quantity: 1 };
const id = "a0000000-0000-4000-8000-000000000031";

test.each([
  [
    "orders.items",
    [
      { product_id: id, ...line },
      { name: "Tip", unit_price: 0.5, ...line },
    ],
    true,
  ],
  ["orders.items", [{ service_id: id, ...line }], true],
  ["orders.items", [{ product_id: id, ...line, unit_price: 1 }], false],
  ["orders.items", [{ product_id: id, quantity: 0 }], false],
  ["orders.items", [], false],
])("what is written into %s: %j", (column, value, isValid) => {
  expect(WRITTEN_COLUMNS[column]?.safeParse(value).success).toBe(isValid);
});

test.each([
  ["profiles.availability", { weekly: { mon: [["09:00", "17:00"]] } }, true],
  ["profiles.availability", { weekly: {}, overrides: { "2027-12-25": [] } }, true],
  ["profiles.availability", { weekly: { monday: [] } }, false],
  ["profiles.mail_settings", { client: { booking_reminder: false } }, true],
  ["profiles.mail_settings", { client: { new_booking: false } }, false],
  ["profiles.mail_settings", { everybody: {} }, false],
])("what is in %s: %j", (column, value, isValid) => {
  expect(COLUMNS[column]?.safeParse(value).success).toBe(isValid);
});
