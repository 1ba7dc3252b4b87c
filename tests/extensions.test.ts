/** A database whose extensions are where ours do not look for them, as an older project may have it. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import postgres, { type PostgresError, type Sql } from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { raised, sql } from "./support/database.ts";
import { stack } from "./support/stack.ts";

const foundation = readFileSync(
  new URL("../supabase/migrations/20261127000100_foundation.sql", import.meta.url),
  "utf8",
);

describe.each(["btree_gist", "dblink", "pgcrypto"])("%s in another schema", (extension) => {
  const database = `scratch_${randomUUID().replaceAll("-", "")}`;
  const connect = (user?: string) => {
    const address = new URL(stack.dbUrl);
    address.pathname = `/${database}`;
    if (user) address.username = user;
    return postgres(address.href, { max: 1, onnotice: () => {} });
  };
  let scratch: Sql;
  /** Who may make and drop the extension: dblink is an ordinary owner's on the platform alone. */
  let maker: Sql;

  beforeAll(async () => {
    await sql.unsafe(`create database ${database}`);
    scratch = connect();
    await scratch`create schema extensions`;
    const create = `create extension ${extension} with schema public`;
    maker = scratch;
    const refused = await scratch.unsafe(create).then(
      () => false,
      (error: PostgresError) => error.code === "42501" || Promise.reject(error),
    );
    if (refused) {
      maker = connect("supabase_admin");
      await maker.unsafe(create);
    }
  });

  afterAll(async () => {
    await Promise.all([scratch.end(), maker.end()]);
    await sql.unsafe(`drop database ${database}`);
  });

  /** What the first migration fails with; at its end it is made to, so that nothing of it stays. */
  const migrate = () => raised(scratch.unsafe(`${foundation}; select 1 / 0;`));

  test("is told by the first migration; where it belongs it is not", async () => {
    expect((await migrate()).code).toBe("55000");
    await maker.unsafe(`
      drop extension ${extension};
      create extension ${extension} with schema extensions;
    `);
    // To the end, or here to dblink, which on the platform alone an ordinary owner may make.
    expect(["22012", "42501"]).toContain((await migrate()).code);
  });
});
