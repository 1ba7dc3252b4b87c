/** What the client makes of real refusals: of Postgres, the rules, the functions, auth and the platform's edge. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type ApiClient,
  ApiError,
  createClient,
  isCode,
  keyToken,
} from "../../client/src/index.ts";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { signToken } from "../support/callers.ts";
import { sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createPortalSession,
  createProfessional,
  type Professional,
  type Row,
} from "../support/factories.ts";
import { openProfessional, openService } from "../support/scheduling.ts";
import { stack } from "../support/stack.ts";

const as = (token: string | null, key = stack.publishableKey) =>
  createClient(stack.apiUrl, key, { accessToken: async () => token });
const visitor = as(null);

async function refusal(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (error instanceof ApiError) return error;
  throw new Error("not refused", { cause: error });
}

let professional: Professional;
let api: ApiClient;
let service: Row<"services">;
let client: Row<"clients">;
let booking: Row<"bookings">;

beforeAll(async () => {
  professional = await openProfessional({ accepts_orders: true });
  api = as(professional.token);
  [service, client] = await Promise.all([openService(professional), createClientRow(professional)]);
  booking = await createBooking(professional, {
    client_id: client.id,
    service_id: service.id,
    starts_at: iso(instantOf(dateIn(9, "Europe/Rome"), "10:00", "Europe/Rome")),
  });
});

describe("a constraint names its column and has a sentence", () => {
  const insert = (values: object) => api.run(api.from("services").insert(values as never));
  const good = { name: "Cut", price: 30, duration: 30 };

  test("a check of the table", async () => {
    expect(await refusal(insert({ ...good, duration: 0 }))).toMatchObject({
      status: 400,
      code: "23514",
      constraint: "services_duration_is_1_to_1440_minutes",
      table: "services",
      column: "duration",
      sentence: expect.stringContaining("1 to 1440 minutes"),
    });
  });

  test("a check of a type, whose table is the one that was written", async () => {
    expect(await refusal(insert({ ...good, price: -1 }))).toMatchObject({
      code: "23514",
      constraint: "money_amount_is_between_0_and_999999999999_999",
      table: "services",
      sentence: expect.stringMatching(/\w/),
    });
  });

  test("a column that is required", async () => {
    expect(await refusal(insert({ price: 30, duration: 30 }))).toMatchObject({
      status: 400,
      code: "23502",
      table: "services",
      column: "name",
      sentence: "Name is required.",
    });
  });

  test("a key that is there already, in other case too", async () => {
    const values = { name: "M", email: client.email?.toUpperCase() ?? null };
    expect(await refusal(api.run(api.from("clients").insert(values)))).toMatchObject({
      status: 409,
      code: "23505",
      constraint: "clients_professional_id_email_key_key",
      table: "clients",
      column: "email",
      sentence: expect.stringContaining("e-mail"),
    });
  });

  test("a row that is not there", async () => {
    const values = { client_id: randomUUID(), service_id: service.id, starts_at: iso(0) };
    const error = await refusal(
      api.run(api.from("bookings").insert({ ...values, starts_at: "2031-01-01T00:00:00Z" })),
    );
    expect(error).toMatchObject({
      status: 409,
      code: "23503",
      constraint: "bookings_professional_id_client_id_fkey",
      table: "bookings",
      column: "client_id",
    });
    expect(error.sentence).toMatch(/client/i);
  });

  test("a row that is still referred to, which is no column's fault", async () => {
    const error = await refusal(api.run(api.from("clients").delete().eq("id", client.id)));
    expect(error).toMatchObject({ status: 409, code: "23503", table: "clients", columns: [] });
    expect(error.sentence).toMatch(/booking/i);
  });

  test("an overlap, whoever writes", async () => {
    const { client_id, service_id, starts_at } = booking;
    const error = await refusal(
      api.run(api.from("bookings").insert({ client_id, service_id, starts_at })),
    );
    expect(error).toMatchObject({ status: 409, code: "slot_taken", details: null });
    expect(error.sentence).toMatch(/taken/);
  });
});

describe("what is not granted names the columns of the body", () => {
  test("of an insert", async () => {
    const values = { name: "M", link_epoch: 7, mail_status: "ok" } as never;
    expect(await refusal(api.run(api.from("clients").insert(values)))).toMatchObject({
      status: 403,
      code: "42501",
      table: "clients",
      columns: ["link_epoch", "mail_status"],
      sentence: "Link epoch, mail status cannot be written here.",
    });
  });

  test("of an update, which may be fewer", async () => {
    const values = { client_id: client.id, notes: "n" } as never;
    const query = api.from("bookings").update(values).eq("id", booking.id);
    expect(await refusal(api.run(query))).toMatchObject({ code: "42501", columns: ["client_id"] });
  });

  test("of a client in the portal, who may write less than the professional", async () => {
    const portal = as((await createPortalSession(client)).token);
    const query = portal.from("clients").update({ phone: "+39 1", email: "other@example.com" });
    expect(await refusal(portal.run(query.eq("id", client.id)))).toMatchObject({
      status: 403,
      columns: ["email"],
    });
    const name = portal.from("clients").update({ name: "Marta" }).eq("id", client.id);
    await expect(portal.run(name.select("name"))).resolves.toEqual([{ name: "Marta" }]);
  });

  test("and none where nothing of the body is at fault", async () => {
    const query = visitor.from("services").insert({ name: "Cut", price: 1, duration: 30 });
    expect(await refusal(visitor.run(query))).toMatchObject({
      status: 401,
      code: "42501",
      columns: [],
      sentence: "You may not do this.",
    });
    const columns = visitor.from("services").select("*");
    expect(await refusal(visitor.run(columns))).toMatchObject({ code: "42501", columns: [] });
  });
});

describe("a rule", () => {
  const later = (time: string) => iso(instantOf(dateIn(9, "Europe/Rome"), time, "Europe/Rome"));
  const book = (starts_at: string, values: object = {}) =>
    visitor.rpc("create_booking", {
      service_id: service.id,
      starts_at,
      client_name: "Luca",
      client_email: `luca-${randomUUID()}@example.com`,
      ...values,
    });

  test("offers the next starts", async () => {
    const error: unknown = await refusal(book(later("10:00")));
    if (!isCode(error, "slot_taken")) throw error;
    expect(error.details?.next_starts).toHaveLength(3);
    await expect(book(error.details?.next_starts[0] ?? "")).resolves.toMatchObject({
      status: "confirmed",
    });
  });

  test("names the arguments", async () => {
    const error = await refusal(book(later("12:00"), { client_name: "", notes: "n".repeat(4001) }));
    expect(error).toMatchObject({
      status: 422,
      code: "validation_failed",
    });
    expect([...error.columns].sort()).toEqual(["client_name", "notes"]);
  });

  test("does once what comes twice with one key", async () => {
    const values = { client_email: "twice@example.com", idempotency_key: randomUUID() };
    const first = await book(later("15:00"), values);
    expect((await book(later("15:00"), values)).id).toBe(first.id);
  });

  test("that is not there and one of somebody else are alike", async () => {
    const other = as((await createProfessional()).token);
    for (const booking_id of [booking.id, randomUUID()]) {
      expect(await refusal(other.rpc("cancel_booking", { booking_id }))).toMatchObject({
        status: 404,
        code: "PGRST301",
        sentence: "This is not there any more.",
      });
    }
  });
});

describe("a caller", () => {
  test("with a token that nobody signed", async () => {
    const forged = as(await signToken(professional.claims, "another secret of thirty-two letters"));
    const read = () => forged.run(forged.from("clients").select("id"));
    for (const call of [() => forged.rpc("api_keys"), read]) {
      expect(await refusal(call())).toMatchObject({
        status: 401,
        code: "PGRST301",
        sentence: "Please sign in again.",
      });
    }
    const called = await refusal(forged.functions.webhooks.endpoints());
    expect(called).toMatchObject({ status: 401, code: "invalid_token" });
  });

  test("whose token is over", async () => {
    const over = as(await signToken({ ...professional.claims, exp: 1_000_000_000 }));
    expect(await refusal(over.rpc("api_keys"))).toMatchObject({ status: 401, code: "PGRST303" });
  });

  test("who is signed out", async () => {
    const { token, sessionId } = await createProfessional();
    await sql`delete from auth.sessions where id = ${sessionId}`;
    expect(await refusal(as(token).rpc("api_keys"))).toMatchObject({
      status: 401,
      code: "session_not_found",
    });
  });

  test("without a key of the project", async () => {
    const stranger = as(null, "sb_publishable_of_another_project");
    const query = stranger.from("services").select("id");
    expect(await refusal(stranger.run(query))).toMatchObject({
      status: 401,
      code: "unknown",
    });
  });

  test("with a key of ours that is none", async () => {
    const accessToken = keyToken(stack.apiUrl, stack.publishableKey, "sac_mistyped");
    const program = createClient(stack.apiUrl, stack.publishableKey, { accessToken });
    const read = () => program.run(program.from("clients").select("id"));
    for (const call of [() => program.rpc("api_keys"), read]) {
      expect(await refusal(call())).toMatchObject({ status: 401, code: "invalid_api_key" });
    }
  });

  test("with a wrong password", async () => {
    const person = createClient(stack.apiUrl, stack.publishableKey, {
      auth: { persistSession: false, autoRefreshToken: false },
    });
    const { email } = professional;
    const call = person.run(person.auth.signInWithPassword({ email, password: "not this" }));
    expect(await refusal(call)).toMatchObject({
      status: 400,
      code: "invalid_credentials",
      sentence: "The address or the password is wrong.",
    });
  });
});

describe("a query", () => {
  test("for one row that is not there", async () => {
    const query = api.from("bookings").select("id").eq("id", randomUUID()).single();
    expect(await refusal(api.run(query))).toMatchObject({ status: 406, code: "PGRST116" });
  });

  test("with a column that is not there", async () => {
    const query = api
      .from("services")
      .insert({ name: "x", price: 1, duration: 1, colour: "red" } as never);
    expect(await refusal(api.run(query))).toMatchObject({ code: "PGRST204", column: "colour" });
  });

  test("that counts", async () => {
    const ids = api.from("services").select("id", { count: "exact" });
    await expect(api.runCounted(ids)).resolves.toEqual({ data: [{ id: service.id }], count: 1 });
    const head = api.from("services").select("*", { count: "exact", head: true });
    await expect(api.runCounted(head)).resolves.toEqual({ data: null, count: 1 });
  });

  test("that changes nothing gives no rows", async () => {
    const query = api.from("bookings").update({ notes: "n" }).eq("id", randomUUID()).select("id");
    await expect(api.run(query)).resolves.toEqual([]);
  });
});

describe("a route of a function", () => {
  test("answers with the error of its body", async () => {
    const { portal, webhooks, payments } = visitor.functions;
    const link = await refusal(portal.openLink("none"));
    expect(link).toMatchObject({ status: 401, code: "invalid_link" });
    const code = { email: "nobody@example.com", code: "000000", professionalId: professional.id };
    expect(await refusal(portal.verifyCode(code))).toMatchObject({ code: "invalid_otp" });
    expect(await refusal(webhooks.endpoints())).toMatchObject({ code: "invalid_token" });
    expect(await refusal(payments.account())).toMatchObject({
      status: 503,
      code: "payments_not_configured",
    });
  });

  test("names its fields", async () => {
    const body = { email: "no address", professionalId: "no id" };
    expect(await refusal(visitor.functions.portal.sendCode(body))).toMatchObject({
      status: 422,
      code: "validation_failed",
      columns: ["email", "professionalId"],
      sentence: "Please check: e-mail address, professionalId.",
    });
  });

  test("has its details typed", async () => {
    const error: unknown = await refusal(
      api.functions.webhooks.createEndpoint({ url: "http://example.com/", events: ["*"] }),
    );
    if (!isCode(error, "url_not_allowed")) throw error;
    expect(error.details?.reason).toBe("not_https");
  });

  test("answers nothing where there is nothing to say", async () => {
    const portal = as((await createPortalSession(client)).token);
    await expect(portal.functions.portal.signOut()).resolves.toBeUndefined();
    expect(await refusal(portal.rpc("booking_page", { username: "x" }))).toMatchObject({
      code: "session_not_found",
    });
  });
});
