/** Nobody learns here who is a client of whom: known and unknown look alike. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { sql } from "../support/database.ts";
import { createClientRow, createProfessional, type Professional } from "../support/factories.ts";
import {
  addressOf,
  type PortalAddress,
  receiveCode,
  sendCode,
  verifyCode,
  wrongCode,
} from "../support/portal.ts";

let professional: Professional;

beforeAll(async () => {
  professional = await createProfessional();
});

const newClient = () => createClientRow(professional);

const nobody = (): PortalAddress => ({
  email: `nobody-${randomUUID()}@example.com`,
  professionalId: professional.id,
});

/** Everything a caller sees but the clock: status, headers in their order, body. */
async function visible(response: Response) {
  const headers = [...response.headers].filter(([name]) => name !== "date");
  return { status: response.status, headers, body: await response.text() };
}

test("asking for a code looks the same for a client and for anybody else", async () => {
  const archived = await newClient();
  await sql`update public.clients set archived = true where id = ${archived.id}`;
  const known = await visible(await sendCode(addressOf(await newClient())));
  expect(known.status).toBe(200);
  for (const address of [
    nobody(),
    addressOf(archived),
    { ...nobody(), professionalId: randomUUID() },
  ]) {
    expect(await visible(await sendCode(address))).toEqual(known);
  }
});

test("the limit looks the same for a client and for anybody else", async () => {
  const limited = async (address: PortalAddress) => {
    await sql`
      insert into private.portal_code_requests (address_digest, network, created_at)
      select private.portal_address_digest(${address.professionalId}, ${address.email}), '',
        now() - interval '10.5 seconds'
      from generate_series(1, 3)`;
    const answer = await visible(await sendCode(address));
    expect(answer.status).toBe(429);
    // The seconds are those of each address' own requests, and count down.
    return JSON.stringify(answer).replace(/\b(49|50)\b/g, "N");
  };
  expect(await limited(nobody())).toBe(await limited(addressOf(await newClient())));
});

test("every code that does not open looks the same", async () => {
  const unknown = await visible(await verifyCode(nobody(), "123456"));
  expect(unknown.status).toBe(401);

  const client = await newClient();
  const address = addressOf(client);
  expect(await visible(await verifyCode(address, "123456"))).toEqual(unknown);

  const code = await receiveCode(address);
  expect(await visible(await verifyCode(address, wrongCode(code)))).toEqual(unknown);

  const set = (assignment: string) =>
    sql`update private.portal_codes set ${sql.unsafe(assignment)} where client_id = ${client.id}`;
  await set("locked_until = now() + interval '1 hour'");
  expect(await visible(await verifyCode(address, code))).toEqual(unknown);
  await set("locked_until = null, attempts = 5");
  expect(await visible(await verifyCode(address, code))).toEqual(unknown);
  await set("attempts = 0, expires_at = expires_at - interval '11 minutes'");
  expect(await visible(await verifyCode(address, code))).toEqual(unknown);

  // It was the right code all along.
  await set("expires_at = now() + interval '1 minute'");
  expect((await verifyCode(address, code)).status).toBe(200);
  expect(await visible(await verifyCode(address, code))).toEqual(unknown);
});

describe("time", () => {
  const ROUNDS = 30;
  const WARM_UP = 5;

  async function seconds(call: () => Promise<Response>): Promise<number> {
    const begin = performance.now();
    await (await call()).text();
    return performance.now() - begin;
  }

  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] as number;

  /**
   * Medians of calls that take turns, so that whatever else the machine does meets both kinds; the
   * bound is for a difference that one would build in, such as waiting for the mail.
   */
  async function expectAlike(
    known: PortalAddress[],
    call: (address: PortalAddress) => Promise<Response>,
  ): Promise<void> {
    const times = { known: [] as number[], unknown: [] as number[] };
    for (const [round, address] of known.entries()) {
      const kinds =
        round % 2 === 0 ? (["known", "unknown"] as const) : (["unknown", "known"] as const);
      for (const kind of kinds) {
        const time = await seconds(() => call(kind === "known" ? address : nobody()));
        if (round >= WARM_UP) times[kind].push(time);
      }
    }
    const ratio = median(times.known) / median(times.unknown);
    expect(ratio).toBeGreaterThan(1 / 1.5);
    expect(ratio).toBeLessThan(1.5);
  }

  async function clients(): Promise<PortalAddress[]> {
    const rows = await sql<{ email: string }[]>`
      insert into public.clients (professional_id, name, email)
      select ${professional.id}, 'Marta', format('marta-%s@example.com', gen_random_uuid())
      from generate_series(1, ${ROUNDS + WARM_UP})
      returning email`;
    return rows.map(({ email }) => ({ email, professionalId: professional.id }));
  }

  test("asking for a code takes a client and anybody else as long", async () => {
    await expectAlike(await clients(), sendCode);
  });

  test("a wrong code takes a client with a code and anybody else as long", async () => {
    const known = await clients();
    await sql`
      insert into private.portal_codes (professional_id, client_id, email_key, code_hmac, expires_at)
      select professional_id, id, email_key, 'none', now() + interval '10 minutes'
      from public.clients
      where professional_id = ${professional.id} and email in ${sql(known.map(({ email }) => email))}`;
    await expectAlike(known, (address) => verifyCode(address, "123456"));
    const [counted] = await sql`
      select count(*)::integer as attempts from private.portal_codes
      where professional_id = ${professional.id} and code_hmac = 'none' and attempts = 1`;
    expect(counted?.attempts).toBe(known.length);
  });

  test("an attempt for nobody is written to disk as one that counts", async () => {
    const written = async (statement: string) =>
      sql.begin(async (tx) => {
        await tx.unsafe(statement);
        const [row] = await tx`select pg_current_xact_id_if_assigned() is not null as yes`;
        return row?.yes;
      });
    expect(
      await written(`select private.start_portal_verification('${randomUUID()}', 'a@example.com')`),
    ).toBe(true);
    expect(
      await written(
        `select private.finish_portal_verification('${randomUUID()}', '${randomUUID()}', 0, 'x')`,
      ),
    ).toBe(true);
    expect(await written("select 1")).toBe(false);
  });
});
