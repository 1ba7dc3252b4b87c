import type { TransactionSql } from "postgres";
import { beforeAll, describe, expect, it } from "vitest";
import { type Claims, raised, sql, tryAsCaller } from "../support/database.ts";
import {
  createClientRow,
  createPortalSession,
  type PortalSession,
  type Professional,
} from "../support/factories.ts";
import { openProfessional, openService } from "../support/scheduling.ts";

const STATES = ["pending", "confirmed", "cancelled", "completed", "no_show"] as const;
type State = (typeof STATES)[number];
/** Whether the appointment has begun: only then can it be completed or missed. */
const TIMES = ["future", "past"] as const;
type Time = (typeof TIMES)[number];

/** What may follow, beyond staying as it is. */
const NEXT: Record<State, (time: Time) => State[]> = {
  pending: () => ["confirmed", "cancelled"],
  confirmed: (time) => (time === "past" ? ["cancelled", "completed", "no_show"] : ["cancelled"]),
  cancelled: () => ["confirmed"],
  completed: () => ["no_show"],
  no_show: () => ["completed"],
};

/** How to get there by allowed steps. */
const PATH: Record<State, State[]> = {
  pending: ["pending"],
  confirmed: ["confirmed"],
  cancelled: ["confirmed", "cancelled"],
  completed: ["confirmed", "completed"],
  no_show: ["confirmed", "no_show"],
};

const cases = STATES.flatMap((from) =>
  TIMES.filter((time) => time === "past" || !["completed", "no_show"].includes(from)).map(
    (time) => ({ from, time }),
  ),
);

let professional: Professional;
let portal: PortalSession;
let ids: { client_id: string; service_id: string };
let confirmedIds: { client_id: string; service_id: string };

beforeAll(async () => {
  professional = await openProfessional();
  const [service, strict, client] = await Promise.all([
    openService(professional),
    openService(professional, { requires_confirmation: true }),
    createClientRow(professional),
  ]);
  portal = await createPortalSession(client);
  ids = { client_id: client.id, service_id: service.id };
  confirmedIds = { client_id: client.id, service_id: strict.id };
});

interface Booking {
  id: string;
  status: State;
  version: number;
}

/** A booking in a state, made by its owner in the transaction of the caller. */
async function bookingIn(
  tx: TransactionSql,
  { from, time }: { from: State; time: Time },
  who: { client_id: string; service_id: string } | null = ids,
): Promise<Booking> {
  const [first, ...rest] = PATH[from];
  let [booking] = await tx<Booking[]>`
    insert into public.bookings (professional_id, client_id, service_id, starts_at, ends_at, status)
    select
      ${professional.id}, ${who?.client_id ?? null}, ${who?.service_id ?? null},
      starts_at, starts_at + interval '1 hour', ${first as State}
    from (
      -- 10:00 in Rome, winter or summer: free, on the grid, in hours.
      select (
        (now() at time zone 'Europe/Rome')::date + ${time === "past" ? -7 : 7}::integer + time '10:00'
      ) at time zone 'Europe/Rome' as starts_at
    ) as t
    returning id, status, version`;
  for (const status of rest) {
    [booking] = await tx<Booking[]>`
      update public.bookings set status = ${status} where id = ${booking?.id as string}
      returning id, status, version`;
  }
  expect(booking?.status).toBe(from);
  return booking as Booking;
}

/** Takes another caller's place within a transaction. */
async function become(tx: TransactionSql, claims: Claims): Promise<void> {
  await tx`reset role`;
  await tx`select set_config('request.jwt.claims', ${JSON.stringify(claims)}, true)`;
  await tx.unsafe(`set local role ${claims.role}`);
}

const writers: [string, () => Claims][] = [
  ["the owner", () => professional.claims],
  ["a server", () => ({ role: "service_role" })],
];

describe.each(writers)("PATCH of the status by %s", (_, claims) => {
  describe.each(cases)("$from, in the $time", ({ from, time }) => {
    it.each(STATES)("to %s", async (to) => {
      const attempt = () =>
        tryAsCaller(claims(), async (tx) => {
          const before = await bookingIn(tx, { from, time });
          const [after] = await tx<Booking[]>`
            update public.bookings set status = ${to} where id = ${before.id}
            returning id, status, version`;
          return { before, after };
        });

      if (to === from) {
        const { before, after } = await attempt();
        expect(after).toEqual(before);
      } else if (NEXT[from](time).includes(to)) {
        const { before, after } = await attempt();
        expect(after).toEqual({ id: before.id, status: to, version: before.version + 1 });
      } else {
        const error = await raised(attempt());
        expect(error).toMatchObject({ status: 409, code: "invalid_transition" });
        expect(JSON.parse(error.details ?? "")).toEqual({ from, to });
      }
    });
  });

  it.each(["completed", "no_show"] as const)("blocked time is never %s", async (to) => {
    const attempt = tryAsCaller(claims(), async (tx) => {
      const { id } = await bookingIn(tx, { from: "confirmed", time: "past" }, null);
      await tx`update public.bookings set status = ${to} where id = ${id}`;
    });
    expect(await raised(attempt)).toMatchObject({ status: 409, code: "invalid_transition" });
  });

  it.each(["completed", "no_show", "cancelled"] as const)(
    "what is %s keeps its times",
    async (from) => {
      for (const column of ["starts_at", "ends_at"]) {
        const attempt = tryAsCaller(claims(), async (tx) => {
          const { id } = await bookingIn(tx, { from, time: "past" });
          await tx`
          update public.bookings
          set ${tx(column)} = ${tx(column)} + interval '1 minute'
          where id = ${id}`;
        });
        expect(await raised(attempt)).toMatchObject({ status: 409, code: "invalid_transition" });
      }
    },
  );

  it("completing does not move: a start in the past may not be set along with it", async () => {
    const attempt = tryAsCaller(claims(), async (tx) => {
      const { id } = await bookingIn(tx, { from: "confirmed", time: "future" });
      await tx`
        update public.bookings set status = 'completed', starts_at = now() - interval '1 day'
        where id = ${id}`;
    });
    expect(await raised(attempt)).toMatchObject({ status: 409, code: "invalid_transition" });
  });
});

describe.each([
  ["the public", () => ({ role: "anon" }) satisfies Claims as Claims],
  ["a portal client", () => portal.claims],
])("PATCH of the status by %s", (_, claims) => {
  it.each(cases)("$from in the $time to any state is 42501", async ({ from, time }) => {
    for (const to of STATES) {
      const attempt = tryAsCaller(professional.claims, async (tx) => {
        const { id } = await bookingIn(tx, { from, time });
        await become(tx, claims());
        await tx`update public.bookings set status = ${to} where id = ${id}`;
      });
      expect((await raised(attempt)).code).toBe("42501");
    }
  });
});

describe("cancel_booking", () => {
  const attempt = (claims: Claims, state: { from: State; time: Time }) =>
    tryAsCaller(professional.claims, async (tx) => {
      const before = await bookingIn(tx, state);
      await become(tx, claims);
      const [after] = await tx<Booking[]>`
        select id, status, version from public.cancel_booking(${before.id})`;
      return { before, after };
    });

  describe.each(writers)("by %s", (_, claims) => {
    it.each(cases)("$from, in the $time", async (state) => {
      if (state.from === "cancelled") {
        const { before, after } = await attempt(claims(), state);
        expect(after).toEqual(before);
      } else if (NEXT[state.from](state.time).includes("cancelled")) {
        const { before, after } = await attempt(claims(), state);
        expect(after).toMatchObject({ status: "cancelled", version: before.version + 1 });
      } else {
        expect(await raised(attempt(claims(), state))).toMatchObject({
          status: 409,
          code: "invalid_transition",
        });
      }
    });
  });

  it.each(cases)("by its client: $from, in the $time", async (state) => {
    if (state.from === "cancelled") {
      const { before, after } = await attempt(portal.claims, state);
      expect(after).toEqual(before);
    } else if (state.time === "past") {
      expect(await raised(attempt(portal.claims, state))).toMatchObject({
        status: 422,
        code: "too_late",
      });
    } else {
      const { after } = await attempt(portal.claims, state);
      expect(after?.status).toBe("cancelled");
    }
  });

  it.each(cases)("by the public: $from, in the $time, is 42501", async (state) => {
    expect((await raised(attempt({ role: "anon" }, state))).code).toBe("42501");
  });
});

describe("reschedule_booking", () => {
  const attempt = (claims: Claims, state: { from: State; time: Time }, who = ids) =>
    tryAsCaller(professional.claims, async (tx) => {
      const before = await bookingIn(tx, state, who);
      await become(tx, claims);
      const [after] = await tx<Booking[]>`
        select r.id, r.status, r.version
        from public.reschedule_booking(
          ${before.id},
          to_char(
            ((now() at time zone 'Europe/Rome')::date + 8 + time '12:00') at time zone 'Europe/Rome'
              at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS"Z"'
          )
        ) as r`;
      return { before, after };
    });

  describe.each(writers)("by %s", (_, claims) => {
    it.each(cases)("$from, in the $time", async (state) => {
      if (["pending", "confirmed"].includes(state.from)) {
        const { before, after } = await attempt(claims(), state, confirmedIds);
        expect(after).toEqual({ ...before, version: before.version + 1 });
      } else {
        expect(await raised(attempt(claims(), state))).toMatchObject({
          status: 409,
          code: "invalid_transition",
        });
      }
    });
  });

  it.each(cases)("by its client: $from, in the $time", async (state) => {
    if (!["pending", "confirmed"].includes(state.from)) {
      expect(await raised(attempt(portal.claims, state))).toMatchObject({
        status: 409,
        code: "invalid_transition",
      });
    } else if (state.time === "past") {
      expect(await raised(attempt(portal.claims, state))).toMatchObject({
        status: 422,
        code: "too_late",
      });
    } else {
      const { before, after } = await attempt(portal.claims, state);
      expect(after).toEqual({ ...before, version: before.version + 1 });
      const strict = await attempt(portal.claims, state, confirmedIds);
      expect(strict.after?.status).toBe("pending");
    }
  });

  it.each(cases)("by the public: $from, in the $time, is 42501", async (state) => {
    expect((await raised(attempt({ role: "anon" }, state))).code).toBe("42501");
  });
});

it("leaves no booking behind", async () => {
  const rows = await sql`select from public.bookings where professional_id = ${professional.id}`;
  expect(rows).toHaveLength(0);
});
