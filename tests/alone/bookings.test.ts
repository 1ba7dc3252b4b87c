/**
 * The constraints of bookings, which stand behind their rules, tried with the rules switched off.
 * Alone, because that locks the table.
 */
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { refusedBy, serverClaims, type Values } from "../support/constraints.ts";
import { rolledBack } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createProfessional,
  createService,
  type Professional,
  type Row,
} from "../support/factories.ts";
import { testIdentity } from "../support/table-tests.ts";

let owner: Professional;
let client: Row<"clients">;
let service: Row<"services">;
let foreignClient: Row<"clients">;
let foreignService: Row<"services">;

beforeAll(async () => {
  const [one, other] = await Promise.all([createProfessional(), createProfessional()]);
  owner = one;
  [client, service, foreignClient, foreignService] = await Promise.all([
    createClientRow(owner),
    createService(owner),
    createClientRow(other),
    createService(other),
  ]);
});

/** What refuses each of these rows when no trigger looks at them; earlier ones stay. */
async function refusals(...rows: Values[]): Promise<(string | null)[]> {
  return rolledBack(async (tx) => {
    await tx`alter table public.bookings disable trigger user`;
    const found: (string | null)[] = [];
    for (const row of rows) {
      const values = {
        professional_id: owner.id,
        client_id: client.id,
        service_id: service.id,
        starts_at: "2100-01-01T09:00:00Z",
        ends_at: "2100-01-01T10:00:00Z",
        buffer_before: 0,
        buffer_after: 0,
        cancellation_notice: 0,
        price: 30,
        currency: "EUR",
        ...row,
      };
      const refusal = await tx
        .savepoint((attempt) => attempt`insert into public.bookings ${attempt(values as never)}`)
        .then(
          () => null,
          (error: unknown) => {
            if (!(error instanceof postgres.PostgresError)) throw error;
            return error.constraint_name ?? error.code;
          },
        );
      found.push(refusal);
    }
    return found;
  });
}

const LATER = { starts_at: "2100-01-02T09:00:00Z", ends_at: "2100-01-02T10:00:00Z" };
const cancelled = { status: "cancelled", cancelled_at: "2100-01-01Z", cancelled_by: "owner" };

describe("each constraint refuses what breaks it", () => {
  test("while a plain row is taken", async () => {
    expect(await refusals({})).toEqual([null]);
  });

  const cases: [string, () => Values][] = [
    ["bookings_end_is_after_start", () => ({ ends_at: "2100-01-01T09:00:00Z" })],
    ["bookings_last_at_most_366_days", () => ({ ends_at: "2101-01-02T09:00:01Z" })],
    [
      "bookings_are_between_2000_and_2200",
      () => ({ starts_at: "1999-12-31T23:59:59Z", ends_at: "2000-01-01T01:00:00Z" }),
    ],
    [
      "bookings_are_between_2000_and_2200",
      () => ({ starts_at: "2199-12-31T23:00:00Z", ends_at: "2200-01-01T00:00:00Z" }),
    ],
    ["bookings_buffer_before_is_0_to_1440_minutes", () => ({ buffer_before: -1 })],
    ["bookings_buffer_before_is_0_to_1440_minutes", () => ({ buffer_before: 1441 })],
    ["bookings_buffer_after_is_0_to_1440_minutes", () => ({ buffer_after: -1 })],
    ["bookings_buffer_after_is_0_to_1440_minutes", () => ({ buffer_after: 1441 })],
    ["bookings_cancellation_notice_is_0_to_525600_minutes", () => ({ cancellation_notice: -1 })],
    [
      "bookings_cancellation_notice_is_0_to_525600_minutes",
      () => ({ cancellation_notice: 525_601 }),
    ],
    ["bookings_status_is_known", () => ({ status: "lost" })],
    ["bookings_source_is_known", () => ({ source: "street" })],
    ["bookings_cancelled_by_is_known", () => ({ ...cancelled, cancelled_by: "nobody" })],
    ["bookings_cancellation_is_recorded", () => ({ status: "cancelled" })],
    ["bookings_cancellation_is_recorded", () => ({ ...cancelled, status: "confirmed" })],
    [
      "bookings_with_an_expiry_are_pending_or_cancelled",
      () => ({ status: "confirmed", expires_at: "2100-01-01T08:00:00Z" }),
    ],
    ["bookings_with_an_open_checkout_are_holds", () => ({ checkout_open: true })],
    [
      "bookings_with_an_open_checkout_are_holds",
      () => ({ ...cancelled, expires_at: "2100-01-01T08:00:00Z", checkout_open: true }),
    ],
    ["bookings_have_client_and_service_or_neither", () => ({ service_id: null })],
    ["bookings_have_client_and_service_or_neither", () => ({ client_id: null })],
    ["bookings_notes_have_at_most_4000_characters", () => ({ notes: "a".repeat(4001) })],
    [
      "bookings_internal_notes_have_at_most_10000_characters",
      () => ({ internal_notes: "a".repeat(10_001) }),
    ],
    [
      "bookings_cancel_reason_has_at_most_1000_characters",
      () => ({ cancel_reason: "a".repeat(1001) }),
    ],
    ["bookings_metadata_is_an_object_of_at_most_8_kb", () => ({ metadata: [1] })],
    [
      "bookings_metadata_is_an_object_of_at_most_8_kb",
      () => ({ metadata: { a: "a".repeat(8192) } }),
    ],
    ["timestamp_ms_is_finite", () => ({ ends_at: "infinity" })],
    ["timestamp_ms_is_finite", () => ({ starts_at: "-infinity" })],
    ["money_amount_is_between_0_and_999999999999_999", () => ({ price: -1 })],
    ["money_amount_has_at_most_3_decimals", () => ({ price: "0.0001" })],
    ["bookings_professional_id_client_id_fkey", () => ({ client_id: foreignClient.id })],
    ["bookings_professional_id_service_id_fkey", () => ({ service_id: foreignService.id })],
    [
      "bookings_professional_id_fkey",
      () => ({ professional_id: randomUUID(), client_id: null, service_id: null }),
    ],
  ];
  test.each(cases)("%s", async (constraint, values) => {
    expect(await refusals(values())).toEqual([constraint]);
  });

  test("bookings_never_overlap, buffers included, and touching is no overlap", async () => {
    const first = { buffer_after: 15 };
    const touching = { starts_at: "2100-01-01T10:15:00Z", ends_at: "2100-01-01T11:00:00Z" };
    expect(
      await refusals(
        first,
        { starts_at: "2100-01-01T10:14:59Z", ends_at: "2100-01-01T11:00:00Z" },
        { ...touching, buffer_before: 1 },
        touching,
        { status: "pending" },
        { ...cancelled },
        { status: "completed" },
        { status: "no_show" },
        { ...LATER, client_id: null, service_id: null },
        { ...LATER },
      ),
    ).toEqual([
      null,
      "bookings_never_overlap",
      "bookings_never_overlap",
      null,
      "bookings_never_overlap",
      null,
      null,
      null,
      null,
      "bookings_never_overlap",
    ]);
  });

  test("two professionals may be busy at the same time", async () => {
    const other = {
      professional_id: foreignClient.professional_id,
      client_id: null,
      service_id: null,
    };
    expect(await refusals({}, other)).toEqual([null, null]);
  });
});

describe("a row keeps its identity", () => {
  let day = 0;
  testIdentity("bookings", () =>
    createBooking(owner, {
      client_id: client.id,
      service_id: service.id,
      starts_at: new Date(Date.UTC(2102, 0, ++day)).toISOString(),
    }),
  );

  test("an update that changes nothing keeps updated_at and version", async () => {
    const booking = await createBooking(owner, {
      client_id: client.id,
      service_id: service.id,
      starts_at: "2103-01-01T09:00:00Z",
    });
    const { data } = await owner.api
      .from("bookings")
      .update({ notes: null, status: "confirmed", starts_at: booking.starts_at })
      .eq("id", booking.id)
      .select("*");
    expect(data).toEqual([booking]);
  });
});

describe("what a booking refers to stays", () => {
  test("neither its client nor its service can be deleted", async () => {
    await createBooking(owner, {
      client_id: client.id,
      service_id: service.id,
      starts_at: "2104-01-01T09:00:00Z",
    });
    for (const [table, id] of [
      ["clients", client.id],
      ["services", service.id],
    ] as const) {
      const { status, error } = await owner.api.from(table).delete().eq("id", id);
      expect([status, error?.code]).toEqual([409, "23503"]);
      const refusal = await refusedBy(
        serverClaims,
        (tx) => tx`delete from ${tx(`public.${table}`)} where id = ${id}`,
      );
      expect(refusal).toMatch(/^bookings_professional_id_(client|service)_id_fkey$/);
    }
  });
});
