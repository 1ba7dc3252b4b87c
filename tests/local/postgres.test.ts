import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { sortsAsHosted } from "../../local/postgres.ts";
import { sql } from "../support/database.ts";
import { stack } from "../support/stack.ts";

test("data that sort texts by their bytes, as older ones do, are told from the platform's", async () => {
  expect(await sortsAsHosted(stack.dbUrl)).toBe(true);
  const database = `scratch_${randomUUID().replaceAll("-", "")}`;
  await sql.unsafe(`
    create database ${database}
    template template0 locale_provider builtin builtin_locale 'C.UTF-8' locale 'C.UTF-8'`);
  try {
    const address = new URL(stack.dbUrl);
    address.pathname = `/${database}`;
    expect(await sortsAsHosted(address.href)).toBe(false);
  } finally {
    await sql.unsafe(`drop database ${database}`);
  }
});
