/** A database whose extensions are where ours do not look for them, as an older project may have it. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { raised, sql } from "./support/database.ts";
import { stack } from "./support/stack.ts";

const foundation = readFileSync(
  new URL("../supabase/migrations/20261127000100_foundation.sql", import.meta.url),
  "utf8",
);

describe.each(["btree_gist", "pgcrypto"])("%s in another schema", (extension) => {
  const database = `scratch_${randomUUID().replaceAll("-", "")}`;
  let scratch: Sql;

  beforeAll(async () => {
    await sql.unsafe(`create database ${database}`);
    const address = new URL(stack.dbUrl);
    address.pathname = `/${database}`;
    scratch = postgres(address.href, { max: 1, onnotice: () => {} });
    await scratch.unsafe(`
      create schema extensions;
      create extension ${extension} with schema public;
    `);
  });

  afterAll(async () => {
    await scratch.end();
    await sql.unsafe(`drop database ${database}`);
  });

  /** What the first migration fails with; at its end it is made to, so that nothing of it stays. */
  const migrate = () => raised(scratch.unsafe(`${foundation}; select 1 / 0;`));

  test("is told by the first migration; where it belongs it is not", async () => {
    expect((await migrate()).code).toBe("55000");
    await scratch.unsafe(`
      drop extension ${extension};
      create extension ${extension} with schema extensions;
    `);
    // To the end, or here to dblink, which on the platform alone an ordinary owner may make.
    expect(["22012", "42501"]).toContain((await migrate()).code);
  });
});
