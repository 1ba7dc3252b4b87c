import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dateIn, everyDay, instantOf, iso } from "../support/calendar.ts";
import { anonymous, request, server } from "../support/callers.ts";
import { sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createPortalSession,
  type Professional,
} from "../support/factories.ts";
import { FUZZ } from "../support/fuzz.ts";
import {
  book,
  freeStarts,
  nextStarts,
  openProfessional,
  openService,
  refusal,
} from "../support/scheduling.ts";

const ROME = "Europe/Rome";
const HOUR = 3_600_000;
const anon = anonymous();
const day = dateIn(10, ROME);
const at = (time: string) => iso(instantOf(day, time, ROME));
const email = () => `ann-${crypto.randomUUID()}@example.com`;

async function open(values: Parameters<typeof openService>[1] = {}) {
  const professional = await openProfessional();
  return { professional, service: await openService(professional, values) };
}

async function clientsOf(professional: Professional) {
  const { data } = await professional.api.from("clients").select("*").order("created_at");
  return data ?? [];
}

async function bookingsOf(professional: Professional) {
  const { data } = await professional.api.from("bookings").select("*").order("starts_at");
  return data ?? [];
}

describe("a free start", () => {
  it("is booked: the receipt shows the booking as its client may see it, and the row is there", async () => {
    const { professional, service } = await open({ name: "Haircut", price: 30.5 });
    const address = email();

    const { data, error } = await anon.rpc("create_booking", {
      service_id: service.id,
      starts_at: at("10:00"),
      client_name: "Ann Lee",
      client_email: address,
      client_phone: " +39 06 1234 ",
      notes: "First visit",
    });

    expect(error).toBeNull();
    const [row] = await bookingsOf(professional);
    expect(data).toEqual({
      id: row?.id,
      professional_id: professional.id,
      service_id: service.id,
      service_name: "Haircut",
      status: "confirmed",
      starts_at: at("10:00"),
      ends_at: at("11:00"),
      cancel_until: at("10:00"),
      price: 30.5,
      currency: "EUR",
      notes: "First visit",
      version: 1,
      expires_at: null,
      order_id: null,
      checkout_token: null,
      amount_due: null,
    });
    const [client] = await clientsOf(professional);
    expect(client).toMatchObject({ name: "Ann Lee", email: address, phone: "+39 06 1234" });
    expect(row).toMatchObject({ client_id: client?.id, source: "public", internal_notes: null });
  });

  it("is pending when the service requires confirmation, and still blocks", async () => {
    const { service } = await open({ requires_confirmation: true });

    const { data } = await book(anon, service, at("10:00"));

    expect(data?.status).toBe("pending");
    expect(refusal(await book(anon, service, at("10:00")))).toEqual({
      status: 409,
      code: "slot_taken",
    });
  });

  it("may be named with any offset, in lower case, without seconds or with nanoseconds", async () => {
    const { service } = await open();
    const utc = Date.parse(at("10:00"));
    const spelled = [
      `${iso(utc + 2 * HOUR).slice(0, 16)}+02:00`,
      `${iso(utc + HOUR - 9.5 * HOUR).slice(0, 19)}-09:30`,
      `${iso(utc + 2 * HOUR)
        .slice(0, 19)
        .toLowerCase()}z`,
      `${iso(utc + 3 * HOUR).slice(0, 19)}.000000000Z`,
    ];

    const answers = await Promise.all(spelled.map((startsAt) => book(anon, service, startsAt)));

    expect(answers.map(({ data }) => data?.starts_at)).toEqual(
      [0, 1, 2, 3].map((n) => iso(utc + n * HOUR)),
    );
  });

  it("and the one after it both book: appointments are half-open", async () => {
    const { professional, service } = await open();

    const answers = await Promise.all([
      book(anon, service, `${day}T08:00:00Z`),
      book(anon, service, `${day}T09:00:00Z`),
    ]);

    expect(answers.map(({ error }) => error)).toEqual([null, null]);
    expect(await bookingsOf(professional)).toHaveLength(2);
  });

  it("leaves out the buffer: after 08:00Z with 15 minutes after, 09:00Z is refused and 09:15Z works", async () => {
    const { service } = await open({ buffer_after: 15 });
    await book(anon, service, `${day}T08:00:00Z`);

    const listed = await freeStarts(anon, service, day);
    expect(listed).not.toContain(`${day}T09:00:00.000Z`);
    expect(listed).toContain(`${day}T09:15:00.000Z`);

    const refused = await book(anon, service, `${day}T09:00:00Z`);
    expect(refusal(refused)).toEqual({ status: 409, code: "slot_taken" });
    expect(nextStarts(refused)).toEqual(
      ["09:15", "09:30", "09:45"].map((time) => `${day}T${time}:00.000Z`),
    );
    expect((await book(anon, service, `${day}T09:15:00Z`)).error).toBeNull();
  });

  it("is free again once its booking is cancelled", async () => {
    const { professional, service } = await open();
    const { data } = await book(anon, service, at("10:00"));
    expect(refusal(await book(anon, service, at("10:00"))).status).toBe(409);

    await professional.api.rpc("cancel_booking", { booking_id: data?.id ?? "" });

    expect((await book(anon, service, at("10:00"))).error).toBeNull();
  });

  it("of an unknown service is 404 PGRST301", async () => {
    const answer = await book(anon, { id: crypto.randomUUID() }, at("10:00"));
    expect(refusal(answer)).toEqual({ status: 404, code: "PGRST301" });
  });

  it("is booked by professionals and servers as by the public", async () => {
    const { professional, service } = await open();
    const other = await openProfessional();

    const answers = await Promise.all([
      book(other.api, service, at("09:00")),
      book(server(), service, at("10:00")),
      book(professional.api, service, at("11:00")),
    ]);

    expect(answers.map(({ error }) => error)).toEqual([null, null, null]);
    expect((await bookingsOf(professional)).map(({ source }) => source)).toEqual(
      Array(3).fill("public"),
    );
    expect(refusal(await book(professional.api, service, at("08:00")))).toEqual({
      status: 422,
      code: "outside_hours",
    });
  });
});

describe("the client", () => {
  it("is one for ` Ann@X.it ` and `ann@x.it`, and the data the professional has stays", async () => {
    const { professional, service } = await open();
    const host = `${crypto.randomUUID()}.it`;
    const existing = await createClientRow(professional, {
      name: "Ann as I know her",
      email: `Ann@${host}`,
      phone: "1",
      notes: "VIP",
      tags: ["vip"],
    });

    for (const [time, spelling] of [
      ["09:00", ` Ann@${host.toUpperCase()} `],
      ["10:00", `ann@${host}`],
      ["11:00", `\u00a0ANN@${host}\u200b\n`],
    ] as const) {
      const { error } = await anon.rpc("create_booking", {
        service_id: service.id,
        starts_at: at(time),
        client_name: "Somebody else",
        client_email: spelling,
        client_phone: "999",
      });
      expect(error).toBeNull();
    }

    expect(await clientsOf(professional)).toEqual([existing]);
    expect((await bookingsOf(professional)).map((row) => row.client_id)).toEqual(
      Array(3).fill(existing.id),
    );
  });

  it("is made once when nobody has the address, trimmed but spelled as given", async () => {
    const { professional, service } = await open();
    const host = `${crypto.randomUUID()}.it`;

    for (const time of ["09:00", "10:00"]) {
      await book(anon, service, at(time), { client_email: ` Ann@${host} ` });
    }

    const clients = await clientsOf(professional);
    expect(clients).toHaveLength(1);
    expect(clients[0]).toMatchObject({ email: `Ann@${host}`, email_key: `ann@${host}` });
  });

  it("of one professional is nobody at another", async () => {
    const [mine, other] = await Promise.all([open(), open()]);
    const client = await createClientRow(mine.professional);

    await book(anon, other.service, at("10:00"), { client_email: client.email ?? "" });

    expect(await clientsOf(mine.professional)).toEqual([client]);
    expect((await clientsOf(other.professional))[0]?.id).not.toBe(client.id);
  });

  it.each([
    ["no name", { client_name: null }, ["client_name"]],
    ["a blank name", { client_name: " \t" }, ["client_name"]],
    ["a name of 201 characters", { client_name: "x".repeat(201) }, ["client_name"]],
    ["no e-mail", { client_email: null }, ["client_email"]],
    ["an empty e-mail", { client_email: "" }, ["client_email"]],
    ["no address", { client_email: "ann" }, ["client_email"]],
    ["two addresses", { client_email: "a@x.it,b@x.it" }, ["client_email"]],
    ["a header line", { client_email: "a@x.it\nBcc: b@x.it" }, ["client_email"]],
    ["an endless e-mail", { client_email: `${"a".repeat(250)}@x.it` }, ["client_email"]],
    ["a phone of 41 characters", { client_phone: "1".repeat(41) }, ["client_phone"]],
    ["nothing valid", { client_name: "", client_email: "" }, ["client_name", "client_email"]],
    ["notes of 4001 characters", { notes: "x".repeat(4001) }, ["notes"]],
  ])("with %s is refused alike, client or not", async (_, values, fields) => {
    const { professional, service } = await open();
    const known = await createClientRow(professional);
    for (const address of [known.email, email()]) {
      const answer = await anon.rpc("create_booking", {
        service_id: service.id,
        starts_at: at("10:00"),
        client_name: "Ann",
        client_email: address,
        ...values,
      } as never);
      expect(refusal(answer)).toEqual({ status: 422, code: "validation_failed" });
      expect(JSON.parse(answer.error?.details ?? "")).toEqual({ fields });
    }
    expect(await clientsOf(professional)).toEqual([known]);
    expect(await bookingsOf(professional)).toEqual([]);
  });

  it("gets the same answer whether or not the address is known", async () => {
    const { professional, service } = await open();
    const known = await createClientRow(professional);

    const answers = [
      await book(anon, service, at("09:00"), { client_email: known.email ?? "" }),
      await book(anon, service, at("10:00"), { client_email: email() }),
    ];

    const [first, second] = answers.map(({ status, data }) => ({
      status,
      ...data,
      id: "",
      starts_at: "",
      ends_at: "",
      cancel_until: "",
    }));
    expect(first).toEqual(second);
  });
});

describe("five open bookings", () => {
  const five = ["09:00", "10:00", "11:00", "12:00", "13:00"];

  async function signedIn(values: Parameters<typeof open>[0] = {}) {
    const { professional, service } = await open(values);
    const client = await createClientRow(professional);
    const portal = await createPortalSession(client);
    const bookOwn = (start: string) =>
      portal.api.rpc("create_booking", { service_id: service.id, starts_at: start });
    return { professional, service, client, bookOwn };
  }

  it("are the most for a client of the portal; the sixth is 422 too_many_open", async () => {
    const { professional, bookOwn } = await signedIn();
    const booked = [];
    for (const time of five) booked.push(await bookOwn(at(time)));
    expect(booked.map(({ error }) => error)).toEqual(Array(5).fill(null));

    expect(refusal(await bookOwn(at("14:00")))).toEqual({ status: 422, code: "too_many_open" });
    expect(await bookingsOf(professional)).toHaveLength(5);

    await professional.api.rpc("cancel_booking", { booking_id: booked[2]?.data?.id ?? "" });
    expect((await bookOwn(at("15:00"))).error).toBeNull();
  });

  it("does not count what is past, what the owner made, or what strangers booked for the address", async () => {
    const { professional, service, client, bookOwn } = await signedIn({ duration: 30 });
    for (const time of five) {
      await createBooking(professional, {
        client_id: client.id,
        service_id: service.id,
        starts_at: at(time),
      });
    }
    for (const time of ["09:30", "10:30", "11:30", "12:30", "13:30", "14:30"]) {
      const { error } = await book(anon, service, at(time), { client_email: client.email ?? "" });
      expect(error).toBeNull();
    }
    for (const time of ["14:00", "15:00", "16:00", "17:00"]) await bookOwn(at(time));
    await sql`
      update public.bookings set starts_at = now() - interval '2 hours'
      where professional_id = ${professional.id} and source = 'portal' and starts_at = ${at("14:00")}`;

    const answers = [await bookOwn(at("14:00")), await bookOwn(at("15:30"))];
    expect(answers.map(({ error }) => error)).toEqual([null, null]);
    expect(refusal(await bookOwn(at("16:30")))).toEqual({ status: 422, code: "too_many_open" });
  });

  it("holds when ten arrive at once", async () => {
    const { professional, service, bookOwn } = await signedIn({ duration: 30 });
    const starts = (await freeStarts(anon, service, day))
      .filter((_, n) => n % 2 === 0)
      .slice(0, 10);

    const answers = await Promise.all(starts.map(bookOwn));

    expect(answers.filter(({ error }) => error === null)).toHaveLength(5);
    for (const answer of answers.filter(({ error }) => error)) {
      expect(refusal(answer)).toEqual({ status: 422, code: "too_many_open" });
    }
    expect(await bookingsOf(professional)).toHaveLength(5);
  });
});

describe("an idempotency key", () => {
  it("makes twenty calls at once one booking, and all get its receipt", async () => {
    const { professional, service } = await open();
    const values = { client_email: email(), idempotency_key: crypto.randomUUID() };

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => book(anon, service, at("10:00"), values)),
    );

    const [row] = await bookingsOf(professional);
    expect(answers.map(({ data }) => data?.id)).toEqual(Array(20).fill(row?.id));
    expect(await bookingsOf(professional)).toHaveLength(1);
  });

  it("returns the row as it is now", async () => {
    const { professional, service } = await open();
    const values = { client_email: email(), idempotency_key: "k" };
    const first = await book(anon, service, at("10:00"), values);
    await professional.api.rpc("cancel_booking", { booking_id: first.data?.id ?? "" });

    const replay = await book(anon, service, at("10:00"), values);

    expect(replay.data).toEqual({ ...first.data, status: "cancelled", version: 2 });
  });

  it("with other input is 422 idempotency_key_reused, whatever differs", async () => {
    const { service } = await open();
    const other = await openService(await openProfessional());
    const input = {
      service_id: service.id,
      starts_at: at("10:00"),
      client_name: "Ann",
      client_email: email(),
      client_phone: "1",
      notes: "n",
      idempotency_key: "k",
    };
    expect((await anon.rpc("create_booking", input)).error).toBeNull();

    for (const change of [
      { starts_at: at("12:00") },
      // The same instant, but input is compared as received.
      { starts_at: at("10:00").replace(".000Z", "Z") },
      { client_name: "Ann " },
      { client_email: ` ${input.client_email}` },
      { client_phone: null },
      { notes: "" },
    ]) {
      const answer = await anon.rpc("create_booking", { ...input, ...change } as never);
      expect(refusal(answer)).toEqual({ status: 422, code: "idempotency_key_reused" });
    }
    // A key is a professional's own.
    const elsewhere = await anon.rpc("create_booking", { ...input, service_id: other.id });
    expect(elsewhere.error).toBeNull();
  });

  it("of a call that failed is free", async () => {
    const { service } = await open();
    const key = { idempotency_key: "k" };
    expect(refusal(await book(anon, service, at("08:00"), key)).code).toBe("outside_hours");

    expect((await book(anon, service, at("10:00"), key)).error).toBeNull();
  });

  it("is forgotten after seven days", async () => {
    const { professional, service } = await open();
    const values = { client_email: email(), idempotency_key: "k" };
    const first = await book(anon, service, at("10:00"), values);
    const age = (interval: string) => sql`
      update private.idempotency_keys set created_at = now() - ${interval}::interval
      where professional_id = ${professional.id}`;

    await age("6 days 23 hours");
    expect((await book(anon, service, at("10:00"), values)).data?.id).toBe(first.data?.id);
    await age("7 days");
    expect(refusal(await book(anon, service, at("10:00"), values)).code).toBe("slot_taken");
    const later = await book(anon, service, at("12:00"), values);
    expect(later.error).toBeNull();
    expect((await book(anon, service, at("12:00"), values)).data?.id).toBe(later.data?.id);
  });

  it.each([
    ["empty", ""],
    ["of 256 characters", "k".repeat(256)],
  ])("%s is 422 invalid_idempotency_key", async (_, idempotency_key) => {
    const { service } = await open();
    expect(refusal(await book(anon, service, at("10:00"), { idempotency_key }))).toEqual({
      status: 422,
      code: "invalid_idempotency_key",
    });
    const longest = await book(anon, service, at("10:00"), { idempotency_key: "é".repeat(255) });
    expect(longest.error).toBeNull();
  });

  it("does not show one portal client's booking to another who sends the same words", async () => {
    const { professional, service } = await open();
    const [ann, bob] = await Promise.all(
      [0, 1].map(async () => createPortalSession(await createClientRow(professional))),
    );
    const input = { service_id: service.id, starts_at: at("10:00"), idempotency_key: "k" };
    const mine = await ann?.api.rpc("create_booking", input);
    expect(mine?.error).toBeNull();

    const theirs = await bob?.api.rpc("create_booking", input);

    expect(theirs && refusal(theirs)).toEqual({ status: 422, code: "idempotency_key_reused" });
    expect((await ann?.api.rpc("create_booking", input))?.data).toEqual(mine?.data);
  });

  it("of a booking that is gone is 404 PGRST301, not a receipt of nulls", async () => {
    const { service } = await open();
    const values = { client_email: email(), idempotency_key: "k" };
    const { data } = await book(anon, service, at("10:00"), values);
    await server()
      .from("bookings")
      .delete()
      .eq("id", data?.id ?? "");

    expect(refusal(await book(anon, service, at("10:00"), values))).toEqual({
      status: 404,
      code: "PGRST301",
    });
  });
});

describe("a portal client", () => {
  it("books without name and e-mail, as itself, and is no public booking", async () => {
    const { professional, service } = await open();
    const client = await createClientRow(professional);
    const portal = await createPortalSession(client);

    const { data, error } = await portal.api.rpc("create_booking", {
      service_id: service.id,
      starts_at: at("10:00"),
    });

    expect(error).toBeNull();
    const [row] = await bookingsOf(professional);
    expect(row).toMatchObject({ id: data?.id, client_id: client.id, source: "portal" });
  });

  it("is bound by the same rules of what is free", async () => {
    const { professional, service } = await open();
    const portal = await createPortalSession(await createClientRow(professional));

    const answer = await portal.api.rpc("create_booking", {
      service_id: service.id,
      starts_at: at("08:45"),
    });

    expect(refusal(answer)).toEqual({ status: 422, code: "outside_hours" });
    expect(nextStarts(answer)).toEqual(["09:00", "09:15", "09:30"].map(at));
  });

  it("of one professional has to name itself at another", async () => {
    const [mine, other] = await Promise.all([open(), open()]);
    const portal = await createPortalSession(await createClientRow(mine.professional));

    const answer = await portal.api.rpc("create_booking", {
      service_id: other.service.id,
      starts_at: at("10:00"),
    });

    expect(refusal(answer)).toEqual({ status: 422, code: "validation_failed" });
    expect((await book(portal.api, other.service, at("10:00"))).error).toBeNull();
  });
});

describe("a time", () => {
  it.each([
    "tomorrow",
    "now",
    "infinity",
    "-infinity",
    "epoch",
    "10:00",
    "",
    " ",
    "2027-02-30T08:00:00Z",
    "2027-03-01",
    "2027-03-01T08:00:00",
    "2027-03-01 08:00:00Z",
    "2027-03-01T08:00:00 Europe/Rome",
    "2027-03-01T08:00:00+0100",
    "2027-03-01T08:00:00+99:00",
    "2027-03-01T24:00:00Z",
    "2027-03-01T08:60:00Z",
    "2027-03-01T08:00:60Z",
    "2027-3-1T8:00:00Z",
    "20270301T080000Z",
    "99999-03-01T08:00:00Z",
    "0000-03-01T08:00:00Z",
    "1999-12-31T23:59:59Z",
    "2200-01-01T00:00:00Z",
    "2199-12-31T23:59:59.9999Z",
    "2027-03-01T08:00:00Z\n",
    "1803891600",
    "２０２７-03-01T08:00:00Z",
  ])("%j is 422 invalid_time", async (startsAt) => {
    const { service } = await open();
    expect(refusal(await book(anon, service, startsAt))).toEqual({
      status: 422,
      code: "invalid_time",
    });
  });

  it("null is 422 invalid_time", async () => {
    const { service } = await open();
    const answer = await book(anon, service, null as never);
    expect(refusal(answer)).toEqual({ status: 422, code: "invalid_time" });
  });
});

describe("directly", () => {
  it("the public cannot insert a booking or a client, whatever the body", async () => {
    const { professional, service } = await open();
    const client = await createClientRow(professional);
    const bookings = [
      { professional_id: professional.id },
      { client_id: client.id, service_id: service.id, starts_at: at("10:00") },
      { starts_at: at("10:00"), ends_at: at("11:00"), professional_id: professional.id },
    ];
    const clients = [{ name: "Ann" }, { name: "Ann", professional_id: professional.id }];
    for (const [table, bodies] of [
      ["bookings", bookings],
      ["clients", clients],
    ] as const) {
      for (const body of bodies) {
        const response = await request(`/rest/v1/${table}`, {
          method: "POST",
          body: JSON.stringify(body),
        });
        const refused = { status: response.status, ...((await response.json()) as object) };
        expect(refused).toMatchObject({ status: 401, code: "42501" });
      }
    }
    expect(await bookingsOf(professional)).toEqual([]);
    expect(await clientsOf(professional)).toEqual([client]);

    // Refused by the grants already, and not only by the policies behind them.
    const grants = await sql`
      select t.name, has_any_column_privilege('anon', t.name, 'insert') as granted
      from unnest(array['public.bookings', 'public.clients']) as t (name)`;
    expect(grants.map(({ granted }) => granted)).toEqual([false, false]);
    expect((await book(anon, service, at("10:00"))).error).toBeNull();
  });

  it("the public cannot read bookings or clients", async () => {
    for (const table of ["bookings", "clients"] as const) {
      expect(refusal(await anon.from(table).select("id"))).toEqual({ status: 401, code: "42501" });
    }
  });
});

describe("any input", () => {
  it("is answered, never with a fault of the server", async () => {
    const professional = await openProfessional({
      availability: everyDay(["00:00", "24:00"]) as never,
    });
    const service = await openService(professional);
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }).map((value) => value.replaceAll("\0", "")),
      fc.constantFrom("", " ", "null", "\u202e", "a@b.c", at("10:00"), "x".repeat(100_000)),
    );
    const value = fc.oneof(
      { weight: 4, arbitrary: text },
      fc.constant(null),
      fc.integer(),
      fc.boolean(),
      fc.array(text, { maxLength: 2 }),
    );
    const call = fc.record(
      {
        starts_at: fc.oneof(value, fc.constantFrom(at("10:00"), at("11:00"), at("12:00"))),
        client_name: value,
        client_email: fc.oneof(value, fc.emailAddress()),
        client_phone: value,
        notes: value,
        idempotency_key: value,
      },
      { requiredKeys: ["starts_at"] },
    );

    await fc.assert(
      fc.asyncProperty(call, async (args) => {
        const answer = await anon.rpc("create_booking", {
          service_id: service.id,
          ...args,
        } as never);
        expect(answer.status, JSON.stringify({ args, error: answer.error })).toBeLessThan(500);
      }),
      { ...FUZZ, numRuns: 200 },
    );
  });
});
