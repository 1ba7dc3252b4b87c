/**
 * What a claim hands out and what it drops, how fast, and whose turn it is. Alone, because the whole
 * queue is looked at.
 */
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { parallelConnections, sql } from "../support/database.ts";
import {
  createPortalSession,
  createProfessional,
  type Professional,
} from "../support/factories.ts";
import { confirmOwner } from "../support/mail.ts";
import {
  type Claim,
  claim,
  finish,
  hurry,
  inRole,
  inVainOn,
  standing,
  type Tx,
} from "../support/mail-claims.ts";

const inVain = inVainOn();
const HOUR = 3_600_000;
const at = (hours: number) => new Date(Math.ceil(Date.now() / HOUR + hours) * HOUR).toISOString();

interface Studio extends Professional {
  serviceId: string;
  clientId: string;
  clientEmail: string;
}

/** A professional with a service and a client, whose own address is confirmed. */
async function studio(profile: Parameters<typeof createProfessional>[0] = {}): Promise<Studio> {
  const ana = await createProfessional({ accepts_bookings: true, ...profile });
  await confirmOwner(ana);
  const clientEmail = `marta-${ana.id}@example.com`;
  const [service] = await sql`
    insert into public.services (professional_id, name, price, duration)
    values (${ana.id}, 'Haircut', 45, 60) returning id`;
  const [client] = await sql`
    insert into public.clients (professional_id, name, email)
    values (${ana.id}, 'Marta Rossi', ${clientEmail}) returning id`;
  await sql`select private.prove_address(${ana.id}, ${clientEmail})`;
  return { ...ana, serviceId: service?.id, clientId: client?.id, clientEmail };
}

async function book(tx: Tx, ana: Studio, values: Record<string, unknown> = {}): Promise<string> {
  const [row] = await tx`
    insert into public.bookings ${tx({
      professional_id: ana.id,
      client_id: ana.clientId,
      service_id: ana.serviceId,
      starts_at: at(48),
      ...values,
    } as never)} returning id`;
  return row?.id;
}

const change = (tx: Tx, id: string, values: Record<string, unknown>) =>
  tx`update public.bookings set ${tx(values as never)} where id = ${id}`;

/** So many mails that are due, each about a booking of its own. */
const fill = (tx: Tx, ana: Studio, count: number) => tx`
  insert into public.bookings (professional_id, client_id, service_id, starts_at)
  select
    ${ana.id}, ${ana.clientId}, ${ana.serviceId}, date_trunc('hour', now()) + n * interval '1 hour'
  from generate_series(48, ${47 + count}) as n`;

const of = (claims: Claim[], { id }: { id: string }) =>
  claims.filter(({ professional }) => professional.id === id).length;

describe("a mail says what is so when it is sent", () => {
  let ana: Studio;
  beforeEach(async () => {
    ana = await studio();
  });

  test("all facts of a booking, with the languages and the contact of the professional", async () => {
    await sql`
      update public.profiles
      set language = 'it', contact_email = 'studio@example.com', mail_footer = 'Ciao',
        time_zone = 'Europe/Rome'
      where id = ${ana.id}`;
    await sql`
      update public.services set location = 'Via Roma 1', instructions = 'Ring twice.'
      where id = ${ana.serviceId}`;
    const [mail] = await inVain(async (tx) => {
      await book(tx, ana, { notes: "Short, please.", cancellation_notice: 60 });
      return claim(tx);
    });
    expect(mail).toEqual({
      mail_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      claim_token: expect.stringMatching(/^[0-9a-f-]{36}$/),
      attempt: 1,
      audience: "client",
      kind: "booking_confirmed",
      language: "it",
      to: { email: ana.clientEmail, name: "Marta Rossi" },
      professional: {
        id: ana.id,
        full_name: "Ana Bianchi",
        username: `ana-${ana.id}`,
        email: "studio@example.com",
        phone: null,
        address: null,
        footer: "Ciao",
        time_zone: "Europe/Rome",
      },
      client: {
        id: ana.clientId,
        name: "Marta Rossi",
        email: ana.clientEmail,
        phone: null,
        link_epoch: 1,
        proven: true,
      },
      may_quote: true,
      booking: {
        id: expect.any(String),
        version: 1,
        status: "confirmed",
        service_name: "Haircut",
        starts_at: at(48),
        ends_at: at(49),
        price: "45.00",
        currency: "EUR",
        notes: "Short, please.",
        cancel_reason: null,
        cancelled_by: null,
        location: "Via Roma 1",
        instructions: "Ring twice.",
        cancel_until: at(47),
        updated_at: expect.stringMatching(/\.\d{3}Z$/),
        created_at: expect.stringMatching(/\.\d{3}Z$/),
      },
      order: null,
      payment: null,
      address_token_subject: null,
      endpoint: null,
    });
  });

  test("an order with its lines, and a payment, in the decimals of the currency", async () => {
    const claims = await inVain(async (tx) => {
      await tx`update public.profiles set currency = 'KWD' where id = ${ana.id}`;
      const [order] = await tx`
        insert into public.orders (professional_id, client_id, kind, items, notes)
        values (${ana.id}, ${ana.clientId}, 'service',
          ${tx.json([{ service_id: ana.serviceId, quantity: 2 }])}, 'Thanks')
        returning id`;
      await tx`select public.record_payment(${order?.id}, 12.5, 'card')`;
      return claim(tx);
    });
    expect(claims.map(({ audience, kind }) => `${audience} ${kind}`).sort()).toEqual([
      "client order_received",
      "client payment_received",
      "professional payment_received",
    ]);
    expect(claims.find(({ kind }) => kind === "order_received")?.order).toMatchObject({
      number: 1,
      kind: "service",
      status: "pending",
      items: [{ name: "Haircut", quantity: 2, unit_price: "45.000", total: "90.000" }],
      total: "90.000",
      amount_paid: "12.500",
      payment_status: "partially_paid",
      notes: "Thanks",
    });
    const paid = claims.find(({ audience }) => audience === "professional");
    expect(paid?.to).toEqual({ email: ana.email, name: "Ana Bianchi" });
    expect(paid?.payment).toMatchObject({
      kind: "payment",
      amount: "12.500",
      currency: "KWD",
      method: "card",
    });
  });

  test("twenty moves are one mail with the last time; moved to and fro is none", async () => {
    const seen = await inVain(async (tx) => {
      const [moved, back] = [await book(tx, ana), await book(tx, ana, { starts_at: at(72) })];
      for (const mail of await claim(tx)) await finish(tx, mail, "sent");
      for (let hours = 49; hours < 69; hours++) await change(tx, moved, { starts_at: at(hours) });
      await change(tx, back, { starts_at: at(80) });
      await change(tx, back, { starts_at: at(72) });
      await hurry(tx, ana);
      const claims = await claim(tx);
      return { claims, standing: (await standing(tx, ana)).slice(2) };
    });
    expect(seen.claims.map(({ kind, booking }) => [kind, booking?.starts_at])).toEqual([
      ["booking_moved", at(68)],
    ]);
    expect(seen.standing).toEqual([
      "client booking_moved queued",
      "client booking_moved dropped already_told",
    ]);
  });

  test("moved before the first mail went out: that one says the new time, and no other", async () => {
    const seen = await inVain(async (tx) => {
      const id = await book(tx, ana);
      await change(tx, id, { starts_at: at(60) });
      const [first] = await claim(tx);
      await finish(tx, first as Claim, "sent");
      await tx`update private.mails set due_at = now() where booking_id = ${id} and status = 'queued'`;
      return { first, second: await claim(tx), standing: await standing(tx, ana) };
    });
    expect(seen.first?.booking?.starts_at).toBe(at(60));
    expect(seen.second).toEqual([]);
    expect(seen.standing).toEqual([
      "client booking_confirmed sent",
      "client booking_moved dropped already_told",
    ]);
  });

  test("a change that comes while a mail is being sent is told by another", async () => {
    const seen = await inVain(async (tx) => {
      const id = await book(tx, ana);
      for (const mail of await claim(tx)) await finish(tx, mail, "sent");
      await change(tx, id, { starts_at: at(60) });
      await hurry(tx, ana);
      const [first] = await claim(tx);
      await change(tx, id, { starts_at: at(61) });
      await tx`
        update private.mails set due_at = now()
        where booking_id = ${id} and status = 'queued' and claim_token is null`;
      return [first, ...(await claim(tx))].map((mail) => mail?.booking?.starts_at);
    });
    expect(seen).toEqual([at(60), at(61)]);
  });

  test("confirmed and cancelled within a minute is cancelled alone", async () => {
    const seen = await inVain(async (tx) => {
      const id = await book(tx, ana, { status: "pending" });
      await change(tx, id, { status: "confirmed" });
      await change(tx, id, { status: "cancelled", cancel_reason: "Ill" });
      return [await claim(tx), await standing(tx, ana)] as const;
    });
    expect(seen[0].map(({ kind, booking }) => [kind, booking?.cancel_reason])).toEqual([
      ["booking_cancelled", "Ill"],
    ]);
    expect(seen[1]).toEqual([
      "client booking_received dropped outdated",
      "client booking_confirmed dropped outdated",
      "client booking_cancelled queued",
    ]);
  });

  test("cancelled and taken back before anybody heard of it is no news", async () => {
    const kinds = await inVain(async (tx) => {
      const id = await book(tx, ana);
      const [first] = await claim(tx);
      await finish(tx, first as Claim, "sent");
      await change(tx, id, { status: "cancelled" });
      await change(tx, id, { status: "confirmed" });
      return [(await claim(tx)).length, ...(await standing(tx, ana)).slice(1)];
    });
    expect(kinds).toEqual([
      0,
      "client booking_cancelled dropped outdated",
      "client booking_confirmed dropped already_told",
    ]);
  });

  test("nothing is said of an appointment that has begun, nor a day later", async () => {
    const seen = await inVain(async (tx) => {
      const id = await book(tx, ana);
      await book(tx, ana, { starts_at: at(60) });
      await change(tx, id, { starts_at: at(-5) });
      await tx`
        update private.mails set created_at = now() - interval '25 hours'
        where professional_id = ${ana.id} and booking_id <> ${id}`;
      return [await claim(tx), await standing(tx, ana)];
    });
    expect(seen[0]).toEqual([]);
    expect((seen[1] as string[]).sort()).toEqual([
      "client booking_confirmed dropped outdated",
      "client booking_confirmed dropped too_late",
    ]);
  });

  test("what a stranger typed does not go to the client, but to the professional", async () => {
    const claims = await inVain(async (tx) => {
      const id = await book(tx, ana, { source: "public", notes: "spam" });
      const first = await claim(tx);
      await inRole(
        tx,
        (await createPortalSession({ id: ana.clientId, professional_id: ana.id })).claims,
        () => tx`select public.cancel_booking(${id}, 'more spam')`,
      );
      return [...first, ...(await claim(tx))];
    });
    const shown = claims.map(({ audience, kind, to, may_quote, booking }) =>
      [audience, kind, to.name, may_quote, booking?.notes, booking?.cancel_reason].join(" "),
    );
    expect(shown.sort()).toEqual([
      "client booking_cancelled  false  ",
      "client booking_confirmed  false  ",
      "professional booking_cancelled Ana Bianchi false spam more spam",
      "professional new_booking Ana Bianchi false spam ",
    ]);
  });

  test("the professional's own words may always go: a reason of theirs, of a public booking too", async () => {
    const claims = await inVain(async (tx) => {
      const id = await book(tx, ana, { source: "public" });
      await claim(tx);
      await change(tx, id, { status: "cancelled", cancel_reason: "Closed" });
      return claim(tx);
    });
    expect(claims[0]?.booking).toMatchObject({ cancel_reason: "Closed", cancelled_by: "owner" });
  });

  test("a link is told for a confirmed booking alone, a text always", async () => {
    const locations = await inVain(async (tx) => {
      const seen: unknown[] = [];
      for (const location of ["https://meet.example.com/abc", "Via Roma 1"]) {
        await tx`update public.services set location = ${location} where id = ${ana.serviceId}`;
        const id = await book(tx, ana, { status: "pending", starts_at: at(50 + seen.length) });
        seen.push((await claim(tx))[0]?.booking?.location);
        await change(tx, id, { status: "confirmed" });
        seen.push((await claim(tx))[0]?.booking?.location);
      }
      return seen;
    });
    expect(locations).toEqual([null, "https://meet.example.com/abc", "Via Roma 1", "Via Roma 1"]);
  });

  test("a client has a language of their own, or the professional's", async () => {
    const languages = await inVain(async (tx) => {
      await book(tx, ana);
      const first = await claim(tx);
      await tx`update public.clients set language = 'it' where id = ${ana.clientId}`;
      await book(tx, ana, { starts_at: at(60), source: "public" });
      return [...first, ...(await claim(tx))].map(
        ({ audience, language }) => `${audience} ${language}`,
      );
    });
    expect(languages.sort()).toEqual(["client en", "client it", "professional en"]);
  });
});

describe("a mail is dropped, with the reason,", () => {
  let ana: Studio;
  beforeEach(async () => {
    ana = await studio();
  });

  const outcomes = (prepare: (tx: Tx) => Promise<unknown>) =>
    inVain(async (tx) => {
      await prepare(tx);
      const claims = await claim(tx);
      return [claims.length, ...(await standing(tx, ana)).map((line) => line.split(" ").at(-1))];
    });

  test("when its kind is switched off, for the one side or the other", async () => {
    const seen = await outcomes(async (tx) => {
      const settings = {
        client: { booking_confirmed: false },
        professional: { new_booking: true },
      };
      await tx`update public.profiles set mail_settings = ${tx.json(settings)} where id = ${ana.id}`;
      await book(tx, ana, { source: "public" });
    });
    expect(seen.sort()).toEqual([1, "queued", "switched_off"]);
  });

  test("when the client has no address", async () => {
    const seen = await outcomes(async (tx) => {
      await tx`update public.clients set email = null where id = ${ana.clientId}`;
      await book(tx, ana);
    });
    expect(seen).toEqual([0, "no_address"]);
  });

  test("when the professional's own address is not confirmed; their own mails go", async () => {
    const seen = await outcomes(async (tx) => {
      await tx`delete from private.confirmed_owners where professional_id = ${ana.id}`;
      await book(tx, ana, { source: "public" });
    });
    expect(seen.sort()).toEqual([1, "owner_not_confirmed", "queued"]);
  });

  test("when the account's address has changed since, also when it has come back", async () => {
    const seen = await outcomes(async (tx) => {
      await tx`update auth.users set email = ${`b-${ana.email}`} where id = ${ana.id}`;
      await tx`update auth.users set email = ${ana.email} where id = ${ana.id}`;
      await book(tx, ana);
    });
    expect(seen).toEqual([0, "owner_not_confirmed"]);
  });

  test("when the operator has suspended the professional", async () => {
    const seen = await outcomes(async (tx) => {
      await tx`
        insert into private.suspended_owners (professional_id, reason) values (${ana.id}, 'spam')`;
      await book(tx, ana, { source: "public" });
    });
    expect(seen.sort()).toEqual([1, "queued", "suspended"]);
  });

  test("when the address is suppressed, whoever learned it; the client then says so, and no other row before", async () => {
    const seen = await inVain(async (tx) => {
      await tx`
        insert into private.suppressed_addresses (address_digest, reason)
        values (private.address_digest(${ana.clientEmail.toUpperCase()}), 'bounced')`;
      const status = async () =>
        (await tx`select mail_status from public.clients where id = ${ana.clientId}`)[0]
          ?.mail_status;
      const before = await status();
      await book(tx, ana);
      const claims = await claim(tx);
      return [before, claims.length, await status(), ...(await standing(tx, ana))];
    });
    expect(seen).toEqual([
      "ok",
      0,
      "undeliverable",
      "client booking_confirmed dropped undeliverable",
    ]);
  });

  test("when the day's mails of the tier are used up; those of the professional go", async () => {
    const seen = await inVain(async (tx) => {
      await tx`update private.tiers set mails_per_day = 3 where name = 'ultra'`;
      await fill(tx, ana, 5);
      await book(tx, ana, { source: "public", starts_at: at(24) });
      await claim(tx);
      return standing(tx, ana);
    });
    expect(
      seen
        .filter((line) => line.startsWith("client"))
        .map((line) => line.slice(25))
        .sort(),
    ).toEqual([...Array(3).fill("queued"), ...Array(3).fill("dropped daily_limit")].sort());
    expect(seen.filter((line) => line.startsWith("professional"))).toEqual([
      "professional new_booking queued",
    ]);
  });

  test("the eleventh of a day to an unproven address, over all professionals together", async () => {
    const other = await studio();
    const seen = await inVain(async (tx) => {
      await tx`delete from private.proven_addresses where professional_id = ${ana.id}`;
      await tx`update public.clients set email = ${ana.clientEmail} where id = ${other.clientId}`;
      await fill(tx, ana, 6);
      await fill(tx, other, 6);
      const claims = await claim(tx);
      const mine = await standing(tx, ana);
      const theirs = await standing(tx, other);
      // Once it has proved itself to one of them, it counts there no more.
      await tx`select private.prove_address(${ana.id}, ${ana.clientEmail})`;
      await book(tx, ana, { starts_at: at(24) });
      return [
        claims.length,
        [...mine, ...theirs].filter((line) => line.endsWith("daily_limit")).length,
        (await claim(tx)).length,
      ];
    });
    expect(seen).toEqual([10, 2, 1]);
  });

  test("the sixty-first of a day about one client, to the client and to the professional", async () => {
    const seen = await inVain(async (tx) => {
      const used = (audience: string) => tx`
        select private.count_request(${`mail about ${ana.clientId} to ${audience}`}, 60, '1 day')
        from generate_series(1, 59)`;
      await used("client");
      await used("professional");
      await book(tx, ana, { source: "public", starts_at: at(24) });
      await book(tx, ana, { source: "public", starts_at: at(26) });
      await claim(tx);
      return standing(tx, ana);
    });
    expect(seen.sort()).toEqual([
      "client booking_confirmed dropped daily_limit",
      "client booking_confirmed queued",
      "professional new_booking dropped daily_limit",
      "professional new_booking queued",
    ]);
  });

  test("the eleventh question a day to an account, in a budget that others do not use up", async () => {
    const seen = await inVain(async (tx) => {
      await tx`delete from private.confirmed_owners where professional_id = ${ana.id}`;
      const [owner] = await tx`select private.owner_email(${ana.id}) as email`;
      const used = (what: string, count: number) => tx`
        select private.count_request(
          ${what} || ' to ' || encode(private.address_digest(${owner?.email}), 'base64'), 10, '1 day'
        )
        from generate_series(1, ${count})`;
      const ask = () => tx`
        insert into private.mails (professional_id, audience, kind)
        values (${ana.id}, 'professional', 'confirm_address')`;
      await used("mail", 10);
      await used("question", 9);
      await ask();
      const tenth = (await claim(tx)).length;
      await ask();
      return [tenth, (await claim(tx)).length];
    });
    expect(seen).toEqual([1, 0]);
  });
});

describe("a try", () => {
  let ana: Studio;
  beforeEach(async () => {
    ana = await studio();
  });

  test("whose lease is lost is made once more, and the first token finishes nothing", async () => {
    const seen = await inVain(async (tx) => {
      await book(tx, ana);
      const [first] = (await claim(tx)) as [Claim];
      const meanwhile = await claim(tx);
      await hurry(tx, ana);
      const [second] = (await claim(tx)) as [Claim];
      return {
        meanwhile,
        same: first.mail_id === second.mail_id && first.claim_token !== second.claim_token,
        attempt: second.attempt,
        late: await finish(tx, first, "sent"),
        finished: await finish(tx, second, "sent", { providerId: randomUUID() }),
        again: await claim(tx),
      };
    });
    expect(seen).toEqual({
      meanwhile: [],
      same: true,
      attempt: 2,
      late: null,
      finished: { status: "sent", next_attempt_at: null },
      again: [],
    });
  });

  test("that fails is made again after 1, 5, 30 minutes and 2 hours, and given up after the fifth", async () => {
    const waits = await inVain(async (tx) => {
      await book(tx, ana);
      const seen: unknown[] = [];
      for (let tries = 0; tries < 5; tries++) {
        const [mail] = (await claim(tx)) as [Claim];
        const answer = await finish(tx, mail, "retry");
        const [row] = await tx`
          select extract(epoch from due_at - now())::float8 as seconds, status, outcome
          from private.mails where id = ${mail.mail_id}`;
        seen.push(row?.seconds ?? [row?.status, row?.outcome, answer?.status]);
        await hurry(tx, ana);
      }
      return seen;
    });
    expect(waits).toEqual([60, 300, 1800, 7200, ["failed", "gave_up", "failed"]]);
  });

  test("waits longer when the provider asks for it", async () => {
    const seconds = await inVain(async (tx) => {
      await book(tx, ana);
      const [mail] = (await claim(tx)) as [Claim];
      await finish(tx, mail, "retry", { retryAfter: 90 });
      const [row] = await tx`
        select extract(epoch from due_at - now())::float8 as seconds
        from private.mails where id = ${mail.mail_id}`;
      return row?.seconds;
    });
    expect(seconds).toBe(90);
  });

  test("of a dispatcher that died with the fifth is given up", async () => {
    const seen = await inVain(async (tx) => {
      await book(tx, ana);
      for (let tries = 0; tries < 6; tries++) {
        await claim(tx);
        await hurry(tx, ana);
      }
      return standing(tx, ana);
    });
    expect(seen).toEqual(["client booking_confirmed failed gave_up"]);
  });

  test("that is refused for good has failed", async () => {
    const seen = await inVain(async (tx) => {
      await book(tx, ana);
      const [mail] = (await claim(tx)) as [Claim];
      await finish(tx, mail, "refused");
      return standing(tx, ana);
    });
    expect(seen).toEqual(["client booking_confirmed failed refused"]);
  });

  test("that has become pointless meanwhile is not made again, and counts towards no limit twice", async () => {
    const seen = await inVain(async (tx) => {
      await tx`update private.tiers set mails_per_day = 2 where name = 'ultra'`;
      const id = await book(tx, ana);
      await book(tx, ana, { starts_at: at(60) });
      for (const mail of await claim(tx)) await finish(tx, mail, "retry");
      await hurry(tx, ana);
      const again = await claim(tx);
      for (const mail of again) await finish(tx, mail, "retry");
      await change(tx, id, { starts_at: at(-5) });
      await hurry(tx, ana);
      return [again.length, (await claim(tx)).length];
    });
    expect(seen).toEqual([2, 1]);
  });

  test("against a spent quota uses none up, and pauses the whole queue", async () => {
    const seen = await inVain(async (tx) => {
      const due = async () => {
        await tx`delete from private.dispatches where queue = 'mail'`;
        return (await tx`select private.mail_due() as due`)[0]?.due;
      };
      // Nor of the day's limits: the first claim has counted.
      await tx`update private.tiers set mails_per_day = 1 where name = 'ultra'`;
      await book(tx, ana);
      const [mail] = (await claim(tx)) as [Claim];
      const answer = await finish(tx, mail, "quota", { retryAfter: 3600 });
      const paused = [await claim(tx), await due()];
      const [health] = await tx`select private.health() ->> 'mail' as mail`;
      await tx`update private.mail_pace set paused_until = now() - interval '1 second'`;
      const over = await due();
      const [again] = await claim(tx);
      return {
        status: answer?.status,
        paused,
        health: health?.mail,
        over,
        attempt: again?.attempt,
      };
    });
    expect(seen).toEqual({
      status: "queued",
      paused: [[], false],
      health: expect.stringContaining("quota"),
      over: true,
      attempt: 1,
    });
  });

  test.each([
    ["claim_mails(0, 1)", ["max_count"]],
    ["claim_mails(1001, null)", ["max_count", "per_second"]],
    ["finish_mail(null, null, 'done')", ["mail_id", "claim_token", "result"]],
    ["finish_mail(gen_random_uuid(), gen_random_uuid(), 'quota')", ["retry_after"]],
    ["finish_mail(gen_random_uuid(), gen_random_uuid(), 'sent', '')", ["provider_id"]],
  ])("%s names what is wrong", async (call, fields) => {
    const refused = sql.unsafe(`select public.${call}`).then(
      () => null,
      (error: Error) => JSON.parse(JSON.parse(error.message).details),
    );
    expect(await refused).toEqual({ fields });
  });
});

describe("whose turn it is", () => {
  test("goes round by professional, and first to who has waited longest", async () => {
    const [many, more, one] = await Promise.all([studio(), studio(), studio()]);
    const seen = await inVain(async (tx) => {
      await fill(tx, many, 20);
      await fill(tx, more, 20);
      await tx`
        update private.mails set due_at = now() - interval '1 minute'
        where professional_id in (${many.id}, ${more.id})`;
      const turns = [await claim(tx, 2), await claim(tx, 2)];
      await fill(tx, one, 2);
      return [...turns, await claim(tx, 2), await claim(tx, 3)];
    });
    const shares = seen.map((claims) => [of(claims, many), of(claims, more), of(claims, one)]);
    expect(shares.slice(0, 2)).toEqual([
      [1, 1, 0],
      [1, 1, 0],
    ]);
    expect(shares[2]?.[2]).toBe(1);
    expect(shares[3]).toEqual([1, 1, 1]);
  });

  test("a thousand reminders of one go at the rate, and others are not behind them", async () => {
    const [many, one] = await Promise.all([studio(), studio()]);
    const seen = await inVain(async (tx) => {
      await tx`update public.profiles set reminders = '{20160}' where id = ${many.id}`;
      await tx`
        insert into public.bookings
          (professional_id, client_id, service_id, starts_at, ends_at, created_at)
        select ${many.id}, ${many.clientId}, ${many.serviceId}, starts_at,
          starts_at + interval '5 minutes', now() - interval '30 days'
        from (
          select date_trunc('hour', now()) + interval '2 hours' + n * interval '10 minutes' as starts_at
          from generate_series(1, 1000) as n
        ) as starts`;
      await tx`delete from private.mails where professional_id = ${many.id}`;
      await tx`select private.queue_reminders()`;
      const [queued] = await tx`
        select count(*)::integer as count from private.mails where professional_id = ${many.id}`;
      const first = await claim(tx, 100, 2);
      await tx`update private.mail_pace set full_at = '-infinity'`;
      await fill(tx, one, 1);
      return [
        queued?.count,
        of(first, many),
        (await claim(tx, 100, 2)).map(({ kind }) => kind).sort(),
      ];
    });
    expect(seen).toEqual([1000, 2, ["booking_confirmed", "booking_reminder"]]);
  });

  test("the rate is a second's at once, then an even refill, whoever asks; what is dropped costs nothing", async () => {
    const ana = await studio();
    const seen = await inVain(async (tx) => {
      await fill(tx, ana, 30);
      const counts = [(await claim(tx, 100, 5)).length, (await claim(tx, 100, 5)).length];
      await tx`update private.mail_pace set full_at = full_at - interval '400 milliseconds'`;
      counts.push((await claim(tx, 100, 5)).length);
      await tx`update private.mail_pace set full_at = '-infinity'`;
      await tx`
        update public.bookings set status = 'cancelled'
        where professional_id = ${ana.id} and starts_at < now() + interval '70 hours'`;
      await tx`update private.mails set created_at = now() - interval '2 days'
        where professional_id = ${ana.id} and kind = 'booking_cancelled'`;
      counts.push((await claim(tx, 100, 3)).length);
      return counts;
    });
    expect(seen[0]).toBe(5);
    expect(seen[1]).toBeLessThanOrEqual(1);
    expect(seen[2]).toBeGreaterThanOrEqual(2);
    expect(seen[3]).toBe(3);
  });

  test("of two dispatchers and a hundred mails, each mail goes to one", async () => {
    const ana = await studio();
    const [first, second] = parallelConnections(2) as [typeof sql, typeof sql];
    await sql.begin((tx) => fill(tx, ana, 100));
    const take = async (connection: typeof sql) => {
      const mine: string[] = [];
      for (let rounds = 0; rounds < 20; rounds++) {
        const [row] = await connection<{ claims: Claim[] }[]>`
          select private.claim_mails(20, 1000) as claims`;
        mine.push(
          ...(row?.claims ?? []).filter((m) => m.professional.id === ana.id).map((m) => m.mail_id),
        );
      }
      return mine;
    };
    // Whoever else claims meanwhile takes some, and none twice.
    const mine = (await Promise.all([take(first), take(second)])).flat();
    expect(new Set(mine).size).toBe(mine.length);
    const [row] = await sql`
      select count(*)::integer as count, max(attempts) as attempts from private.mails
      where professional_id = ${ana.id} and claim_token is not null`;
    await sql`delete from private.mails where professional_id = ${ana.id}`;
    expect(row?.attempts).toBe(1);
    expect(mine.length).toBeGreaterThan(0);
  });
});

describe("a change never waits for the queue", () => {
  test("while a claim has its mail in hand: another is queued beside it", async () => {
    const ana = await studio();
    const [holder] = parallelConnections(1) as [typeof sql];
    const id = await sql.begin((tx) => book(tx, ana));
    await sql.begin((tx) => change(tx, id, { starts_at: at(60) }));
    await holder.begin(async (tx) => {
      await tx`select from private.mails where booking_id = ${id} for update`;
      await sql.begin(async (inner) => {
        await inner`set local lock_timeout = '1ms'`;
        await change(inner, id, { starts_at: at(61) });
      });
    });
    const moved = (
      await sql`
      select from private.mails where booking_id = ${id} and kind = 'booking_moved'`
    ).length;
    expect(moved).toBe(2);
    await sql`delete from private.mails where professional_id = ${ana.id}`;
  });
});

describe("the scheduler", () => {
  test("rings when a mail is due and no dispatcher has just asked", async () => {
    const ana = await studio();
    const seen = await inVain(async (tx) => {
      const due = async () => (await tx`select private.mail_due() as due`)[0]?.due;
      const asked = (ago: string) =>
        tx`update private.dispatches set last_at = now() - ${ago}::interval where queue = 'mail'`;
      const idle = await due();
      await fill(tx, ana, 3);
      const queued = await due();
      await claim(tx, 1);
      const working = await due();
      await asked("2 seconds");
      return [idle, queued, working, await due()];
    });
    expect(seen).toEqual([false, true, false, true]);
  });

  test("health tells of a mail that has been due for five minutes", async () => {
    const ana = await studio();
    const seen = await inVain(async (tx) => {
      const mail = async () => (await tx`select private.health() ->> 'mail' as mail`)[0]?.mail;
      await book(tx, ana);
      const fresh = await mail();
      await tx`
        update private.mails set due_at = now() - interval '6 minutes'
        where professional_id = ${ana.id}`;
      return [fresh, await mail()];
    });
    expect(seen).toEqual(["ok", expect.stringContaining("last dispatch: never")]);
  });

  test("forgets mails after ninety days", async () => {
    const ana = await studio();
    const left = await inVain(async (tx) => {
      await fill(tx, ana, 2);
      await tx`
        update private.mails set created_at = now() - interval '91 days'
        where id = (select id from private.mails where professional_id = ${ana.id} limit 1)`;
      await tx`select private.forget_mails()`;
      return (await standing(tx, ana)).length;
    });
    expect(left).toBe(1);
  });
});
