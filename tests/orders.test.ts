import { beforeAll, describe, expect, test } from "vitest";
import {
  createClientRow,
  createOrder,
  createProfessional,
  type Professional,
  type Row,
} from "./support/factories.ts";
import { testIdentity } from "./support/table-tests.ts";

let owner: Professional;
let order: Row<"orders">;

beforeAll(async () => {
  owner = await createProfessional();
  const client = await createClientRow(owner);
  order = await createOrder(owner, {
    client_id: client.id,
    items: [{ name: "Voucher", unit_price: 20, quantity: 1 }],
  });
});

describe("a row keeps its identity", () => {
  testIdentity("orders", async () => order);

  test("an update that changes nothing keeps updated_at and version, any other moves both", async () => {
    const update = async (values: object) => {
      const { data } = await owner.api
        .from("orders")
        .update(values)
        .eq("id", order.id)
        .select("*")
        .single();
      if (!data) throw new Error("no answer");
      return data;
    };
    expect(await update({ status: order.status, notes: null, metadata: {} })).toEqual(order);
    const changed = await update({ notes: "Gift wrap." });
    expect(changed.version).toBe(order.version + 1);
    expect(changed.updated_at > order.updated_at).toBe(true);
  });
});
