/** Names that can be seen: what cannot be is trimmed away, and alone it is no name. */
import { beforeAll, describe, expect, test } from "vitest";
import { dateIn, instantOf, iso } from "./support/calendar.ts";
import { answer, failure, type Line, openShop } from "./support/commerce.ts";
import { sql } from "./support/database.ts";
import {
  createClientRow,
  createPortalSession,
  createProduct,
  createProfessional,
  createService,
  type PortalSession,
  type Professional,
  type Row,
} from "./support/factories.ts";
import { openProfessional, openService } from "./support/scheduling.ts";

const ROME = "Europe/Rome";

/** Nothing of these can be seen. */
const INVISIBLE = [
  " \t\n",
  ..."\u200b\u2060\u200d\ufeff\u180e\u2800\u3164\u00ad\u202e",
  "\u200b\u2060\u200d\ufeff\u180e\u2800\u3164\u00ad\u202e",
  "\u00a0\u2003\u3000",
  "\u200e\u202a\u202c\u2066\u2069\u061c",
];
/** Nor of these, which mean something after another character. */
const MODIFIERS = ["\ufe0f", "\u034f\u115f\u1160\u17b4", "\u{e0067}\u{e007f}", "\u0001\u007f"];
const BLANK = [...INVISIBLE, ...MODIFIERS];

/** Names as they are, and as they stay. */
const NAMES = [
  "李",
  "José",
  "Zoë O’Hara-Núñez",
  "\u{1f469}\u200d\u{1f467}", // a mother and her daughter, joined
  "\u{1f3f3}\ufe0f\u200d\u{1f308}", // a flag of four characters
  "I \u2764\ufe0f", // red because of its last character
  "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", // England, spelled by tags
  "שרה כהן",
  "سارة",
  "می\u200cخواهم", // does not join in the middle
  "Marta \u2067שרה\u2069 Rossi",
  "\u1112\u1161\u11ab",
];

const around = (name: string) => `\u200b \u00ad${name}\u3164\u202e\n`;

let owner: Professional;
let shop: Professional;
let portal: PortalSession;
let client: Row<"clients">;
let bookable: { owner: Professional; service: Row<"services"> };

beforeAll(async () => {
  [owner, shop] = await Promise.all([createProfessional(), openShop()]);
  client = await createClientRow(owner);
  portal = await createPortalSession(client);
  const professional = await openProfessional();
  bookable = { owner: professional, service: await openService(professional) };
});

/** How a name is written to a row: the constraint behind it, and what comes back. */
const WRITERS: Record<string, (name: string) => PromiseLike<{ data: unknown; error: unknown }>> = {
  services: (name) =>
    owner.api.from("services").insert({ name, price: 1, duration: 5 }).select("name").single(),
  products: (name) => owner.api.from("products").insert({ name, price: 1 }).select("name").single(),
  clients: (name) => owner.api.from("clients").insert({ name }).select("name").single(),
};

const CHANGES: typeof WRITERS = {
  services: async (name) => {
    const { id } = await createService(owner);
    return owner.api.from("services").update({ name }).eq("id", id).select("name").single();
  },
  products: async (name) => {
    const { id } = await createProduct(owner);
    return owner.api.from("products").update({ name }).eq("id", id).select("name").single();
  },
  clients: (name) =>
    portal.api.from("clients").update({ name }).eq("id", client.id).select("name").single(),
};

describe.each(["services", "products", "clients"] as const)("the name of %s", (table) => {
  const ways = [WRITERS[table], CHANGES[table]].filter((way) => way !== undefined);

  test.each(BLANK)("is more than %j", async (name) => {
    for (const write of ways) {
      const { error } = await write(name);
      expect(error).toMatchObject({
        code: "23514",
        message: expect.stringContaining(`${table}_name_has_1_to_200_characters`),
      });
    }
  });

  test.each(NAMES)("may be %j, and what is around it goes", async (name) => {
    for (const write of ways) {
      expect(await write(name)).toMatchObject({ error: null, data: { name } });
      expect(await write(around(name))).toMatchObject({ error: null, data: { name } });
    }
  });

  test("has 200 characters at most, without what goes", async () => {
    const name = "x".repeat(200);
    for (const write of ways) {
      expect(await write(around(name))).toMatchObject({ data: { name } });
      expect(await write(`${name}x`)).toMatchObject({ error: { code: "23514" } });
    }
  });
});

describe("the name of a professional", () => {
  const write = (full_name: string) =>
    owner.api
      .from("profiles")
      .update({ full_name })
      .eq("id", owner.id)
      .select("full_name")
      .single();

  test.each(INVISIBLE)("is empty when it is %j", async (name) => {
    expect(await write(name)).toMatchObject({ error: null, data: { full_name: "" } });
  });

  test.each(MODIFIERS)("is more than %j", async (name) => {
    expect(await write(name)).toMatchObject({ error: { code: "23514" } });
  });

  test.each(NAMES)("may be %j, and what is around it goes", async (full_name) => {
    expect(await write(around(full_name))).toMatchObject({ error: null, data: { full_name } });
  });

  test.each(BLANK)("is not taken from a sign-up that says %j", async (full_name) => {
    const [user] = await sql`
      insert into auth.users (id, aud, role, email, raw_user_meta_data, created_at, updated_at)
      values (gen_random_uuid(), 'authenticated', 'authenticated',
        'pro-' || gen_random_uuid() || '@example.com', ${sql.json({ full_name, name: "Bea" })}, now(), now())
      returning id`;
    const [profile] = await sql`select full_name from public.profiles where id = ${user?.id}`;
    expect(profile).toEqual({ full_name: "Bea" });
  });
});

describe("the name somebody gives who books or orders", () => {
  const day = dateIn(10, ROME);
  let minutes = 9 * 60;
  const nextTime = () => {
    minutes += 15;
    const clock = [Math.floor(minutes / 60), minutes % 60];
    return iso(instantOf(day, clock.map((n) => String(n).padStart(2, "0")).join(":"), ROME));
  };
  const email = () => `ann-${crypto.randomUUID()}@example.com`;
  const book = (client_name: string, client_email: string) =>
    bookable.owner.api.rpc("create_booking", {
      service_id: bookable.service.id,
      starts_at: nextTime(),
      client_name,
      client_email,
    });
  const order = async (client_name: string, client_email: string) =>
    shop.api.rpc("place_order", {
      professional_id: shop.id,
      items: [{ product_id: (await createProduct(shop)).id, quantity: 1 }],
      client_name,
      client_email,
    });

  test.each(BLANK)("is more than %j", async (name) => {
    minutes = 9 * 60;
    for (const call of [book, order]) {
      expect(await failure(await call(name, email()))).toEqual({
        status: 422,
        code: "validation_failed",
        details: { fields: ["client_name"] },
      });
    }
  });

  test.each([...NAMES.slice(-3), "x".repeat(200)])(
    "may be %j, and what is around it goes",
    async (name) => {
      const [booker, buyer] = [email(), email()];
      await sql`delete from public.bookings where professional_id = ${bookable.owner.id}`;
      await answer(book(around(name), booker));
      await answer(order(around(name), buyer));
      const rows =
        await sql`select name from public.clients where email in ${sql([booker, buyer])}`;
      expect(rows.map((row) => row.name)).toEqual([name, name]);
    },
  );
});

describe("the name of a line of an order", () => {
  const place = async (name: string) =>
    shop.api
      .from("orders")
      .insert({
        client_id: (await createClientRow(shop)).id,
        items: [{ name, unit_price: 1, quantity: 1 }],
      })
      .select("items")
      .single();

  test.each(BLANK)("is more than %j", async (name) => {
    expect(await failure(await place(name))).toMatchObject({
      status: 422,
      code: "invalid_items",
      details: { index: 0 },
    });
  });

  test.each([...NAMES, "x".repeat(200)])("may be %j, and what is around it goes", async (name) => {
    const { items } = await answer<{ items: Line[] }>(place(around(name)));
    expect(items[0]?.name).toBe(name);
  });
});

describe("other texts that have to say something", () => {
  test.each(BLANK)("%j is no SKU, reason, method or reference", async (text) => {
    const sku = await shop.api.from("products").insert({ name: "Soap", price: 1, sku: text });
    expect([sku.error?.code, sku.error?.message]).toEqual([
      "23514",
      expect.stringContaining("products_sku_has_1_to_100_characters"),
    ]);

    const product = await createProduct(shop, { stock: 1 });
    const adjusted = shop.api.rpc("adjust_stock", {
      product_id: product.id,
      delta: 1,
      reason: text,
    });
    expect((await failure(adjusted)).code).toBe("reason_required");

    const { id } = await answer<Row<"orders">>(
      shop.api
        .from("orders")
        .insert({
          client_id: (await createClientRow(shop)).id,
          items: [{ product_id: product.id, quantity: 1 }],
        })
        .select("id")
        .single(),
    );
    const payment = { order_id: id, amount: 1 };
    const paid = shop.api.rpc("record_payment", { ...payment, method: text });
    expect((await failure(paid)).code).toBe("method_required");
    const named = { ...payment, method: "cash", reference: text };
    expect(await failure(shop.api.rpc("record_payment", named))).toMatchObject({
      code: "validation_failed",
      details: { fields: ["reference"] },
    });
  });
});

test("blank is what Unicode says nothing is shown of, and trimmed is blank", async () => {
  const rows = await sql<{ code: number; blank: boolean; trimmed: boolean }[]>`
    select code, private.is_blank(chr(code)) as blank, private.trim_invisible(chr(code)) = '' as trimmed
    from generate_series(1, ${0x1ffff}::integer) as code
    where code not between ${0xd800}::integer and ${0xdfff}::integer
    union all
    select code, private.is_blank(chr(code)), private.trim_invisible(chr(code)) = ''
    from generate_series(${0xe0000}::integer, ${0xeffff}::integer) as code`;
  const shown = /[^\p{White_Space}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/u;
  const wrong = rows.filter(
    ({ code, blank, trimmed }) =>
      blank === shown.test(String.fromCodePoint(code)) || (trimmed && !blank),
  );
  expect(wrong).toEqual([]);
});
