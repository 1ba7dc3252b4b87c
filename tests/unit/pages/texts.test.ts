/** What the pages say is said in each language. The compiler holds named texts; words by code it does not know. */
import { describe, expect, test } from "vitest";
import * as bookingEn from "../../../pages/booking/texts/en.ts";
import * as bookingIt from "../../../pages/booking/texts/it.ts";
import * as dayEn from "../../../pages/day/texts/en.ts";
import * as dayIt from "../../../pages/day/texts/it.ts";
import * as portalEn from "../../../pages/portal/texts/en.ts";
import * as portalIt from "../../../pages/portal/texts/it.ts";
import * as sharedEn from "../../../pages/shared/texts/en.ts";
import * as sharedIt from "../../../pages/shared/texts/it.ts";
import { ERRORS } from "../../../reference/shapes/errors.ts";

/** `slots.none: text`: every text by its place, and whether it takes values. */
function placesOf(texts: object, path: string[] = []): string[] {
  return Object.entries(texts).flatMap(([key, value]) =>
    value !== null && typeof value === "object"
      ? placesOf(value, [...path, key])
      : [`${[...path, key].join(".")}: ${typeof value}`],
  );
}

const PAGES = [
  ["shared", sharedEn.en, sharedIt.it],
  ["booking", bookingEn.en, bookingIt.it],
  ["portal", portalEn.en, portalIt.it],
  ["day", dayEn.en, dayIt.it],
] as const;

describe.each(PAGES)("%s", (_, en, it) => {
  test("says in Italian what it says in English, words for errors included", () => {
    expect(placesOf(it).sort()).toEqual(placesOf(en).sort());
  });
});

test("codes that have words of a page are codes that there are", () => {
  const known = new Set<string>([...ERRORS.map(({ code }) => code), "network", "unknown"]);
  const named = [sharedEn.en.errors.codes, portalEn.en.refused];
  expect(named.flatMap(Object.keys).filter((name) => !known.has(name))).toEqual([]);
});
