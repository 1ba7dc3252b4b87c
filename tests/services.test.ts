import { beforeAll, describe, expect, test } from "vitest";
import { anonymous } from "./support/callers.ts";
import {
  insertRefusedBy,
  serverClaims,
  updateRefusedBy,
  type Values,
} from "./support/constraints.ts";
import { sql } from "./support/database.ts";
import { createProfessional, createService, type Professional } from "./support/factories.ts";
import { type Bounds, chars, testBounds, testIdentity } from "./support/table-tests.ts";

let owner: Professional;

beforeAll(async () => {
  owner = await createProfessional();
});

const insert = (values: Values) =>
  insertRefusedBy(owner.claims, "services", {
    name: "Haircut",
    price: 30,
    duration: 60,
    ...values,
  });

const LIMITS: Bounds[] = [
  [
    "services_name_has_1_to_200_characters",
    "name",
    ["a", chars(200), "é".repeat(200)],
    ["", " \n", chars(201)],
  ],
  [
    "services_description_has_at_most_10000_characters",
    "description",
    [null, "", chars(10_000)],
    [chars(10_001)],
  ],
  ["services_category_has_at_most_100_characters", "category", [null, chars(100)], [chars(101)]],
  [
    "services_image_url_is_a_web_address",
    "image_url",
    [null, "http://a", `https://a/${chars(2038)}`],
    [
      "",
      "a",
      "ftp://a",
      "https://",
      "https://a b",
      'https://a"',
      "https://<a>",
      `https://a/${chars(2039)}`,
    ],
  ],
  [
    "money_amount_is_between_0_and_999999999999_999",
    "price",
    [0, "999999999999.99"],
    [-0.01, "1000000000000", "NaN", "Infinity", "-Infinity", "1e400"],
  ],
  ["services_payment_is_known", "payment", ["none", "full"], ["", "half", "Full"]],
  [
    "money_amount_is_between_0_and_999999999999_999",
    "deposit",
    [null, 0, 31, "999999999999.99"],
    [-0.01, "NaN"],
  ],
  ["services_duration_is_1_to_1440_minutes", "duration", [1, 1440], [0, -1, 1441]],
  ["services_buffer_before_is_0_to_1440_minutes", "buffer_before", [0, 1440], [-1, 1441]],
  ["services_buffer_after_is_0_to_1440_minutes", "buffer_after", [0, 1440], [-1, 1441]],
  ["services_slot_step_is_5_to_1440_minutes", "slot_step", [null, 5, 1440], [0, 4, 1441]],
  ["services_min_notice_is_0_to_525600_minutes", "min_notice", [0, 525_600], [-1, 525_601]],
  ["services_max_advance_days_are_0_to_1095", "max_advance_days", [0, 1095], [-1, 1096]],
  [
    "services_cancellation_notice_is_0_to_525600_minutes",
    "cancellation_notice",
    [0, 525_600],
    [-1, 525_601],
  ],
  [
    "services_metadata_is_an_object_of_at_most_8_kb",
    "metadata",
    [{}, { a: chars(8182) }],
    [[], [1], { a: chars(8184) }],
  ],
];

testBounds(LIMITS, insert);

test.each([
  "name",
  "price",
  "payment",
  "duration",
  "buffer_before",
  "min_notice",
  "active",
  "metadata",
])("%s is never null", async (column) => {
  expect(await insert({ [column]: null })).toBe("23502");
});

describe("a deposit", () => {
  test("is more than 0 and at most the price where it has to be paid", async () => {
    const rule = "services_deposit_is_more_than_0_and_at_most_the_price";
    for (const [deposit, refused] of [
      [null, rule],
      [0, rule],
      [0.01, null],
      [30, null],
      [30.01, rule],
    ]) {
      expect([deposit, await insert({ payment: "deposit", deposit })]).toEqual([deposit, refused]);
    }
    const service = await createService(owner, { price: 30, payment: "deposit", deposit: 20 });
    const update = (values: Values) =>
      updateRefusedBy(owner.claims, "services", service.id, values);
    expect(await update({ price: 19.99 })).toBe(rule);
    expect(await update({ price: 20 })).toBe(null);
    expect(await update({ price: 19.99, payment: "full" })).toBe(null);
    expect(await update({ deposit: null })).toBe(rule);
  });

  test("fits the currency, on insert and on update", async () => {
    expect(await insert({ payment: "deposit", deposit: 1.005 })).toBe("too_many_decimals");
    const service = await createService(owner, { price: 30 });
    for (const claims of [owner.claims, serverClaims]) {
      expect(await updateRefusedBy(claims, "services", service.id, { deposit: 1.005 })).toBe(
        "too_many_decimals",
      );
    }
  });
});

describe("the price fits the currency", () => {
  test.each([
    ["JPY", "500", "500.5"],
    ["USD", "30.55", "30.555"],
    ["EUR", "0.01", "0.001"],
    ["KWD", "1.234", "1.2345"],
  ])("in %s %s does and %s does not, on insert and on update", async (currency, good, bad) => {
    const professional = await createProfessional({ currency });
    const service = await createService(professional, { price: 1 });
    const write = (price: string) =>
      Promise.all([
        insertRefusedBy(professional.claims, "services", { name: "A", price, duration: 5 }),
        updateRefusedBy(professional.claims, "services", service.id, { price }),
        updateRefusedBy(serverClaims, "services", service.id, { price }),
      ]);
    expect(await write(good)).toEqual([null, null, null]);
    const code = bad === "1.2345" ? "money_amount_has_at_most_3_decimals" : "too_many_decimals";
    expect(await write(bad)).toEqual([code, code, code]);
  });
});

describe("a row keeps its identity", () => {
  testIdentity("services", () => createService(owner));

  test("updated_at is the time of the last real change, whoever writes what", async () => {
    const service = await createService(owner);
    await sql`update public.services set name = ${service.name} where id = ${service.id}`;
    const read = async () => {
      const { data } = await owner.api
        .from("services")
        .select("updated_at")
        .eq("id", service.id)
        .single();
      return data?.updated_at as string;
    };
    expect(await read()).toBe(service.updated_at);
    await sql`update public.services set updated_at = '2020-01-01Z' where id = ${service.id}`;
    expect((await read()) > service.updated_at).toBe(true);
    const before = await read();
    await owner.api.from("services").update({ name: "Long haircut" }).eq("id", service.id);
    expect((await read()) > before).toBe(true);
  });
});

test("a service of a professional who does not exist is refused for a server too", async () => {
  const nobody = "00000000-0000-4000-8000-000000000000";
  const values = { professional_id: nobody, name: "Haircut", price: 30, duration: 60 };
  expect(await insertRefusedBy(serverClaims, "services", values)).toBe(
    "services_professional_id_fkey",
  );
  const { professional_id: _, ...without } = values;
  expect(await insertRefusedBy(serverClaims, "services", without)).toBe("23502");
});

test("the public sees an active service without where it is, what to bring and metadata", async () => {
  const open = await createProfessional({ accepts_bookings: true });
  const { location, instructions, metadata, ...shown } = await createService(open, {
    location: "Via Roma 1",
    instructions: "Ring twice.",
    metadata: { colour: "red" },
  });
  const select = (columns: string) =>
    anonymous().from("services").select(columns).eq("id", shown.id).maybeSingle();
  expect((await select(Object.keys(shown).join())).data).toEqual(shown);
  for (const hidden of ["*", "location", "instructions", "metadata"]) {
    expect((await select(hidden)).error?.code).toBe("42501");
  }
  expect({ location, instructions, metadata }).toEqual({
    location: "Via Roma 1",
    instructions: "Ring twice.",
    metadata: { colour: "red" },
  });
});

test("a location is a text, or a https link and nothing else", async () => {
  const refusedWith = (location: string) =>
    insertRefusedBy(serverClaims, "services", {
      professional_id: owner.id,
      name: "Haircut",
      price: 30,
      duration: 60,
      location,
    });
  for (const location of ["Via Roma 1", "https://meet.example.com/a?b=1", "At home: 2nd floor"]) {
    expect([location, await refusedWith(location)]).toEqual([location, null]);
  }
  for (const location of [
    "http://meet.example.com/",
    "zoommtg://zoom.us/join",
    " javascript://x",
    "https://meet.example.com/a b",
    'https://meet.example.com/"',
  ]) {
    expect([location, await refusedWith(location)]).toEqual([
      location,
      "services_location_is_a_text_or_a_https_link",
    ]);
  }
});
