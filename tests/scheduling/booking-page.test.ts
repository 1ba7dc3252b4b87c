import { describe, expect, it } from "vitest";
import { anonymous, request } from "../support/callers.ts";
import { createProduct, createProfessional, createService } from "../support/factories.ts";
import { openProfessional, refusal } from "../support/scheduling.ts";

const anon = anonymous();

interface Page {
  professional: Record<string, unknown>;
  services: Record<string, unknown>[];
  products: (Record<string, unknown> & { variants: Record<string, unknown>[] })[];
}

async function page(username: string): Promise<Page> {
  const { data, error } = await anon.rpc("booking_page", { username });
  if (error) throw new Error(JSON.stringify(error));
  return data as unknown as Page;
}

const slug = () => `page-${crypto.randomUUID()}`;

describe("booking_page", () => {
  it("shows the professional's public fields, and no other", async () => {
    const username = slug();
    const professional = await openProfessional({
      username,
      full_name: "Ana Bianchi",
      niche: "hairdresser",
      bio: "Cuts hair.",
      image_url: "https://example.com/ana.jpg",
      currency: "USD",
      prices_include_tax: true,
      orders_need_payment: true,
      tax_rate: 22,
      unpaid_order_hours: 5,
      contact_email: "studio@example.com",
      address: "Via Roma 1",
    });

    expect((await page(username)).professional).toEqual({
      id: professional.id,
      username,
      full_name: "Ana Bianchi",
      niche: "hairdresser",
      bio: "Cuts hair.",
      image_url: "https://example.com/ana.jpg",
      time_zone: "Europe/Rome",
      currency: "USD",
      prices_include_tax: true,
      orders_need_payment: true,
      contact_email: null,
      contact_phone: null,
      address: null,
      hours: expect.objectContaining({
        weekly: expect.objectContaining({ mon: [["09:00", "18:00"]] }),
      }),
    });
  });

  it("shows of the contact data what public_contact names", async () => {
    const username = slug();
    await openProfessional({
      username,
      contact_email: "studio@example.com",
      contact_phone: "+39 06 5550100",
      address: "Via Roma 1",
      public_contact: ["contact_phone", "address"],
    });
    expect((await page(username)).professional).toMatchObject({
      contact_email: null,
      contact_phone: "+39 06 5550100",
      address: "Via Roma 1",
    });
  });

  it.each([
    ["Via Roma 1, 2nd floor", true],
    ["Bar S.r.l./Roma", true],
    ["https://meet.example.com/abc", false],
    ["Video: HTTPS://meet.example.com/abc", false],
    ["www.example.com", false],
    ["zoom.us/j/123", false],
    ["Join at meet.example.com:8443/abc", false],
  ])("shows a location that is no link: %s", async (location, shown) => {
    const username = slug();
    await createService(await openProfessional({ username }), { location });
    expect((await page(username)).services[0]?.location).toBe(shown ? location : null);
  });

  it("shows active services by name, without what is internal", async () => {
    const username = slug();
    const professional = await openProfessional({ username });
    const [second, first] = [
      await createService(professional, { name: "Wash", price: 10.5, metadata: { secret: 1 } }),
      await createService(professional, {
        name: "Cut",
        description: "Short",
        category: "Hair",
        image_url: "https://example.com/cut.jpg",
        price: 30,
        duration: 45,
        min_notice: 60,
        max_advance_days: 30,
        cancellation_notice: 120,
        requires_confirmation: true,
      }),
    ];
    await createService(professional, { name: "Hidden", active: false });

    const { services } = await page(username);

    expect(services.map(({ id }) => id)).toEqual([first?.id, second?.id]);
    expect(services[0]).toEqual({
      id: first?.id,
      name: "Cut",
      description: "Short",
      category: "Hair",
      image_url: "https://example.com/cut.jpg",
      price: 30,
      payment: "none",
      deposit: null,
      duration: 45,
      min_notice: 60,
      max_advance_days: 30,
      cancellation_notice: 120,
      requires_confirmation: true,
      location: null,
    });
    expect(services[1]?.price).toBe(10.5);
  });

  it("shows active products with their active variants, without stock numbers", async () => {
    const username = slug();
    const professional = await openProfessional({ username, accepts_orders: true });
    const shirt = await createProduct(professional, {
      name: "Shirt",
      price: 20,
      metadata: { cost: 3 },
    });
    const [small, gone] = [
      await createProduct(professional, {
        name: "Shirt S",
        parent_id: shirt.id,
        sku: "S",
        options: { size: "S" },
        stock: 4,
        low_stock_at: 1,
      }),
      await createProduct(professional, { name: "Shirt L", parent_id: shirt.id, stock: 0 }),
    ];
    await createProduct(professional, { name: "Shirt M", parent_id: shirt.id, active: false });
    await createProduct(professional, { name: "Hidden", active: false });

    const { products } = await page(username);

    expect(products.map(({ id }) => id)).toEqual([shirt.id]);
    expect(products[0]?.variants.map(({ id }) => id)).toEqual([gone?.id, small?.id]);
    expect(products[0]?.variants[1]).toEqual({
      id: small?.id,
      name: "Shirt S",
      description: null,
      category: null,
      image_url: null,
      sku: "S",
      options: { size: "S" },
      price: 12.5,
      in_stock: true,
    });
    expect(products[0]?.variants[0]?.in_stock).toBe(false);
    expect(JSON.stringify(products)).not.toMatch(/metadata|low_stock|"stock"/);
  });

  it("shows no product whose variants are all inactive, and whether any active one is in stock", async () => {
    const username = slug();
    const professional = await openProfessional({ username, accepts_orders: true });
    const shirt = await createProduct(professional, { name: "Shirt", stock: 9 });
    const variant = (values: object) =>
      createProduct(professional, { name: "Variant", parent_id: shirt.id, ...values });
    const small = await variant({ stock: 0 });
    const large = await variant({ stock: 4, active: false });
    const shown = async () => (await page(username)).products.map(({ in_stock }) => in_stock);
    const set = (id: string, active: boolean) =>
      professional.api.from("products").update({ active }).eq("id", id);

    expect(await shown()).toEqual([false]);
    await set(large.id, true);
    expect(await shown()).toEqual([true]);
    await Promise.all([set(small.id, false), set(large.id, false)]);
    expect(await shown()).toEqual([]);
    await professional.api.from("products").delete().in("id", [small.id, large.id]);
    expect(await shown()).toEqual([true]);
  });

  it.each([
    [true, true],
    [true, false],
    [false, true],
  ])(
    "shows services when bookings (%s), products when orders (%s) are accepted",
    async (accepts_bookings, accepts_orders) => {
      const username = slug();
      const professional = await createProfessional({ username, accepts_bookings, accepts_orders });
      await Promise.all([createService(professional), createProduct(professional)]);

      const { services, products } = await page(username);

      expect(services).toHaveLength(accepts_bookings ? 1 : 0);
      expect(products).toHaveLength(accepts_orders ? 1 : 0);
    },
  );

  it("of who accepts neither is 404 PGRST301, as an unknown username", async () => {
    const username = slug();
    const professional = await createProfessional({ username });
    await createService(professional);
    const unknown = await anon.rpc("booking_page", { username: slug() });

    for (const api of [anon, professional.api]) {
      const answer = await api.rpc("booking_page", { username });
      expect(refusal(answer)).toEqual({ status: 404, code: "PGRST301" });
      expect(answer.error).toEqual(unknown.error);
    }
    await professional.api
      .from("profiles")
      .update({ accepts_bookings: true })
      .eq("id", professional.id);
    expect((await page(username)).services).toHaveLength(1);
  });

  it("knows a username in any case, with space around it", async () => {
    const username = slug();
    const professional = await openProfessional({ username });

    for (const typed of [username.toUpperCase(), ` ${username}\n`, `\u00a0${username}\u200b`]) {
      expect((await page(typed)).professional).toMatchObject({ id: professional.id, username });
    }
    expect(
      refusal(await anon.rpc("booking_page", { username: username.replace("-", " ") })),
    ).toEqual({ status: 404, code: "PGRST301" });
  });

  it("without a username, or with one of 61 characters, is 422 validation_failed", async () => {
    for (const username of [null as never, "a".repeat(61)]) {
      const answer = await anon.rpc("booking_page", { username });
      expect(refusal(answer)).toEqual({ status: 422, code: "validation_failed" });
      expect(JSON.parse(answer.error?.details ?? "")).toEqual({ fields: ["username"] });
    }
    expect(refusal(await anon.rpc("booking_page", { username: "a".repeat(60) })).status).toBe(404);
    expect(refusal(await anon.rpc("booking_page", {} as never))).toEqual({
      status: 404,
      code: "PGRST202",
    });
  });

  it.each(["", "%", "*", "ana' or ''='", "\\"])("of %j is 404 PGRST301", async (username) => {
    const answer = await anon.rpc("booking_page", { username });
    expect(refusal(answer)).toEqual({ status: 404, code: "PGRST301" });
  });

  it("is the only way: the public cannot read profiles", async () => {
    const username = slug();
    await openProfessional({ username });
    expect(refusal(await anon.from("profiles").select("id").eq("username", username))).toEqual({
      status: 401,
      code: "42501",
    });
    const response = await request(`/rest/v1/rpc/booking_page?username=${username}`);
    expect(response.status).toBe(200);
  });
});
