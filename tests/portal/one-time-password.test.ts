import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { request, server } from "../support/callers.ts";
import { sql } from "../support/database.ts";
import {
  createClientRow,
  createPortalSession,
  createProfessional,
  type Professional,
  type Row,
} from "../support/factories.ts";
import {
  addressOf,
  ageRequests,
  codeIn,
  INVALID_OTP,
  mailsTo,
  outcome,
  type PortalAddress,
  receiveCode,
  sendCode,
  signIn,
  verifyCode,
  waitForMails,
  wrongCode,
} from "../support/portal.ts";

let professional: Professional;

beforeAll(async () => {
  professional = await createProfessional({ time_zone: "Europe/Rome", currency: "CHF" });
});

async function newClient(email = `marta-${randomUUID()}@example.com`): Promise<Row<"clients">> {
  return createClientRow(professional, { email });
}

async function newAddress(): Promise<PortalAddress> {
  return addressOf(await newClient());
}

const codeRow = (client: { id: string }) =>
  sql`select * from private.portal_codes where client_id = ${client.id}`.then(([row]) => row);

const liveSessions = async (clientId: string): Promise<number> => {
  const [row] = await sql`
    select count(*)::integer as sessions from private.portal_sessions where client_id = ${clientId}`;
  return row?.sessions;
};

describe("signing in", () => {
  test("a mailed code becomes a session of an hour, with who and where", async () => {
    const client = await newClient();
    const code = await receiveCode(addressOf(client));
    const before = Math.floor(Date.now() / 1000);
    const response = await verifyCode(addressOf(client), code);
    expect(response.status).toBe(200);
    const session = await response.json();
    expect(session).toEqual({
      access_token: expect.any(String),
      token_type: "bearer",
      expires_in: 3600,
      expires_at: expect.any(Number),
      client: { id: client.id, name: client.name, email: client.email },
      professional: {
        id: professional.id,
        full_name: "Ana Bianchi",
        username: expect.any(String),
        time_zone: "Europe/Rome",
        currency: "CHF",
      },
    });
    // The database's clock and this one may differ by a little.
    expect(Math.abs(session.expires_at - before - 3600)).toBeLessThan(10);
    const claims = JSON.parse(
      Buffer.from(session.access_token.split(".")[1], "base64url").toString(),
    );
    expect(claims).toEqual({
      role: "portal_client",
      sub: client.id,
      professional_id: professional.id,
      email: client.email,
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      aud: "portal",
      iat: session.expires_at - 3600,
      exp: session.expires_at,
    });
  });

  test("the mail comes from the service, names the professional and has the code in both forms", async () => {
    const { email, professionalId } = await newAddress();
    const code = await receiveCode({ email, professionalId });
    const [mail] = await mailsTo(email);
    expect(mail?.To.map(({ Address }) => Address)).toEqual([email]);
    expect(mail?.Subject).toContain("Ana Bianchi");
    expect(mail?.Text).toContain(code);
    expect(mail?.HTML).toContain(code);
  });

  test("only a hash is stored, and none once the code is used", async () => {
    const client = await newClient();
    const code = await receiveCode(addressOf(client));
    const stored = await codeRow(client);
    expect(stored?.code_hmac).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(JSON.stringify(stored)).not.toContain(code);
    await verifyCode(addressOf(client), code);
    expect((await codeRow(client))?.code_hmac).toBeNull();
  });
});

describe("a code works once", () => {
  test("a used code is refused", async () => {
    const address = await newAddress();
    const code = await receiveCode(address);
    expect((await verifyCode(address, code)).status).toBe(200);
    expect(await outcome(await verifyCode(address, code))).toEqual(INVALID_OTP);
  });

  test("twenty parallel verifications of the right code make one session", async () => {
    const client = await newClient();
    const code = await receiveCode(addressOf(client));
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => verifyCode(addressOf(client), code)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);
    expect(await liveSessions(client.id)).toBe(1);
  });
});

describe("the newest code counts", () => {
  test("a second code ends the first", async () => {
    const address = await newAddress();
    const first = await receiveCode(address);
    const second = await receiveCode(address);
    // One time in a million they are the same.
    if (first !== second) {
      expect(await outcome(await verifyCode(address, first))).toEqual(INVALID_OTP);
    }
    expect((await verifyCode(address, second)).status).toBe(200);
  });

  test("of two asked for at once, one of the mailed codes works and only one", async () => {
    const client = await newClient();
    const address = addressOf(client);
    const answers = await Promise.all([sendCode(address), sendCode(address)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await codeRow(client))?.generation).toBe(2);

    // The first one's mail is not sent when the second request overtakes it.
    const tried = new Set<string>();
    let sessions = 0;
    for (let mails = 1; mails <= 2 && sessions === 0; mails += 1) {
      for (const code of (await waitForMails(address.email, mails)).map(codeIn)) {
        if (tried.has(code)) continue;
        tried.add(code);
        if ((await verifyCode(address, code)).status === 200) sessions += 1;
      }
    }
    expect(sessions).toBe(1);
    for (const code of tried) {
      expect(await outcome(await verifyCode(address, code))).toEqual(INVALID_OTP);
    }
  });
});

describe("guessing", () => {
  async function guess(address: PortalAddress, code: string, times: number): Promise<void> {
    for (let by = 1; by <= times; by += 1) {
      expect(await outcome(await verifyCode(address, wrongCode(code, by)))).toEqual(INVALID_OTP);
    }
  }

  test("after five wrong codes the right one is refused", async () => {
    const address = await newAddress();
    const code = await receiveCode(address);
    await guess(address, code, 5);
    expect(await outcome(await verifyCode(address, code))).toEqual(INVALID_OTP);
  });

  test("after four wrong codes the right one works", async () => {
    const address = await newAddress();
    const code = await receiveCode(address);
    await guess(address, code, 4);
    expect((await verifyCode(address, code)).status).toBe(200);
  });

  test("parallel guesses do not get more than five", async () => {
    const client = await newClient();
    const code = await receiveCode(addressOf(client));
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, by) => verifyCode(addressOf(client), wrongCode(code, by + 1))),
    );
    expect(answers.every(({ status }) => status === 401)).toBe(true);
    expect(await codeRow(client)).toMatchObject({ attempts: 5, failures: 5 });
  });

  test("four codes with five wrong guesses each lock the address for an hour, the right code too", async () => {
    const client = await newClient();
    const address = addressOf(client);
    for (let round = 1; round <= 4; round += 1) {
      await guess(address, await receiveCode(address), 5);
      await ageRequests(address, "2 hours");
    }
    const code = await receiveCode(address);
    expect(await outcome(await verifyCode(address, code))).toEqual(INVALID_OTP);
    const [lock] = await sql`
      select extract(epoch from locked_until - now()) / 60 as minutes from private.portal_codes
      where client_id = ${client.id}`;
    expect(Number(lock?.minutes)).toBeGreaterThan(55);
    expect(Number(lock?.minutes)).toBeLessThanOrEqual(60);

    // Attempts during the lock are not counted, so the code is still good when it ends.
    await sql`update private.portal_codes set locked_until = now() where client_id = ${client.id}`;
    expect((await verifyCode(address, code)).status).toBe(200);
  });

  test("three codes do not, and a right one begins the count anew", async () => {
    const client = await newClient();
    const address = addressOf(client);
    for (let round = 1; round <= 3; round += 1) {
      await guess(address, await receiveCode(address), 5);
      await ageRequests(address, "2 hours");
    }
    const code = await receiveCode(address);
    await guess(address, code, 4);
    expect(await codeRow(client)).toMatchObject({ failures: 19, locked_until: null });
    expect((await verifyCode(address, code)).status).toBe(200);
    expect(await codeRow(client)).toMatchObject({ failures: 0, locked_until: null });
  });

  test("guesses at one client's code do not lock another's", async () => {
    const [victim, neighbour] = [await newClient(), await newAddress()];
    await receiveCode(addressOf(victim));
    await sql`
      update private.portal_codes set locked_until = now() + interval '1 hour'
      where client_id = ${victim.id}`;
    expect((await verifyCode(neighbour, await receiveCode(neighbour))).status).toBe(200);
  });
});

describe("a code expires", () => {
  const age = (client: { id: string }, minutes: number) => sql`
    update private.portal_codes set expires_at = expires_at - make_interval(mins => ${minutes})
    where client_id = ${client.id}`;

  test("eleven minutes old it is refused", async () => {
    const client = await newClient();
    const code = await receiveCode(addressOf(client));
    await age(client, 11);
    expect(await outcome(await verifyCode(addressOf(client), code))).toEqual(INVALID_OTP);
  });

  test("nine minutes old it works", async () => {
    const client = await newClient();
    const code = await receiveCode(addressOf(client));
    await age(client, 9);
    expect((await verifyCode(addressOf(client), code)).status).toBe(200);
  });
});

describe("whose code", () => {
  test("the code of one professional is refused at another, who has the same client", async () => {
    const here = await newClient();
    const other = await createProfessional();
    const there = await createClientRow(other, { email: here.email });
    const code = await receiveCode(addressOf(here));
    // There is a code to compare with there, too.
    await receiveCode(addressOf(there));
    expect(await outcome(await verifyCode(addressOf(there), code))).toEqual(INVALID_OTP);
    expect((await verifyCode(addressOf(here), code)).status).toBe(200);
  });

  test("the code of one client is refused for another of the same professional", async () => {
    const [mine, theirs] = [await newAddress(), await newAddress()];
    const [code] = [await receiveCode(mine), await receiveCode(theirs)];
    expect(await outcome(await verifyCode(theirs, code))).toEqual(INVALID_OTP);
    expect((await verifyCode(mine, code)).status).toBe(200);
  });
});

describe("spellings of an address", () => {
  test("case and outer space do not matter, to ask and to sign in; the mail goes to the stored one", async () => {
    const tag = randomUUID();
    const stored = `Ana+${tag}@Example.com`;
    const client = await newClient(stored);
    const code = await receiveCode(
      { email: `\u00a0ANA+${tag}@EXAMPLE.com `, professionalId: professional.id },
      stored,
    );
    const [mail] = await mailsTo(stored);
    expect(mail?.To).toMatchObject([{ Address: stored }]);
    const lowered = { email: stored.toLowerCase(), professionalId: professional.id };
    const response = await verifyCode(lowered, code);
    expect(response.status).toBe(200);
    expect((await response.json()).client).toMatchObject({ id: client.id, email: stored });
  });

  test("a part after + is part of the address", async () => {
    const tag = randomUUID();
    const tagged = addressOf(await newClient(`ana-${tag}+x@example.com`));
    const plain = { ...tagged, email: `ana-${tag}@example.com` };
    const code = await receiveCode(tagged);
    expect((await sendCode(plain)).status).toBe(200);
    expect(await outcome(await verifyCode(plain, code))).toEqual(INVALID_OTP);
    expect((await verifyCode(tagged, code)).status).toBe(200);
    expect(await mailsTo(plain.email)).toEqual([]);
  });

  test("an address with a Kelvin sign for its k is none, and nobody gets a mail", async () => {
    const tag = randomUUID();
    const real = addressOf(await newClient(`kate-${tag}@example.com`));
    expect(
      await outcome(await sendCode({ ...real, email: `\u212aate-${tag}@example.com` })),
    ).toEqual({
      status: 422,
      code: "validation_failed",
    });
    // A mail to whom the first one could not overtake: of the same address.
    await receiveCode(real);
    expect(await mailsTo(tag)).toHaveLength(1);
  });
});

test("a professional whose mails were stopped has no codes sent, and nobody sees the difference", async () => {
  const suspended = await createProfessional();
  const client = await createClientRow(suspended);
  await sql`
    insert into private.suspended_owners (professional_id, reason) values (${suspended.id}, 'spam')`;
  const start = async (email: string) => {
    const { data } = await server().rpc("start_portal_code", {
      professional_id: suspended.id,
      email,
      ip: "192.0.2.77",
      ip_limit: 1000,
    });
    return (data as { recipient: { client_id: string; generation: number } }).recipient;
  };
  // An id of nobody, for which no code can be kept, as for a stranger.
  const recipient = await start(client.email ?? "");
  expect(recipient.client_id).not.toBe(client.id);
  expect(Object.keys(recipient)).toEqual(Object.keys(await start(`${randomUUID()}@example.com`)));
  expect(await sql`select from private.portal_codes where client_id = ${client.id}`).toEqual([]);
});

describe("a client who is no longer one", () => {
  const changes: [
    how: string,
    change: (client: Row<"clients">) => PromiseLike<{ error: unknown }>,
  ][] = [
    [
      "archived",
      ({ id }) => professional.api.from("clients").update({ archived: true }).eq("id", id),
    ],
    ["erased", ({ id }) => professional.api.rpc("erase_client", { client_id: id })],
    ["deleted", ({ id }) => professional.api.from("clients").delete().eq("id", id)],
    [
      "under another address",
      ({ id }) =>
        professional.api
          .from("clients")
          .update({ email: `new-${randomUUID()}@example.com` })
          .eq("id", id),
    ],
    [
      "without an address",
      ({ id }) => professional.api.from("clients").update({ email: null }).eq("id", id),
    ],
  ];

  test.each(changes)(
    "%s: the code in the mailbox is refused and no other comes",
    async (_, change) => {
      const client = await newClient();
      const address = addressOf(client);
      const code = await receiveCode(address);
      expect((await change(client)).error).toBeNull();
      expect(await outcome(await verifyCode(address, code))).toEqual(INVALID_OTP);

      const known = await newAddress();
      const answer = await sendCode(address);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual(await (await sendCode(known)).json());
      await waitForMails(known.email, 1);
      expect(await mailsTo(address.email)).toHaveLength(1);
      expect(await liveSessions(client.id)).toBe(0);
    },
  );

  test("a code that went to the old address does not open the new one", async () => {
    const client = await newClient();
    const code = await receiveCode(addressOf(client));
    const email = `new-${randomUUID()}@example.com`;
    await professional.api.from("clients").update({ email }).eq("id", client.id);
    const renamed = addressOf({ ...client, email });
    expect(await outcome(await verifyCode(renamed, code))).toEqual(INVALID_OTP);
    expect((await verifyCode(renamed, await receiveCode(renamed))).status).toBe(200);
  });

  const set = (id: string, values: { archived?: boolean; email?: string }) =>
    professional.api.from("clients").update(values).eq("id", id);

  test.each<[how: string, thereAndBack: (client: Row<"clients">) => Promise<unknown>]>([
    [
      "archived and restored",
      async ({ id }) => [await set(id, { archived: true }), await set(id, { archived: false })],
    ],
    [
      "given another address and the old one again",
      async ({ id, email }) => [
        await set(id, { email: `b-${id}@example.com` }),
        await set(id, { email: email as string }),
      ],
    ],
  ])("%s: the old code stays dead, and so does the old token", async (_, thereAndBack) => {
    const client = await newClient();
    const address = addressOf(client);
    const { access_token } = await signIn(address);
    const code = await receiveCode(address);
    await thereAndBack(client);
    const { data: same } = await professional.api
      .from("clients")
      .select("email, archived")
      .eq("id", client.id)
      .single();
    expect(same).toEqual({ email: client.email, archived: false });

    expect(await outcome(await verifyCode(address, code))).toEqual(INVALID_OTP);
    expect(
      await outcome(await request("/rest/v1/clients?select=id", { token: access_token })),
    ).toEqual({ status: 401, code: "session_not_found" });

    // What is asked for now counts, and wakes nothing old.
    const again = await signIn(address);
    expect(
      (await request("/rest/v1/clients?select=id", { token: again.access_token })).status,
    ).toBe(200);
    expect((await request("/rest/v1/clients?select=id", { token: access_token })).status).toBe(401);
  });

  test("unarchived, the client may sign in again", async () => {
    const client = await newClient();
    await set(client.id, { archived: true });
    await set(client.id, { archived: false });
    expect((await signIn(addressOf(client))).client.id).toBe(client.id);
  });
});

test("a new sign-in leaves the client's other sessions alone", async () => {
  const client = await newClient();
  const first = await createPortalSession(client);
  await signIn(addressOf(client));
  const { error } = await first.api.from("clients").select("id").single();
  expect(error).toBeNull();
});
