/**
 * Asking for a code and trying one take a client and anybody else as long. Alone, because what other
 * files do at the same time would be measured too.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { sql } from "../support/database.ts";
import { createProfessional, type Professional } from "../support/factories.ts";
import { type PortalAddress, sendCode, verifyCode } from "../support/portal.ts";

let professional: Professional;

beforeAll(async () => {
  professional = await createProfessional();
});

const nobody = (): PortalAddress => ({
  email: `nobody-${randomUUID()}@example.com`,
  professionalId: professional.id,
});

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
    insert into private.portal_codes (professional_id, client_id, link_epoch, code_hmac, expires_at)
    select professional_id, id, link_epoch, 'none', now() + interval '10 minutes'
    from public.clients
    where professional_id = ${professional.id} and email in ${sql(known.map(({ email }) => email))}`;
  await expectAlike(known, (address) => verifyCode(address, "123456"));
  const [counted] = await sql`
    select count(*)::integer as attempts from private.portal_codes
    where professional_id = ${professional.id} and code_hmac = 'none' and attempts = 1`;
  expect(counted?.attempts).toBe(known.length);
});
