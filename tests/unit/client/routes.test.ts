/** The routes that the client has, against those that there are for its callers. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (name: string) =>
  readFileSync(new URL(`../../../client/src/${name}`, import.meta.url), "utf8");

const ROUTE = /"((?:GET|HEAD|POST|PATCH|DELETE) \/[^"]+)"/g;
const routesIn = (text: string) => [...text.matchAll(ROUTE)].map(([, route]) => route);

/** Opened by calendar programs and by programs of mail, by an address that they were given. */
const OF_OTHERS = [
  "GET /calendar/feed/{token}.ics",
  "HEAD /calendar/feed/{token}.ics",
  "GET /mail/unsubscribe",
];

test("every route of the functions that its callers may use is a method of the client", () => {
  const [, routes = ""] =
    /^export type Routes = \{$([\s\S]*?)^\};$/m.exec(read("database.ts")) ?? [];
  const known = routesIn(routes);
  expect(known.length).toBeGreaterThan(30);
  const called = [...new Set(routesIn(read("functions.ts")))];
  expect([...called, ...OF_OTHERS].sort()).toEqual(known.sort());
});
