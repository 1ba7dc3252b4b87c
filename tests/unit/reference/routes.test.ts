/** The list of routes in reference/ against the routes that the functions have. */
import { existsSync, readdirSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { ERRORS } from "../../../reference/shapes/errors.ts";
import { matchRoute, ROUTES } from "../../../reference/shapes/routes.ts";
import type { Routes } from "../../../supabase/functions/_shared/http.ts";

const routers = vi.hoisted(() => ({ made: [] as Routes[] }));
vi.mock(import("../../../supabase/functions/_shared/http.ts"), async (original) => ({
  ...(await original()),
  createRouter: (_deps, routes) => {
    routers.made.push(routes);
    return async () => new Response();
  },
}));

const FUNCTIONS = new URL("../../../supabase/functions/", import.meta.url);
const names = readdirSync(FUNCTIONS).filter((name) =>
  existsSync(new URL(`${name}/handler.ts`, FUNCTIONS)),
);

/** `GET webhooks/endpoints/*`, however a parameter is called and ends. */
const plain = (method: string, name: string, path: string) =>
  `${method} ${name}/${path.replace(/^\//, "").replace(/:\w+|\{\w+\}(\.ics)?/g, "*")}`;

async function routesOf(name: string): Promise<string[]> {
  routers.made = [];
  const { createHandler } = await import(new URL(`${name}/handler.ts`, FUNCTIONS).href);
  // A handler takes out of its world what it needs when it is asked; of variables one adds a route.
  createHandler({ portalUrl: "https://example.com" });
  return routers.made.flatMap((routes) =>
    Object.entries(routes).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => plain(method, name, path)),
    ),
  );
}

test("every route of a function is listed, and no other", async () => {
  const there: string[] = [];
  for (const name of names) there.push(...(await routesOf(name)));
  const listed = ROUTES.map(({ method, function: name, path }) => plain(method, name, path));
  expect(names).toHaveLength(8);
  expect(listed.toSorted()).toEqual(there.toSorted());
});

test("a request finds its route, and one that has none finds none", () => {
  for (const route of ROUTES) {
    const path = route.path.replace(/\{\w+\}/g, "a0000000-0000-4000-8000-000000000001");
    expect(matchRoute(route.method, `/functions/v1/${route.function}${path}`)).toBe(route);
  }
  expect(matchRoute("PUT", "/functions/v1/token")).toBeUndefined();
  expect(matchRoute("POST", "/functions/v1/token/checks")).toBeUndefined();
  expect(matchRoute("GET", "/functions/v1/calendar/feed/a/b.ics")).toBeUndefined();
  expect(matchRoute("GET", "/functions/v1/calendar/feed/aXics")).toBeUndefined();
});

test("no error is named twice by a route, and none that is not listed", () => {
  const codes = ERRORS.map(({ code }) => code);
  for (const { method, function: name, path, errors } of ROUTES) {
    expect(new Set(errors).size, `${method} ${name}${path}`).toBe(errors.length);
    expect(errors.filter((code) => !codes.includes(code))).toEqual([]);
  }
});

test("every body, query and answer can be said in JSON Schema, and a name has one shape", () => {
  const sent = ROUTES.flatMap(({ body, query }) => [body, query]);
  const answered = ROUTES.flatMap(({ answers }) => Object.values(answers));
  for (const [io, schemas] of [
    ["input", sent],
    ["output", answered],
  ] as const) {
    const all = z.union(schemas.filter((schema) => schema != null));
    expect(z.toJSONSchema(all, { io }).anyOf?.length).toBeGreaterThan(10);
  }
});
