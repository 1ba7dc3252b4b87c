/**
 * Somebody who wants the others to wait: slow regular expressions from one network, locks held by many calls
 * at once, endpoints that let their answers drip, and a calendar filled by one mailbox.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { createProfessional, type Professional, request, someAddress } from "../people.ts";
import { int, pick, start } from "./random.ts";
import type { Shop, World } from "./world.ts";

const REGEXES = 12;
const PATCHES = 60;
const BOOKINGS = 14;
const FILLERS = 4;
const ACCOUNTS = 2;
/** Of each account. */
const ENDPOINTS = 10;
/** Queued at each endpoint. */
const EVENTS = 60;

/** Tries each way to split a text in four, and finds no echo in one of random letters. */
const SLOW_FILTER = encodeURIComponent("^(.+)(.+)(.+)(.+)\\4\\3\\2\\1$");

export class Attacker {
  /** Answers by what was tried and their status. */
  readonly answers = new Map<string, number>();
  /** Bookings that the filler got, by shop. */
  readonly filled = new Map<string, number>();
  readonly #world: World;
  readonly #sql: Sql;
  /** Everything comes from one network. */
  readonly #from = someAddress();
  #tenants: Professional[] = [];
  #service = "";

  constructor(world: World, sql: Sql) {
    this.#world = world;
    this.#sql = sql;
  }

  /** Until `isOver`; the endpoints drip until then. */
  async run(isOver: () => boolean): Promise<void> {
    await this.#prepare();
    const [tenant] = this.#tenants;
    if (!tenant) return;
    const many = (count: number, act: () => Promise<unknown>) =>
      Array.from({ length: count }, async () => {
        while (!isOver()) await act();
      });
    await Promise.all([
      ...many(REGEXES, () =>
        this.#try("regex", "GET", `/rest/v1/services?description=match.${SLOW_FILTER}`),
      ),
      ...many(PATCHES, () =>
        this.#try("patch", "PATCH", `/rest/v1/profiles?id=eq.${tenant.id}`, {
          token: tenant.token,
          body: { bio: randomUUID() },
        }),
      ),
      ...many(BOOKINGS, () => this.#book("book at one", this.#service)),
      ...many(FILLERS, () => this.#fill(pick(this.#world.shops))),
    ]);
    const owners = this.#tenants.map(({ id }) => id);
    await this.#sql`delete from private.webhook_endpoints where professional_id = any (${owners})`;
  }

  async #prepare(): Promise<void> {
    const { env, receiver } = this.#world;
    const paths: string[] = [];
    receiver.drips = (path) => paths.includes(path);
    for (let account = 0; account < ACCOUNTS; account++) {
      const tenant = await createProfessional(this.#sql, env);
      this.#tenants.push(tenant);
      const { token } = tenant;
      for (let n = 0; n < ENDPOINTS; n++) {
        const path = `drip-${randomUUID()}`;
        paths.push(path);
        const body = { url: receiver.url(path), events: ["*"] };
        await this.#try("endpoint", "POST", "/functions/v1/webhooks/endpoints", { token, body });
      }
      await this.#sql`update public.profiles set tier = 'pro' where id = ${tenant.id}`;
      await this.#sql`
        insert into public.clients (professional_id, name)
        select ${tenant.id}, 'Marta Rossi' from generate_series(1, ${EVENTS})`;
      const [service] = await this.#sql<{ id: string }[]>`
        insert into public.services (professional_id, name, price, duration, description)
        values (${tenant.id}, 'Trap', 1, 30, ${randomBytes(500).toString("hex")}) returning id`;
      this.#service = service?.id ?? "";
    }
  }

  #book(what: string, service_id: string): Promise<number> {
    const client_email = `one+${int(1e9)}@example.com`;
    return this.#try(what, "POST", "/rest/v1/rpc/create_booking", {
      body: { service_id, starts_at: start(60), client_name: "One", client_email },
    });
  }

  async #fill(shop: Shop): Promise<void> {
    const status = await this.#book("fill", pick(shop.services));
    if (status === 200) this.filled.set(shop.id, (this.filled.get(shop.id) ?? 0) + 1);
  }

  async #try(
    what: string,
    method: string,
    path: string,
    options: { token?: string; body?: unknown } = {},
  ): Promise<number> {
    const answer = await request(this.#world.env, method, path, { ...options, from: this.#from });
    const key = `${what} ${answer.status}`;
    this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
    return answer.status;
  }
}
