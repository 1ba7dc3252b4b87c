/** Mails from the change that causes them to the mailbox, through the running function. */
import { randomUUID } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { anonymous, bearer } from "../support/callers.ts";
import { sql } from "../support/database.ts";
import { createBooking, createClientRow, createPortalSession } from "../support/factories.ts";
import { reportPortalAddress } from "../support/holds.ts";
import { mailsOf } from "../support/mail.ts";
import {
  inbox,
  mailingProfessional,
  makeMailsDue,
  queueIsDone,
  type ReadMail,
  tokenIn,
} from "../support/mailbox.ts";
import { callFunction, mailsTo, outcome } from "../support/portal.ts";
import { book, openProfessional, openService } from "../support/scheduling.ts";
import { stack } from "../support/stack.ts";
import { until } from "../support/webhooks.ts";

const ROME = "Europe/Rome";
const anon = anonymous();
const day = dateIn(10, ROME);
const at = (time: string) => iso(instantOf(day, time, ROME));
const newAddress = () => `ann-${randomUUID()}@example.com`;

async function open(profile: Parameters<typeof mailingProfessional>[0] = {}) {
  const ana = await mailingProfessional({ full_name: "Ana Bianchi", ...profile });
  const service = await openService(ana, { name: "Haircut", price: 30.5 });
  return { ana, service };
}

/** A client whom the professional has entered, with a booking, and the mail about it. */
async function booked() {
  const { ana, service } = await open();
  const client = await createClientRow(ana);
  const booking = await createBooking(ana, {
    professional_id: ana.id,
    service_id: service.id,
    client_id: client.id,
    starts_at: at("10:00"),
  });
  const address = client.email as string;
  const [confirmation] = await inbox(address, 1);
  return { ana, client, booking, address, confirmation };
}

describe("a booking on the public page", () => {
  test("tells both sides, the client with an entry for the calendar", async () => {
    const { ana, service } = await open({ contact_email: "studio@example.com" });
    const address = newAddress();
    const { data, error } = await book(anon, service, at("10:00"), { client_email: address });
    expect(error).toBeNull();
    const { id } = data as { id: string };

    const [toClient] = await inbox(address, 1);
    expect(toClient).toMatchObject({
      from: { name: "Ana Bianchi (via Bookings)", address: "bookings@example.com" },
      to: [{ address }],
      replyTo: [{ address: "studio@example.com" }],
      text: expect.stringContaining("Haircut"),
      html: expect.stringContaining("Haircut"),
    });
    expect(toClient?.subject).toContain("Ana Bianchi");
    expect(toClient?.text).toContain("30.50");
    // To open, not to be taken up: nobody has proved that the address is theirs.
    expect(toClient?.entry).toEqual(
      expect.arrayContaining(["METHOD:PUBLISH", "SEQUENCE:1", expect.stringContaining(id)]),
    );
    expect(toClient?.entry).toContain(`DTSTART:${at("10:00").replace(/[-:]|\.000/g, "")}`);

    const [toAna] = await inbox(ana.email, 1);
    expect(toAna).toMatchObject({ from: { name: "Bookings" }, to: [{ address: ana.email }] });
    expect(toAna?.text).toContain(address);
    expect(await mailsOf(ana)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: "booking_confirmed", status: "sent", attempts: 1 }),
        expect.objectContaining({ kind: "new_booking", status: "sent", attempts: 1 }),
      ]),
    );
  });

  test("tells no client before the professional's own address is confirmed", async () => {
    const stranger = await openProfessional();
    const service = await openService(stranger);
    const address = newAddress();
    await book(anon, service, at("10:00"), { client_email: address });
    const rows = await queueIsDone(stranger);
    expect(rows).toContainEqual(
      expect.objectContaining({
        audience: "client",
        status: "dropped",
        outcome: "owner_not_confirmed",
      }),
    );
    expect(await mailsTo(address)).toEqual([]);
  });
});

test("a booking that is held is told to its client alone, and to both sides once the link was used", async () => {
  await reportPortalAddress();
  const { ana, service } = await open({ verify_public_email: true });
  const address = newAddress();
  await book(anon, service, at("10:00"), { client_email: address });
  const [asked] = await inbox(address, 1);
  expect(asked?.entry).toEqual([]);
  expect(await mailsTo(ana.email)).toEqual([]);
  const token = tokenIn(asked as ReadMail, "confirm");
  expect((await callFunction("verify-portal-otp/confirm", { token })).status).toBe(200);
  await inbox(ana.email, 1);
  const [, confirmed] = await inbox(address, 2);
  expect(confirmed?.entry).toContain("METHOD:PUBLISH");
});

/** Opens the booking of a mail by its link; the token of the session. */
async function openLink(mail: ReadMail | undefined): Promise<string> {
  const token = tokenIn(mail as ReadMail, "manage");
  const opened = await callFunction("verify-portal-otp/link", { token });
  expect(opened.status).toBe(200);
  return ((await opened.json()) as { access_token: string }).access_token;
}

test("a client whom the professional entered gets an invitation, and the link opens the booking", async () => {
  const { booking, confirmation } = await booked();
  expect(confirmation?.entry).toEqual(
    expect.arrayContaining(["METHOD:REQUEST", "SEQUENCE:1", expect.stringMatching(/^ATTENDEE/)]),
  );
  const { data } = await bearer(await openLink(confirmation))
    .from("bookings")
    .select("id");
  expect(data).toEqual([{ id: booking.id }]);
});

test("whoever opened a mailed link has proved the address: the next entry is an invitation", async () => {
  const { ana, service } = await open();
  const address = newAddress();
  const { data } = await book(anon, service, at("10:00"), { client_email: address });
  const [first] = await inbox(address, 1);
  expect(first?.entry).toContain("METHOD:PUBLISH");
  const moved = await bearer(await openLink(first)).rpc("reschedule_booking", {
    booking_id: (data as { id: string }).id,
    starts_at: at("11:00"),
  });
  expect(moved.error).toBeNull();
  await makeMailsDue(ana);
  const [, second] = await inbox(address, 2);
  expect(second?.entry).toEqual(expect.arrayContaining(["METHOD:REQUEST", "SEQUENCE:2"]));
});

test("twenty moves are one mail with the last time; a cancellation ends the entry", async () => {
  const { ana, booking, address, confirmation } = await booked();
  for (let move = 1; move <= 20; move++) {
    const starts_at = at(`${10 + (move % 5)}:30`);
    const { error } = await ana.api.from("bookings").update({ starts_at }).eq("id", booking.id);
    expect(error).toBeNull();
  }
  const waiting = (await mailsOf(ana)).filter(({ kind }) => kind === "booking_moved");
  expect(waiting).toMatchObject([{ status: "queued", attempts: 0 }]);
  await makeMailsDue(ana);
  const [, moved] = await inbox(address, 2);
  const uid = (lines: string[] = []) => lines.find((line) => line.startsWith("UID:"));
  expect(moved?.entry).toEqual(
    expect.arrayContaining([
      "METHOD:REQUEST",
      "SEQUENCE:21",
      `DTSTART:${at("10:30").replace(/[-:]|\.000/g, "")}`,
    ]),
  );
  expect(uid(moved?.entry)).toBe(uid(confirmation?.entry));

  const { error } = await ana.api
    .from("bookings")
    .update({ status: "cancelled", cancel_reason: "Water damage" })
    .eq("id", booking.id);
  expect(error).toBeNull();
  const [, , cancelled] = await inbox(address, 3);
  expect(cancelled?.text).toContain("Water damage");
  expect(cancelled?.entry).toEqual(
    expect.arrayContaining(["METHOD:CANCEL", "STATUS:CANCELLED", uid(confirmation?.entry)]),
  );
});

test("a client who cancels in the portal tells the professional", async () => {
  const { ana, client, booking, address } = await booked();
  const session = await createPortalSession(client);
  const { error } = await session.api.rpc("cancel_booking", {
    booking_id: booking.id,
    reason: "I am ill",
  });
  expect(error).toBeNull();
  const [toAna] = await inbox(ana.email, 1);
  expect(toAna?.text).toContain("I am ill");
  await inbox(address, 2);
});

describe("a reminder", () => {
  /** A booking of long ago, whose reminder is due. */
  async function reminded() {
    const { ana, service } = await open({ reminders: [20_160] });
    const client = await createClientRow(ana);
    await sql.begin(async (tx) => {
      await tx`select set_config('private.mail', 'none', true)`;
      await tx`
        insert into public.bookings (professional_id, service_id, client_id, starts_at, created_at)
        values (
          ${ana.id}, ${service.id}, ${client.id}, ${at("10:00")}, now() - interval '30 days'
        )`;
    });
    await sql`select private.queue_reminders()`;
    const address = client.email as string;
    const [reminder] = await inbox(address, 1);
    const link = /^<(.*)>$/.exec(reminder?.header.get("list-unsubscribe") ?? "")?.[1] ?? "";
    const remindersOf = async () => {
      const [row] = await sql<{ reminders: boolean }[]>`
        select reminders from public.clients where id = ${client.id}`;
      return row?.reminders;
    };
    return { ana, client, address, reminder, link, remindersOf };
  }

  test("names the time, and has the headers of RFC 8058; a GET of their address does nothing", async () => {
    const { reminder, link, remindersOf } = await reminded();
    expect(reminder?.text).toContain("10:00");
    expect(reminder?.header.get("list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
    const answer = await fetch(link, { redirect: "manual" });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toMatch(/#unsubscribe=[\w-]+\.[\w-]+\.[\w-]+$/);
    expect((await fetch(link, { method: "HEAD", redirect: "manual" })).status).toBe(405);
    expect(await remindersOf()).toBe(true);
  });

  test("is the last one after a POST, which may come twice", async () => {
    const { ana, address, link, remindersOf } = await reminded();
    for (const _ of [1, 2]) {
      const answer = await fetch(link, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: "List-Unsubscribe=One-Click",
      });
      expect(answer.status).toBe(204);
    }
    expect(await remindersOf()).toBe(false);
    await sql`delete from private.mails where professional_id = ${ana.id}`;
    await sql`select private.queue_reminders()`;
    expect(await mailsOf(ana)).toEqual([]);
    expect(await mailsTo(address)).toHaveLength(1);
  });

  test("has a link that ends with the client's address", async () => {
    const { client, ana, link, remindersOf } = await reminded();
    const { error } = await ana.api
      .from("clients")
      .update({ email: newAddress() })
      .eq("id", client.id);
    expect(error).toBeNull();
    expect(await outcome(await fetch(link, { method: "POST" }))).toEqual({
      status: 401,
      code: "invalid_link",
    });
    expect(await remindersOf()).toBe(true);
  });
});

test("a professional confirms the own address by the mail's link; then clients get mails", async () => {
  const ana = await openProfessional({ accepts_bookings: false });
  const { error } = await ana.api
    .from("profiles")
    .update({ accepts_bookings: true })
    .eq("id", ana.id);
  expect(error).toBeNull();
  const [mail] = await inbox(ana.email, 1);
  const token = tokenIn(mail as ReadMail, "confirm-address");
  expect((await callFunction("mail/confirm-address", { token })).status).toBe(204);

  const service = await openService(ana);
  const address = newAddress();
  await book(anon, service, at("10:00"), { client_email: address });
  await inbox(address, 1);

  // The address changes: neither the old link nor the old confirmation counts any more.
  await sql`update auth.users set email = ${`new-${ana.email}`} where id = ${ana.id}`;
  expect(await outcome(await callFunction("mail/confirm-address", { token }))).toEqual({
    status: 401,
    code: "invalid_link",
  });
});

describe("what the provider says of a mail", () => {
  /** An event as Resend signs it, with the development secret. */
  function tell(providerId: string, type: string, data: object = {}) {
    const body = JSON.stringify({
      type,
      created_at: new Date().toISOString(),
      data: { email_id: providerId, tags: { mail: providerId }, ...data },
    });
    const now = new Date();
    const id = randomUUID();
    const secret = "whsec_ZGV2ZWxvcG1lbnQtc2VjcmV0LW9mLWV2ZW50cw==";
    return fetch(`${stack.apiUrl}/functions/v1/mail/events`, {
      method: "POST",
      headers: {
        "svix-id": id,
        "svix-timestamp": String(Math.floor(now.getTime() / 1000)),
        "svix-signature": new Webhook(secret).sign(id, now, body),
      },
      body,
    });
  }

  const bounce = (type: string) => ({ bounce: { type, subType: "General", message: "no" } });

  test("a permanent bounce stops mails to the address, and tells the professional once", async () => {
    const { ana, client, booking, address } = await booked();
    const [sent] = await queueIsDone(ana);
    const providerId = sent?.provider_id ?? "";
    const statusOf = async () => {
      const { data } = await ana.api.from("clients").select("mail_status").eq("id", client.id);
      return data?.[0]?.mail_status;
    };
    expect((await tell(providerId, "email.bounced", bounce("Transient"))).status).toBe(204);
    expect((await tell(providerId, "email.delivered")).status).toBe(204);
    expect(await statusOf()).toBe("ok");

    for (const _ of [1, 2]) {
      expect((await tell(providerId, "email.bounced", bounce("Permanent"))).status).toBe(204);
    }
    expect(await statusOf()).toBe("undeliverable");
    const [toAna] = await inbox(ana.email, 1);
    expect(toAna?.text).toContain(address);

    await ana.api.from("bookings").update({ status: "cancelled" }).eq("id", booking.id);
    const rows = await queueIsDone(ana);
    expect(rows.find(({ kind }) => kind === "booking_cancelled")).toMatchObject({
      status: "dropped",
      outcome: "undeliverable",
    });
    await inbox(address, 1);
  });

  test("of a mail that nobody knows is to be said again", async () => {
    const answer = await tell(randomUUID(), "email.delivered");
    expect(await outcome(answer)).toEqual({ status: 404, code: "PGRST301" });
  });
});

test("a mail that its dispatcher left goes out when the lease is over", async () => {
  const { ana, service } = await open();
  const address = newAddress();
  // Claimed in the transaction of the booking, so that no dispatcher is faster.
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7306, 0)`;
    await tx`
      select public.create_booking(
        service_id => ${service.id}, starts_at => ${at("10:00")}, client_name => 'Ann',
        client_email => ${address}
      )`;
    await tx`
      update private.mails
      set attempts = 1, claim_token = gen_random_uuid(), due_at = now() + interval '60 seconds'
      where professional_id = ${ana.id} and status = 'queued'`;
  });
  await book(anon, service, at("12:00"));
  await until(
    () => mailsOf(ana),
    (rows) => rows.some(({ status }) => status === "sent"),
  );
  expect(await mailsTo(address)).toEqual([]);
  await makeMailsDue(ana);
  await inbox(address, 1);
  expect(await queueIsDone(ana)).toContainEqual(
    expect.objectContaining({ kind: "booking_confirmed", status: "sent", attempts: 2 }),
  );
});
