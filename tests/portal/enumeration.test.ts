/** Nobody learns here who is a client of whom: known and unknown look alike. */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { Recipient } from "../../supabase/functions/_shared/portal/store.ts";
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

test("a code for nobody has a recipient like any other, and ends where it would be stored", async () => {
  const client = await newClient();
  const archived = await newClient();
  await sql`update public.clients set archived = true where id = ${archived.id}`;
  const start = async ({ email, professionalId }: PortalAddress) => {
    const [row] = await sql`
      select private.start_portal_code(${professionalId}, ${email}, ${randomUUID()}, 10) as started`;
    return row?.started.recipient;
  };
  const store = async ({ professionalId }: PortalAddress, { client_id, generation }: Recipient) => {
    const [row] = await sql`
      select private.set_portal_code(${professionalId}, ${client_id}, ${generation}, 'x') as valid`;
    return row?.valid;
  };
  const known = addressOf(client);
  const recipient = await start(known);
  expect(await store(known, recipient)).toBe(true);
  for (const address of [
    nobody(),
    addressOf(archived),
    { ...nobody(), professionalId: randomUUID() },
  ]) {
    const madeUp = await start(address);
    expect(Object.keys(madeUp)).toEqual(Object.keys(recipient));
    expect(madeUp).toEqual({
      client_id: expect.any(String),
      generation: expect.any(Number),
      email: address.email,
      professional_name: expect.any(String),
    });
    expect([client.id, archived.id]).not.toContain(madeUp.client_id);
    expect(await store(address, madeUp)).toBe(false);
  }
});

test("an attempt or a code for nobody is written to disk as one that counts", async () => {
  const written = async (statement: string) =>
    sql.begin(async (tx) => {
      await tx.unsafe(statement);
      const [row] = await tx`select pg_current_xact_id_if_assigned() is not null as yes`;
      return row?.yes;
    });
  expect(
    await written(
      `select private.start_portal_verification('${randomUUID()}', 'a@example.com', '192.0.2.1', 100000)`,
    ),
  ).toBe(true);
  expect(
    await written(
      `select private.finish_portal_verification('${randomUUID()}', '${randomUUID()}', 0, 'x')`,
    ),
  ).toBe(true);
  expect(
    await written(`select private.set_portal_code('${randomUUID()}', '${randomUUID()}', 0, 'x')`),
  ).toBe(true);
  expect(await written("select 1")).toBe(false);
});
