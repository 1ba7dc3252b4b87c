import { describe, expect, it } from "vitest";
import { dateIn, instantOf, iso } from "../support/calendar.ts";
import { anonymous, server } from "../support/callers.ts";
import { sql } from "../support/database.ts";
import {
  createBooking,
  createClientRow,
  createOrder,
  createPortalSession,
} from "../support/factories.ts";
import { book, openProfessional, openService, refusal } from "../support/scheduling.ts";

const ROME = "Europe/Rome";
const anon = anonymous();
const day = dateIn(10, ROME);
const at = (time: string) => iso(instantOf(day, time, ROME));

/** Tables with a row that holds any of these texts, in whatever column, as a dump would show them. */
async function tablesThatHold(...needles: string[]): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'm')
      and n.nspname not in ('pg_catalog', 'information_schema')
      and n.nspname not like 'pg\\_%'
      and has_table_privilege(c.oid, 'select')
    order by 1`;
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql`
      select from ${sql.unsafe(name)} as t
      where exists (
        select from unnest(${needles}::text[]) as needle
        where position(lower(needle) in lower(t::text)) > 0
          -- bytea shows as hexadecimal digits.
          or position(encode(convert_to(needle, 'UTF8'), 'hex') in t::text) > 0
      )
      limit 1`;
    if (rows.length > 0) found.push(name);
  }
  return found;
}

describe("erase_client", () => {
  it("leaves the old e-mail, name, phone and address nowhere in the database", async () => {
    const professional = await openProfessional({ accepts_orders: true });
    const service = await openService(professional);
    const mark = crypto.randomUUID();
    const email = `Marta.${mark}@Example.com`;
    const [name, phone] = [`Marta ${mark}`, `+39 ${mark.slice(0, 30)}`];
    const text = `${name} <${email}>`;
    const booked = await anon.rpc("create_booking", {
      service_id: service.id,
      starts_at: at("10:00"),
      client_name: name,
      client_email: email,
      client_phone: phone,
      notes: text,
      idempotency_key: text,
    });
    expect(booked.error).toBeNull();
    const [client] = await sql<{ id: string; professional_id: string }[]>`
      update public.clients
      set notes = ${text}, tags = ${[mark]}, metadata = ${sql.json({ email })}
      where professional_id = ${professional.id}
      returning id, professional_id`;
    const ids = { client_id: client?.id ?? "" };
    const metadata = { from: email };
    const cancelled = await createBooking(professional, {
      ...ids,
      service_id: service.id,
      starts_at: at("12:00"),
      internal_notes: text,
      metadata,
    });
    await professional.api.rpc("cancel_booking", { booking_id: cancelled.id, reason: text });
    const order = await createOrder(professional, {
      ...ids,
      items: [{ name: "Soap", unit_price: 5, quantity: 1 }],
      shipping_address: { name, email, phone },
      notes: text,
      internal_notes: text,
      metadata,
    });
    const order_id = order.id;
    await professional.api.rpc("record_payment", { order_id, amount: 5, method: "cash" });
    await professional.api.rpc("refund_payment", { order_id, amount: 1, reason: text });
    await sql`
      insert into private.portal_codes (professional_id, client_id, link_epoch, expires_at)
      values (${professional.id}, ${ids.client_id}, 1, now())`;
    const portal = await createPortalSession(client as NonNullable<typeof client>);
    expect((await portal.api.from("bookings").select("id")).data).toHaveLength(2);
    const needles = [email, name, phone, mark];
    expect(await tablesThatHold(...needles)).toEqual([
      "private.idempotency_keys",
      "private.payments",
      "public.bookings",
      "public.clients",
      "public.orders",
    ]);

    const { data, error } = await professional.api.rpc("erase_client", ids);

    expect(error).toBeNull();
    expect(data).toEqual({ id: client?.id });
    expect(await tablesThatHold(...needles)).toEqual([]);
    expect(refusal(await portal.api.from("bookings").select("id")).status).toBe(401);
  });

  it("keeps the rows that accounts need: name 'Erased', archived, everything else empty", async () => {
    const professional = await openProfessional();
    const service = await openService(professional, { price: 30 });
    const client = await createClientRow(professional, {
      phone: "1",
      notes: "n",
      tags: ["vip"],
      metadata: { a: 1 },
    });
    const booking = await createBooking(professional, {
      client_id: client.id,
      service_id: service.id,
      starts_at: at("10:00"),
      notes: "n",
    });

    await professional.api.rpc("erase_client", { client_id: client.id });

    const { data } = await professional.api.from("clients").select("*, bookings(*)").single();
    expect(data).toMatchObject({
      id: client.id,
      created_at: client.created_at,
      name: "Erased",
      email: null,
      email_key: null,
      phone: null,
      notes: null,
      tags: [],
      archived: true,
      metadata: {},
    });
    expect(data?.bookings).toHaveLength(1);
    expect(data?.bookings[0]).toMatchObject({
      id: booking.id,
      price: 30,
      service_name: booking.service_name,
      status: "confirmed",
      notes: null,
      version: 2,
    });
  });

  it("touches no other client, not even the same address at another professional", async () => {
    const email = `ann-${crypto.randomUUID()}@example.com`;
    const [mine, other] = await Promise.all([openProfessional(), openProfessional()]);
    const [client, neighbour, namesake] = await Promise.all([
      createClientRow(mine, { email }),
      createClientRow(mine, { notes: "stays" }),
      createClientRow(other, { email, notes: "stays" }),
    ]);

    await mine.api.rpc("erase_client", { client_id: client.id });

    const { data: rest } = await mine.api.from("clients").select("*").eq("id", neighbour.id);
    expect(rest).toEqual([neighbour]);
    expect((await other.api.from("clients").select("*")).data).toEqual([namesake]);
  });

  it("twice is the same; the address then belongs to nobody and may book as a new client", async () => {
    const professional = await openProfessional();
    const service = await openService(professional);
    const values = { client_email: `ann-${crypto.randomUUID()}@example.com`, idempotency_key: "k" };
    const first = await book(anon, service, at("10:00"), values);
    const { data: client } = await professional.api.from("clients").select("id").single();
    const client_id = client?.id ?? "";

    expect((await professional.api.rpc("erase_client", { client_id })).error).toBeNull();
    const { data: erased } = await professional.api.from("clients").select("*").single();
    expect((await professional.api.rpc("erase_client", { client_id })).data).toEqual({
      id: client_id,
    });
    expect((await professional.api.from("clients").select("*").single()).data).toEqual(erased);

    // The key went with the client: this is a call of its own.
    const second = await book(anon, service, at("12:00"), values);
    expect(second.error).toBeNull();
    expect(second.data?.id).not.toBe(first.data?.id);
    expect((await professional.api.from("clients").select("id")).data).toHaveLength(2);
  });

  it("of somebody else's client is 404 PGRST301, as for one that does not exist", async () => {
    const [mine, other] = await Promise.all([openProfessional(), openProfessional()]);
    const client = await createClientRow(mine);

    const refused = [
      await other.api.rpc("erase_client", { client_id: client.id }),
      await mine.api.rpc("erase_client", { client_id: crypto.randomUUID() }),
    ];

    for (const answer of refused) {
      expect(refusal(answer)).toEqual({ status: 404, code: "PGRST301" });
      expect(answer.error).toEqual(refused[0]?.error);
    }
    expect((await mine.api.from("clients").select("*")).data).toEqual([client]);
  });

  it("is the owner's alone: not the public's, not the client's own, not a server's", async () => {
    const professional = await openProfessional();
    const client = await createClientRow(professional);
    const portal = await createPortalSession(client);
    const call = (api: typeof anon) => api.rpc("erase_client", { client_id: client.id });

    expect(refusal(await call(anon))).toEqual({ status: 401, code: "42501" });
    expect(refusal(await call(portal.api))).toEqual({ status: 403, code: "42501" });
    expect(refusal(await call(server()))).toEqual({ status: 403, code: "42501" });
    expect((await professional.api.from("clients").select("*")).data).toEqual([client]);
    expect((await call(professional.api)).error).toBeNull();
  });
});
