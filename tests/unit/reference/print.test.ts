import { expect, test } from "vitest";
import { z } from "zod";
import { Printer, typeName } from "../../../reference/print.ts";
import { instant } from "../../../reference/shapes/common.ts";

test("a shape without a name is its type, with what is said of its fields", () => {
  const shape = z.strictObject({
    at: instant.nullable().describe("When it goes"),
    "of-a-kind": z.enum(["a", "b"]),
    rows: z.array(z.union([z.string(), z.number()])),
    free: z.record(z.string(), z.unknown()).optional(),
  });
  expect(new Printer().type(shape)).toBe(`{
  /** When it goes */
  at: Instant | null;
  "of-a-kind": "a" | "b";
  rows: (string | number)[];
  free?: JsonObject;
}`);
});

test("a shape with a name is declared once, also where it is described anew", () => {
  const named = z.strictObject({ id: z.guid() }).meta({ id: "PrintedOnce" });
  const printer = new Printer();
  expect(printer.type(z.strictObject({ a: named, b: named.describe("Another") }))).toContain(
    "/** Another */\n  b: PrintedOnce;",
  );
  expect([...printer.declarations.keys()]).toEqual(["PrintedOnce"]);
});

test("what has a default may be left out of what is sent, and is in what comes back", () => {
  const shape = z.strictObject({ size: z.int().default(100) });
  expect(new Printer().type(shape)).toContain("size: number");
  expect(new Printer().input(shape)).toContain("size?: number");
});

test("of a record that need not have them all, keys may be left out", () => {
  const days = z.enum(["mon", "tue"]);
  expect(new Printer().type(z.partialRecord(days, z.boolean()))).toBe(
    `{ [Key in "mon" | "tue"]?: boolean }`,
  );
  expect(new Printer().type(z.record(days, z.boolean()))).toBe(
    `{ [Key in "mon" | "tue"]: boolean }`,
  );
});

test("lists are named by what is in them", () => {
  const list = (cursor: z.ZodType) =>
    new Printer().type(z.strictObject({ data: z.array(z.guid()), next_cursor: cursor }));
  expect(list(z.null())).toBe("List<string>");
  expect(list(z.guid().nullable())).toBe("Page<string>");
  expect(list(z.int().nullable())).toBe("Page<string, number>");
});

test("two shapes of one name, and a shape that TypeScript has no type for, are refused", () => {
  const printer = new Printer();
  printer.type(z.strictObject({ a: z.string() }).meta({ id: "PrintedTwice" }));
  const other = z.strictObject({ b: z.string() }).meta({ id: "PrintedTwice" });
  expect(() => printer.type(other)).toThrow();
  expect(() => printer.type(z.custom())).toThrow();
});

test("names of events are those of their types", () => {
  expect(
    ["booking.created", "booking.no_show", "booking", "booking.previous", "Line"].map(typeName),
  ).toEqual([
    "BookingCreatedEvent",
    "BookingNoShowEvent",
    "EventBooking",
    "EventBookingPrevious",
    "Line",
  ]);
});
