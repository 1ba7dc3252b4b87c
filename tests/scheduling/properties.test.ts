import fc from "fast-check";
import type { TransactionSql } from "postgres";
import { beforeAll, describe, expect, it } from "vitest";
import {
  dateAfter,
  dateIn,
  instantOf,
  iso,
  nextClockChange,
  weekday,
} from "../support/calendar.ts";
import { anonymous } from "../support/callers.ts";
import { sql, tryAsCaller } from "../support/database.ts";
import type { Professional } from "../support/factories.ts";
import { FUZZ } from "../support/fuzz.ts";
import {
  availableSlots,
  book,
  openProfessional,
  openService,
  refusal,
  type Slots,
} from "../support/scheduling.ts";
import { reasonFor, type Shop, startsOn } from "../support/slot-model.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** Zones with the dates of their next two clock changes, or two dates of those that have none. */
const ZONES = [
  "Europe/Rome",
  "America/New_York",
  // Two midnights on one date.
  "Atlantic/Azores",
  "America/Havana",
  // No midnight on one date, 25 hours on another.
  "America/Santiago",
  // Half an hour.
  "Australia/Lord_Howe",
].map((zone) => ({
  zone,
  changes: [nextClockChange(zone, "forward"), nextClockChange(zone, "back")],
}));
ZONES.push({ zone: "Asia/Kathmandu", changes: [dateIn(50), dateIn(300)] });

const clock = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;

/** Hours of one day: windows in order, some of which touch; the last may pass midnight. */
const hours = fc
  .record({
    cuts: fc.uniqueArray(
      fc.oneof(
        { weight: 3, arbitrary: fc.integer({ min: 0, max: 47 }).map((n) => n * 30) },
        fc.integer({ min: 0, max: 1439 }),
      ),
      { maxLength: 6 },
    ),
    /** Whether windows have time between them, touch, or touch and fill the day. */
    shape: fc.constantFrom("apart", "apart", "touching", "whole"),
    last: fc.oneof(fc.constant(1440), fc.integer({ min: 0, max: 600 })),
  })
  .map(({ cuts, shape, last }) => {
    const whole = shape === "whole";
    const sorted = [...new Set(whole ? [0, ...cuts] : cuts)].sort((a, b) => a - b);
    const windows: string[][] = [];
    for (let n = 0; n < sorted.length; n += shape === "apart" ? 2 : 1) {
      const start = sorted[n] as number;
      // Without a partner, the last cut begins a window until midnight or into the night.
      const end = sorted[n + 1] ?? (whole || last === 1440 ? 1440 : Math.min(last, start));
      windows.push([clock(start), clock(end)]);
    }
    return windows;
  });

/** Cuts what reaches into the first window of the next day, which is refused. */
function withoutCollision(windows: string[][], next: string[][] | undefined): string[][] {
  const last = windows.at(-1);
  const first = next?.[0]?.[0];
  if (
    !last ||
    !first ||
    (last[1] as string) > (last[0] as string) ||
    (last[1] as string) <= first
  ) {
    return windows;
  }
  return [...windows.slice(0, -1), [last[0] as string, first]];
}

const shops = fc
  .record({
    place: fc.constantFrom(...ZONES),
    /** Which of the two dates is looked at closely. */
    change: fc.constantFrom(0, 1),
    week: fc.array(hours, { minLength: 7, maxLength: 7 }),
    overrides: fc.array(fc.tuple(fc.integer({ min: -2, max: 2 }), fc.constantFrom(0, 1), hours), {
      maxLength: 4,
    }),
    duration: fc.constantFrom(5, 15, 30, 45, 60, 90, 7, 240, 1440),
    step: fc.constantFrom(null, 5, 10, 15, 20, 60, 7),
    bufferBefore: fc.constantFrom(0, 0, 5, 15, 45),
    bufferAfter: fc.constantFrom(0, 0, 10, 15, 120),
    /** Ends or begins what may be booked in the middle of the date looked at. */
    limit: fc.constantFrom("none", "none", "none", "notice", "horizon"),
    closed: fc.constantFrom(...Array(18).fill("open"), "not_accepting", "inactive"),
    bookings: fc.array(
      fc.record({
        start: fc.integer({ min: -36 * 12, max: 60 * 12 }).map((n) => n * 5),
        length: fc.integer({ min: 1, max: 60 }).map((n) => n * 5),
        before: fc.constantFrom(0, 10, 30),
        after: fc.constantFrom(0, 5, 60),
        status: fc.constantFrom("pending", "confirmed", "confirmed", "cancelled"),
      }),
      { maxLength: 6 },
    ),
    /** Of calendars, which know nothing of anybody's raster: in seconds from midnight. */
    elsewhere: fc.array(
      fc.record({
        start: fc.oneof(
          fc.integer({ min: -36 * 12, max: 60 * 12 }).map((n) => n * 300),
          fc.integer({ min: -129_600, max: 216_000 }),
        ),
        length: fc.oneof(
          fc.integer({ min: 1, max: 60 }).map((n) => n * 300),
          fc.integer({ min: 1, max: 90_000 }),
        ),
        calendar: fc.constantFrom(0, 1),
      }),
      { maxLength: 5 },
    ),
  })
  .map(
    ({
      place: { zone, changes },
      change,
      week,
      overrides,
      bookings,
      elsewhere,
      limit,
      closed,
      ...rest
    }) => {
      const date = changes[change] as string;
      const midnight = instantOf(date, "00:00", zone);
      const weekly = Object.fromEntries(
        week.map((windows, n) => [DAYS[n], withoutCollision(windows, week[(n + 1) % 7])]),
      );
      const dates = Object.fromEntries(
        overrides.map(([days, which, windows]) => [
          dateAfter(changes[which] as string, days),
          windows,
        ]),
      );
      const overridden = Object.fromEntries(
        Object.entries(dates).map(([day, windows]) => {
          const next = dateAfter(day, 1);
          return [day, next in dates ? windows : withoutCollision(windows, weekly[weekday(next)])];
        }),
      );
      // In the order made, without what overlaps an earlier one.
      const made: { start: number; end: number; before: number; after: number; status: string }[] =
        [];
      const busy: { start: number; end: number }[] = [];
      for (const booking of bookings) {
        const start = midnight + booking.start * MINUTE;
        const end = start + booking.length * MINUTE;
        const blocked = {
          start: start - booking.before * MINUTE,
          end: end + booking.after * MINUTE,
        };
        if (busy.some((other) => other.start < blocked.end && blocked.start < other.end)) continue;
        made.push({ ...booking, start, end });
        if (booking.status !== "cancelled") busy.push(blocked);
      }
      const ranges = elsewhere.map(({ start, length, calendar }) => ({
        start: midnight + start * 1000,
        end: midnight + (start + length) * 1000,
        calendar,
      }));
      const shop: Shop = {
        zone,
        availability: { weekly, overrides: overridden },
        acceptsBookings: closed !== "not_accepting",
        active: closed !== "inactive",
        minNotice:
          limit === "notice" ? Math.floor((midnight + DAY / 2 - Date.now()) / MINUTE) % 525_600 : 0,
        maxAdvanceDays:
          limit === "horizon" ? (Date.parse(date) - Date.parse(dateIn(0, zone))) / DAY : 1095,
        busy,
        elsewhere: ranges,
        ...rest,
      };
      return { shop, date, changes, made, elsewhere: ranges };
    },
  );
type Scenario = typeof shops extends fc.Arbitrary<infer T> ? T : never;

let professional: Professional;
let service: { id: string };

beforeAll(async () => {
  professional = await openProfessional();
  service = await openService(professional);
});

/** Gives the professional these hours, this service and these bookings, as the professional would. */
async function arrange(
  tx: TransactionSql,
  { shop, made }: Scenario,
  who: Professional = professional,
  of: { id: string } = service,
): Promise<void> {
  await tx`
    update public.profiles
    set
      time_zone = ${shop.zone},
      availability = ${tx.json(shop.availability as never)},
      accepts_bookings = ${shop.acceptsBookings}
    where id = ${who.id}`;
  await tx`
    update public.services
    set
      active = ${shop.active},
      duration = ${shop.duration},
      slot_step = ${shop.step},
      buffer_before = ${shop.bufferBefore},
      buffer_after = ${shop.bufferAfter},
      min_notice = ${shop.minNotice},
      max_advance_days = ${shop.maxAdvanceDays}
    where id = ${of.id}`;
  for (const { start, end, before, after, status } of made) {
    const [row] = await tx<{ id: string }[]>`
      insert into public.bookings (starts_at, ends_at, buffer_before, buffer_after, status)
      values (
        ${iso(start)}, ${iso(end)}, ${before}, ${after},
        ${status === "pending" ? "pending" : "confirmed"}
      )
      returning id`;
    if (status === "cancelled") {
      await tx`update public.bookings set status = 'cancelled' where id = ${row?.id as string}`;
    }
  }
}

/** What the professional's two calendars say; only the schema's owner may write that. */
async function arrangeCalendars(
  tx: TransactionSql,
  { elsewhere }: Scenario,
  who: Professional = professional,
): Promise<void> {
  for (const one of [0, 1]) {
    const ranges = elsewhere
      .filter(({ calendar }) => calendar === one)
      .map(({ start, end }) => ({ start: iso(start), end: iso(end) }));
    await tx`
      select private.replace_busy_times(${who.id}, ${crypto.randomUUID()}, ${tx.json(ranges)})`;
  }
}

/** Runs `work` as the public, at a shop that is gone afterwards. */
function atShop<T>(
  scenario: Scenario,
  work: (tx: TransactionSql, now: number) => Promise<T>,
): Promise<T> {
  return tryAsCaller(professional.claims, async (tx) => {
    await arrange(tx, scenario);
    await tx`reset role`;
    await arrangeCalendars(tx, scenario);
    await tx`select set_config('request.jwt.claims', '{"role": "anon"}', true)`;
    await tx`set local role anon`;
    const [row] = await tx<{ now: number }[]>`
      select extract(epoch from now())::float8 * 1000 as now`;
    return work(tx, row?.now ?? 0);
  });
}

async function listed(tx: TransactionSql, from: string, to: string): Promise<Slots["days"]> {
  const [row] = await tx<{ answer: Slots }[]>`
    select public.available_slots(${service.id}, ${from}, ${to}) as answer`;
  return row?.answer.days ?? [];
}

describe("for any hours, overrides, zone, buffers, step and bookings", () => {
  it("the list is what the rules say, on the dates around two clock changes", async () => {
    await fc.assert(
      fc.asyncProperty(shops, (scenario) =>
        atShop(scenario, async (tx, now) => {
          for (const change of scenario.changes) {
            const dates = [-2, -1, 0, 1, 2].map((days) => dateAfter(change, days));
            const days = await listed(tx, dates[0] as string, dates[4] as string);
            expect(
              days.map(({ date, slots }) => ({ date, starts: slots.map((s) => s.starts_at) })),
            ).toEqual(
              dates.map((date) => ({
                date,
                starts: startsOn(scenario.shop, date, now).map(iso),
              })),
            );
            // Alone, a date is the same as among others.
            expect(await listed(tx, change, change)).toEqual(days.slice(2, 3));
            for (const { starts_at, ends_at } of days.flatMap(({ slots }) => slots)) {
              expect(Date.parse(ends_at) - Date.parse(starts_at)).toBe(
                scenario.shop.duration * MINUTE,
              );
            }
          }
        }),
      ),
      { ...FUZZ, numRuns: 100 },
    );
  }, 60_000);

  it("every listed start books, and no other time of a 5-minute raster does, for the reason the rules say", async () => {
    await fc.assert(
      fc.asyncProperty(shops, (scenario) =>
        atShop(scenario, async (tx, now) => {
          const { shop, date } = scenario;
          const [day] = await listed(tx, date, date);
          const starts = new Set(day?.slots.map(({ starts_at }) => starts_at));
          const end = instantOf(date, "24:00", shop.zone);
          for (
            let instant = instantOf(date, "00:00", shop.zone);
            instant < end;
            instant += 5 * MINUTE
          ) {
            starts.add(iso(instant));
          }

          const outcomes = await tryToBook(tx, [...starts]);

          expect(outcomes).toEqual(
            Object.fromEntries(
              [...starts].map((start) => [start, reasonFor(shop, Date.parse(start), now)]),
            ),
          );
          expect(
            Object.keys(outcomes)
              .filter((start) => outcomes[start] === "available")
              .sort(),
          ).toEqual(day?.slots.map(({ starts_at }) => starts_at));
        }),
      ),
      { ...FUZZ, numRuns: 12 },
    );
  }, 120_000);

  /** Books each of these starts and undoes it; `available` or the code it was refused with. */
  async function tryToBook(tx: TransactionSql, starts: string[]): Promise<Record<string, string>> {
    await tx`
      select
        set_config('test.service', ${service.id}, true),
        set_config('test.starts', ${JSON.stringify(starts)}, true)`;
    await tx.unsafe(`
      do $$
      declare
        v_start text;
        v_outcomes jsonb := '{}';
      begin
        for v_start in select jsonb_array_elements_text(current_setting('test.starts')::jsonb) loop
          begin
            perform public.create_booking(
              current_setting('test.service')::uuid, v_start, 'Ann', 'ann@example.com'
            );
            raise sqlstate 'UNDO0';
          exception
            when sqlstate 'UNDO0' then
              v_outcomes := v_outcomes || jsonb_build_object(v_start, 'available');
            when sqlstate 'PGRST' then
              v_outcomes := v_outcomes || jsonb_build_object(v_start, sqlerrm::jsonb ->> 'code');
          end;
        end loop;
        perform set_config('test.outcomes', v_outcomes::text, true);
      end
      $$`);
    const [row] = await tx<{ outcomes: Record<string, string> }[]>`
      select current_setting('test.outcomes')::jsonb as outcomes`;
    return row?.outcomes ?? {};
  }

  it("and so it is over HTTP", async () => {
    const anon = anonymous();
    await fc.assert(
      fc.asyncProperty(shops, fc.nat(), fc.nat(), async (scenario, one, other) => {
        const { shop, date } = scenario;
        fc.pre(shop.minNotice === 0);
        const who = await openProfessional();
        const of = await openService(who);
        await sql.begin(async (tx) => {
          await tx`select set_config('request.jwt.claims', ${JSON.stringify(who.claims)}, true)`;
          await arrange(tx, scenario, who, of);
          await arrangeCalendars(tx, scenario, who);
        });
        const expected = startsOn(shop, date, Date.now()).map(iso);

        const [day] = (await availableSlots(anon, of, date)).days;
        expect(day?.slots.map(({ starts_at }) => starts_at)).toEqual(expected);

        const elsewhere = instantOf(date, "00:00", shop.zone) + (other % 288) * 5 * MINUTE;
        const reason = reasonFor(shop, elsewhere, Date.now());
        if (reason !== "available") {
          expect(refusal(await book(anon, of, elsewhere))).toEqual({
            status: reason === "slot_taken" ? 409 : 422,
            code: reason,
          });
        }
        const { data: told } = await who.api.rpc("explain_slot", {
          service_id: of.id,
          starts_at: iso(elsewhere),
        });
        expect(told).toMatchObject({
          reason: reasonFor(shop, elsewhere, Date.now(), "professional"),
        });
        if (expected.length > 0) {
          const start = expected[one % expected.length] as string;
          expect((await book(anon, of, start)).data?.starts_at).toBe(start);
        }
      }),
      { ...FUZZ, numRuns: 10 },
    );
  }, 60_000);
});
