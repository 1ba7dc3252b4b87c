/** Keys of a professional's own programs: exchanging, what they may do, and how they end. */
import { createHash, randomUUID } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { request, server, signToken } from "./support/callers.ts";
import { type Claims, parallelConnections, raised, rolledBack, sql } from "./support/database.ts";
import {
  createClientRow,
  createPortalSession,
  createProfessional,
  createService,
  type Professional,
} from "./support/factories.ts";
import { type Access, createKey, createProgram, exchange, type Program } from "./support/keys.ts";
import { TABLES } from "./support/permissions.ts";
import { stack } from "./support/stack.ts";
import { type Endpoint, refusalOf, subscribe, webhooks } from "./support/webhooks.ts";

const INVALID = { status: 401, code: "invalid_api_key", details: null };
const ENDED = { status: 401, code: "session_not_found", details: null };
const READ_ONLY = { status: 403, code: "key_is_read_only", details: null };
const PERSON = { status: 403, code: "person_required", details: null };

let ana: Professional;
let reader: Program;
let writer: Program;
let endpoint: Endpoint;

beforeAll(async () => {
  ana = await createProfessional();
  [reader, writer] = await Promise.all([createProgram(ana, "read"), createProgram(ana, "write")]);
  endpoint = await subscribe(ana, { url: "http://127.0.0.1:9/", enabled: false });
});

const read = (token: string) => request("/rest/v1/services?select=id", { token });
const rpc = (token: string, name: string, args: object = {}) =>
  request(`/rest/v1/rpc/${name}`, { method: "POST", token, body: JSON.stringify(args) });

/** `code` of a failed call, null of one that succeeded. */
const code = ({ error }: { error: { code: string } | null }) => error?.code ?? null;
const listed = async (professional: Professional) => {
  const { data } = await professional.api.rpc("api_keys");
  return (data as { data: Record<string, unknown>[] }).data;
};

/** A key as it is made: a checksum of eight digits ends it. */
const checked = (random: string) =>
  random + createHash("sha256").update(random).digest("hex").slice(0, 8);

/** Four digits of an address. */
const int4 = () =>
  randomUUID()
    .slice(0, 4)
    .replace(/^0+(?=.)/, "");

describe("a key", () => {
  test("is shown once, and kept as a digest", async () => {
    const eva = await createProfessional();
    const { id, key } = await createKey(eva, "write");
    expect(key).toMatch(/^sac_[0-9a-f]{72}$/);
    expect(key).toBe(checked(key.slice(0, -8)));
    const [row] = await sql`select * from private.api_keys where id = ${id}`;
    expect(row).toMatchObject({ professional_id: eva.id, access: "write", last_used_on: null });
    expect(row?.key_digest.toString("hex")).toBe(createHash("sha256").update(key).digest("hex"));
    expect(JSON.stringify(await listed(eva))).not.toContain(key.slice(4, 20));
  });

  test("is listed with what it may do and when it was last used, until it is revoked", async () => {
    const eva = await createProfessional();
    const { id, key } = await createKey(eva, "read", "2100-01-01T00:00:00+01:00");
    const second = await createKey(eva, "write");
    const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const first = {
      id,
      name: "may read",
      access: "read",
      created_at,
      expires_at: "2099-12-31T23:00:00.000Z",
      last_used_on: null,
    };
    expect(await listed(eva)).toEqual([
      first,
      {
        id: second.id,
        name: "may write",
        access: "write",
        created_at,
        expires_at: null,
        last_used_on: null,
      },
    ]);
    expect((await exchange(key)).status).toBe(200);
    expect((await listed(eva))[0]).toEqual({
      ...first,
      last_used_on: new Date().toISOString().slice(0, 10),
    });
    expect((await eva.api.rpc("revoke_api_key", { key_id: id })).data).toEqual({ id });
    expect((await listed(eva)).map((one) => one.id)).toEqual([second.id]);
    expect((await ana.api.rpc("api_keys")).data).not.toMatchObject({ data: [{ id: second.id }] });
  });

  test.each<[string, Record<string, unknown>, string, string[] | null]>([
    ["no name", { name: null }, "validation_failed", ["name"]],
    ["a blank name", { name: " \u00a0" }, "validation_failed", ["name"]],
    ["a name of 101 characters", { name: "x".repeat(101) }, "validation_failed", ["name"]],
    ["another access", { access: "admin" }, "validation_failed", ["access"]],
    ["no access", { access: null }, "validation_failed", ["access"]],
    [
      "an end in the past",
      { expires_at: "2020-01-01T00:00:00Z" },
      "validation_failed",
      ["expires_at"],
    ],
    ["an end without an offset", { expires_at: "2100-01-01T00:00:00" }, "invalid_time", null],
  ])("with %s is refused", async (_what, values, expected, fields) => {
    const args = { name: "x".repeat(100), access: "read", expires_at: null };
    const refused = await refusalOf(rpc(ana.token, "create_api_key", { ...args, ...values }));
    expect(refused).toMatchObject({ status: 422, code: expected });
    if (fields) expect(refused.details).toEqual({ fields });
    expect((await rpc(ana.token, "create_api_key", args)).status).toBe(200);
  });

  test("is one of at most twenty that are not revoked, however many are made at once", async () => {
    const eva = await createProfessional();
    const attempt = () => rpc(eva.token, "create_api_key", { name: "x", access: "read" });
    for (let i = 0; i < 18; i++) expect((await attempt()).status).toBe(200);
    const statuses = await Promise.all(
      Array.from({ length: 4 }, async () => (await attempt()).status),
    );
    expect(statuses.sort()).toEqual([200, 200, 422, 422]);
    expect(await refusalOf(attempt())).toMatchObject({ status: 422, code: "too_many_keys" });
    const [{ id } = { id: "" }] = (await listed(eva)) as { id: string }[];
    await eva.api.rpc("revoke_api_key", { key_id: id });
    expect((await attempt()).status).toBe(200);
  });

  test("goes with the account, and thirty days after its end", async () => {
    const eva = await createProfessional();
    const make = async ({
      revoked_at = null,
      expires_at = null,
    }: Partial<Record<string, Date | null>> = {}) => {
      const { id } = await createKey(eva, "read");
      await sql`update private.api_keys set ${sql({ revoked_at, expires_at })} where id = ${id}`;
      return id;
    };
    const days = (count: number) => new Date(Date.now() - count * 86_400_000);
    await make({ revoked_at: days(31) });
    await make({ expires_at: days(31) });
    const kept = [
      await make({ revoked_at: days(29) }),
      await make({ expires_at: days(29) }),
      await make(),
    ];
    await sql`select private.forget_api_keys()`;
    const left = await sql`select id from private.api_keys where professional_id = ${eva.id}`;
    expect(left.map(({ id }) => id).sort()).toEqual(kept.sort());
    await sql`delete from auth.users where id = ${eva.id}`;
    expect(await sql`select from private.api_keys where id in ${sql(kept)}`).toHaveLength(0);
  });
});

describe("exchanging", () => {
  test("makes a token of a quarter of an hour for the professional, whose session is the key", async () => {
    const response = await exchange(writer.key);
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const answer = (await response.json()) as Record<string, unknown>;
    expect(answer).toEqual({
      access_token: expect.any(String),
      token_type: "bearer",
      expires_in: 900,
    });
    const claims = decodeJwt(answer.access_token as string);
    expect(claims).toEqual({
      role: "authenticated",
      aud: "authenticated",
      sub: ana.id,
      session_id: writer.id,
      iat: expect.any(Number),
      exp: (claims.iat as number) + 900,
    });
    expect(decodeProtectedHeader(answer.access_token as string)).toEqual({
      alg: "HS256",
      typ: "JWT",
    });
    expect((await read(answer.access_token as string)).status).toBe(200);
  });

  test("gives no more time than the key has left", async () => {
    const { key } = await createKey(ana, "read", new Date(Date.now() + 100_500).toISOString());
    const { expires_in } = (await (await exchange(key)).json()) as { expires_in: number };
    expect(expires_in).toBeGreaterThan(90);
    expect(expires_in).toBeLessThanOrEqual(101);
  });

  const flipped = (key: string, at: number) =>
    key.slice(0, at) + (key[at] === "0" ? "1" : "0") + key.slice(at + 1);
  test.each<[string, (key: string) => string]>([
    ["forged, with a right checksum", () => checked(`sac_${"0".repeat(64)}`)],
    ["mistyped", (key) => flipped(key, 10)],
    ["with another checksum", (key) => flipped(key, key.length - 1)],
    ["truncated", (key) => key.slice(0, -1)],
    ["in capitals", (key) => key.toUpperCase()],
    ["with something behind it", (key) => `${key}0`],
    [
      "the digest of itself",
      (key) => checked(`sac_${createHash("sha256").update(key).digest("hex")}`),
    ],
    ["a token", () => writer.token],
    ["the publishable key", () => stack.publishableKey],
  ])("refuses one that is %s", async (_what, change) => {
    const response = await exchange(change(writer.key));
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await refusalOf(Promise.resolve(response))).toEqual(INVALID);
    expect((await exchange(writer.key)).status).toBe(200);
  });

  test("refuses none at all, and other methods", async () => {
    expect(await refusalOf(request("/functions/v1/token", { method: "POST" }))).toEqual(INVALID);
    expect(await refusalOf(request("/functions/v1/token", { token: writer.key }))).toMatchObject({
      status: 405,
      code: "method_not_allowed",
    });
  });

  test.each<[string, (id: string, owner: string) => Promise<unknown>]>([
    ["revoked", (id) => sql`update private.api_keys set revoked_at = now() where id = ${id}`],
    ["expired", (id) => sql`update private.api_keys set expires_at = now() where id = ${id}`],
    ["deleted", (id) => sql`delete from private.api_keys where id = ${id}`],
    [
      "whose owner is banned",
      (_, owner) =>
        sql`update auth.users set banned_until = now() + interval '1 hour' where id = ${owner}`,
    ],
    [
      "whose owner is marked as deleted",
      (_, owner) => sql`update auth.users set deleted_at = now() where id = ${owner}`,
    ],
    ["whose owner is gone", (_, owner) => sql`delete from auth.users where id = ${owner}`],
  ])("refuses a key that is %s, and its token ends with the next request", async (_what, end) => {
    const eva = await createProfessional();
    const program = await createProgram(eva, "write");
    expect((await read(program.token)).status).toBe(200);
    await end(program.id, eva.id);
    expect(await refusalOf(exchange(program.key))).toEqual(INVALID);
    expect(await refusalOf(read(program.token))).toEqual(ENDED);
    expect(await refusalOf(webhooks(program, "/endpoints"))).toEqual(ENDED);
    expect(await refusalOf(rpc(program.token, "authorize_action"))).toEqual(ENDED);
  });

  test("takes a key again whose owner's ban is over", async () => {
    const eva = await createProfessional();
    const program = await createProgram(eva, "write");
    await sql`update auth.users set banned_until = now() - interval '1 s' where id = ${eva.id}`;
    expect((await exchange(program.key)).status).toBe(200);
    expect((await read(program.token)).status).toBe(200);
  });

  /** When the budget of a counter will be full again; null for one that was not used. */
  const fullAt = async (key: string) => {
    const [row] = await sql<{ full_at: Date }[]>`
      select full_at from private.request_counters where key = ${key}`;
    return row?.full_at.getTime() ?? null;
  };
  const useUp = (key: string) => sql`
    insert into private.request_counters (key, full_at)
    values (${key}, clock_timestamp() + interval '1 minute')
    on conflict (key) do update set full_at = excluded.full_at`;

  test("is limited per network, whether or not the key is one", async () => {
    const { key } = await createKey(ana, "read");
    const digest = createHash("sha256").update(key).digest("hex");
    const network = `2001:db8:${int4()}:1`;
    const counter = `key exchange ${network}:: 30`;
    const ask = async (key_digest: string, from: string) => {
      const args = { key_digest, ip: `${network}::${from}`, ip_limit: 30 };
      const { data, error } = await server().rpc("exchange_api_key", args);
      expect(error).toBeNull();
      return data as { retry_after: number | null; session: object | null };
    };
    expect((await ask(digest, "1")).session).not.toBeNull();
    const first = await fullAt(counter);
    expect(await ask("0".repeat(64), "2")).toEqual({ retry_after: null, session: null });
    expect(await fullAt(counter)).toBeGreaterThan(first ?? Number.POSITIVE_INFINITY);
    await useUp(counter);
    const limited = await ask(digest, "3");
    expect(limited).toEqual({ retry_after: expect.any(Number), session: null });
    expect(limited.retry_after).toBeGreaterThanOrEqual(1);
  });

  test("is limited per key, to twenty a minute", async () => {
    const { id, key } = await createKey(ana, "read");
    const counter = `key exchange of ${id}`;
    await exchange(checked(`sac_${"0".repeat(64)}`));
    expect(await fullAt(counter)).toBeNull();
    await sql`
      insert into private.request_counters (key, full_at)
      values (${counter}, clock_timestamp() + interval '40 s')`;
    const before = await fullAt(counter);
    expect((await exchange(key)).status).toBe(200);
    expect(await fullAt(counter)).toBe((before ?? 0) + 3_000);

    await useUp(counter);
    const response = await exchange(key);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(await refusalOf(Promise.resolve(response))).toMatchObject({
      status: 429,
      code: "rate_limit_exceeded",
    });
    expect((await exchange(writer.key)).status).toBe(200);
  });
});

describe("a token of somebody else's key", () => {
  test("is refused: the session is another professional's", async () => {
    const ivo = await createProfessional();
    const claims = { ...ivo.claims, session_id: writer.id };
    expect(await refusalOf(read(await signToken(claims)))).toEqual(ENDED);
    expect((await read(await signToken({ ...claims, sub: ana.id }))).status).toBe(200);
  });

  test("sees and revokes nothing of another professional", async () => {
    const ivo = await createProfessional();
    const program = await createProgram(ivo, "write");
    await createService(ana);
    expect(await (await read(program.token)).json()).toEqual([]);
    expect(await refusalOf(rpc(ivo.token, "revoke_api_key", { key_id: writer.id }))).toEqual({
      status: 404,
      code: "PGRST301",
      details: null,
    });
    expect((await ivo.api.rpc("revoke_api_keys")).data).toEqual({ revoked: 1 });
    expect((await read(writer.token)).status).toBe(200);
    expect(await refusalOf(read(program.token))).toEqual(ENDED);
  });
});

describe("on the auth service a key's token", () => {
  test.each<[string, string, object?]>([
    ["GET", "user"],
    ["PUT", "user", { password: "another password" }],
    ["PUT", "user", { email: "another@example.com" }],
    ["GET", "reauthenticate"],
    ["POST", "logout"],
    ["POST", "logout?scope=others"],
    ["POST", "factors", { factor_type: "totp" }],
  ])("is 403: %s %s", async (method, path, body) => {
    const call = (token: string) =>
      request(`/auth/v1/${path}`, {
        method,
        token,
        ...(body && { body: JSON.stringify(body) }),
      });
    const response = await call(writer.token);
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error_code: "session_not_found" });
    const eva = await createProfessional();
    expect((await call(eva.token)).status).not.toBe(403);
  });
});

describe("with a key of either kind", () => {
  const calls: [string, (token: string) => Promise<Response>][] = [
    ["making a key", (token) => rpc(token, "create_api_key", { name: "x", access: "read" })],
    ["listing keys", (token) => rpc(token, "api_keys")],
    ["revoking a key", (token) => rpc(token, "revoke_api_key", { key_id: randomUUID() })],
    ["revoking all keys", (token) => rpc(token, "revoke_api_keys")],
    ["what wants a person", (token) => rpc(token, "authorize_action", { by_person: true })],
    [
      "making an endpoint",
      (token) =>
        rpc(token, "create_webhook_endpoint", { url: "https://example.com", events: ["*"] }),
    ],
    [
      "rotating a secret",
      (token) => rpc(token, "rotate_webhook_secret", { endpoint_id: endpoint.id }),
    ],
    [
      "making a calendar feed",
      (token) => rpc(token, "create_calendar_feed", { name: "Phone", detail: "busy" }),
    ],
    [
      "making an endpoint by its route",
      (token) =>
        webhooks({ token }, "/endpoints", {
          method: "POST",
          body: { url: "https://nowhere.invalid/", events: ["*"] },
        }),
    ],
    [
      "rotating a secret by its route",
      (token) => webhooks({ token }, `/endpoints/${endpoint.id}/rotate-secret`, { method: "POST" }),
    ],
  ];
  test.each(calls)("%s is refused", async (what, call) => {
    expect(await refusalOf(call(writer.token))).toEqual(PERSON);
    expect(await refusalOf(call(reader.token))).toEqual(
      what === "listing keys" ? PERSON : READ_ONLY,
    );
    expect(["person_required", "key_is_read_only"]).not.toContain(
      (await (await call((await createProfessional()).token)).text()).match(/"code":"(\w+)"/)?.[1],
    );
  });

  test("nor does a token without a session do what wants a person", async () => {
    const { session_id: _, ...claims } = ana.claims;
    expect(await refusalOf(rpc(await signToken(claims), "api_keys"))).toEqual(PERSON);
  });
});

interface Rpc {
  name: string;
  volatile: boolean;
  arguments: { name: string; type: string }[];
}

/** The RPCs that a professional may call, as the catalogue has them. */
function rpcs(): Promise<Rpc[]> {
  return sql<Rpc[]>`
    select p.proname as name, p.provolatile = 'v' as volatile, coalesce(
      (
        select jsonb_agg(jsonb_build_object('name', a.name, 'type', t.typname) order by a.place)
        from unnest(p.proargnames, p.proargtypes::oid[]) with ordinality as a (name, type, place)
        join pg_type t on t.oid = a.type
      ),
      '[]'
    ) as arguments
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and has_function_privilege('authenticated', p.oid, 'execute')
      and not exists (
        select from unnest(p.proargtypes::oid[]) as type
        join pg_type t on t.oid = type where t.typtype = 'c'
      )
    order by p.proname`;
}

const SAMPLES: Record<string, unknown> = {
  uuid: randomUUID(),
  int4: 1,
  int8: 1,
  numeric: 1,
  bool: false,
  jsonb: {},
  _text: ["x"],
  date: "2030-01-01",
};

describe("a key that only reads", () => {
  test("calls every RPC that only reads, and none that may write", async () => {
    const all = await rpcs();
    expect(all.filter(({ volatile }) => volatile).length).toBeGreaterThan(15);
    for (const { name, volatile, arguments: list } of all) {
      const args = Object.fromEntries(list.map((one) => [one.name, SAMPLES[one.type] ?? "x"]));
      const response = await rpc(reader.token, name, args);
      const { code: found } = response.ok
        ? { code: null }
        : ((await response.json()) as { code: string });
      expect([name, found === "key_is_read_only"]).toEqual([name, volatile]);
      // A write in a transaction that may not would be 405.
      expect([name, [403, 405].includes(response.status)]).toEqual([
        name,
        volatile || found === "person_required",
      ]);
    }
  });

  test.each(TABLES)("reads %s, and writes none of it", async (table) => {
    const path = `/rest/v1/${table}?id=eq.${randomUUID()}`;
    expect((await request(path, { token: reader.token })).status).toBe(200);
    expect((await request(path, { token: reader.token, method: "HEAD" })).status).toBe(200);
    const columns: Record<string, object> = {
      profiles: { bio: "x" },
      bookings: { notes: "x" },
      orders: { notes: "x" },
    };
    const body = JSON.stringify(columns[table] ?? { name: "x" });
    for (const method of ["POST", "PATCH", "DELETE"]) {
      const call = (token: string) =>
        refusalOf(
          request(path, {
            token,
            method,
            ...(method !== "DELETE" && { body }),
            headers: { Prefer: "return=representation" },
          }).then((response) =>
            response.ok ? Response.json({ code: "none", details: null }) : response,
          ),
        );
      expect([method, await call(reader.token)]).toEqual([method, READ_ONLY]);
      expect([method, (await call(writer.token)).code]).not.toEqual([method, "key_is_read_only"]);
    }
  });

  test("is stopped before anything of a function's route, and reads by the others", async () => {
    const id = endpoint.id;
    const delivery = randomUUID();
    // Nothing is checked of it: this host would be 422 url_not_allowed.
    const url = "https://nowhere.invalid/";
    const writes: [string, string, object?][] = [
      ["POST", "/endpoints", { url, events: ["*"] }],
      ["PATCH", `/endpoints/${id}`, { url }],
      ["PATCH", `/endpoints/${id}`, { description: "x" }],
      ["DELETE", `/endpoints/${id}`],
      ["POST", `/endpoints/${id}/rotate-secret`],
      ["POST", `/endpoints/${id}/test`],
      ["POST", `/endpoints/${id}/redeliver`, { since: "2027-01-01T00:00:00Z" }],
      ["POST", `/deliveries/${delivery}/redeliver`],
    ];
    for (const [method, path, body] of writes) {
      const refused = await refusalOf(webhooks(reader, path, { method, body }));
      expect([method, path, refused]).toEqual([method, path, READ_ONLY]);
    }
    for (const path of ["/endpoints", `/endpoints/${id}`, "/deliveries", "/events"]) {
      expect([path, (await webhooks(reader, path)).status]).toEqual([path, 200]);
    }
    expect(
      await refusalOf(webhooks(writer, `/endpoints/${id}`, { method: "PATCH", body: { url } })),
    ).toMatchObject({ status: 422, code: "url_not_allowed" });
    expect(
      (await webhooks(writer, `/endpoints/${id}`, { method: "PATCH", body: { description: "x" } }))
        .status,
    ).toBe(200);
  });

  test("cannot switch its transaction to writing, nor call what writes by GET", async () => {
    const response = await request("/rest/v1/rpc/authorize_action", { token: reader.token });
    expect([200, 204]).toContain(response.status);
    const service = await createService(ana, { name: "Before" });
    const get = await request(
      `/rest/v1/rpc/adjust_stock?product_id=${randomUUID()}&delta=1&reason=x`,
      { token: reader.token },
    );
    expect(get.status).toBeGreaterThanOrEqual(400);
    const { data } = await ana.api.from("services").select("name").eq("id", service.id).single();
    expect(data?.name).toBe("Before");
  });

  test("has its refusals counted as requests of the professional", async () => {
    const eva = await createProfessional({ tier: "free" });
    const program = await createProgram(eva, "read");
    await sql`
      insert into private.request_counters (key, full_at)
      values (${`professional ${eva.id} 60`}, now() + interval '1 minute')
      on conflict (key) do update set full_at = excluded.full_at`;
    expect(await refusalOf(rpc(program.token, "authorize_action"))).toMatchObject({
      status: 429,
      code: "rate_limit_exceeded",
    });
  });
});

describe("a key that writes", () => {
  test("does what the professional does, with the professional's tier", async () => {
    const eva = await createProfessional({ tier: "free" });
    const program = await createProgram(eva, "write");
    const { data, error } = await program.api
      .from("services")
      .insert({ name: "Haircut", price: 30, duration: 60 })
      .select("id, professional_id")
      .single();
    expect(error).toBeNull();
    expect(data?.professional_id).toBe(eva.id);
    expect(code(await program.api.rpc("authorize_action"))).toBeNull();
    await sql`
      insert into private.request_counters (key, full_at)
      values (${`professional ${eva.id} 60`}, now() + interval '1 minute')
      on conflict (key) do update set full_at = excluded.full_at`;
    expect((await read(program.token)).status).toBe(429);
  });

  test("outlives the professional's sessions and another password", async () => {
    const eva = await createProfessional();
    const program = await createProgram(eva, "write");
    await sql`update auth.users set encrypted_password = 'x' where id = ${eva.id}`;
    await sql`delete from auth.sessions where user_id = ${eva.id}`;
    expect(await refusalOf(read(eva.token))).toEqual(ENDED);
    expect((await read(program.token)).status).toBe(200);
    expect((await exchange(program.key)).status).toBe(200);
  });
});

describe("a token that names a key", () => {
  test("is a professional's only: no portal client has one", async () => {
    const portal = await createPortalSession(await createClientRow(ana));
    const token = await signToken({ ...portal.claims, session_id: writer.id });
    expect(await refusalOf(read(token))).toEqual(ENDED);
  });

  test("and is signed with another key is refused everywhere", async () => {
    const forged = await signToken(
      { role: "authenticated", aud: "authenticated", sub: ana.id, session_id: writer.id },
      "another-secret-of-at-least-32-characters",
    );
    expect((await read(forged)).status).toBe(401);
    expect(await refusalOf(webhooks({ token: forged }, "/endpoints"))).toMatchObject({
      status: 401,
      code: "invalid_token",
    });
  });

  test("and has expired is refused everywhere", async () => {
    const exp = Math.floor(Date.now() / 1000) - 60;
    const expired = await signToken({ ...ana.claims, session_id: writer.id, exp });
    expect((await read(expired)).status).toBe(401);
    expect((await webhooks({ token: expired }, "/endpoints")).status).toBe(401);
  });
});

describe("revoking while the key is in use", () => {
  test("lets no request begin after it: of many at once, those that began before it succeed", async () => {
    const eva = await createProfessional();
    const program = await createProgram(eva, "write");
    let revoked = false;
    const after: string[] = [];
    const use = async () => {
      for (let i = 0; i < 40; i++) {
        const began = revoked;
        const response = await rpc(program.token, "authorize_action");
        if (![204, 401].includes(response.status)) after.push(`${response.status}`);
        if (began && response.status !== 401) after.push("went on");
        await response.body?.cancel();
      }
    };
    const users = Array.from({ length: 4 }, use);
    expect((await eva.api.rpc("revoke_api_key", { key_id: program.id })).error).toBeNull();
    revoked = true;
    await Promise.all(users);
    expect(after).toEqual([]);
    expect(await refusalOf(exchange(program.key))).toEqual(INVALID);
  });

  test("does not wait for a write lock that the key's own requests keep", async () => {
    const eva = await createProfessional();
    const program = await createProgram(eva, "write");
    const [holder] = parallelConnections(1);
    await holder?.begin(async (tx) => {
      await tx`select private.lock_professional(${eva.id})`;
      expect((await eva.api.rpc("revoke_api_keys")).data).toEqual({ revoked: 1 });
    });
    expect(await refusalOf(read(program.token))).toEqual(ENDED);
  });

  test("twice keeps the first time", async () => {
    const { id } = await createKey(ana, "read");
    const revokedAt = async () => {
      const [row] = await sql`select revoked_at from private.api_keys where id = ${id}`;
      return row?.revoked_at?.getTime();
    };
    await ana.api.rpc("revoke_api_key", { key_id: id });
    const first = await revokedAt();
    expect(first).toBeTypeOf("number");
    expect((await ana.api.rpc("revoke_api_key", { key_id: id })).error).toBeNull();
    expect(await revokedAt()).toBe(first);
  });
});

describe("whether the Data API takes our tokens", () => {
  const check = (apikey: string) =>
    request("/functions/v1/token/check", { method: "POST", headers: { apikey } });

  test("is 204 for the secret key, and nobody else's to ask", async () => {
    expect((await check(stack.secretKey)).status).toBe(204);
    for (const key of [stack.publishableKey, writer.key, "x"]) {
      expect(await refusalOf(check(key))).toEqual(INVALID);
    }
  });
});

describe("behind the Data API", () => {
  test.each<[string, Access, boolean, string | null]>([
    ["a key that reads, READ ONLY", "read", true, null],
    ["a key that reads, READ WRITE", "read", false, "key_is_read_only"],
    ["a key that writes, READ WRITE", "write", false, null],
  ])("the check before each request, for %s", async (_what, access, readOnly, expected) => {
    const { id } = access === "read" ? reader : writer;
    const claims: Claims = { role: "authenticated", sub: ana.id, session_id: id };
    const run = rolledBack(async (tx) => {
      if (readOnly) await tx`set transaction read only`;
      await tx`select set_config('request.jwt.claims', ${JSON.stringify(claims)}, true),
        set_config('request.headers', '{}', true)`;
      await tx`set local role authenticated`;
      await tx`select private.check_request()`;
    });
    if (expected === null) await expect(run).resolves.toBeUndefined();
    else expect(await raised(run)).toMatchObject({ status: 403, code: expected });
  });
});
