/** Which time zones a professional may have: those that the database computes with under their names. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { rolledBack, sql } from "./support/database.ts";
import { createProfessional } from "./support/factories.ts";

/** Names of zones that are abbreviations too, and where IANA has put them. */
const SHADOWED = {
  CET: "Europe/Brussels",
  MET: "Europe/Brussels",
  EET: "Europe/Athens",
  WET: "Europe/Lisbon",
  EST: "America/Panama",
  MST: "America/Phoenix",
  HST: "Pacific/Honolulu",
  UCT: "UTC",
  Zulu: "UTC",
};

const namesOf = (rows: Iterable<Record<string, unknown>>) =>
  [...rows].map(({ name }) => name).sort();

describe("every zone that may be chosen", () => {
  test("has the clock of a session that is in the zone itself, in summer and in winter", async () => {
    const wrong = await rolledBack(async (tx) => {
      const names = await tx`select name from private.time_zones`;
      expect(names.length).toBeGreaterThan(400);
      const found = [];
      for (const { name } of names) {
        await tx`select set_config('timezone', ${name}, true)`;
        const [row] = await tx`
          select bool_and(at::timestamp = at at time zone ${name}) as same
          from unnest('{2027-01-15 12:00Z, 2027-07-15 12:00Z}'::timestamptz[]) as at`;
        if (!row?.same) found.push(name);
      }
      return found;
    });
    expect(wrong).toEqual([]);
  });

  test("is no abbreviation, but for two that mean the same", async () => {
    const rows = await sql`
      select name from private.time_zones
      where upper(name) in (select abbrev from pg_timezone_abbrevs)`;
    expect(namesOf(rows)).toEqual(["GMT", "UTC"]);
  });
});

test("the statements of docs/operations.md leave nobody in a zone that was accepted once", async () => {
  const docs = readFileSync(new URL("../docs/operations.md", import.meta.url), "utf8");
  const statements = /```sql\n(with renamed[^`]*)```/.exec(docs)?.[1] ?? "";
  const names = Object.keys(SHADOWED);
  const professionals = await Promise.all([...names, "UTC"].map(() => createProfessional()));
  const ids = professionals.map(({ id }) => id);

  const { zones, accepted } = await rolledBack(async (tx) => {
    await tx`insert into private.time_zones select unnest(${names}::text[])`;
    await tx`
      update public.profiles set time_zone = old.zone
      from unnest(${ids.slice(0, -1)}::uuid[], ${names}::text[]) as old (id, zone)
      where profiles.id = old.id`;
    await tx.unsafe(statements);
    return {
      zones: await tx`select id, time_zone from public.profiles where id in ${tx(ids)}`,
      accepted: await tx`select name from private.time_zones where name in ${tx(names)}`,
    };
  });

  const zoneOf = new Map(zones.map((row) => [row.id, row.time_zone]));
  expect(ids.map((id) => zoneOf.get(id))).toEqual([...Object.values(SHADOWED), "UTC"]);
  expect(accepted).toEqual([]);
});
