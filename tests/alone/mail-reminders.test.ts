/**
 * Which reminders are due. Alone, because the job looks at everybody's bookings; in transactions that
 * leave nothing, since the scheduler runs the same job.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { sql } from "../support/database.ts";
import {
  createClientRow,
  createProfessional,
  createService,
  type Professional,
} from "../support/factories.ts";
import { confirmOwner, type Mail } from "../support/mail.ts";
import { claim, inVainOn, type Tx } from "../support/mail-claims.ts";

const inVain = inVainOn();
let ana: Professional;
let client: { id: string };
let service: { id: string };

beforeEach(async () => {
  ana = await createProfessional();
  await confirmOwner(ana);
  [client, service] = await Promise.all([
    createClientRow(ana),
    createService(ana, { duration: 5 }),
  ]);
});

/** A booking that starts in so many minutes, made so many minutes ago, and already told. */
async function book(
  tx: Tx,
  startsIn: number,
  { madeAgo = 100_000, status = "confirmed" } = {},
): Promise<string> {
  await tx`select set_config('private.mail', 'none', true)`;
  const [row] = await tx`
    insert into public.bookings
      (professional_id, client_id, service_id, starts_at, created_at, status)
    values (${ana.id}, ${client.id}, ${service.id},
      now() + make_interval(mins => ${startsIn}), now() - make_interval(mins => ${madeAgo}),
      ${status})
    returning id`;
  await tx`select set_config('private.mail', '', true)`;
  return row?.id;
}

const run = (tx: Tx) => tx`select private.queue_reminders()`;

/** The job's reminders at this professional's, as minutes before the start. */
async function reminded(tx: Tx): Promise<number[]> {
  await run(tx);
  const mails = await tx<Mail[]>`
    select * from private.mails
    where professional_id = ${ana.id} and kind = 'booking_reminder' order by created_at`;
  return mails.map(({ detail }) => Number(detail.minutes));
}

const set = (tx: Tx, reminders: number[]) =>
  tx`update public.profiles set reminders = ${reminders} where id = ${ana.id}`;

describe("a reminder", () => {
  test("is queued once it is due, once, for a confirmed appointment that is to come", async () => {
    const seen = await inVain(async (tx) => {
      await book(tx, 1441);
      const early = await reminded(tx);
      await book(tx, 1430);
      await book(tx, 1420, { status: "pending" });
      await book(tx, -10);
      await tx`
        insert into public.bookings (professional_id, starts_at, ends_at, created_at)
        values (${ana.id}, now() + interval '20 hours', now() + interval '21 hours',
          now() - interval '9 days')`;
      await run(tx);
      return [early, await reminded(tx)];
    });
    expect(seen).toEqual([[], [1440]]);
  });

  test("comes at each of two times, and of two that are due at once only the later one", async () => {
    const seen = await inVain(async (tx) => {
      await set(tx, [60, 1440]);
      const id = await book(tx, 1400);
      const first = await reminded(tx);
      await tx`update public.bookings set starts_at = now() + interval '59 minutes' where id = ${id}`;
      await tx`delete from private.mails where booking_id = ${id} and kind = 'booking_moved'`;
      await tx`
        update private.mails set told_starts_at = now() + interval '59 minutes'
        where booking_id = ${id}`;
      const second = await reminded(tx);
      await book(tx, 50);
      return [first, second, await reminded(tx)];
    });
    expect(seen).toEqual([[1440], [1440, 60], [1440, 60, 60]]);
  });

  test("follows a move without anything being done", async () => {
    const seen = await inVain(async (tx) => {
      const id = await book(tx, 1400);
      const first = await reminded(tx);
      await tx`update public.bookings set starts_at = now() + interval '3 days' where id = ${id}`;
      const moved = await reminded(tx);
      const old = await claim(tx);
      // Two days later.
      await tx`
        update public.bookings
        set starts_at = now() + interval '23 hours', created_at = created_at
        where id = ${id}`;
      await tx`
        update private.mails set created_at = now() - interval '2 days'
        where booking_id = ${id} and kind = 'booking_moved'`;
      return { first, moved, sent: old.map(({ kind }) => kind), last: await reminded(tx) };
    });
    expect(seen).toEqual({ first: [1440], moved: [1440], sent: [], last: [1440, 1440] });
  });

  test("is not sent once its booking has moved, was cancelled, or the client wants none", async () => {
    const seen = await inVain(async (tx) => {
      const [moved, cancelled] = [await book(tx, 1400), await book(tx, 1300)];
      await book(tx, 1200);
      const queued = (await reminded(tx)).length;
      await tx`select set_config('private.mail', 'none', true)`;
      await tx`update public.bookings set starts_at = now() + interval '3 days' where id = ${moved}`;
      await tx`update public.bookings set status = 'cancelled' where id = ${cancelled}`;
      await tx`update public.clients set reminders = false where id = ${client.id}`;
      const claims = await claim(tx);
      const outcomes = await tx<Mail[]>`
        select * from private.mails where professional_id = ${ana.id} order by outcome`;
      return [queued, claims.length, ...outcomes.map(({ outcome }) => outcome)];
    });
    expect(seen).toEqual([3, 0, "outdated", "outdated", "unsubscribed"]);
  });

  test("follows changed settings, without reminding of the same start again from farther away", async () => {
    const seen = await inVain(async (tx) => {
      await set(tx, [120]);
      await book(tx, 110);
      await book(tx, 600);
      const two = await reminded(tx);
      await set(tx, [1000]);
      const farther = await reminded(tx);
      await set(tx, [100, 30]);
      const nearer = await reminded(tx);
      await set(tx, []);
      await book(tx, 20);
      return [two, farther, nearer, await reminded(tx)];
    });
    expect(seen).toEqual([[120], [120, 1000], [120, 1000], [120, 1000]]);
  });

  test.each([
    ["an hour before it is due", 60, [1440]],
    ["less than an hour before", 59, []],
    ["after it was due", -600, []],
  ])("to who booked %s", async (_when, before, expected) => {
    const seen = await inVain(async (tx) => {
      // Due for a minute.
      await book(tx, 1439 + Math.min(before, 0), { madeAgo: Math.max(before + 1, 0) });
      return reminded(tx);
    });
    expect(seen).toEqual(expected);
  });

  test("waits until nobody has been told of this time within the hour before it was due", async () => {
    const seen = await inVain(async (tx) => {
      const id = await book(tx, 5000);
      await tx`update public.bookings set starts_at = now() + interval '20 hours' where id = ${id}`;
      return reminded(tx);
    });
    expect(seen).toEqual([]);
  });

  test.each([
    [
      "has switched them off",
      (tx: Tx) => tx`
      update public.profiles set mail_settings = '{"client": {"booking_reminder": false}}'
      where id = ${ana.id}`,
    ],
    [
      "is suspended",
      (tx: Tx) => tx`
      insert into private.suspended_owners (professional_id, reason) values (${ana.id}, 'spam')`,
    ],
    [
      "has not confirmed the own address",
      (tx: Tx) => tx`
      delete from private.confirmed_owners where professional_id = ${ana.id}`,
    ],
    [
      "has a client without an address",
      (tx: Tx) => tx`
      update public.clients set email = null where professional_id = ${ana.id}`,
    ],
    [
      "has a client who wants none",
      (tx: Tx) => tx`
      update public.clients set reminders = false where professional_id = ${ana.id}`,
    ],
  ])("is not even queued for a professional who %s", async (_who, prepare) => {
    const seen = await inVain(async (tx) => {
      await book(tx, 1400);
      await prepare(tx);
      return reminded(tx);
    });
    expect(seen).toEqual([]);
  });

  test("is made by one job at a time", async () => {
    const waited = await inVain(async (tx) => {
      await book(tx, 1400);
      await sql`select private.queue_reminders()`;
      return reminded(tx);
    });
    expect(waited).toEqual([1440]);
  });
});
