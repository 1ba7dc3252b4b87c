/**
 * What happens between the steps of a code: in SQL, where the steps can be put in any order. Alone,
 * because sign-ins are held up.
 */
import { describe, expect, test, vi } from "vitest";
import { asCaller, parallelConnections, sql } from "../support/database.ts";
import { createClientRow, createProfessional, type Row } from "../support/factories.ts";

type Client = Row<"clients">;

interface Attempt {
  client_id: string;
  generation: number;
}

async function newClient(): Promise<Client> {
  return createClientRow(await createProfessional());
}

async function start(client: Client): Promise<number> {
  const [row] = await sql`
    select private.start_portal_code(
      ${client.professional_id}, ${client.email}, ${client.id}, 1000000
    ) as started`;
  return row?.started.recipient.generation;
}

async function setCode(client: Client, generation: number, hmac: string | null): Promise<boolean> {
  const [row] = await sql`
    select private.set_portal_code(
      ${client.professional_id}, ${client.id}, ${generation}, ${hmac}
    ) as valid`;
  return row?.valid;
}

async function attempt(client: Client): Promise<Attempt> {
  const [row] = await sql`
    select private.start_portal_verification(
      ${client.professional_id}, ${client.email}, '192.0.2.1', 100000) as attempt`;
  return row?.attempt;
}

async function finish(client: Client, { client_id, generation }: Attempt, hmac: string, db = sql) {
  const [row] = await db`
    select private.finish_portal_verification(
      ${client.professional_id}, ${client_id}, ${generation}, ${hmac}
    ) as session`;
  return row?.session as { session_id: string } | null;
}

const codeOf = async (client: Client) =>
  (await sql`select * from private.portal_codes where client_id = ${client.id}`)[0];

describe("two codes asked for", () => {
  test("the first cannot be stored once the second was asked for, in whatever order they finish", async () => {
    const client = await newClient();
    const [first, second] = [await start(client), await start(client)];
    expect(await setCode(client, second, "second")).toBe(true);
    expect(await setCode(client, first, "first")).toBe(false);
    expect((await codeOf(client))?.code_hmac).toBe("second");
  });

  test("asking ends the stored code before the next one is stored", async () => {
    const client = await newClient();
    await setCode(client, await start(client), "first");
    await start(client);
    expect((await codeOf(client))?.code_hmac).toBeNull();
    expect((await attempt(client)).client_id).not.toBe(client.id);
  });

  test("a mail that failed withdraws its own code only", async () => {
    const client = await newClient();
    const first = await start(client);
    await setCode(client, first, "first");
    const second = await start(client);
    await setCode(client, second, "second");
    expect(await setCode(client, first, null)).toBe(false);
    expect((await codeOf(client))?.code_hmac).toBe("second");
    expect(await setCode(client, second, null)).toBe(true);
    expect((await attempt(client)).client_id).not.toBe(client.id);
  });
});

describe("an attempt", () => {
  test("counted on one code is not compared with the next one", async () => {
    const client = await newClient();
    await setCode(client, await start(client), "first");
    const early = await attempt(client);
    await setCode(client, await start(client), "second");
    expect(await finish(client, early, "second")).toBeNull();
    expect((await codeOf(client))?.attempts).toBe(0);
    // The same guess, counted on the code it is compared with.
    expect(await finish(client, await attempt(client), "second")).not.toBeNull();
  });

  test.each([
    ["the code has expired", "expires_at = now()"],
    ["the client was locked", "locked_until = now() + interval '1 hour'"],
    ["the code was withdrawn", "code_hmac = null"],
  ])("does not succeed when meanwhile %s", async (_, assignment) => {
    const client = await newClient();
    await setCode(client, await start(client), "right");
    const before = await attempt(client);
    await sql`
      update private.portal_codes set ${sql.unsafe(assignment)} where client_id = ${client.id}`;
    expect(await finish(client, before, "right")).toBeNull();
  });

  test.each([
    ["archived", "archived = true"],
    ["moved to another address", "email = 'new-' || id || '@example.com'"],
  ])("does not succeed when the client was meanwhile %s", async (_, assignment) => {
    const client = await newClient();
    await setCode(client, await start(client), "right");
    const before = await attempt(client);
    await sql`update public.clients set ${sql.unsafe(assignment)} where id = ${client.id}`;
    expect(await finish(client, before, "right")).toBeNull();
    const sessions = await sql`select from private.portal_sessions where client_id = ${client.id}`;
    expect(sessions).toHaveLength(0);
  });

  test.each([
    ["archived and restored", ["archived = true", "archived = false"]],
    ["given another address and back", ["email = 'b-' || email", "email = substr(email, 3)"]],
  ])("does not succeed when the client was meanwhile %s", async (_, assignments) => {
    const client = await newClient();
    const change = async () => {
      for (const assignment of assignments) {
        await sql`update public.clients set ${sql.unsafe(assignment)} where id = ${client.id}`;
      }
    };
    await setCode(client, await start(client), "counted");
    const counted = await attempt(client);
    await change();
    expect(await finish(client, counted, "counted")).toBeNull();

    // The same between asking for a code and storing it.
    const generation = await start(client);
    await change();
    await setCode(client, generation, "late");
    const late = await attempt(client);
    expect(late.client_id).not.toBe(client.id);
    expect(await finish(client, { client_id: client.id, generation }, "late")).toBeNull();
  });

  test("succeeds when nothing happened meanwhile", async () => {
    const client = await newClient();
    await setCode(client, await start(client), "right");
    expect(await finish(client, await attempt(client), "right")).not.toBeNull();
  });

  test("on another client's code does not succeed with that client's hash", async () => {
    const [mine, theirs] = [await newClient(), await newClient()];
    await setCode(theirs, await start(theirs), "theirs");
    await setCode(mine, await start(mine), "mine");
    const counted = await attempt(mine);
    expect(await finish(mine, { ...counted, client_id: theirs.id }, "theirs")).toBeNull();
    expect(await finish(theirs, { ...counted, client_id: mine.id }, "mine")).toBeNull();
  });
});

describe("really at once", () => {
  test("eight connections use a code once", async () => {
    const client = await newClient();
    await setCode(client, await start(client), "right");
    const counted = await attempt(client);
    const sessions = await Promise.all(
      parallelConnections(8).map((one) => finish(client, counted, "right", one)),
    );
    expect(sessions.filter((session) => session !== null)).toHaveLength(1);
  });

  /** Settles when the connection waits for a lock that another one holds. */
  async function waits(pid: number): Promise<void> {
    await vi.waitFor(
      async () => {
        const [row] = await sql`select cardinality(pg_blocking_pids(${pid})) as blockers`;
        expect(row?.blockers).toBeGreaterThan(0);
      },
      { timeout: 10_000, interval: 5 },
    );
  }

  const pidOf = async (one: typeof sql) => (await one`select pg_backend_pid() as pid`)[0]?.pid;

  test.each<[how: string, remove: (client: Client, one: typeof sql) => Promise<unknown>]>([
    ["a deletion", async ({ id }, one) => one`delete from public.clients where id = ${id}`],
    [
      "an erasure",
      ({ id, professional_id }, one) =>
        asCaller(
          { role: "authenticated", sub: professional_id },
          (tx) => tx`select private.erase_client(${id})`,
          one,
        ),
    ],
  ])("signing in and %s do not wait for each other", async (_, remove) => {
    const client = await newClient();
    await setCode(client, await start(client), "right");
    const counted = await attempt(client);
    const [holder, verifier, remover] = parallelConnections(3) as [
      typeof sql,
      typeof sql,
      typeof sql,
    ];
    const [verifierPid, removerPid] = [await pidOf(verifier), await pidOf(remover)];

    // Stops the sign-in between the code, which it has used up, and the session.
    const work: Promise<unknown>[] = [];
    await holder.begin(async (tx) => {
      await tx`lock table private.portal_sessions in share mode`;
      work.push(finish(client, counted, "right", verifier));
      await waits(verifierPid);
      work.push(remove(client, remover));
      await waits(removerPid);
    });

    // A deadlock would end one of them with 40P01.
    expect((await Promise.allSettled(work)).map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
    ]);
    expect(
      await sql`select from private.portal_sessions where client_id = ${client.id}`,
    ).toHaveLength(0);
  });
});
