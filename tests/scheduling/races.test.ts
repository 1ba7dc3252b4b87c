import type { Sql } from "postgres";
import { describe, expect, it } from "vitest";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { anonymous } from "../support/callers.ts";
import { asCaller, type Claims, parallelConnections, raised, sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createPortalSession,
  type Professional,
} from "../support/factories.ts";
import { book, openProfessional, openService, refusal } from "../support/scheduling.ts";

const ROME = "Europe/Rome";
const MINUTE = 60_000;
const anon = anonymous();
const day = dateIn(10, ROME);
const at = (time: string) => iso(instantOf(day, time, ROME));
const connections = parallelConnections(20);

async function shop(values: Parameters<typeof openService>[1] = {}) {
  const professional = await openProfessional();
  const [service, client] = await Promise.all([
    openService(professional, values),
    createClientRow(professional),
  ]);
  return { professional, service, client };
}

/** Live bookings of a professional that overlap another, buffers included. */
async function overlaps(professional: Professional): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer
    from public.bookings a
    join public.bookings b on b.professional_id = a.professional_id and b.id > a.id
    where a.professional_id = ${professional.id}
      and a.status in ('pending', 'confirmed')
      and b.status in ('pending', 'confirmed')
      and a.starts_at - a.buffer_before * interval '1 minute'
        < b.ends_at + b.buffer_after * interval '1 minute'
      and b.starts_at - b.buffer_before * interval '1 minute'
        < a.ends_at + a.buffer_after * interval '1 minute'`;
  return row?.count ?? -1;
}

async function count(professional: Professional): Promise<number> {
  return (await sql`select from public.bookings where professional_id = ${professional.id}`).length;
}

function bookInSql(connection: Sql, service: { id: string }, startsAt: string) {
  return asCaller(
    { role: "anon" },
    (tx) => tx`
      select id from public.create_booking(
        ${service.id}, ${startsAt}, 'Ann', ${`ann-${crypto.randomUUID()}@example.com`}
      )`,
    connection,
  );
}

describe("twenty callers at once", () => {
  it("for one start, over HTTP: one 2xx, nineteen 409 slot_taken, one row", async () => {
    const { professional, service } = await shop();

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => book(anon, service, at("10:00"))),
    );

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(refusal(answer)).toEqual({ status: 409, code: "slot_taken" });
    }
    expect(await count(professional)).toBe(1);
    expect(await sql`select from public.clients where professional_id = ${professional.id}`)
      // The one of the shop and the one who won: whoever lost left nothing.
      .toHaveLength(2);
  });

  it("for one start, on twenty connections: one row", async () => {
    const { professional, service } = await shop();

    const results = await Promise.allSettled(
      connections.map((connection) => bookInSql(connection, service, at("10:00"))),
    );

    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") {
        const error = await raised(Promise.reject(result.reason));
        expect(error).toMatchObject({ status: 409, code: "slot_taken" });
      }
    }
    expect(await count(professional)).toBe(1);
  });

  it("mixing 10:00 and 10:15: never two rows that overlap", async () => {
    const { professional, service } = await shop();

    const answers = await Promise.all([
      ...connections.slice(0, 10).map((connection, n) =>
        bookInSql(connection, service, at(n % 2 ? "10:15" : "10:00")).then(
          () => 200,
          () => 409,
        ),
      ),
      ...Array.from({ length: 10 }, (_, n) =>
        book(anon, service, at(n % 2 ? "10:00" : "10:15")).then(({ status }) => status),
      ),
    ]);

    expect(answers.filter((status) => status === 200)).toHaveLength(1);
    expect(answers.filter((status) => status === 409)).toHaveLength(19);
    expect(await count(professional)).toBe(1);
    expect(await overlaps(professional)).toBe(0);
  });

  it("owner and public for one start: one of them, the others 409 slot_taken", async () => {
    const { professional, service, client } = await shop();
    const values = { client_id: client.id, service_id: service.id, starts_at: at("10:00") };

    const answers = await Promise.all(
      Array.from({ length: 10 }, () => [
        professional.api.from("bookings").insert(values),
        book(anon, service, at("10:00")),
      ]).flat(),
    );

    expect(answers.filter(({ error }) => error === null)).toHaveLength(1);
    for (const answer of answers.filter(({ error }) => error)) {
      expect(refusal(answer)).toEqual({ status: 409, code: "slot_taken" });
    }
    expect(await count(professional)).toBe(1);
  });

  it("for one time that was freed: un-cancelling, moving and booking never share it", async () => {
    const { professional, service, client } = await shop();
    const make = (time: string) =>
      createBooking(professional, {
        client_id: client.id,
        service_id: service.id,
        starts_at: at(time),
      });
    const cancelled = await make("10:00");
    await professional.api.rpc("cancel_booking", { booking_id: cancelled.id });
    const [early, late] = [await make("09:00"), await make("12:00")];

    const answers = await Promise.all([
      professional.api.from("bookings").update({ status: "confirmed" }).eq("id", cancelled.id),
      professional.api
        .from("bookings")
        .update({ starts_at: at("10:15") })
        .eq("id", early.id),
      professional.api.rpc("reschedule_booking", { booking_id: late.id, starts_at: at("10:30") }),
      book(anon, service, at("10:45")),
      ...Array.from({ length: 8 }, () => book(anon, service, at("10:00"))),
    ]);

    expect(answers.filter(({ error }) => error === null)).toHaveLength(1);
    for (const answer of answers.filter(({ error }) => error)) expect(answer.status).toBe(409);
    expect(await overlaps(professional)).toBe(0);
  });
});

describe("PATCH against RPC", () => {
  /** The calls of one professional's busy day, by everybody who may make them. */
  async function busyDay() {
    const { professional, service, client } = await shop({ duration: 30, buffer_after: 5 });
    const portal = await createPortalSession(client);
    const make = (time: string) =>
      createBooking(professional, {
        client_id: client.id,
        service_id: service.id,
        starts_at: at(time),
      });
    const ids = (await Promise.all(["09:00", "11:00", "13:00", "15:00"].map(make))).map(
      ({ id }) => id,
    );
    const someStart = (n: number) =>
      iso(instantOf(day, "09:00", ROME) + ((n * 7) % 33) * 15 * MINUTE);
    return { professional, service, client, portal, ids, someStart };
  }

  it("on eight connections, 500 calls: no deadlock, nothing but typed refusals, no overlap", async () => {
    const { professional, service, client, portal, ids, someStart } = await busyDay();
    const owner = professional.claims;
    const serviceRole: Claims = { role: "service_role" };
    const call = (n: number, connection: Sql): Promise<unknown> => {
      const id = ids[n % ids.length] as string;
      const start = someStart(n);
      switch (n % 10) {
        case 0:
          return bookInSql(connection, service, start);
        case 1:
          return asCaller(
            owner,
            (tx) => tx`update public.bookings set starts_at = ${start} where id = ${id}`,
            connection,
          );
        case 2:
          return asCaller(
            portal.claims,
            (tx) => tx`select public.reschedule_booking(${id}, ${start})`,
            connection,
          );
        case 3:
          return asCaller(
            owner,
            (tx) => tx`
              update public.bookings set notes = ${start}
              where professional_id = ${professional.id}`,
            connection,
          );
        case 4:
          return asCaller(owner, (tx) => tx`select public.cancel_booking(${id})`, connection);
        case 5:
          return asCaller(
            owner,
            (tx) => tx`update public.bookings set status = 'confirmed' where id = ${id}`,
            connection,
          );
        case 6:
          return asCaller(
            serviceRole,
            (tx) => tx`
              update public.bookings set internal_notes = ${start}
              where professional_id = ${professional.id}`,
            connection,
          );
        case 7:
          return asCaller(
            owner,
            (tx) => tx`
              insert into public.bookings (client_id, service_id, starts_at)
              values (${client.id}, ${service.id}, ${start})`,
            connection,
          );
        case 8:
          return asCaller(
            portal.claims,
            (tx) => tx`select public.create_booking(${service.id}, ${start})`,
            connection,
          );
        default:
          return asCaller(
            owner,
            (tx) => tx`
              update public.services set name = ${start} where id = ${service.id}`,
            connection,
          );
      }
    };

    const outcomes: string[] = [];
    let next = 0;
    await Promise.all(
      connections.slice(0, 8).map(async (connection) => {
        while (next < 500) {
          const n = next++;
          const work = call(n, connection);
          const failed = await work.then(
            () => false,
            () => true,
          );
          outcomes.push(failed ? (await raised(work)).code : "done");
        }
      }),
    );

    expect(outcomes).toHaveLength(500);
    const expected = ["done", "slot_taken", "invalid_transition"];
    expect([...new Set(outcomes)].filter((outcome) => !expected.includes(outcome))).toEqual([]);
    // The calls did meet, and did not only refuse each other.
    expect(outcomes.filter((outcome) => outcome === "done").length).toBeGreaterThan(150);
    expect(outcomes).toContain("slot_taken");
    expect(await overlaps(professional)).toBe(0);
  });

  it("over HTTP: no 5xx", async () => {
    const { professional, service, portal, ids, someStart } = await busyDay();

    const answers = await Promise.all(
      Array.from({ length: 120 }, async (_, n) => {
        const id = ids[n % ids.length] as string;
        switch (n % 4) {
          case 0:
            return book(anon, service, someStart(n));
          case 1:
            return professional.api
              .from("bookings")
              .update({ starts_at: someStart(n) })
              .eq("id", id);
          case 2:
            return portal.api.rpc("reschedule_booking", {
              booking_id: id,
              starts_at: someStart(n),
            });
          default:
            return professional.api
              .from("bookings")
              .update({ notes: `${n}` })
              .eq("id", id);
        }
      }),
    );

    for (const { status, error } of answers) {
      expect([200, 204, 409], JSON.stringify(error)).toContain(status);
    }
    expect(await overlaps(professional)).toBe(0);
  });
});
