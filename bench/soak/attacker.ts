/**
 * Somebody who wants the others to wait: slow regular expressions from one network, locks held by many calls
 * at once, endpoints that let their answers drip, and a calendar filled by one mailbox.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "../../tests/support/database.ts";
import { createProfessional, createService } from "../../tests/support/factories.ts";
import { startReceiver, subscribe } from "../../tests/support/webhooks.ts";
import { int, pick, start } from "./random.ts";
import { type Ask, send, shops, someAddress } from "./world.ts";

/** Tries each way to split a text in four, and finds no echo in one of random letters. */
const SLOW_FILTER = encodeURIComponent("^(.+)(.+)(.+)(.+)\\4\\3\\2\\1$");

/** Answers by what was tried and their status. */
export const answers: Record<string, number> = {};
/** Bookings that the fillers got, by shop. */
export const filled: Record<string, number> = {};

/** Everything comes from one network. */
const FROM = someAddress();

async function attempt(name: string, what: Ask, token?: string): Promise<number> {
  const { status } = await send(what, token, FROM);
  answers[`${name} ${status}`] = (answers[`${name} ${status}`] ?? 0) + 1;
  return status;
}

function book(name: string, service_id: string): Promise<number> {
  const client_email = `one+${int(1e9)}@example.com`;
  const body = { service_id, starts_at: start(60), client_name: "One", client_email };
  return attempt(name, ["POST", "/rest/v1/rpc/create_booking", body]);
}

async function fill(): Promise<void> {
  const { id, services } = pick(shops);
  if ((await book("fill", pick(services))) === 200) filled[id] = (filled[id] ?? 0) + 1;
}

/** An account of tier pro whose endpoints drip, and a service that regular expressions are slow on. */
async function openAccount() {
  const account = await createProfessional({ accepts_bookings: true });
  for (let n = 0; n < 10; n++) {
    await subscribe(account, { url: (await startReceiver(() => ({ drips: true }))).url });
  }
  const description = randomBytes(500).toString("hex");
  const service = await createService(account, { description });
  await sql`update public.profiles set tier = 'pro' where id = ${account.id}`;
  await sql`
    insert into public.clients (professional_id, name)
    select ${account.id}, 'Marta Rossi' from generate_series(1, 60)`;
  return { ...account, service: service.id };
}

/** Until `isOver`; the endpoints drip until then. */
export async function attack(isOver: () => boolean): Promise<void> {
  const accounts = await Promise.all([openAccount(), openAccount()]);
  const [{ id, token, service }] = accounts;
  const many = (count: number, act: () => Promise<unknown>) =>
    Array.from({ length: count }, async () => {
      while (!isOver()) await act();
    });
  const search: Ask = ["GET", `/rest/v1/services?select=id&description=match.${SLOW_FILTER}`];
  const profile = `/rest/v1/profiles?id=eq.${id}`;
  await Promise.all([
    ...many(12, () => attempt("regex", search)),
    ...many(60, () => attempt("patch", ["PATCH", profile, { bio: randomUUID() }], token)),
    ...many(14, () => book("book at one", service)),
    ...many(4, fill),
  ]);
  const owners = accounts.map((account) => account.id);
  await sql`delete from private.webhook_endpoints where professional_id = any (${owners})`;
}
