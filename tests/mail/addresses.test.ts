/** What is known of addresses: proven ones, ones that mail does not reach, and the professional's own. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { everyDay } from "../support/calendar.ts";
import { anonymous, server } from "../support/callers.ts";
import { failure } from "../support/commerce.ts";
import { sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createPortalSession,
  createProfessional,
  createService,
  type Professional,
  type Row,
} from "../support/factories.ts";
import { confirmOwner, mailsOf, newsOf } from "../support/mail.ts";
import { eventsOf, record } from "../support/webhooks.ts";

const HOUR = 3_600_000;
const at = (hours: number) => new Date(Math.ceil(Date.now() / HOUR + hours) * HOUR).toISOString();
const newEmail = () => `marta-${randomUUID()}@example.com`;

const isProven = async ({ id }: { id: string }, email: string | null) =>
  (await sql`select private.address_is_proven(${id}, ${email}) as proven`)[0]?.proven;

const rowOf = async ({ id }: { id: string }) => {
  const [row] = await sql<Row<"clients">[]>`select * from public.clients where id = ${id}`;
  return row as Row<"clients">;
};

describe("an address is proven", () => {
  let ana: Professional;
  beforeAll(async () => {
    ana = await createProfessional({
      accepts_bookings: true,
      availability: everyDay(["00:00", "24:00"]) as never,
    });
  });

  test("by the professional who enters it, in any spelling, for themselves alone", async () => {
    const client = await createClientRow(ana);
    const other = await createProfessional();
    expect(await isProven(ana, (client.email ?? "").toUpperCase())).toBe(true);
    expect(await isProven(other, client.email)).toBe(false);
    const email = newEmail();
    await ana.api.from("clients").update({ email }).eq("id", client.id);
    expect(await isProven(ana, email)).toBe(true);
  });

  test("not by who books with it, nor by another professional who does, nor by a server", async () => {
    const service = await createService(ana);
    const other = await createProfessional();
    const portal = await createPortalSession(await createClientRow(ana));
    for (const [hours, api] of [
      [24, anonymous()],
      [30, other.api],
      [36, portal.api],
    ] as const) {
      const email = newEmail();
      const { error } = await api.rpc("create_booking", {
        service_id: service.id,
        starts_at: at(hours),
        client_name: "Luca",
        client_email: email,
      });
      expect(error).toBeNull();
      expect(await isProven(ana, email)).toBe(false);
    }
    const email = newEmail();
    await server().from("clients").insert({ professional_id: ana.id, name: "Luca", email });
    expect(await isProven(ana, email)).toBe(false);
  });

  test("by a code that its owner enters, which also makes mail go there again", async () => {
    const email = newEmail();
    const { data: client } = await server()
      .from("clients")
      .insert({ professional_id: ana.id, name: "Luca", email })
      .select("id")
      .single();
    const id = client?.id ?? "";
    await sql`
      insert into private.suppressed_addresses (address_digest, reason)
      values (private.address_digest(${email}), 'bounced')`;
    await sql`
      insert into private.portal_codes
        (professional_id, client_id, link_epoch, code_hmac, expires_at)
      values (${ana.id}, ${id}, 1, 'hmac', now() + interval '1 minute')`;
    const finish = (code: string) =>
      server().rpc("finish_portal_verification", {
        professional_id: ana.id,
        client_id: id,
        generation: 1,
        code_hmac: code,
      });
    await finish("wrong");
    expect(await isProven(ana, email)).toBe(false);
    expect((await finish("hmac")).data).not.toBeNull();
    expect(await isProven(ana, email)).toBe(true);
    const suppressed = await sql`
      select from private.suppressed_addresses
      where address_digest = private.address_digest(${email})`;
    expect(suppressed).toEqual([]);
  });
});

test("an address is proven by the link of a booking that was mailed to it", async () => {
  const ana = await createProfessional();
  const [client, service] = await Promise.all([createClientRow(ana), createService(ana)]);
  const booking = await createBooking(ana, {
    client_id: client.id,
    service_id: service.id,
    starts_at: at(48),
  });
  await sql`delete from private.proven_addresses where professional_id = ${ana.id}`;
  const open = (link_epoch: number) =>
    server().rpc("start_booking_session", { booking_id: booking.id, link_epoch });
  expect((await open(2)).data).toBeNull();
  expect(await isProven(ana, client.email)).toBe(false);
  expect((await open(1)).data).not.toBeNull();
  expect(await isProven(ana, client.email)).toBe(true);
});

/** A mail to a client that went out, as its dispatcher left it. */
async function sentMail(
  ana: Professional,
  client: Row<"clients">,
): Promise<{ providerId: string; id: string }> {
  const providerId = randomUUID();
  const [row] = await sql<{ id: string }[]>`
    insert into private.mails (
      professional_id, audience, kind, client_id, status, due_at, recipient, provider_id, finished_at
    )
    values (
      ${ana.id}, 'client', 'booking_confirmed', ${client.id}, 'sent', null, ${client.email},
      ${providerId}, now()
    )
    returning id`;
  return { providerId, id: row?.id ?? "" };
}

const report = async (providerId: string, type: string) => {
  const { data, error } = await server().rpc("record_mail_event", {
    provider_id: providerId,
    type,
    detail: { subtype: "general" },
  });
  if (error) throw new Error(JSON.stringify(error));
  return data;
};

const outcomeOf = async ({ id }: { id: string }) => {
  const [row] = await sql`select status, outcome from private.mails where id = ${id}`;
  return [row?.status, row?.outcome];
};

describe("what the provider says of a mail", () => {
  test.each(["bounced", "complained", "suppressed"])(
    "%s stops the address and tells the professional, by mail and event, once",
    async (type) => {
      const ana = await createProfessional();
      await record(ana);
      const client = await createClientRow(ana);
      const mail = await sentMail(ana, client);
      expect(await report(mail.providerId, type)).toBe(true);
      expect(await report(mail.providerId, type)).toBe(true);
      const second = await sentMail(ana, client);
      expect(await report(second.providerId, type)).toBe(true);

      expect((await rowOf(client)).mail_status).toBe("undeliverable");
      expect(await outcomeOf(mail)).toEqual([type === "complained" ? "sent" : "failed", type]);
      const [suppressed] = await sql`
        select reason from private.suppressed_addresses
        where address_digest = private.address_digest(${client.email})`;
      expect(suppressed?.reason).toBe(type);
      expect((await newsOf(ana)).filter((news) => news.includes("undeliverable"))).toEqual([
        "professional client_undeliverable",
      ]);
      const events = (await eventsOf(ana)).filter((event) => event.type === "mail.undeliverable");
      expect(events.map(({ data }) => data)).toEqual([
        {
          reason: type,
          mail: { id: mail.id, kind: "booking_confirmed", booking_id: null, order_id: null },
          client: { id: client.id, name: client.name, email: client.email },
        },
      ]);
    },
  );

  test("writes no row of another professional who has the same client", async () => {
    const [ana, other] = await Promise.all([createProfessional(), createProfessional()]);
    const client = await createClientRow(ana);
    const same = await createClientRow(other, { email: client.email });
    const before = await rowOf(same);
    await report((await sentMail(ana, client)).providerId, "bounced");
    expect(await rowOf(same)).toEqual(before);
    expect(await newsOf(other)).toEqual([]);
  });

  test("of an address that the client no longer has stops it, and leaves the client alone", async () => {
    const ana = await createProfessional();
    const client = await createClientRow(ana);
    const mail = await sentMail(ana, client);
    await ana.api.from("clients").update({ email: newEmail() }).eq("id", client.id);
    expect(await report(mail.providerId, "bounced")).toBe(true);
    expect((await rowOf(client)).mail_status).toBe("ok");
    expect(await newsOf(ana)).not.toContain("professional client_undeliverable");
  });

  test("is forgotten of the client with a new address, and with a mail that arrives", async () => {
    const ana = await createProfessional();
    const client = await createClientRow(ana);
    await report((await sentMail(ana, client)).providerId, "bounced");
    const arrives = await sentMail(ana, client);
    expect(await report(arrives.providerId, "delivered")).toBe(true);
    expect(await outcomeOf(arrives)).toEqual(["sent", "delivered"]);
    expect((await rowOf(client)).mail_status).toBe("ok");
    await report((await sentMail(ana, client)).providerId, "complained");
    expect((await rowOf(client)).mail_status).toBe("undeliverable");
    await ana.api.from("clients").update({ email: newEmail() }).eq("id", client.id);
    expect((await rowOf(client)).mail_status).toBe("ok");
  });

  test("delivered after it bounced is old, failed is the end of this mail alone", async () => {
    const ana = await createProfessional();
    const client = await createClientRow(ana);
    const [bounced, failed] = [await sentMail(ana, client), await sentMail(ana, client)];
    await report(failed.providerId, "failed");
    expect(await outcomeOf(failed)).toEqual(["failed", "failed"]);
    expect((await rowOf(client)).mail_status).toBe("ok");
    await report(bounced.providerId, "bounced");
    await report(bounced.providerId, "delivered");
    expect(await outcomeOf(bounced)).toEqual(["failed", "bounced"]);
    expect((await rowOf(client)).mail_status).toBe("undeliverable");
  });

  test("of a mail that is not ours, or not yet, is false", async () => {
    expect(await report(randomUUID(), "bounced")).toBe(false);
    const refused = await failure(
      server().rpc("record_mail_event", { provider_id: "", type: "opened", detail: [] as never }),
    );
    expect(refused.details).toEqual({ fields: ["provider_id", "type", "detail"] });
  });
});

describe("a professional's own address", () => {
  const isConfirmed = async (ana: Professional) =>
    (await sql`select private.owner_is_confirmed(${ana.id}) as confirmed`)[0]?.confirmed;
  const confirm = async (professional_id: string, email: string) =>
    (await server().rpc("confirm_professional_address", { professional_id, email })).data;

  test("is asked about when the public is first let in, and not again", async () => {
    const ana = await createProfessional();
    const set = (values: { accepts_bookings?: boolean; accepts_orders?: boolean }) =>
      ana.api.from("profiles").update(values).eq("id", ana.id);
    await set({ accepts_orders: false });
    expect(await newsOf(ana)).toEqual([]);
    await set({ accepts_orders: true });
    expect(await newsOf(ana)).toEqual(["professional confirm_address"]);
    await sql`
      update private.mails set status = 'sent', due_at = null where professional_id = ${ana.id}`;
    await set({ accepts_orders: false });
    await set({ accepts_bookings: true });
    expect(await newsOf(ana)).toHaveLength(1);
  });

  test("is confirmed by the link to it, and no longer when the account has another", async () => {
    const ana = await createProfessional();
    expect(await isConfirmed(ana)).toBe(false);
    expect(await confirm(ana.id, `x${ana.email}`)).toBe(false);
    expect(await confirm(randomUUID(), ana.email)).toBe(false);
    expect(await isConfirmed(ana)).toBe(false);
    expect(await confirm(ana.id, ana.email.toUpperCase())).toBe(true);
    expect(await confirm(ana.id, ana.email)).toBe(true);
    expect(await isConfirmed(ana)).toBe(true);
    await sql`update auth.users set email = ${`x${ana.email}`} where id = ${ana.id}`;
    expect(await isConfirmed(ana)).toBe(false);
    await sql`update auth.users set email = ${ana.email} where id = ${ana.id}`;
    expect(await isConfirmed(ana)).toBe(false);
  });

  test("can be asked about again, three times an hour, until it is confirmed", async () => {
    const ana = await createProfessional();
    const ask = () => ana.api.rpc("request_address_confirmation");
    for (let times = 0; times < 3; times++)
      expect((await ask()).data).toEqual({ confirmed: false });
    const refused = await ask();
    expect([refused.status, refused.error?.code]).toEqual([429, "rate_limit_exceeded"]);
    const mails = await mailsOf(ana);
    expect(mails.filter(({ status }) => status === "queued").length).toBeLessThanOrEqual(1);
    expect(new Set(await newsOf(ana))).toEqual(new Set(["professional confirm_address"]));
    await confirmOwner(ana);
    expect((await ask()).data).toEqual({ confirmed: true });
  });

  test("of the demo data is confirmed", async () => {
    const [ana] = await sql`
      select private.owner_is_confirmed(id) as confirmed
      from auth.users where email = 'ana@example.com'`;
    // A stack of one's own may have no demo data.
    expect([true, undefined]).toContain(ana?.confirmed);
  });
});

describe("a client unsubscribes", () => {
  const unsubscribe = async (client_id: string, link_epoch: number) =>
    (await server().rpc("unsubscribe_client", { client_id, link_epoch })).data;

  test("with a link of the epoch, as often as it is opened", async () => {
    const ana = await createProfessional();
    const client = await createClientRow(ana);
    expect(await unsubscribe(client.id, 1)).toBe(true);
    expect((await rowOf(client)).reminders).toBe(false);
    expect(await unsubscribe(client.id, 1)).toBe(true);
  });

  test("not with one of another epoch, also when the address has come back, nor for nobody", async () => {
    const ana = await createProfessional();
    const client = await createClientRow(ana);
    await ana.api.from("clients").update({ email: newEmail() }).eq("id", client.id);
    await ana.api.from("clients").update({ email: client.email }).eq("id", client.id);
    expect(await unsubscribe(client.id, 1)).toBe(false);
    expect((await rowOf(client)).reminders).toBe(true);
    expect(await unsubscribe(randomUUID(), 1)).toBe(false);
    const refused = await failure(
      server().rpc("unsubscribe_client", { client_id: null as never, link_epoch: null as never }),
    );
    expect(refused.details).toEqual({ fields: ["client_id", "link_epoch"] });
  });
});

describe("the list of mails", () => {
  test("shows what went to whom, of a booking, a client or an order of one's own", async () => {
    const [ana, other] = await Promise.all([createProfessional(), createProfessional()]);
    const [client, service] = await Promise.all([createClientRow(ana), createService(ana)]);
    const booking = await createBooking(ana, {
      client_id: client.id,
      service_id: service.id,
      starts_at: at(48),
    });
    await sentMail(ana, client);
    const { data } = await ana.api.rpc("mails", { booking_id: booking.id });
    expect(data).toEqual([
      {
        id: expect.any(String),
        audience: "client",
        kind: "booking_confirmed",
        recipient: null,
        status: expect.any(String),
        outcome: expect.toSatisfy((value) => value === null || typeof value === "string"),
        client_id: client.id,
        booking_id: booking.id,
        order_id: null,
        created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        due_at: expect.anything(),
        finished_at: null,
      },
    ]);
    const ofClient = await ana.api.rpc("mails", { client_id: client.id });
    expect(ofClient.data?.map(({ recipient }) => recipient)).toEqual([client.email, null]);
    const both = await ana.api.rpc("mails", { client_id: client.id, booking_id: booking.id });
    expect(both.data).toHaveLength(1);

    for (const args of [
      { booking_id: booking.id },
      { client_id: client.id },
      { order_id: client.id },
    ]) {
      expect((await other.api.rpc("mails", args)).error?.code).toBe("PGRST301");
    }
    const refused = await failure(ana.api.rpc("mails", {}));
    expect(refused.details).toEqual({ fields: ["booking_id", "client_id", "order_id"] });
  });

  test("loses a client who is erased, with what was known of the address", async () => {
    const ana = await createProfessional();
    const client = await createClientRow(ana);
    await sentMail(ana, client);
    const { error } = await ana.api.rpc("erase_client", { client_id: client.id });
    expect(error).toBeNull();
    expect(await mailsOf(ana)).toEqual([]);
    expect(await isProven(ana, client.email)).toBe(false);
  });
});
