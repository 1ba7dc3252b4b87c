/** docs/openapi.json as a generator of clients meets it; tests/reference.test.ts holds it fresh. */
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";

type Node = { [key: string]: Node };

const text = readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8");
const read = () => JSON.parse(text) as Node;
const document = read();

const validate = async (node: Node) => (await new Validator().validate(node)).valid;

/** What is at a place such as `#/components/schemas/Error`. */
const at = (reference: string) =>
  reference
    .slice(2)
    .split("/")
    .reduce<Node | undefined>(
      (node, key) => node?.[key.replaceAll("~1", "/").replaceAll("~0", "~")],
      document,
    );

function referencesIn(node: unknown): string[] {
  if (node === null || typeof node !== "object") return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === "$ref" ? [value as string] : referencesIn(value),
  );
}

/** Path, method and operation of all. */
const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

test("it is an OpenAPI document of version 3.1, which a validator tells from one that is broken", async () => {
  expect(document.openapi).toBe("3.1.0");
  expect(await validate(document)).toBe(true);

  const broken = read();
  broken.paths = { rest: {} } as Node;
  expect(await validate(broken)).toBe(false);
});

test("whatever it refers to is in it", () => {
  const references = [...new Set(referencesIn(document))];
  expect(references.length).toBeGreaterThan(100);
  expect(references.filter((reference) => !at(reference))).toEqual([]);
});

test("every operation has a name of its own, and says what it is for and for whom", () => {
  const names = operations.map(({ operation }) => operation.operationId as unknown as string);
  expect(new Set(names).size).toBe(names.length);
  for (const { operation } of operations) {
    expect(operation.summary).toMatch(/^\S.*\S$/);
    expect(operation.description).toContain("For ");
  }
});

test("names in a path are parameters of it, and no other parameter is in a path", () => {
  for (const { path, operation } of operations) {
    const parameters = (operation.parameters ?? []) as unknown as Node[];
    const inPath = parameters.filter((parameter) => (parameter.in as unknown) === "path");
    expect(inPath.map((parameter) => `{${parameter.name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
  }
});

test("a table takes filters as text, and in a body only the columns that may be written", () => {
  const { get, patch, post, delete: remove } = document.paths?.["/rest/v1/bookings"] ?? {};
  expect(remove).toBeUndefined();
  const filters = referencesIn(get?.parameters).map(at);
  expect(filters).toContainEqual(
    expect.objectContaining({ name: "starts_at", in: "query", schema: { type: "string" } }),
  );
  const bodies = referencesIn([post?.requestBody, patch?.requestBody]);
  expect(new Set(bodies)).toEqual(
    new Set(["#/components/schemas/BookingInsert", "#/components/schemas/BookingUpdate"]),
  );
  const { properties = {} } = at("#/components/schemas/BookingUpdate") ?? {};
  expect(Object.keys(properties)).toContain("status");
  expect(Object.keys(properties)).not.toContain("version");
});

test("an object whose keys are known says which", () => {
  const { weekly } = at("#/components/schemas/Availability")?.properties ?? {};
  expect(weekly?.propertyNames?.enum).toContain("mon");
  expect(weekly?.required).toBeUndefined();
});

test("reading RPCs may be called with GET, others only with POST, and servers' own are not there", () => {
  const methods = (name: string) => Object.keys(document.paths?.[`/rest/v1/rpc/${name}`] ?? {});
  expect(methods("available_slots")).toEqual(["post", "get"]);
  expect(methods("create_booking")).toEqual(["post"]);
  expect(methods("exchange_api_key")).toEqual([]);
});

test("routes of the scheduler and of providers are nobody's to call", () => {
  const routes = operations.filter(({ path }) => path.startsWith("/functions/v1/"));
  expect(routes.map(({ path }) => path)).toContain("/functions/v1/payments/checkout");
  expect(routes.filter(({ path }) => /\/(dispatch|stripe)$/.test(path))).toEqual([]);
});
