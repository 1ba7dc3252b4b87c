import { randomUUID } from "node:crypto";
import type { TransactionSql } from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { refusedBy, serverClaims, updateRefusedBy, type Values } from "./support/constraints.ts";
import { rolledBack } from "./support/database.ts";
import {
  createBooking,
  createClientRow,
  createOrder,
  createProduct,
  createProfessional,
  createService,
  type Professional,
} from "./support/factories.ts";
import { type Bounds, chars, testBounds } from "./support/table-tests.ts";

let owner: Professional;

beforeAll(async () => {
  owner = await createProfessional();
});

/** A username that nobody has. */
const unique = randomUUID().slice(0, 8);
const update = (values: Values) => updateRefusedBy(owner.claims, "profiles", owner.id, values);

const LIMITS: Bounds[] = [
  ["profiles_full_name_has_at_most_200_characters", "full_name", ["", chars(200)], [chars(201)]],
  ["profiles_full_name_is_empty_or_can_be_seen", "full_name", [" "], ["\ufe0f", "\u0001"]],
  [
    "profiles_username_is_a_slug",
    "username",
    [unique, `0-${unique}-1`, `${unique}-${chars(60 - unique.length - 1)}`],
    ["", "-a", "a-", "a--b", "A", "ä", "a_b", "a.b", "a b", "a\n", chars(61)],
  ],
  ["profiles_niche_has_at_most_100_characters", "niche", [null, chars(100)], [chars(101)]],
  ["profiles_bio_has_at_most_4000_characters", "bio", [null, chars(4000)], [chars(4001)]],
  [
    "profiles_image_url_is_a_web_address",
    "image_url",
    [null, `https://a/${chars(2038)}`],
    ["", "data:text/html,x", "https://a b", `https://a/${chars(2039)}`],
  ],
  [
    "profiles_time_zone_fkey",
    "time_zone",
    ["UTC", "GMT", "Europe/Rome", "America/Argentina/Buenos_Aires", "Asia/Kathmandu"],
    [
      "CET",
      "MET",
      "EET",
      "WET",
      "GMT+2",
      "UTC+2",
      "+02:00",
      "CEST-2",
      "europe/rome",
      "Europe/Nowhere",
      "posix/Europe/Rome",
      "localtime",
      "Factory",
      "",
    ],
  ],
  [
    "profiles_currency_fkey",
    "currency",
    ["EUR", "USD", "JPY", "KWD"],
    ["XXQ", "eur", "EURO", "XAU", "CLF", ""],
  ],
  ["percentage_is_between_0_and_100", "tax_rate", [0, 100, "22.5"], [-1, "100.0001", "NaN"]],
  ["percentage_has_at_most_4_decimals", "tax_rate", ["8.8750", "8.8751"], ["8.87501"]],
  [
    "profiles_unpaid_order_hours_are_1_to_8760",
    "unpaid_order_hours",
    [null, 1, 8760],
    [0, -1, 8761],
  ],
  ["profiles_payment_minutes_are_40_to_1440", "payment_minutes", [40, 1440], [39, 1441]],
];

testBounds(LIMITS, update);

test.each([
  "full_name",
  "username",
  "time_zone",
  "currency",
  "accepts_bookings",
  "accepts_orders",
  "tax_rate",
  "prices_include_tax",
  "payment_minutes",
  "orders_need_payment",
])("%s is never null", async (column) => {
  expect(await update({ [column]: null })).toBe("23502");
});

test("a username is one professional's", async () => {
  const other = await createProfessional();
  const { data } = await other.api.from("profiles").select("username").single();
  const taken = await owner.api
    .from("profiles")
    .update({ username: data?.username ?? "" })
    .eq("id", owner.id);
  expect([taken.status, taken.error?.code]).toEqual([409, "23505"]);
});

test("the tier is one of the specification's, set by a server", async () => {
  for (const tier of ["free", "plus", "pro", "max", "ultra"]) {
    expect(await updateRefusedBy(serverClaims, "profiles", owner.id, { tier })).toBeNull();
  }
  for (const tier of ["gold", "Free", ""]) {
    expect(await updateRefusedBy(serverClaims, "profiles", owner.id, { tier })).toMatch(
      /^profiles_tier_/,
    );
  }
  expect(await updateRefusedBy(serverClaims, "profiles", owner.id, { tier: null })).toBe("23502");
});

describe("availability", () => {
  const weekly = (days: object) => ({ weekly: days });
  const day = (...windows: unknown[]) => weekly({ mon: windows });
  const dates = (overrides: object, days: object = {}) => ({ weekly: days, overrides });

  test.each([
    ["no day at all", weekly({})],
    ["a day off", day()],
    ["a lunch break", day(["09:00", "12:30"], ["13:30", "18:00"])],
    ["windows that touch", day(["09:00", "12:00"], ["12:00", "18:00"])],
    ["the whole day", day(["00:00", "24:00"])],
    ["a night shift", weekly({ mon: [["22:00", "06:00"]], tue: [["06:00", "08:00"]] })],
    ["24 hours from nine", day(["09:00", "09:00"])],
    ["Sunday into Monday", weekly({ sun: [["20:00", "02:00"]], mon: [["02:00", "03:00"]] })],
    [
      "twelve windows",
      day(...Array.from({ length: 12 }, (_, i) => [`${10 + i}:00`, `${10 + i}:30`])),
    ],
    ["a closed date", dates({ "2027-12-25": [] })],
    ["a leap day", dates({ "2028-02-29": [["09:00", "10:00"]] })],
    [
      "a night before a date of its own, which replaces what spills over",
      dates({ "2027-12-31": [["20:00", "04:00"]], "2028-01-01": [["02:00", "03:00"]] }),
    ],
    [
      "a thousand dates",
      dates(
        Object.fromEntries(
          Array.from({ length: 1000 }, (_, i) => [
            new Date(Date.UTC(2027, 0, 1 + i)).toISOString().slice(0, 10),
            [],
          ]),
        ),
      ),
    ],
  ])("may be %s", async (_what, availability) => {
    expect(await update({ availability })).toBeNull();
  });

  test.each([
    ["a list", []],
    ["empty", {}],
    ["without weekly", { overrides: {} }],
    ["with a weekly that is a list", { weekly: [] }],
    ["with overrides that are a list", { weekly: {}, overrides: [] }],
    ["with overrides that are null", { weekly: {}, overrides: null }],
    ["with an unknown key", { weekly: {}, holidays: {} }],
    ["with an unknown day", weekly({ monday: [] })],
    ["with a day in capitals", weekly({ Mon: [] })],
    ["with a day that is null", weekly({ mon: null })],
    ["with a day that is an object", weekly({ mon: {} })],
    [
      "with thirteen windows",
      day(...Array.from({ length: 13 }, (_, i) => [`${10 + i}:00`, `${10 + i}:30`])),
    ],
    ["with a window that is a text", day("09:00-17:00")],
    ["with a window of one time", day(["09:00"])],
    ["with a window of three times", day(["09:00", "10:00", "11:00"])],
    ["with a number for a time", day([9, 17])],
    ["with a null for a time", day(["09:00", null])],
    ["with one digit for the hour", day(["9:00", "17:00"])],
    ["with seconds", day(["09:00:00", "17:00:00"])],
    ["with an hour 24 to start at", day(["24:00", "24:00"])],
    ["with an hour 25", day(["09:00", "25:00"])],
    ["with a minute 60", day(["09:60", "17:00"])],
    ["with 24:01", day(["09:00", "24:01"])],
    ["with a line break", day(["09:00\n", "17:00"])],
    ["out of order", day(["13:00", "14:00"], ["09:00", "10:00"])],
    ["overlapping", day(["09:00", "12:00"], ["11:59", "13:00"])],
    ["twice the same", day(["09:00", "12:00"], ["09:00", "12:00"])],
    ["with a window after one into the next day", day(["22:00", "02:00"], ["23:00", "23:30"])],
    [
      "running into the next day's first window",
      weekly({ mon: [["22:00", "06:00"]], tue: [["05:59", "08:00"]] }),
    ],
    [
      "running from Sunday into Monday",
      weekly({ sun: [["22:00", "06:00"]], mon: [["05:00", "08:00"]] }),
    ],
    ["at times in digits of another script", weekly({ mon: [["0٩:00", "1٧:00"]] })],
    ["with a date that is none", dates({ "2027-02-29": [] })],
    ["with a date of another form", dates({ "25.12.2027": [] })],
    ["with a date of one digit", dates({ "2027-1-1": [] })],
    ["with a date of another century", dates({ "1999-12-31": [] })],
    ["with a date that is not a list", dates({ "2027-12-25": "closed" })],
    ["with a bad window on a date", dates({ "2027-12-25": [["10:00"]] })],
    [
      "with a date running into the next day",
      dates({ "2027-12-25": [["22:00", "06:00"]] }, { sun: [["05:00", "08:00"]] }),
    ],
    [
      "with a date running into the next date's weekday",
      dates({ "2027-12-26": [["22:00", "06:00"]] }, { mon: [["05:00", "08:00"]] }),
    ],
    [
      "with 1001 dates",
      dates(
        Object.fromEntries(
          Array.from({ length: 1001 }, (_, i) => [
            new Date(Date.UTC(2027, 0, 1 + i)).toISOString().slice(0, 10),
            [],
          ]),
        ),
      ),
    ],
  ])("is not %s", async (_what, availability) => {
    expect(await update({ availability })).toBe("invalid_availability");
  });

  test("that is refused says what is wrong", async () => {
    const { status, error } = await owner.api
      .from("profiles")
      .update({ availability: day(["9:00", "17:00"]) as never })
      .eq("id", owner.id);
    expect([status, error?.code]).toEqual([422, "invalid_availability"]);
    expect(error?.details).toContain("weekly.mon");
  });

  test("that is null is refused", async () => {
    const { status, error } = await owner.api
      .from("profiles")
      .update({ availability: null as never })
      .eq("id", owner.id);
    expect([status, error?.code]).toEqual([422, "invalid_availability"]);
  });

  test.each(["1", '"x"', "null", "true", "[[]]", '{"weekly": {"mon": [["9:00", "17:00"]]}}'])(
    "%s as JSON is refused by the rule, and by the constraint without it",
    async (json) => {
      const set = (tx: TransactionSql, table: string) =>
        tx`update ${tx(table)} set availability = ${json}::text::jsonb where id = ${owner.id}`;
      expect(await refusedBy(owner.claims, (tx) => set(tx, "public.profiles"))).toBe(
        "invalid_availability",
      );
      const constraint = await rolledBack(async (tx) => {
        // A copy of the table with its checks and without its rules.
        await tx`create temporary table copy (like public.profiles including constraints)`;
        await tx`insert into copy select * from public.profiles where id = ${owner.id}`;
        return tx
          .savepoint((attempt) => set(attempt, "copy"))
          .then(
            () => null,
            (error: { constraint_name?: string }) => error.constraint_name,
          );
      });
      expect(constraint).toBe("profiles_availability_is_valid");
    },
  );
});

describe("the currency", () => {
  const change = async (professional: Professional, currency: string) => {
    const { status, error } = await professional.api
      .from("profiles")
      .update({ currency })
      .eq("id", professional.id);
    return [status, error?.code];
  };
  const IN_USE = [409, "currency_in_use"];

  test("changes while every price fits the new one", async () => {
    const professional = await createProfessional({ currency: "EUR" });
    await Promise.all([
      createService(professional, { price: 30 }),
      createProduct(professional, { price: 12 }),
    ]);
    expect(await change(professional, "JPY")).toEqual([204, undefined]);
    expect(await change(professional, "KWD")).toEqual([204, undefined]);
  });

  test.each([
    ["service", createService],
    ["product", createProduct],
  ] as const)("stays while a %s has a finer price", async (_what, create) => {
    const professional = await createProfessional({ currency: "EUR" });
    await create(professional, { price: 30.5 });
    expect(await change(professional, "JPY")).toEqual(IN_USE);
    expect(await change(professional, "USD")).toEqual([204, undefined]);
  });

  test("stays while a service has a finer deposit", async () => {
    const professional = await createProfessional({ currency: "EUR" });
    await createService(professional, { price: 30, deposit: 12.5 });
    expect(await change(professional, "JPY")).toEqual(IN_USE);
    expect(await change(professional, "USD")).toEqual([204, undefined]);
  });

  test("stays while a booking exists, also a cancelled one and blocked time", async () => {
    const professional = await createProfessional();
    const booking = await createBooking(professional, {
      starts_at: "2100-01-01T09:00:00Z",
      ends_at: "2100-01-01T10:00:00Z",
    });
    expect(await change(professional, "USD")).toEqual(IN_USE);
    await professional.api.from("bookings").update({ status: "cancelled" }).eq("id", booking.id);
    expect(await change(professional, "USD")).toEqual(IN_USE);
    expect(await change(professional, "EUR")).toEqual([204, undefined]);
  });

  test("stays while an order exists, for a server too", async () => {
    const professional = await createProfessional();
    const client = await createClientRow(professional);
    await createOrder(professional, {
      client_id: client.id,
      items: [{ name: "Voucher", unit_price: 20, quantity: 1 }],
    });
    expect(await change(professional, "USD")).toEqual(IN_USE);
    expect(
      await updateRefusedBy(serverClaims, "profiles", professional.id, { currency: "USD" }),
    ).toBe("currency_in_use");
  });
});

describe("a row keeps its identity", () => {
  test.each(["id", "created_at"])("a server cannot change %s", async (column) => {
    const value = column === "id" ? randomUUID() : "2020-01-01T00:00:00Z";
    expect(await updateRefusedBy(serverClaims, "profiles", owner.id, { [column]: value })).toBe(
      "profiles_identity_never_changes",
    );
  });

  test("an update that changes nothing keeps updated_at", async () => {
    const professional = await createProfessional();
    const read = async () => (await professional.api.from("profiles").select("*").single()).data;
    const before = await read();
    const write = (values: object) =>
      professional.api.from("profiles").update(values).eq("id", professional.id);
    await write({ full_name: before?.full_name, availability: before?.availability });
    expect(await read()).toEqual(before);
    await write({ bio: "Twenty years of scissors." });
    expect(((await read())?.updated_at ?? "") > (before?.updated_at ?? "")).toBe(true);
  });

  test("a profile is of a user who exists", async () => {
    const insert = (id: string) =>
      refusedBy(
        serverClaims,
        (tx) => tx`insert into public.profiles (id, username) values (${id}, ${`u-${id}`})`,
      );
    expect(await insert(randomUUID())).toBe("profiles_id_fkey");
    expect(await insert(owner.id)).toBe("profiles_pkey");
  });
});
