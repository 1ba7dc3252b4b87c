/** An account that has everything goes without a trace, and takes nothing of anybody else along. */
import postgres from "postgres";
import { afterAll, describe, expect, test } from "vitest";
import { request } from "./support/callers.ts";
import { sql } from "./support/database.ts";
import { accountWithEverything, rowsOf } from "./support/everything.ts";
import { createProfessional, createService } from "./support/factories.ts";
import { stack } from "./support/stack.ts";

/** The platform's auth service, which deletes users. */
const url = new URL(stack.dbUrl);
url.username = "supabase_auth_admin";
const auth = postgres(url.href, { max: 1, onnotice: () => {} });
afterAll(() => auth.end());

/** Tables that this account leaves empty; the tests of webhooks delete one that does not. */
const LEFT_EMPTY = /^private\.webhook/;

describe("deleting an account that has everything", () => {
  test("as the auth service does it succeeds and leaves no row in any table", async () => {
    const [doomed, neighbour] = await Promise.all([
      accountWithEverything(),
      accountWithEverything(),
    ]);
    const before = await rowsOf(doomed);
    for (const [table, count] of Object.entries(before)) {
      if (!LEFT_EMPTY.test(table)) expect([table, count > 0]).toEqual([table, true]);
    }
    const neighbourBefore = await rowsOf(neighbour);

    await auth`delete from auth.users where id = ${doomed.id}`;

    for (const [table, count] of Object.entries(await rowsOf(doomed))) {
      expect([table, count]).toEqual([table, 0]);
    }
    expect(await rowsOf(neighbour)).toEqual(neighbourBefore);
    const sessions = await sql`select from auth.sessions where user_id = ${doomed.id}`;
    expect(sessions).toHaveLength(0);
  });

  test("ends its tokens and frees its username", async () => {
    const doomed = await createProfessional();
    const { data } = await doomed.api.from("profiles").select("username").single();
    await auth`delete from auth.users where id = ${doomed.id}`;
    const response = await request("/rest/v1/profiles?select=id", { token: doomed.token });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: "session_not_found" });
    const next = await createProfessional({ username: data?.username ?? "" });
    expect((await next.api.from("profiles").select("username").single()).data).toEqual(data);
  });

  test("works for many accounts in one statement", async () => {
    const accounts = await Promise.all([1, 2, 3].map(() => createProfessional()));
    await Promise.all(accounts.map((account) => createService(account)));
    const ids = accounts.map((account) => account.id);
    await auth`delete from auth.users where id in ${auth(ids)}`;
    expect(
      await sql`select from public.services where professional_id in ${sql(ids)}`,
    ).toHaveLength(0);
  });
});
