import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import postgres, { type Sql } from "postgres";
import { afterAll, describe, expect, test } from "vitest";
import { anonymous, bearer, request } from "./support/callers.ts";
import { sql } from "./support/database.ts";
import { createProfessional } from "./support/factories.ts";
import { FUZZ } from "./support/fuzz.ts";
import { stack } from "./support/stack.ts";

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const GENERATED = /^pro-[0-9a-f]{8}$/;

/** Connects as the platform's auth service does. */
function authService(max: number): Sql {
  const url = new URL(stack.dbUrl);
  url.username = "supabase_auth_admin";
  return postgres(url.href, { max, onnotice: () => {} });
}
const auth = authService(1);
afterAll(() => auth.end());

/** What the auth service writes when somebody signs up. `metadata` is JSON text. */
async function insertUser(metadata: string | null, connection: Sql = auth): Promise<string> {
  const id = randomUUID();
  await connection`
    insert into auth.users (id, aud, email, raw_app_meta_data, raw_user_meta_data, created_at, updated_at)
    values (${id}, 'authenticated', ${`secret.address+${id}@example.com`}, '{"provider": "email"}',
      ${metadata}::text::jsonb, now(), now())`;
  return id;
}

interface Profile {
  full_name: string;
  username: string;
  niche: string | null;
  image_url: string | null;
  tier: string;
}

async function profileOf(id: string): Promise<Profile> {
  const [profile] = await sql<Profile[]>`
    select full_name, username, niche, image_url, tier from public.profiles where id = ${id}`;
  if (!profile) throw new Error("no profile");
  return profile;
}

async function profileFor(metadata: unknown): Promise<Profile> {
  return profileOf(await insertUser(JSON.stringify(metadata) ?? null));
}

describe("through the auth API", () => {
  const address = () => `secret.address+${randomUUID()}@example.com`;

  async function signUp(data?: object, email = address()) {
    const answer = await anonymous().auth.signUp({
      email,
      password: "correct horse",
      ...(data && { options: { data } }),
    });
    expect(answer.error).toBeNull();
    return answer.data;
  }

  test("a sign-up returns user and session as specified, and its token reads the new profile", async () => {
    const email = address();
    const unique = randomUUID();
    const data = { full_name: "Ana Bianchi", username: `ana-${unique}`, niche: "hairdresser" };
    const { user, session } = await signUp(data, email);
    expect(user?.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(user?.email).toBe(email);
    expect(user?.user_metadata).toMatchObject(data);
    expect(session?.expires_in).toBe(3600);
    expect(typeof session?.refresh_token).toBe("string");

    const { data: profiles } = await bearer(session?.access_token ?? "")
      .from("profiles")
      .select("*");
    expect(profiles).toEqual([
      {
        id: user?.id,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: profiles?.[0]?.created_at,
        ...data,
        bio: null,
        image_url: null,
        time_zone: "UTC",
        currency: "EUR",
        availability: {
          weekly: Object.fromEntries(
            ["mon", "tue", "wed", "thu", "fri"].map((day) => [day, [["09:00", "17:00"]]]),
          ),
          overrides: {},
        },
        accepts_bookings: false,
        accepts_orders: false,
        tax_rate: 0,
        prices_include_tax: false,
        unpaid_order_hours: 48,
        verify_public_email: false,
        payment_minutes: 45,
        orders_need_payment: false,
        tier: "free",
        language: "en",
        mail_settings: {},
        reminders: [1440],
        contact_email: null,
        contact_phone: null,
        address: null,
        public_contact: [],
        mail_footer: null,
      },
    ]);
  });

  test("without metadata the username is made up, and nothing of the address shows", async () => {
    const { user } = await signUp();
    const profile = await profileOf(user?.id ?? "");
    expect(profile).toMatchObject({ full_name: "", niche: null, image_url: null, tier: "free" });
    expect(profile.username).toMatch(GENERATED);
  });

  test("metadata of wrong types counts as none", async () => {
    const { user } = await signUp({
      full_name: 5,
      username: { a: 1 },
      niche: ["x"],
      picture: true,
    });
    const profile = await profileOf(user?.id ?? "");
    expect(profile).toMatchObject({ full_name: "", niche: null, image_url: null });
    expect(profile.username).toMatch(GENERATED);
  });

  test("values of 10 kB are cut to length", async () => {
    const long = "Ana ".repeat(2500);
    const { user } = await signUp({
      full_name: long,
      username: long,
      niche: long,
      picture: `https://example.com/${"a".repeat(10_000)}`,
    });
    const profile = await profileOf(user?.id ?? "");
    expect(profile.full_name).toHaveLength(199);
    expect(profile.niche).toHaveLength(99);
    expect(profile.username).toMatch(SLUG);
    expect(profile.username.length).toBeLessThanOrEqual(60);
    expect(profile.image_url).toBeNull();
  });

  test("emoji stay in the name and leave no trace in the username", async () => {
    const unique = randomUUID().slice(0, 8);
    const { user } = await signUp({ full_name: `🌸 Zoë ${unique} 👩‍🦰`, username: "🌸" });
    expect(await profileOf(user?.id ?? "")).toMatchObject({
      full_name: `🌸 Zoë ${unique} 👩‍🦰`,
      username: `zoe-${unique}`,
    });
  });

  test("a username that is taken gets a short suffix", async () => {
    const username = `taken-${randomUUID()}`;
    const first = await signUp({ username });
    const second = await signUp({ username });
    expect((await profileOf(first.user?.id ?? "")).username).toBe(username);
    expect((await profileOf(second.user?.id ?? "")).username).toMatch(
      new RegExp(`^${username}-[0-9a-f]{4}$`),
    );
  });

  test("a username with forbidden characters becomes a slug", async () => {
    const unique = randomUUID().slice(0, 8);
    const { user } = await signUp({ username: `  Ana_Bianchi & Söhne/${unique}!! ` });
    expect((await profileOf(user?.id ?? "")).username).toBe(`ana-bianchi-sohne-${unique}`);
  });

  test("metadata cannot set tier, id, currency or anything else", async () => {
    const other = await createProfessional();
    const { user } = await signUp({
      tier: "ultra",
      id: other.id,
      currency: "USD",
      accepts_bookings: true,
      role: "service_role",
    });
    const [profile] = await sql`
      select tier, currency, accepts_bookings from public.profiles where id = ${user?.id ?? ""}`;
    expect(profile).toEqual({ tier: "free", currency: "EUR", accepts_bookings: false });
    expect(user?.role).toBe("authenticated");
  });

  test.each([
    ["half a surrogate pair in the metadata", '{"full_name":"Ana \\ud83c"}'],
    ["metadata that is a list", "[1]"],
    ["metadata that is a string", '"x"'],
    ["a body that is cut off", '{"full_name":'],
  ])("%s is no fault of the server", async (_what, data) => {
    const body = `{"email":"${address()}","password":"correct horse","data":${data}}`;
    const response = await request("/auth/v1/signup", { method: "POST", body });
    expect(response.status).toBeLessThan(500);
    expect(await response.json()).toEqual(expect.any(Object));
  });

  test("half a surrogate pair in a name is replaced", async () => {
    const unique = randomUUID().slice(0, 8);
    const body = `{"email":"${address()}","password":"correct horse","data":{"full_name":"Ana ${unique} \\ud83c"}}`;
    const response = await request("/auth/v1/signup", { method: "POST", body });
    const { user } = await response.json();
    expect(await profileOf(user.id)).toMatchObject({
      full_name: `Ana ${unique} \ufffd`,
      username: `ana-${unique}`,
    });
  });
});

describe("as the auth service writes it", () => {
  test("OAuth metadata gives name and picture", async () => {
    const unique = randomUUID().slice(0, 8);
    const metadata = {
      iss: "https://accounts.google.com",
      email: "secret.address@example.com",
      email_verified: true,
      name: `Ana Bianchi ${unique}`,
      picture: "https://lh3.googleusercontent.com/a/photo=s96-c",
    };
    expect(await profileFor(metadata)).toMatchObject({
      full_name: metadata.name,
      username: `ana-bianchi-${unique}`,
      image_url: metadata.picture,
    });
  });

  test.each([
    ["javascript:alert(1)"],
    ["http://"],
    ['https://example.com/"><script>'],
    ["https://example.com/a b"],
    [`https://example.com/${"a".repeat(2029)}`],
    ["//example.com/a.png"],
  ])("a picture that is no web address is left out: %s", async (picture) => {
    expect((await profileFor({ picture })).image_url).toBeNull();
  });

  test("a picture of 2048 characters is kept", async () => {
    const picture = `https://example.com/${"a".repeat(2028)}`;
    expect((await profileFor({ picture })).image_url).toBe(picture);
  });

  test("full_name comes before name, and an empty one counts as none", async () => {
    const both = await profileFor({ full_name: "Ana", name: "Bea" });
    const blank = await profileFor({ full_name: " \u00a0\u200b", name: "Bea" });
    expect([both.full_name, blank.full_name]).toEqual(["Ana", "Bea"]);
  });

  test.each([
    ["a control character becomes a space", "Ana\u0007\nBianchi", "Ana Bianchi"],
    ["outer space goes, no-break and zero-width too", "\u200b\u00a0 Ana \ufeff", "Ana"],
    ["a name in another script stays", "山田 太郎", "山田 太郎"],
    ["SQL stays text", "'; drop table public.profiles; --", "'; drop table public.profiles; --"],
  ])("%s", async (_what, full_name, expected) => {
    expect((await profileFor({ full_name })).full_name).toBe(expected);
  });

  test.each([
    ["山田 太郎", GENERATED],
    ["---", GENERATED],
    ["", GENERATED],
    ["ÀÉÎõü", /^aeiou(-[0-9a-f]{4})?$/],
    ["ｆｕｌｌ ｗｉｄｔｈ", /^full-width(-[0-9a-f]{4})?$/],
    ["a".repeat(200), /^a{50}(-[0-9a-f]{4})?$/],
    [`${"a".repeat(49)}-b`, /^a{49}(-[0-9a-f]{4})?$/],
  ])("the username %s becomes a slug", async (username, expected) => {
    expect((await profileFor({ username })).username).toMatch(expected);
  });

  test("a username comes from the full name when there is none, never from the address", async () => {
    const unique = randomUUID().slice(0, 8);
    const profile = await profileFor({
      full_name: `Ana ${unique}`,
      email: "secret.address@example.com",
    });
    expect(profile.username).toBe(`ana-${unique}`);
  });

  test.each([
    ["null", null],
    ["a JSON null", "null"],
    ["a list", "[]"],
    ["a string", '"Ana"'],
    ["a number", "7"],
  ])("metadata that is %s gives a profile", async (_what, metadata) => {
    expect((await profileOf(await insertUser(metadata))).username).toMatch(GENERATED);
  });

  test("twenty sign-ups at once with one username all succeed, and one has it", async () => {
    const username = `race-${randomUUID()}`;
    const connections = Array.from({ length: 20 }, () => authService(1));
    try {
      await Promise.all(connections.map((connection) => connection`select 1`));
      const metadata = JSON.stringify({ username });
      const ids = await Promise.all(
        connections.map((connection) => insertUser(metadata, connection)),
      );
      const names = (await Promise.all(ids.map(profileOf))).map((profile) => profile.username);
      expect(new Set(names).size).toBe(20);
      expect(names.filter((name) => name === username)).toHaveLength(1);
      for (const name of names) expect(name).toMatch(new RegExp(`^${username}(-[0-9a-f]{4})?$`));
    } finally {
      await Promise.all(connections.map((connection) => connection.end()));
    }
  });

  test("whatever the metadata, a user comes with a valid profile of the free tier", async () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 80 }),
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.constantFrom(
        "",
        " ",
        "\u00a0",
        "-",
        "a-".repeat(60),
        "\u200b".repeat(300),
        "\\",
        "%s$1\\1",
      ),
    );
    const value = fc.oneof({ weight: 3, arbitrary: text }, fc.jsonValue({ maxDepth: 2 }));
    const key = fc.constantFrom(
      "full_name",
      "name",
      "username",
      "niche",
      "picture",
      "avatar_url",
      "tier",
      "id",
      "email",
    );
    const metadata = fc.oneof(
      { weight: 9, arbitrary: fc.dictionary(key, value) },
      { weight: 1, arbitrary: fc.jsonValue() },
    );
    await fc.assert(
      fc.asyncProperty(metadata, async (data) => {
        // Postgres' JSON holds neither; the auth service never gets that far with them.
        const json = JSON.stringify(data)
          .replaceAll(/\\u0000/g, "")
          .replaceAll(/\\ud[89ab][0-9a-f]{2}|\\ud[c-f][0-9a-f]{2}/gi, "");
        const profile = await profileOf(await insertUser(json));
        expect(profile.tier).toBe("free");
        expect(profile.username).toMatch(SLUG);
        expect(profile.username.length).toBeLessThanOrEqual(60);
        expect(profile.full_name).toBe(profile.full_name.trim());
      }),
      { ...FUZZ, numRuns: 200 },
    );
  });

  test("users who were there before the migration get their profile by it", async () => {
    const url = new URL("../supabase/migrations/20261127001500_sign_up.sql", import.meta.url);
    const [, backFill = ""] = readFileSync(url, "utf8").split(
      /^-- Users who were there before.*$/m,
    );
    const unique = randomUUID();
    const id = await insertUser(JSON.stringify({ full_name: "Ana", username: `old-${unique}` }));
    const work = sql.begin(async (tx) => {
      await tx`delete from public.profiles where id = ${id}`;
      await tx.unsafe(backFill);
      const [profile] = await tx`select full_name, username from public.profiles where id = ${id}`;
      expect(profile).toEqual({ full_name: "Ana", username: `old-${unique}` });
      // Other tests' users are none of our business.
      throw new Error("undo");
    });
    await expect(work).rejects.toThrow("undo");
  });

  test("metadata that breaks the rules we foresaw gives a profile without it", async () => {
    const id = randomUUID();
    const work = sql.begin(async (tx) => {
      await tx`
        create or replace function private.metadata_text(
          p_metadata jsonb, p_max_length integer, variadic p_keys text[]
        )
        returns text language plpgsql immutable set search_path = ''
        as $$
        begin
          if p_metadata <> '{}' then raise exception 'unforeseen'; end if;
          return null;
        end
        $$`;
      await tx`
        insert into auth.users (id, aud, email, raw_user_meta_data)
        values (${id}, 'authenticated', ${`${id}@example.com`}, '{"full_name": "Ana"}')`;
      const [profile] = await tx`select username from public.profiles where id = ${id}`;
      expect(profile?.username).toMatch(GENERATED);
      throw new Error("undo");
    });
    await expect(work).rejects.toThrow("undo");
  });

  test("a megabyte of metadata is no trouble", async () => {
    const profile = await profileFor({
      full_name: `x${" ".repeat(1_000_000)}x`,
      username: "-".repeat(1_000_000),
      niche: "\u200b".repeat(1_000_000),
    });
    expect(profile).toMatchObject({ full_name: "x", niche: null });
  });
});
