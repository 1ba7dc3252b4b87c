/**
 * Makes what a test starts from. Users and sessions are made by SQL and their tokens signed here:
 * a sign-up costs a password hash, and the platform limits them per address.
 */
import { randomUUID } from "node:crypto";
import type { Database } from "../../supabase/functions/_shared/database.types.ts";
import { type Api, bearer, signToken } from "./callers.ts";
import { type Claims, sql } from "./database.ts";

type Tables = Database["public"]["Tables"];
export type Row<T extends keyof Tables> = Tables[T]["Row"];
export type Insert<T extends keyof Tables> = Tables[T]["Insert"];

/** A signed-up professional with a session. */
export interface Professional {
  id: string;
  email: string;
  sessionId: string;
  token: string;
  /** Claims of the token, for SQL in this caller's role. */
  claims: Claims;
  api: Api;
}

/** A new professional. `profile` is set by SQL, so any column may be given. */
export async function createProfessional(
  profile: Tables["profiles"]["Update"] = {},
): Promise<Professional> {
  const id = randomUUID();
  const sessionId = randomUUID();
  const email = `pro-${id}@example.com`;
  const metadata = { full_name: "Ana Bianchi", username: `ana-${id}`, niche: "hairdresser" };
  await sql`
    insert into auth.users (id, aud, role, email, raw_app_meta_data, raw_user_meta_data, created_at, updated_at)
    values (${id}, 'authenticated', 'authenticated', ${email},
      ${sql.json({ provider: "email", providers: ["email"] })}, ${sql.json(metadata)}, now(), now())`;
  await sql`
    insert into auth.sessions (id, user_id, aal, created_at, updated_at)
    values (${sessionId}, ${id}, 'aal1', now(), now())`;
  const columns = { tier: "ultra", ...profile } as unknown as Record<string, never>;
  // Nobody is asked to confirm an address that does not exist.
  await sql`
    update public.profiles set ${sql(columns)}
    from (select set_config('private.mail', 'none', true) as mail) as quiet
    where id = ${id} and quiet.mail = 'none'`;

  const claims: Claims = {
    sub: id,
    email,
    role: "authenticated",
    aud: "authenticated",
    session_id: sessionId,
    user_metadata: metadata,
  };
  const token = await signToken(claims);
  return { id, email, sessionId, token, claims, api: bearer(token) };
}

/** Inserts through the API as the professional and returns the row. */
async function insert<T extends "services" | "clients" | "products" | "bookings" | "orders">(
  professional: Professional,
  table: T,
  values: Insert<T>,
): Promise<Row<T>> {
  const { data, error } = await professional.api
    .from(table)
    .insert(values as never)
    .select("*")
    .single();
  if (error) throw new Error(`insert into ${table}: ${JSON.stringify(error)}`);
  return data as unknown as Row<T>;
}

export function createService(
  professional: Professional,
  values: Partial<Insert<"services">> = {},
): Promise<Row<"services">> {
  return insert(professional, "services", { name: "Haircut", price: 30, duration: 60, ...values });
}

export function createClientRow(
  professional: Professional,
  values: Partial<Insert<"clients">> = {},
): Promise<Row<"clients">> {
  return insert(professional, "clients", {
    name: "Marta Rossi",
    email: `marta-${randomUUID()}@example.com`,
    ...values,
  });
}

export function createProduct(
  professional: Professional,
  values: Partial<Insert<"products">> = {},
): Promise<Row<"products">> {
  return insert(professional, "products", { name: "Shampoo", price: 12.5, ...values });
}

export function createBooking(
  professional: Professional,
  values: Insert<"bookings">,
): Promise<Row<"bookings">> {
  return insert(professional, "bookings", values);
}

export function createOrder(
  professional: Professional,
  values: Insert<"orders">,
): Promise<Row<"orders">> {
  return insert(professional, "orders", values);
}

/** A client of a professional, signed in to the portal, or who opened the link of one booking. */
export interface PortalSession {
  clientId: string;
  professionalId: string;
  sessionId: string;
  token: string;
  /** Claims of the token, for SQL in this caller's role. */
  claims: Claims;
  api: Api;
}

async function portalSession(
  { id: clientId, professional_id: professionalId }: Pick<Row<"clients">, "id" | "professional_id">,
  session: { id: string } | undefined,
  who: { role: Claims["role"]; booking_id?: string },
): Promise<PortalSession> {
  if (!session) throw new Error("the client does not exist");
  const claims: Claims = {
    sub: clientId,
    aud: "portal",
    professional_id: professionalId,
    session_id: session.id,
    ...who,
  };
  const token = await signToken(claims);
  return { clientId, professionalId, sessionId: session.id, token, claims, api: bearer(token) };
}

/** Signs a client in to the portal, as a verified code does. */
export async function createPortalSession(
  client: Pick<Row<"clients">, "id" | "professional_id">,
): Promise<PortalSession> {
  const [session] = await sql<{ id: string }[]>`
    insert into private.portal_sessions (professional_id, client_id, link_epoch)
    select professional_id, id, link_epoch from public.clients
    where id = ${client.id} and professional_id = ${client.professional_id}
    returning id`;
  return portalSession(client, session, { role: "portal_client" });
}

/** Opens the link of a client's booking. */
export async function createBookingSession(
  booking: Pick<Row<"bookings">, "id" | "professional_id" | "client_id">,
): Promise<PortalSession> {
  const client = { id: booking.client_id as string, professional_id: booking.professional_id };
  const [session] = await sql<{ id: string }[]>`
    insert into private.booking_sessions (professional_id, booking_id, link_epoch, expires_at)
    select professional_id, ${booking.id}, link_epoch, now() + interval '1 hour'
    from public.clients
    where id = ${client.id} and professional_id = ${client.professional_id}
    returning id`;
  return portalSession(client, session, { role: "portal_booking", booking_id: booking.id });
}
