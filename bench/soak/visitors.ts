/** What the public, portal clients and newcomers do. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { brokenBody, chance, int, nonsense, pick, start } from "./random.ts";
import { type Answer, call, rpc, type Shop, type World } from "./world.ts";

const dates = () => {
  const date = (days: number) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const from = int(20);
  return { from_date: date(from), to_date: date(from + int(14)) };
};

/**
 * A call with a key, as a careful caller makes it: repeated until there is an answer that is no fault.
 * The key is also in the notes, so that afterwards its effects can be counted.
 */
async function withKey(
  world: World,
  name: "create_booking" | "place_order",
  body: Record<string, unknown>,
  token?: string,
): Promise<Answer> {
  const key = randomUUID();
  for (let tries = 0; ; tries++) {
    const answer = await rpc(world, name, { ...body, notes: key, idempotency_key: key }, token);
    const isFault = answer.status === 0 || answer.status >= 500;
    if (answer.status === 200) {
      const { id } = answer.body as { id: string };
      world.recorder.keys.add(key);
      const { bookings, orders } = world.recorder.acknowledged;
      (name === "create_booking" ? bookings : orders).add(id);
    }
    // Once in a while somebody asks twice although it worked.
    if ((!isFault && !chance(0.1)) || tries === 20) return answer;
    await sleep(200);
  }
}

const bookAt = async (world: World, shop: Shop, by: Record<string, unknown>, token?: string) => {
  const service_id = pick(shop.services);
  await rpc(world, "available_slots", { service_id, ...dates() }, token);
  return withKey(world, "create_booking", { service_id, starts_at: start(), ...by }, token);
};

const orderAt = async (world: World, shop: Shop, by: Record<string, unknown>, token?: string) => {
  const items = [{ product_id: pick(shop.products), quantity: 1 + int(3) }];
  await rpc(world, "quote_order", { professional_id: shop.id, items }, token);
  return withKey(world, "place_order", { professional_id: shop.id, items, ...by }, token);
};

/** One visit of somebody without an account. */
export async function visit(world: World): Promise<void> {
  const shop = pick(world.shops);
  const by = { client_name: "Ann", client_email: `ann-${int(400)}@example.com` };
  await pick<() => Promise<unknown>>([
    () => bookAt(world, shop, by),
    () => bookAt(world, shop, by),
    () => orderAt(world, shop, by),
    () => orderAt(world, shop, by),
    () =>
      call(world, "rpc booking_page", "GET", `/rest/v1/rpc/booking_page?username=${shop.username}`),
    () => rpc(world, "explain_slot", { service_id: pick(shop.services), starts_at: start() }),
    () => call(world, "read", "GET", `/rest/v1/services?professional_id=eq.${shop.id}`),
    () => call(world, "forbidden", "GET", "/rest/v1/clients?select=*"),
    () => call(world, "forbidden", "GET", "/rest/v1/products?select=*"),
    () => rpc(world, "create_booking", { service_id: nonsense(), starts_at: nonsense(), ...by }),
    () => rpc(world, "place_order", { professional_id: shop.id, items: nonsense(), ...by }),
    () => call(world, "broken body", "POST", "/rest/v1/rpc/create_booking", { body: brokenBody() }),
  ])();
}

/** The newest code mailed to an address. */
async function mailedCode(world: World, email: string): Promise<string | undefined> {
  const mail = world.env.MAILPIT_URL;
  for (let tries = 0; tries < 40; tries++) {
    const list = await fetch(`${mail}/api/v1/search?query=${encodeURIComponent(`to:"${email}"`)}`);
    const [newest] = ((await list.json()) as { messages: { ID: string }[] }).messages;
    if (newest) {
      const message = await fetch(`${mail}/api/v1/message/${newest.ID}`);
      const { Text } = (await message.json()) as { Text: string };
      return /\b[0-9]{6}\b/.exec(Text)?.[0];
    }
    await sleep(50);
  }
  return undefined;
}

/** A client signs in with a mailed code, does this and that, and signs out. */
export async function usePortal(world: World): Promise<void> {
  const shop = pick(world.shops);
  const who = { email: pick(shop.emails), professionalId: shop.id };
  const post = (path: string, body: unknown, token?: string) =>
    call(world, path, "POST", `/functions/v1/${path}`, { body, ...(token && { token }) });

  await post(
    "send-portal-otp",
    chance(0.2) ? { email: nonsense(), professionalId: nonsense() } : who,
  );
  const code = await mailedCode(world, who.email);
  if (chance(0.3))
    await post("verify-portal-otp", { ...who, code: String(100_000 + int(900_000)) });
  const answer = code ? await post("verify-portal-otp", { ...who, code }) : undefined;
  const { access_token: token } = (answer?.body ?? {}) as { access_token?: string };
  if (!token) return sleep(500);

  for (let turn = 0; turn < 12 && world.open; turn++) {
    const own = await call(world, "portal bookings", "GET", "/rest/v1/bookings?select=id,status", {
      token,
    });
    const [booking] = Array.isArray(own.body) ? (own.body as { id: string }[]) : [];
    await pick<() => Promise<unknown>>([
      () => bookAt(world, shop, {}, token),
      () => orderAt(world, shop, {}, token),
      () =>
        call(world, "portal orders", "GET", "/rest/v1/orders?select=id,number,items", { token }),
      () => rpc(world, "cancel_booking", { booking_id: booking?.id ?? randomUUID() }, token),
      () =>
        rpc(world, "reschedule_booking", { booking_id: booking?.id, starts_at: start() }, token),
      () =>
        call(world, "portal client", "PATCH", "/rest/v1/clients?id=not.is.null", {
          token,
          body: { phone: String(int(1e6)) },
        }),
      () => call(world, "forbidden", "GET", "/rest/v1/bookings?select=internal_notes", { token }),
      () => call(world, "forbidden", "POST", "/rest/v1/services", { token, body: { name: "x" } }),
      () => rpc(world, "audit", {}, token),
    ])();
    await sleep(int(150));
  }
  await call(world, "portal sign-out", "POST", "/functions/v1/verify-portal-otp/sign-out", {
    token,
  });
  await call(world, "signed out", "GET", "/rest/v1/bookings?select=id", { token });
}

/** Somebody signs up, looks around, comes back, and signs out. */
export async function signUp(world: World): Promise<void> {
  const account = { email: `new-${randomUUID()}@example.com`, password: "correct horse" };
  const auth = (path: string, body: unknown, token?: string) =>
    call(world, `auth ${path.split("?")[0]}`, "POST", `/auth/v1/${path}`, {
      body,
      ...(token && { token }),
    });
  const made = await auth("signup", {
    ...account,
    data: { full_name: nonsense(), username: "new" },
  });
  const session = await auth(
    "token?grant_type=password",
    chance(0.8) ? account : { ...account, password: "wrong" },
  );
  const tokens = (session.body ?? made.body ?? {}) as {
    access_token?: string;
    refresh_token?: string;
  };
  if (!tokens.access_token) return;
  await call(world, "read", "GET", "/rest/v1/profiles?select=*", { token: tokens.access_token });
  const next = await auth("token?grant_type=refresh_token", {
    refresh_token: tokens.refresh_token,
  });
  const { access_token: token = tokens.access_token } = (next.body ?? {}) as {
    access_token?: string;
  };
  await auth("logout", {}, token);
  await call(world, "signed out", "GET", "/rest/v1/profiles?select=*", { token });
}
