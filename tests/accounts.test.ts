/** A professional deletes the account: who may, what is said before, and that it is finished whatever breaks. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { request, server, signToken } from "./support/callers.ts";
import { parallelConnections, sql } from "./support/database.ts";
import { accountWithEverything, rowsOf } from "./support/everything.ts";
import {
  createClientRow,
  createOrder,
  createProfessional,
  type Professional,
} from "./support/factories.ts";
import { createProgram } from "./support/keys.ts";
import { inbox, readMail } from "./support/mailbox.ts";
import { canCharge, collect } from "./support/payments.ts";
import { mailsTo } from "./support/portal.ts";
import { stack } from "./support/stack.ts";
import { refusalOf, until } from "./support/webhooks.ts";

const ask = (token: string, body: object) =>
  request("/functions/v1/account/delete", { method: "POST", token, body: JSON.stringify(body) });

const nameOf = ({ id }: Professional) => `ana-${id}`;
const isThere = async (id: string) =>
  (await sql`select from auth.users where id = ${id}`).length > 0;
const deletionsOf = (id: string) =>
  sql`select * from private.account_deletions where account_id = ${id}`;
const dispatched = (id: string) =>
  until(
    async () => (await deletionsOf(id)).length,
    (count) => count === 0,
    30,
  );

/** As the dispatcher of payments does: pages are closed, and money has gone back. */
async function settlePayments({ id }: Professional): Promise<void> {
  await sql`
    update private.checkouts set status = 'expired'
    where professional_id = ${id} and status in ('creating', 'open')`;
  await sql`
    update private.provider_refunds set status = 'succeeded'
    where professional_id = ${id} and status = 'due'`;
}

describe("deleting the account", () => {
  test("takes everything along, says what, and mails once to the address that it had", async () => {
    const [doomed, neighbour] = await Promise.all([
      accountWithEverything(),
      accountWithEverything(),
    ]);
    await settlePayments(doomed);
    const before = await rowsOf(doomed);
    const neighbourBefore = await rowsOf(neighbour);
    const goes = Object.fromEntries(
      ["clients", "services", "products", "bookings", "orders"].map((name) => [
        name,
        before[name] ?? before[`public.${name}`],
      ]),
    );
    const response = await ask(doomed.token, { confirmation: nameOf(doomed) });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      deleted: true,
      goes: { ...goes, payments: before["private.payments"] },
    });

    expect(await isThere(doomed.id)).toBe(false);
    for (const [table, count] of Object.entries(await rowsOf(doomed))) {
      expect([table, count]).toEqual([table, 0]);
    }
    expect(await rowsOf(neighbour)).toEqual(neighbourBefore);
    expect(await deletionsOf(doomed.id)).toHaveLength(0);
    // Beside those of the queue that were faster.
    const last = (await mailsTo(doomed.email)).filter(({ Subject }) => /deleted/.test(Subject));
    expect(last.map(({ Subject }) => Subject)).toEqual(["Your account has been deleted"]);
    const mail = last[0] && (await readMail(last[0]));
    expect(mail?.header.get("auto-submitted")).toBe("auto-generated");
    expect(await refusalOf(ask(doomed.token, { confirmation: nameOf(doomed) }))).toMatchObject({
      status: 401,
      code: "session_not_found",
    });
  });

  test.each(["a payment page that may be open", "money that has to go back"])(
    "detaches payments at once, and waits ten minutes at most for %s",
    async (what) => {
      const [eva, mia] = await Promise.all([createProfessional(), createProfessional()]);
      const account = await canCharge(eva);
      await canCharge(mia);
      for (const professional of [eva, mia]) {
        const order = await createOrder(professional, {
          client_id: (await createClientRow(professional)).id,
          items: [{ name: "Voucher", unit_price: 30, quantity: 1 }],
        });
        await collect(order, 30);
        if (what === "money that has to go back") {
          await professional.api.from("orders").update({ status: "cancelled" }).eq("id", order.id);
        } else {
          await sql`
            update private.checkouts set status = 'open' where professional_id = ${professional.id}`;
        }
      }

      const response = await ask(eva.token, { confirmation: nameOf(eva) });
      expect(response.status).toBe(202);
      expect(await response.json()).toMatchObject({ deleted: false, goes: { payments: 1 } });
      const [detached] = await sql`
        select detached_at is not null as is_detached from private.payment_accounts where id = ${account}`;
      expect(detached).toEqual({ is_detached: true });
      expect(await isThere(eva.id)).toBe(true);
      await settlePayments(eva);
      expect((await ask(eva.token, { confirmation: nameOf(eva) })).status).toBe(200);
      expect(await isThere(eva.id)).toBe(false);

      expect((await ask(mia.token, { confirmation: nameOf(mia) })).status).toBe(202);
      await sql`
        update private.account_deletions set requested_at = now() - interval '10 minutes'
        where account_id = ${mia.id}`;
      expect((await ask(mia.token, { confirmation: nameOf(mia) })).status).toBe(200);
    },
  );

  test("mails in the professional's language", async () => {
    const eva = await createProfessional({ language: "it" });
    expect((await ask(eva.token, { confirmation: nameOf(eva) })).status).toBe(200);
    const [mail] = await inbox(eva.email, 1);
    expect(mail?.subject).toBe("Il tuo account è stato eliminato");
  });

  test("mails nothing to an address that takes no mail", async () => {
    const eva = await createProfessional();
    await sql`
      insert into private.suppressed_addresses (address_digest, reason)
      values (private.address_digest(${eva.email}), 'bounced')`;
    expect((await ask(eva.token, { confirmation: nameOf(eva) })).status).toBe(200);
    expect(await deletionsOf(eva.id)).toHaveLength(0);
    expect(await mailsTo(eva.email)).toHaveLength(0);
  });

  test.each([[{}], [{ confirmation: "" }], [{ confirmation: "Ana" }]])(
    "with %j says what would go, and deletes nothing",
    async (body) => {
      const eva = await createProfessional();
      await createClientRow(eva);
      expect(await refusalOf(ask(eva.token, body))).toEqual({
        status: 422,
        code: "confirmation_required",
        details: {
          confirmation: nameOf(eva),
          goes: { clients: 1, services: 0, products: 0, bookings: 0, orders: 0, payments: 0 },
        },
      });
      expect(await deletionsOf(eva.id)).toHaveLength(0);
      expect(await isThere(eva.id)).toBe(true);
    },
  );

  test("wants a session younger than ten minutes, whatever the token says", async () => {
    const eva = await createProfessional();
    const started = (age: string) =>
      sql`update auth.sessions set created_at = now() - ${age}::interval where id = ${eva.sessionId}`;
    await started("10 minutes 1 second");
    const fresh = await signToken({ ...eva.claims, iat: Math.floor(Date.now() / 1000) });
    const refused = await refusalOf(ask(fresh, { confirmation: nameOf(eva) }));
    expect(refused).toEqual({ status: 403, code: "recent_sign_in_required", details: null });
    expect(await deletionsOf(eva.id)).toHaveLength(0);
    await started("9 minutes 50 seconds");
    const old = await signToken({ ...eva.claims, iat: Math.floor(Date.now() / 1000) - 3000 });
    expect((await ask(old, { confirmation: nameOf(eva) })).status).toBe(200);
  });

  test("is for the person: no key, no client, no other professional's session", async () => {
    const eva = await createProfessional();
    const [reader, writer] = await Promise.all([
      createProgram(eva, "read"),
      createProgram(eva, "write"),
    ]);
    const confirmation = nameOf(eva);
    expect(await refusalOf(ask(writer.token, { confirmation }))).toMatchObject({
      status: 403,
      code: "person_required",
    });
    expect(await refusalOf(ask(reader.token, { confirmation }))).toMatchObject({
      status: 403,
      code: "key_is_read_only",
    });
    const ivo = await createProfessional();
    const mixed = await signToken({ ...eva.claims, session_id: ivo.sessionId });
    expect(await refusalOf(ask(mixed, { confirmation }))).toMatchObject({
      status: 403,
      code: "person_required",
    });
    const client = await signToken({ ...eva.claims, role: "portal_client" });
    expect(await refusalOf(ask(client, { confirmation }))).toMatchObject({ status: 403 });
    expect(await refusalOf(ask(stack.publishableKey, { confirmation }))).toMatchObject({
      status: 401,
    });
    expect(await isThere(eva.id)).toBe(true);
  });

  test("of an account with a write under way waits for it", async () => {
    const eva = await createProfessional();
    const [holder] = parallelConnections(1);
    let answered = false;
    let answer: Promise<Response> | undefined;
    await holder?.begin(async (tx) => {
      await tx`select private.lock_professional(${eva.id})`;
      answer = ask(eva.token, { confirmation: nameOf(eva) });
      void answer.then(() => {
        answered = true;
      });
      await until(
        () => sql`select from pg_locks where locktype = 'advisory' and not granted`,
        (rows) => rows.length > 0,
      );
      expect(answered).toBe(false);
    });
    expect((await answer)?.status).toBe(200);
  });

  test("asked for twice at once happens once, with one mail", async () => {
    const eva = await createProfessional();
    const statuses = await Promise.all(
      [1, 2, 3].map(async () => (await ask(eva.token, { confirmation: nameOf(eva) })).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    for (const status of statuses) expect([200, 202, 401, 404]).toContain(status);
    await dispatched(eva.id);
    await inbox(eva.email, 1);
  });
});

describe("a deletion that was broken off", () => {
  test("before the account went is finished by the scheduler", async () => {
    const eva = await createProfessional();
    const { data } = await eva.api.rpc("request_account_deletion", { confirmation: nameOf(eva) });
    expect(data).toMatchObject({ account_id: eva.id });
    // The route that was asked has ten seconds for itself.
    const [{ wait } = { wait: 0 }] = await sql<{ wait: number }[]>`
      select extract(epoch from due_at - requested_at)::float as wait
      from private.account_deletions where account_id = ${eva.id}`;
    expect(wait).toBe(10);
    await sql`update private.account_deletions set due_at = now() where account_id = ${eva.id}`;
    await dispatched(eva.id);
    expect(await isThere(eva.id)).toBe(false);
    await inbox(eva.email, 1);
  });

  test("after the account went, too: the row has all that the mail needs", async () => {
    const id = randomUUID();
    const email = `gone-${id}@example.com`;
    await sql`
      insert into private.account_deletions (account_id, recipient, language, due_at, attempts, claim_token)
      values (${id}, ${email}, 'en', now(), 1, gen_random_uuid())`;
    await dispatched(id);
    await inbox(email, 1);
  });

  test("is finished when it is asked for again, also with a try long ago", async () => {
    const eva = await createProfessional();
    await sql`
      insert into private.account_deletions (account_id, recipient, language, due_at, attempts)
      values (${eva.id}, ${eva.email}, 'en', now() + interval '1 hour', 5)`;
    expect((await ask(eva.token, { confirmation: nameOf(eva) })).status).toBe(200);
    expect(await isThere(eva.id)).toBe(false);
  });

  test("is not taken while a try is under way, nor ended by one whose lease is over", async () => {
    const id = randomUUID();
    await sql`
      insert into private.account_deletions (account_id, recipient, language, due_at)
      values (${id}, 'x@example.com', 'en', now() + interval '1 hour')`;
    const claim = async () => {
      const { data, error } = await server().rpc("claim_account_deletions", {
        account_id: id,
        max_count: 1,
      });
      expect(error).toBeNull();
      return data as { claim_token: string; recipient: string; language: string }[];
    };
    const [first] = await claim();
    expect(first).toMatchObject({ account_id: id, recipient: "x@example.com", language: "en" });
    expect(await claim()).toEqual([]);
    const finish = (claim_token: string, mailed: boolean) =>
      server().rpc("finish_account_deletion", { account_id: id, claim_token, mailed });
    await finish(randomUUID(), true);
    expect(await deletionsOf(id)).toHaveLength(1);

    await finish(first?.claim_token ?? "", false);
    const [row] = await sql`
      select claim_token, extract(epoch from due_at - now())::float / 60 as minutes
      from private.account_deletions where account_id = ${id}`;
    expect(row?.claim_token).toBeNull();
    expect(row?.minutes).toBeGreaterThan(1.9);
    expect(row?.minutes).toBeLessThanOrEqual(2);

    // The twelfth mail that is not taken is the last.
    await sql`update private.account_deletions set attempts = 11 where account_id = ${id}`;
    const [last] = await claim();
    await finish(last?.claim_token ?? "", false);
    expect(await deletionsOf(id)).toHaveLength(0);
  });

  test("is what health tells of when the account stays for more than fifteen minutes", async () => {
    const eva = await createProfessional();
    const work = sql.begin(async (tx) => {
      const status = async () => (await tx`select private.account_status() as status`)[0]?.status;
      await tx`
        insert into private.account_deletions (account_id, language, requested_at, due_at)
        values (${randomUUID()}, 'en', now() - interval '1 day', now() + interval '1 hour')`;
      expect(await status()).toBe("ok");
      await tx`
        insert into private.account_deletions (account_id, language, requested_at, due_at)
        values (${eva.id}, 'en', now() - interval '14 minutes', now() + interval '1 hour')`;
      expect(await status()).toBe("ok");
      await tx`update private.account_deletions set requested_at = now() - interval '16 minutes' where account_id = ${eva.id}`;
      expect(await status()).toMatch(/^an account has waited to be deleted since 2/);
      throw new Error("undo");
    });
    await expect(work).rejects.toThrow("undo");
  });
});

test("only the secret key deletes users of the auth service", async () => {
  const eva = await createProfessional();
  const remove = (apikey: string, token?: string) =>
    request(`/auth/v1/admin/users/${eva.id}`, { method: "DELETE", token, headers: { apikey } });
  expect((await remove(stack.publishableKey, eva.token)).status).toBe(403);
  expect(await isThere(eva.id)).toBe(true);
  expect((await remove(stack.secretKey)).status).toBe(200);
  const again = await remove(stack.secretKey);
  expect([again.status, await again.json()]).toMatchObject([404, { error_code: "user_not_found" }]);
});
