import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { server } from "./support/callers.ts";
import {
  insertRefusedBy,
  serverClaims,
  updateRefusedBy,
  type Values,
} from "./support/constraints.ts";
import { sql } from "./support/database.ts";
import { ADDRESSES, NO_ADDRESSES } from "./support/email-addresses.ts";
import {
  createClientRow,
  createPortalSession,
  createProfessional,
  type Professional,
} from "./support/factories.ts";
import { type Bounds, chars, testBounds, testIdentity } from "./support/table-tests.ts";

let owner: Professional;

beforeAll(async () => {
  owner = await createProfessional();
});

const insert = (values: Values) =>
  insertRefusedBy(owner.claims, "clients", { name: "Marta", ...values });

const LIMITS: Bounds[] = [
  ["clients_name_has_1_to_200_characters", "name", ["a", chars(200)], ["", "\t", chars(201)]],
  ["clients_email_is_an_address", "email", [null, "", ...ADDRESSES], NO_ADDRESSES],
  [
    "clients_phone_has_at_most_40_characters",
    "phone",
    [null, "", "+39 06 1234", chars(40)],
    [chars(41)],
  ],
  ["clients_notes_have_at_most_10000_characters", "notes", [null, chars(10_000)], [chars(10_001)]],
  [
    "clients_tags_are_at_most_50_of_50_characters",
    "tags",
    [[], ["vip", "a, b"], Array(50).fill("a"), [chars(50)], [",".repeat(50)]],
    [Array(51).fill("a"), [chars(51)], ["a", ",".repeat(51)], [null]],
  ],
  [
    "clients_metadata_is_an_object_of_at_most_8_kb",
    "metadata",
    [{}, { a: chars(8182) }],
    [[], [1], { a: chars(8184) }],
  ],
];

testBounds(LIMITS, insert);

test("tags are a list, not a table", async () => {
  const { error } = await owner.api
    .from("clients")
    .insert({ name: "Marta", tags: [["a"], ["b"]] as never });
  expect(error?.code).toBe("23514");
});

test.each(["name", "tags", "archived", "metadata"])("%s is never null", async (column) => {
  expect(await insert({ [column]: null })).toBe("23502");
});

describe("the e-mail address", () => {
  test.each([
    ["spaces", "  Marta@Example.com "],
    ["no-break space", "\u00a0Marta@Example.com\u00a0"],
    ["zero-width characters", "\u200b\u200dMarta@Example.com\u2060\ufeff"],
    ["a line break", "\r\nMarta@Example.com\n"],
    ["an ideographic space", "\u3000Marta@Example.com\u3000"],
  ])("is trimmed of %s, and kept as written", async (_what, email) => {
    const professional = await createProfessional();
    const client = await createClientRow(professional, { email });
    expect(client).toMatchObject({ email: "Marta@Example.com", email_key: "marta@example.com" });
    const { data } = await professional.api
      .from("clients")
      .update({ email: `\u00a0${email}`, phone: " +39 06 1234\u00a0" })
      .eq("id", client.id)
      .select("email, phone");
    expect(data).toEqual([{ email: "Marta@Example.com", phone: "+39 06 1234" }]);
  });

  test.each(["", " ", "\u00a0\u200b"])("%j is none", async (blank) => {
    const client = await createClientRow(owner, { email: blank, phone: blank });
    expect(client).toMatchObject({ email: null, phone: null, email_key: null });
  });

  test.each([
    ["in other case", "Marta.Rossi@example.com", "MARTA.ROSSI@EXAMPLE.COM"],
    ["with space around it", "marta.bianchi@example.com", "\u00a0marta.bianchi@example.com "],
  ])("belongs to one client of a professional, also %s", async (_what, first, second) => {
    const professional = await createProfessional();
    await createClientRow(professional, { email: first });
    const again = { name: "Twin", email: second };
    expect(await insertRefusedBy(professional.claims, "clients", again)).toBe(
      "clients_professional_id_email_key_key",
    );
    const other = await createClientRow(professional, { email: null });
    expect(await updateRefusedBy(professional.claims, "clients", other.id, { email: second })).toBe(
      "clients_professional_id_email_key_key",
    );
    expect(await insert(again)).toBeNull();
  });

  test("is kept apart from one that only looks alike", async () => {
    await createClientRow(owner, { email: "apart@example.com" });
    expect(await insert({ email: "apart+tag@example.com" })).toBeNull();
    expect(await insert({ email: "ap.art@example.com" })).toBeNull();
  });

  test("many clients have none", async () => {
    await createClientRow(owner, { email: null });
    await createClientRow(owner, { email: null });
  });

  test("its key cannot be written", async () => {
    const { error } = await owner.api
      .from("clients")
      .insert({ name: "Marta", email_key: "a@example.com" } as never);
    expect(error?.code).toBe("428C9");
  });
});

describe("a row keeps its identity", () => {
  testIdentity("clients", () => createClientRow(owner));

  test("an update that changes nothing keeps updated_at", async () => {
    const client = await createClientRow(owner);
    const { data } = await owner.api
      .from("clients")
      .update({ name: client.name, email: client.email, tags: client.tags })
      .eq("id", client.id)
      .select("*");
    expect(data).toEqual([client]);
    const changed = await owner.api
      .from("clients")
      .update({ notes: "x" })
      .eq("id", client.id)
      .select("*");
    expect((changed.data?.[0]?.updated_at ?? "") > client.updated_at).toBe(true);
  });
});

describe("link_epoch", () => {
  const epochOf = async ({ id }: { id: string }) =>
    (await sql`select link_epoch from public.clients where id = ${id}`)[0]?.link_epoch;
  const change = async (id: string, values: object, api = owner.api) => {
    const { error } = await api.from("clients").update(values).eq("id", id);
    expect(error).toBeNull();
  };

  test("begins with 1 and rises with another address, with archiving and with erasing", async () => {
    const client = await createClientRow(owner);
    expect(client.link_epoch).toBe(1);
    const steps: [values: object, epoch: number][] = [
      [{ email: `b-${client.id}@example.com` }, 2],
      [{ email: client.email }, 3],
      [{ email: null }, 4],
      [{ email: client.email }, 5],
      [{ archived: true }, 6],
      [{ archived: false }, 6],
      [{ archived: true, email: `c-${client.id}@example.com` }, 7],
    ];
    for (const [values, epoch] of steps) {
      await change(client.id, values);
      expect([values, await epochOf(client)]).toEqual([values, epoch]);
    }
    const erase = () => owner.api.rpc("erase_client", { client_id: client.id });
    expect((await erase()).error).toBeNull();
    expect(await epochOf(client)).toBe(8);
  });

  test("rises with the erasure of a client who is archived and without an address, once", async () => {
    const client = await createClientRow(owner, { email: null, archived: true });
    for (const epoch of [2, 2]) {
      await owner.api.rpc("erase_client", { client_id: client.id });
      expect(await epochOf(client)).toBe(epoch);
    }
  });

  test("stays with every other change", async () => {
    const client = await createClientRow(owner);
    for (const values of [
      { name: "Marta Bianchi", phone: "1", notes: "n", tags: ["a"], metadata: { a: 1 } },
      { email: ` ${client.email?.toUpperCase()}\u00a0` },
      { archived: false },
    ]) {
      await change(client.id, values);
      expect(await epochOf(client)).toBe(1);
    }
    await change(client.id, { archived: true });
    await change(client.id, { archived: true });
    expect(await epochOf(client)).toBe(2);
  });

  test("is not for a server to set: neither lower nor higher, neither now nor at first", async () => {
    const client = await createClientRow(owner);
    await change(client.id, { archived: true });
    for (const link_epoch of [1, 0, 7]) {
      await change(client.id, { link_epoch, archived: false }, server());
      expect(await epochOf(client)).toBe(2);
    }
    const values = { professional_id: owner.id, name: "Marta", link_epoch: 7 };
    const { data } = await server().from("clients").insert(values).select("link_epoch").single();
    expect(data).toEqual({ link_epoch: 1 });
  });
});

test("a portal client changes name and phone under the same rules", async () => {
  const client = await createClientRow(owner);
  const portal = await createPortalSession(client);
  const { data } = await portal.api
    .from("clients")
    .update({ name: "Marta Bianchi", phone: "\u00a0+39 06 1234 " })
    .eq("id", client.id)
    .select("id, name, email, phone");
  expect(data).toEqual([
    { id: client.id, name: "Marta Bianchi", email: client.email, phone: "+39 06 1234" },
  ]);
  const bad = await portal.api.from("clients").update({ name: " " }).eq("id", client.id);
  expect(bad.error?.code).toBe("23514");
});

test("a client of a professional who does not exist is refused for a server too", async () => {
  const values = { professional_id: randomUUID(), name: "Marta" };
  expect(await insertRefusedBy(serverClaims, "clients", values)).toBe(
    "clients_professional_id_fkey",
  );
});

test("a client goes, and with the client the portal sessions", async () => {
  const client = await createClientRow(owner);
  const portal = await createPortalSession(client);
  const { error } = await owner.api.from("clients").delete().eq("id", client.id);
  expect(error).toBeNull();
  const sessions = await sql`select from private.portal_sessions where id = ${portal.sessionId}`;
  expect(sessions).toHaveLength(0);
});
