import { beforeAll, describe, expect, test } from "vitest";
import { localKeys } from "../local/keys.ts";
import { request, signToken } from "./support/callers.ts";
import { createProfessional, createService, type Professional } from "./support/factories.ts";
import { stack } from "./support/stack.ts";

let owner: Professional;

beforeAll(async () => {
  owner = await createProfessional();
  await createService(owner);
});

const KEYS = ["code", "details", "hint", "message"];

interface Answer {
  status: number;
  code: string;
}

async function refusal(response: Response): Promise<Answer> {
  const body = await response.json();
  expect(Object.keys(body).sort()).toEqual(KEYS);
  return { status: response.status, code: body.code };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

const read = (token: string) => request("/rest/v1/services?select=id", { token });

describe("a token that", () => {
  test("is the owner's own reads the own rows", async () => {
    const response = await read(owner.token);
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveLength(1);
  });

  test.each([
    ["has alg none", () => `${encode({ alg: "none", typ: "JWT" })}.${encode(owner.claims)}.`],
    ["has alg None", () => `${encode({ alg: "None", typ: "JWT" })}.${encode(owner.claims)}.`],
    ["has no signature", () => owner.token.replace(/[^.]+$/, "")],
    ["is signed with another secret", () => signToken(owner.claims, "x".repeat(40))],
    [
      "is signed with the public key",
      () => signToken(owner.claims, stack.publishableKey.padEnd(40)),
    ],
    [
      "has the payload of somebody else",
      async () => {
        const [header, , signature] = owner.token.split(".");
        return [header, encode({ ...owner.claims, role: "service_role" }), signature].join(".");
      },
    ],
    ["is no JWT", () => "nonsense"],
    ["has two parts", () => owner.token.split(".").slice(0, 2).join(".")],
    ["has four parts", () => `${owner.token}.${owner.token}`],
    ["has a header that is no JSON", () => `AAAA.${owner.token.split(".").slice(1).join(".")}`],
  ])("%s is refused with 401 PGRST301", async (_what, make) => {
    const response = await read(await make());
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/);
    expect(await refusal(response)).toEqual({ status: 401, code: "PGRST301" });
  });

  test.each([
    ["expired a minute ago", { exp: -60 }],
    ["expired a year ago", { exp: -31_536_000 }],
    ["is not valid yet", { nbf: 60 }],
    ["comes from the future", { iat: 60 }],
  ])("%s is refused with 401 PGRST303", async (_what, offsets) => {
    const now = Math.floor(Date.now() / 1000);
    const times = Object.entries(offsets).map(([claim, offset]) => [claim, now + offset]);
    const token = await signToken({ ...owner.claims, ...Object.fromEntries(times) });
    expect(await refusal(await read(token))).toEqual({ status: 401, code: "PGRST303" });
  });

  test.each([
    ["a text", "tomorrow"],
    ["true", true],
    ["a list", []],
  ])("has an expiry that is %s is refused with 401 PGRST303", async (_what, exp) => {
    const token = await signToken({ ...owner.claims, exp });
    expect(await refusal(await read(token))).toEqual({ status: 401, code: "PGRST303" });
  });

  test.each([
    "postgres",
    "supabase_admin",
    "supabase_auth_admin",
    "authenticator",
    "pg_read_all_data",
  ])("takes the role %s, signed with the right secret, is refused", async (role) => {
    const token = await signToken({ ...owner.claims, role });
    for (const path of ["services?select=id", "profiles?select=id"]) {
      const response = await request(`/rest/v1/${path}`, { token });
      expect(await refusal(response)).toEqual({ status: 403, code: "42501" });
    }
  });

  test("takes a role that does not exist is refused with 401", async () => {
    const token = await signToken({ ...owner.claims, role: "nobody_knows" });
    expect(await refusal(await read(token))).toEqual({ status: 401, code: "22023" });
  });

  test.each(['none"; reset role; --', "anon, postgres", "ANON", ""])(
    "takes the role %j is refused and does nothing",
    async (role) => {
      const token = await signToken({ ...owner.claims, role });
      const { status } = await read(token);
      expect([400, 401, 403]).toContain(status);
    },
  );

  test("has no role is the public's", async () => {
    const { role: _, ...claims } = owner.claims;
    const response = await request("/rest/v1/profiles?select=id", {
      token: await signToken(claims),
    });
    expect(await refusal(response)).toEqual({ status: 401, code: "42501" });
  });

  test.each([
    ["no subject", { sub: undefined }],
    ["the subject of nobody", { sub: "00000000-0000-4000-8000-000000000000" }],
  ])("has %s sees nothing", async (_what, claims) => {
    const response = await read(await signToken({ ...owner.claims, ...claims }));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual([]);
  });

  test.each([
    ["a subject that is no uuid", { sub: "1 or 1=1" }],
    ["a session that is no uuid", { session_id: "1 or 1=1" }],
  ])("has %s gets a 4xx", async (_what, claims) => {
    const response = await read(await signToken({ ...owner.claims, ...claims }));
    expect(await refusal(response)).toEqual({ status: 400, code: "22P02" });
  });

  test("names a session that never was is refused", async () => {
    const session_id = "00000000-0000-4000-8000-000000000000";
    const response = await read(await signToken({ ...owner.claims, session_id }));
    expect(await refusal(response)).toEqual({ status: 401, code: "session_not_found" });
  });
});

describe("API keys", () => {
  // The well-known keys of every local stack, unless the environment names others.
  const legacy = async (role: "anon" | "service_role") => {
    const { ANON_KEY, SERVICE_ROLE_KEY } = await localKeys();
    return role === "anon"
      ? (process.env.ANON_KEY ?? ANON_KEY)
      : (process.env.SERVICE_ROLE_KEY ?? SERVICE_ROLE_KEY);
  };

  async function get(path: string, headers: Record<string, string>) {
    return fetch(`${stack.apiUrl}${path}`, { headers });
  }

  test.each(["/rest/v1/services?select=id", "/rest/v1/profiles", "/rest/v1/", "/auth/v1/user"])(
    "%s without one is 401",
    async (path) => {
      const response = await get(path, { authorization: `Bearer ${owner.token}` });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ message: expect.any(String) });
    },
  );

  test.each(["nonsense", "sb_publishable_nonsense", "sb_secret_", "' or 1=1 --"])(
    "the key %s is 401",
    async (apikey) => {
      const response = await get("/rest/v1/services?select=id", {
        apikey,
        authorization: `Bearer ${owner.token}`,
      });
      expect(response.status).toBe(401);
    },
  );

  test("an access token is no key", async () => {
    expect((await get("/rest/v1/services", { apikey: owner.token })).status).toBe(401);
  });

  describe.each(["publishable", "legacy anon"])("the %s key", (generation) => {
    const key = async () => (generation === "publishable" ? stack.publishableKey : legacy("anon"));

    test("alone is the public's", async () => {
      const apikey = await key();
      expect((await get("/rest/v1/services?select=id&limit=1", { apikey })).status).toBe(200);
      expect((await get("/rest/v1/profiles?select=id", { apikey })).status).toBe(401);
    });

    test("as key and bearer is the public's", async () => {
      const apikey = await key();
      const headers = { apikey, authorization: `Bearer ${apikey}` };
      expect((await get("/rest/v1/services?select=id&limit=1", headers)).status).toBe(200);
      expect((await get("/rest/v1/profiles?select=id", headers)).status).toBe(401);
    });

    test("with a professional's token is the professional", async () => {
      const headers = { apikey: await key(), authorization: `Bearer ${owner.token}` };
      const response = await get("/rest/v1/profiles?select=id", headers);
      expect(await response.json()).toEqual([{ id: owner.id }]);
    });
  });

  describe.each(["secret", "legacy service_role"])("the %s key", (generation) => {
    const key = async () => (generation === "secret" ? stack.secretKey : legacy("service_role"));
    const path = () => `/rest/v1/profiles?select=tier&id=eq.${owner.id}`;

    test("as key and bearer is the server", async () => {
      const apikey = await key();
      const response = await get(path(), { apikey, authorization: `Bearer ${apikey}` });
      expect(await response.json()).toEqual([{ tier: "ultra" }]);
    });

    test("with a professional's token is no more than the professional", async () => {
      const other = await createProfessional();
      const headers = { apikey: await key(), authorization: `Bearer ${other.token}` };
      const response = await get(path(), headers);
      expect(await response.json()).toEqual([]);
    });
  });

  test("the secret key alone is the server", async () => {
    const response = await get(`/rest/v1/profiles?select=tier&id=eq.${owner.id}`, {
      apikey: stack.secretKey,
    });
    expect(await response.json()).toEqual([{ tier: "ultra" }]);
  });

  test("the secret key is refused in a browser", async () => {
    const response = await get("/rest/v1/profiles?select=id", {
      apikey: stack.secretKey,
      "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
    });
    expect(response.status).toBe(401);
  });

  test("the key may also stand in the query", async () => {
    const response = await get(
      `/rest/v1/services?select=id&limit=1&apikey=${stack.publishableKey}`,
      {},
    );
    expect(response.status).toBe(200);
  });
});
