/**
 * Compiled, never run: the simple call of each table, as a caller writes it, fits the generated types.
 * What a trigger or a default fills in must not be demanded, what the client must give must be.
 */
import { bearer } from "./callers.ts";

export async function simpleInserts(): Promise<void> {
  const api = bearer("token");
  const id = "00000000-0000-4000-8000-000000000000";
  const starts_at = "2027-03-01T09:00:00Z";
  const items = [{ product_id: id, quantity: 1 }];

  await api.from("services").insert({ name: "Haircut", price: 30, duration: 60 });
  await api.from("clients").insert({ name: "Marta Rossi", email: "marta@example.com" });
  await api.from("clients").insert({ name: "Marta Rossi" });
  await api.from("products").insert({ name: "Shampoo", price: 12.5 });
  await api.from("bookings").insert({ client_id: id, service_id: id, starts_at });
  await api.from("bookings").insert({ starts_at, ends_at: "2027-03-01T10:00:00Z" });
  await api.from("orders").insert({ client_id: id, items });
  await api.from("orders").insert({ booking_id: id });
  await api
    .from("profiles")
    .update({ full_name: "Ana Bianchi", accepts_bookings: true })
    .eq("id", id);
  await api.from("services").insert({ id, professional_id: id, name: "A", price: 1, duration: 5 });

  // @ts-expect-error a service has a duration
  await api.from("services").insert({ name: "Haircut", price: 30 });
  // @ts-expect-error a client has a name
  await api.from("clients").insert({ email: "marta@example.com" });
  // @ts-expect-error a product has a price
  await api.from("products").insert({ name: "Shampoo" });
  // @ts-expect-error a booking has a start
  await api.from("bookings").insert({ client_id: id, service_id: id });
  // @ts-expect-error generated columns are not written
  await api.from("clients").insert({ name: "Marta", email_key: "marta@example.com" });
  // @ts-expect-error a price is a number
  await api.from("services").insert({ name: "Haircut", price: "30", duration: 60 });

  const { data } = await api
    .from("clients")
    .select("name, bookings(starts_at, services(name))")
    .single();
  const start: string | undefined = data?.bookings[0]?.starts_at;
  const service: string | undefined = data?.bookings[0]?.services?.name;
  void [start, service];
}
