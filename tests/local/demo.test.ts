/**
 * `local/demo.sql`: whenever the stack starts, the demo lies around today. Time passes here by moving all of it
 * into the past, in a transaction that leaves no trace.
 */
import { readFileSync } from "node:fs";
import type { TransactionSql } from "postgres";
import { describe, expect, test } from "vitest";
import { rolledBack } from "../support/database.ts";

const ANA = "a0000000-0000-4000-8000-000000000001";
const MOVE = readFileSync(new URL("../../local/demo.sql", import.meta.url), "utf8");

interface Booking {
  id: string;
  status: string;
  /** From today; below 0 it is over. */
  days: number;
  weekday: string;
  /** By the clock in Rome. */
  clock: string;
  minutes: number;
  version: number;
}

const bookings = async (tx: TransactionSql): Promise<Booking[]> => [
  ...(await tx<Booking[]>`
    select right(id::text, 2) as id, status, version, to_char(local, 'Dy') as weekday,
      to_char(local, 'HH24:MI') as clock, local::date - (now() at time zone 'Europe/Rome')::date as days,
      extract(epoch from ends_at - starts_at)::integer / 60 as minutes
    from public.bookings, lateral (select starts_at at time zone 'Europe/Rome' as local) as l
    where professional_id = ${ANA} order by id`),
];

/** As after so many days in which nobody started the stack. */
async function pass(tx: TransactionSql, days: number): Promise<void> {
  await tx`set local session_replication_role = replica`;
  await tx`
    update public.bookings
    set (starts_at, ends_at) = (
      select l.start, l.start + (ends_at - starts_at) from (
        select (starts_at at time zone 'Europe/Rome' - make_interval(days => ${days}))
          at time zone 'Europe/Rome' as start
      ) as l
    )
    where professional_id = ${ANA}`;
  await tx`
    update public.orders set created_at = created_at - make_interval(days => ${days})
    where professional_id = ${ANA}`;
  await tx`set local session_replication_role = origin`;
}

async function move(tx: TransactionSql): Promise<void> {
  await tx.unsafe(MOVE);
  await tx`set local session_replication_role = origin`;
}

const window = ({ id, status }: Booking): [number, number] => {
  if (!["pending", "confirmed"].includes(status)) return [-7, -1];
  return id.startsWith("4") ? [7, 13] : [0, 6];
};

const isInWindow = (booking: Booking) => {
  const [from, to] = window(booking);
  return booking.days >= from && booking.days <= to;
};

const misplaced = (rows: Booking[]) => rows.filter((booking) => !isInWindow(booking));

test("the seed has life in the week before, today, and in the weeks to come", async () => {
  const rows = await rolledBack(async (tx) => {
    await move(tx);
    return bookings(tx);
  });
  expect(misplaced(rows)).toEqual([]);
  expect(rows.some(({ days }) => days === 0)).toBe(true);
  const states = ["cancelled", "completed", "confirmed", "no_show", "pending"];
  expect([...new Set(rows.map(({ status }) => status))].sort()).toEqual(states);
});

// Half a year later the clocks have changed.
describe.each([1, 5, 7, 8, 20, 182, 400])("%i days later", (days) => {
  test("everything is around today, on its weekday, by its clock, as long as before", async () => {
    const [before, after] = await rolledBack(async (tx) => {
      await pass(tx, days);
      const rows = await bookings(tx);
      await move(tx);
      return [rows, await bookings(tx)] as const;
    });
    const shape = (rows: Booking[]) => rows.map(({ days: _, ...rest }) => rest);
    expect(misplaced(after)).toEqual([]);
    expect(after.some((booking) => booking.days === 0)).toBe(true);
    expect(shape(after)).toEqual(shape(before));
  });
});

test("orders and what was paid for them are of the last week again", async () => {
  const young = await rolledBack(async (tx) => {
    await pass(tx, 100);
    await move(tx);
    const [row] = await tx`
      select bool_and(created_at between now() - interval '9 days' and now()) as yes
      from public.orders where professional_id = ${ANA}`;
    return row?.yes;
  });
  expect(young).toBe(true);
});

test("there is a product with variants, and an order that is not paid", async () => {
  const [found] = await rolledBack(async (tx) => {
    await move(tx);
    return tx`
      select
        (select count(*)::integer from public.products v
          where v.professional_id = ${ANA} and v.parent_id is not null and v.active) as variants,
        (select count(*)::integer from public.orders
          where professional_id = ${ANA} and payment_status = 'unpaid' and status <> 'cancelled') as unpaid`;
  });
  expect(found?.variants).toBeGreaterThan(1);
  expect(found?.unpaid).toBeGreaterThan(0);
});

test("a second start on the same day moves nothing", async () => {
  const [once, again] = await rolledBack(async (tx) => {
    await pass(tx, 30);
    await move(tx);
    const read = () => tx`select * from public.bookings where professional_id = ${ANA} order by id`;
    const rows = [...(await read())];
    await move(tx);
    return [rows, [...(await read())]];
  });
  expect(again).toEqual(once);
});

test("nobody hears of it", async () => {
  const told = await rolledBack(async (tx) => {
    await tx`
      insert into private.webhook_endpoints (professional_id, url, events, secret)
      values (${ANA}, 'https://hooks.example', '{*}', 'whsec_demo')`;
    const count = async () => {
      const [row] = await tx`
        select
          (select count(*) from private.mails where professional_id = ${ANA}) as mails,
          (select count(*) from private.webhook_events where professional_id = ${ANA}) as events`;
      return row;
    };
    const before = await count();
    await pass(tx, 30);
    await move(tx);
    return [before, await count()];
  });
  expect(told[1]).toEqual(told[0]);
});

test("what somebody has booked meanwhile stays, and the demo's booking stays where it was", async () => {
  const [own, theirs, others] = await rolledBack(async (tx) => {
    const [target] = await tx`
      select starts_at, client_id, service_id from public.bookings
      where id = 'a0000000-0000-4000-8000-000000000083'`;
    await pass(tx, 14);
    await tx`
      insert into public.bookings (id, professional_id, client_id, service_id, starts_at)
      values ('b0000000-0000-4000-8000-000000000001', ${ANA}, ${target?.client_id}, ${target?.service_id},
        ${target?.starts_at})`;
    await move(tx);
    const rows = await bookings(tx);
    const [mine] = await tx`
      select starts_at from public.bookings where id = 'b0000000-0000-4000-8000-000000000001'`;
    const theirs = rows.filter(({ id }) => id === "83");
    return [
      [mine?.starts_at, target?.starts_at],
      theirs,
      rows.filter(({ id }) => id !== "83" && id !== "01"),
    ] as const;
  });
  expect(own[0]).toEqual(own[1]);
  expect(theirs.map(isInWindow)).toEqual([false]);
  expect(misplaced(others)).toEqual([]);
});

test("a booking that somebody has moved further ahead, or is no demo's, is left alone", async () => {
  const rows = await rolledBack(async (tx) => {
    await tx`
      update public.bookings set starts_at = starts_at + interval '70 days'
      where id = 'a0000000-0000-4000-8000-000000000041'`;
    await tx`
      insert into public.bookings (id, professional_id, client_id, service_id, starts_at)
      select 'b0000000-0000-4000-8000-000000000001', professional_id, client_id, service_id,
        starts_at - interval '119 days 5 hours'
      from public.bookings where id = 'a0000000-0000-4000-8000-000000000041'`;
    const read = () => tx`
      select id, starts_at from public.bookings
      where id in ('a0000000-0000-4000-8000-000000000041', 'b0000000-0000-4000-8000-000000000001')
      order by id`;
    const before = [...(await read())];
    await move(tx);
    return [before, [...(await read())]];
  });
  expect(rows[1]).toEqual(rows[0]);
});
