import { randomBytes, randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { parallelConnections, sql } from "../support/database.ts";
import { createClientRow, createProfessional, type Professional } from "../support/factories.ts";
import {
  addressOf,
  ageRequests,
  mailsTo,
  type PortalAddress,
  receiveCode,
  sendCode,
  verifyCode,
} from "../support/portal.ts";

let professional: Professional;

beforeAll(async () => {
  professional = await createProfessional();
});

async function known(): Promise<PortalAddress> {
  return addressOf(await createClientRow(professional));
}

async function unknown(): Promise<PortalAddress> {
  return { email: `nobody-${randomUUID()}@example.com`, professionalId: professional.id };
}

const ADDRESSES = [
  ["a client's address", known],
  ["an unknown address", unknown],
  [
    "an address at an unknown professional",
    async () => ({ ...(await unknown()), professionalId: randomUUID() }),
  ],
] as const;

/** Sends until refused; how often it worked and what the refusal was. */
async function sendUntilLimited(address: PortalAddress, most: number) {
  for (let sent = 0; sent <= most; sent += 1) {
    const response = await sendCode(address);
    if (response.status === 200) continue;
    const { code, details } = await response.json();
    const retryAfter = Number(response.headers.get("retry-after"));
    expect(JSON.parse(details)).toEqual({ retry_after: retryAfter });
    return { sent, status: response.status, code, retryAfter };
  }
  throw new Error("there was no limit");
}

/** Notes requests of an address as made so long ago. */
async function asked(address: PortalAddress, ...ago: string[]): Promise<void> {
  for (const interval of ago) {
    await sql`
      insert into private.portal_code_requests (address_digest, network, created_at)
      select private.portal_address_digest(${address.professionalId}, ${address.email}), '',
        now() - ${interval}::interval`;
  }
}

describe.each(ADDRESSES)("%s", (_, make) => {
  test("is sent three codes in a minute, and one more when the first is a minute old", async () => {
    const address = await make();
    const limited = await sendUntilLimited(address, 3);
    expect(limited).toMatchObject({ sent: 3, status: 429, code: "rate_limit_exceeded" });
    expect(limited.retryAfter).toBeGreaterThan(50);
    expect(limited.retryAfter).toBeLessThanOrEqual(60);
    await ageRequests(address, "61 seconds");
    expect((await sendCode(address)).status).toBe(200);
  });

  test("is sent six codes an hour", async () => {
    const address = await make();
    await asked(address, "50 minutes", "40 minutes", "30 minutes", "20 minutes", "10 minutes");
    const limited = await sendUntilLimited(address, 3);
    expect(limited).toMatchObject({ sent: 1, status: 429 });
    expect(limited.retryAfter).toBeGreaterThan(590);
    expect(limited.retryAfter).toBeLessThanOrEqual(600);
    await ageRequests(address, "10 minutes 1 second");
    expect((await sendCode(address)).status).toBe(200);
  });

  test("is sent twenty codes a day", async () => {
    const address = await make();
    await asked(address, ...Array.from({ length: 19 }, (_, n) => `${23 - n} hours`));
    const limited = await sendUntilLimited(address, 3);
    expect(limited).toMatchObject({ sent: 1, status: 429 });
    expect(limited.retryAfter).toBeGreaterThan(3590);
    expect(limited.retryAfter).toBeLessThanOrEqual(3600);
    await ageRequests(address, "1 hour 1 second");
    expect((await sendCode(address)).status).toBe(200);
  });

  test("is not sent more by asking ten times at once", async () => {
    const address = await make();
    const answers = await Promise.all(Array.from({ length: 10 }, () => sendCode(address)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
  });

  test("is counted whatever its spelling", async () => {
    const address = await make();
    await asked(address, "1 second", "1 second", "1 second");
    const shouted = { ...address, email: ` ${address.email.toUpperCase()}` };
    expect((await sendCode(shouted)).status).toBe(429);
  });
});

test("the longest wait of several limits is told", async () => {
  const address = await unknown();
  await asked(address, "50 minutes", "40 minutes", "30 minutes", "2 seconds", "1 second");
  const { retryAfter } = await sendUntilLimited(address, 1);
  expect(retryAfter).toBeGreaterThan(590);
});

test("a refused request is not counted", async () => {
  const address = await unknown();
  await asked(address, "50 seconds", "50 seconds", "50 seconds");
  for (let times = 0; times < 4; times += 1) expect((await sendCode(address)).status).toBe(429);
  await ageRequests(address, "11 seconds");
  expect((await sendCode(address)).status).toBe(200);
});

test("a refused request leaves the last code valid and sends nothing", async () => {
  const address = await known();
  await asked(address, "1 second", "1 second");
  const code = await receiveCode(address);
  expect((await sendCode(address)).status).toBe(429);
  expect((await verifyCode(address, code)).status).toBe(200);
  expect(await mailsTo(address.email)).toHaveLength(1);
});

test("the limit of one address is not that of another, nor of the same one at another professional", async () => {
  const address = await known();
  await asked(address, "1 second", "1 second", "1 second");
  expect((await sendCode(address)).status).toBe(429);
  expect((await sendCode(await known())).status).toBe(200);
  const other = await createProfessional();
  expect((await sendCode({ ...address, professionalId: other.id })).status).toBe(200);
});

describe("a caller's network", () => {
  const LIMIT = 3;

  async function start(ip: string | null, connection = sql): Promise<number | null> {
    const [row] = await connection`
      select private.start_portal_code(
        ${randomUUID()}, ${`nobody-${randomUUID()}@example.com`}, ${ip}, ${LIMIT}
      ) as answer`;
    return row?.answer.retry_after;
  }

  // Networks that nothing else counts under, from ranges that no host has.
  const byte = () => String(randomBytes(1)[0]);
  const ipv4 = () => ["0", byte(), byte(), byte()].join(".");
  const hex = () => (randomBytes(2).readUInt16BE() | 0x1000).toString(16);
  const ipv6Network = () => `100:${hex()}:${hex()}:${hex()}`;

  test("is sent so many codes an hour, for whatever addresses", async () => {
    const ip = ipv4();
    for (let sent = 0; sent < LIMIT; sent += 1) expect(await start(ip)).toBeNull();
    const wait = await start(ip);
    expect(wait).toBeGreaterThan(3590);
    expect(wait).toBeLessThanOrEqual(3600);
    expect(await start(ipv4())).toBeNull();
    await sql`
      update private.portal_code_requests set created_at = created_at - interval '61 minutes'
      where network = ${ip}`;
    expect(await start(ip)).toBeNull();
  });

  test("cannot get more by asking for many addresses at once", async () => {
    const ip = ipv4();
    const waits = await Promise.all(parallelConnections(8).map((one) => start(ip, one)));
    expect(waits.filter((wait) => wait === null)).toHaveLength(LIMIT);
  });

  test("is the first half of an IPv6 address, since a subscriber has all of the second", async () => {
    const network = ipv6Network();
    for (const host of ["::1", ":dead:beef:0:1", "::"]) {
      expect(await start(network + host)).toBeNull();
    }
    expect(await start(`${network}::2`)).toBeGreaterThan(0);
    expect(await start(`${ipv6Network()}::2`)).toBeNull();
  });

  test("of an IPv4 address is the same where a socket shows it as IPv6", async () => {
    const ip = ipv4();
    for (const spelling of [ip, `::ffff:${ip}`, `::FFFF:${ip}`]) {
      expect(await start(spelling)).toBeNull();
    }
    expect(await start(ip)).toBeGreaterThan(0);
    expect(await start(`::ffff:${ipv4()}`)).toBeNull();
  });

  test("may be a text that is no address", async () => {
    const nonsense = `unknown-${randomUUID()}`;
    for (let sent = 0; sent < LIMIT; sent += 1) expect(await start(nonsense)).toBeNull();
    expect(await start(nonsense)).toBeGreaterThan(0);
  });

  test("tries so many codes an hour, right ones too", async () => {
    const ip = ipv4();
    const address = await known();
    const verify = async (from: string) => {
      const [row] = await sql`
        select private.start_portal_verification(
          ${address.professionalId}, ${address.email}, ${from}, ${LIMIT}
        ) as answer`;
      return row?.answer;
    };
    for (let tried = 0; tried < LIMIT; tried += 1) {
      expect(await verify(ip)).toMatchObject({ retry_after: null });
    }
    const refused = await verify(ip);
    expect(refused).toEqual({
      retry_after: expect.any(Number),
      client_id: null,
      generation: null,
    });
    expect(refused.retry_after).toBeGreaterThan(1190);
    expect(refused.retry_after).toBeLessThanOrEqual(1200);
    expect(await verify(ipv4())).toMatchObject({ retry_after: null });
  });

  test("is also what the public's requests are counted by", async () => {
    const [connection] = parallelConnections(1) as [typeof sql];
    const ask = (ip: string) =>
      connection.begin(async (tx) => {
        await tx`select
          set_config('request.jwt.claims', '{"role": "anon"}', true),
          set_config('request.headers', ${JSON.stringify({ "cf-connecting-ip": ip })}, true)`;
        await tx`select private.check_request()`;
      });
    const network = ipv6Network();
    // The first of a connection passes uncounted.
    await ask(`${ipv6Network()}::1`);
    for (const ip of [`${network}::1`, `${network}:1:2:3:4`, `${ipv6Network()}::1`]) await ask(ip);
    await connection`select private.drain_request_counter()`;
    const counted = await sql`
      select key from private.request_counters where key like ${`ip ${network}:%`}`;
    expect(counted).toHaveLength(1);
  });

  test("that nobody names is one network, not a way around the limit", async () => {
    const [row] = await sql`select private.network_of(null) as network`;
    expect(row?.network).toBe("");
  });
});
