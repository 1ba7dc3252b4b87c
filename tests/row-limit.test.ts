/** One request writes at most a thousand rows; servers, RPCs and cascades are not bound by it. */
import { describe, expect, test } from "vitest";
import { server } from "./support/callers.ts";
import { sql } from "./support/database.ts";
import { createClientRow, createProfessional, type Professional } from "./support/factories.ts";

const clients = (count: number, values: object = {}) =>
  Array.from({ length: count }, (_, n) => ({
    name: `Client ${n}`,
    email: `client-${n}@example.com`,
    ...values,
  }));

const countOf = async (professional: Professional) =>
  (await sql`select from public.clients where professional_id = ${professional.id}`).length;

const TOO_MANY = {
  code: "too_many_rows",
  message: expect.any(String),
  details: JSON.stringify({ most: 1000 }).replace(":", " : "),
  hint: expect.any(String),
};

describe("a request that writes 1001 rows is 413 too_many_rows and writes none", () => {
  test("on insert; 1000 go in", async () => {
    const professional = await createProfessional();
    const { status, error } = await professional.api.from("clients").insert(clients(1001));
    expect([status, error]).toEqual([413, TOO_MANY]);
    expect(await countOf(professional)).toBe(0);
    expect((await professional.api.from("clients").insert(clients(1000))).status).toBe(201);
  });

  test("on update and delete; a server may", async () => {
    const professional = await createProfessional();
    const professional_id = professional.id;
    const { error } = await server().from("clients").insert(clients(1001, { professional_id }));
    expect(error).toBeNull();

    const update = await professional.api
      .from("clients")
      .update({ notes: "all" })
      .eq("professional_id", professional_id);
    expect([update.status, update.error]).toEqual([413, TOO_MANY]);
    const remove = await professional.api
      .from("clients")
      .delete()
      .eq("professional_id", professional_id);
    expect([remove.status, remove.error]).toEqual([413, TOO_MANY]);
    expect(await countOf(professional)).toBe(1001);

    const served = await server()
      .from("clients")
      .update({ notes: "all" })
      .eq("professional_id", professional_id);
    expect(served.error).toBeNull();
  });

  test("on an upsert, inserted and updated ones together", async () => {
    const professional = await createProfessional();
    await professional.api.from("clients").insert(clients(600));
    const upsert = await professional.api
      .from("clients")
      .upsert(clients(1001), { onConflict: "professional_id,email_key" });
    expect(upsert.status).toBe(413);
    expect(await countOf(professional)).toBe(600);
  });
});

test("an RPC that changes 1001 rows goes through", async () => {
  const professional = await createProfessional();
  const client = await createClientRow(professional);
  await sql`
    insert into public.orders (professional_id, client_id, items, notes)
    select ${professional.id}, ${client.id}, '[{"name": "Cut", "unit_price": 1, "quantity": 1}]', 'x'
    from generate_series(1, 1001)`;
  const { error } = await professional.api.rpc("erase_client", { client_id: client.id });
  expect(error).toBeNull();
  const left = await sql`
    select from public.orders where professional_id = ${professional.id} and notes is not null`;
  expect(left).toHaveLength(0);
}, 60_000);
