/** That answers of a stack that are not as described do not pass unseen. */
import { describe, expect, test } from "vitest";
import { held } from "../../support/held.ts";

const RPC = "http://127.0.0.1:1/rest/v1/rpc";
const ID = "0b5b6f0e-7f4a-4c39-9a5e-0d1f7a1c2b3d";
const LEVEL = { product_id: ID, stock: 3 };

interface Answer {
  status?: number;
  body?: unknown;
  type?: string;
}

/** Asks for `url`, which is answered with that, and says what was found wrong. */
async function problemsOf(url: string, answer: Answer, init?: RequestInit): Promise<string[]> {
  const { status = 200, body, type = "application/json" } = answer;
  const text = body === undefined ? null : JSON.stringify(body);
  const send = async () => new Response(text, { status, headers: { "content-type": type } });
  const mismatches = new Set<string>();
  const seen = await held(send as typeof fetch, mismatches)(url, { method: "POST", ...init }).then(
    async (response) => (await response.text()) || null,
    (error: Error) => error.message,
  );
  expect(seen).toBe([...mismatches][0] ?? text);
  return [...mismatches];
}

const error = (code: string, details: unknown = null) => ({
  code,
  message: "No.",
  details: details === null ? null : JSON.stringify(details),
  hint: null,
});

describe("answers of RPCs", () => {
  test("that are as described pass, and can be read", async () => {
    expect(await problemsOf(`${RPC}/adjust_stock`, { body: LEVEL })).toEqual([]);
    expect(await problemsOf(`${RPC}/delete_calendar_feed`, { status: 204 })).toEqual([]);
  });

  test.each([
    ["lacks a field", { product_id: ID }],
    ["has one more", { ...LEVEL, reason: "counted" }],
    ["has null where there is none", { ...LEVEL, stock: null }],
    ["is of another type", { ...LEVEL, stock: "3" }],
    ["is a list", [LEVEL]],
  ])("one that %s does not", async (_, body) => {
    const [problem] = await problemsOf(`${RPC}/adjust_stock`, { body });
    expect(problem).toMatch(/^POST \/rest\/v1\/rpc\/adjust_stock answered 200: /);
  });

  test("a value that is not in the list does not", async () => {
    const body = { reason: "banana", next_starts: [] };
    expect(await problemsOf(`${RPC}/explain_slot`, { body })).toHaveLength(1);
    expect(await problemsOf(`${RPC}/explain_slot`, { body: { ...body, reason: "past" } })).toEqual(
      [],
    );
  });

  test("one of an RPC that nobody has described does not", async () => {
    expect(await problemsOf(`${RPC}/unheard_of`, { body: {} })).toHaveLength(1);
  });

  test("one row of a list is held as a row of it", async () => {
    const init = { headers: { accept: "application/vnd.pgrst.object+json" } };
    const finding = { finding: "stock_is_ledger", subject_id: ID, expected: 1, actual: 2 };
    expect(await problemsOf(`${RPC}/audit`, { body: finding }, init)).toEqual([]);
    expect(await problemsOf(`${RPC}/audit`, { body: LEVEL }, init)).toHaveLength(1);
  });

  test("what `select` or another format makes of one is not held", async () => {
    const body = { stock: 3 };
    expect(await problemsOf(`${RPC}/adjust_stock?select=stock`, { body })).toEqual([]);
    const csv = { headers: { accept: "text/csv" } };
    expect(await problemsOf(`${RPC}/adjust_stock`, { body }, csv)).toEqual([]);
    expect(await problemsOf(`${RPC}/adjust_stock`, {}, { method: "HEAD" })).toEqual([]);
  });
});

describe("refusals", () => {
  test("an RPC's own and those that any call may get pass", async () => {
    const own = { status: 422, body: error("delta_required") };
    expect(await problemsOf(`${RPC}/adjust_stock`, own)).toEqual([]);
    const common = { status: 429, body: error("busy", { retry_after: 1 }) };
    expect(await problemsOf(`${RPC}/adjust_stock`, common)).toEqual([]);
  });

  test.each([
    ["of another RPC", 409, error("slot_taken", { next_starts: [] })],
    ["with another status", 409, error("delta_required")],
    ["that is in no list", 422, error("banana")],
    ["with other details", 409, error("stock_changed", { stock: "3" })],
  ])("one %s does not", async (_, status, body) => {
    expect(await problemsOf(`${RPC}/adjust_stock`, { status, body })).toHaveLength(1);
  });

  test("a common code that says more with this status has to be the RPC's own", async () => {
    const body = error("PGRST301");
    expect(await problemsOf(`${RPC}/webhook_endpoints`, { status: 404, body })).toHaveLength(1);
    expect(await problemsOf(`${RPC}/webhook_endpoint`, { status: 404, body })).toEqual([]);
  });

  test("one of a table has to be in the list", async () => {
    const url = "http://127.0.0.1:1/rest/v1/bookings";
    expect(await problemsOf(url, { status: 422, body: error("banana") })).toHaveLength(1);
    expect(await problemsOf(url, { status: 400, body: error("23514") })).toEqual([]);
    expect(await problemsOf(url, { body: [{ any: "row" }] })).toEqual([]);
  });
});

describe("rows of tables", () => {
  test("JSON in a column that is not as described does not pass", async () => {
    const url = "http://127.0.0.1:1/rest/v1/orders";
    const line = { product_id: ID, name: "Soap", sku: null, options: {}, unit_price: 2 };
    const items = [{ ...line, quantity: 1, total: 2 }];
    expect(await problemsOf(url, { body: [{ id: ID, items }] })).toEqual([]);
    expect(await problemsOf(url, { body: [{ id: ID, items: [line] }] })).toHaveLength(1);
  });
});

describe("answers of functions", () => {
  const token = "http://127.0.0.1:1/functions/v1/token";

  test("one that is not as its route says does not pass", async () => {
    expect(await problemsOf(token, { body: { token: 1 } })).toHaveLength(1);
    expect(await problemsOf(token, { status: 204 })).toHaveLength(1);
    expect(await problemsOf(`${token}/banana`, { body: {} })).toHaveLength(1);
  });

  test("a refusal that is not the route's does not pass", async () => {
    expect(await problemsOf(token, { status: 401, body: error("invalid_api_key") })).toEqual([]);
    expect(await problemsOf(token, { status: 409, body: error("slot_taken") })).toHaveLength(1);
  });
});

test("what is no stack's is left alone", async () => {
  expect(await problemsOf("http://127.0.0.1:1/v1/charges", { status: 500, body: {} })).toEqual([]);
});
