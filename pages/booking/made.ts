/** What was booked or ordered in this tab. Nobody is signed in here, whoever is on another page. */
import type { BookingReceipt, OrderReceipt } from "../../client/src/database.ts";
import { createIntent, type RpcArgs } from "../../client/src/index.ts";
import { ApiError, publicApi } from "../shared/api.ts";
import { readStored, tab, writeStored } from "../shared/store.ts";
import { language } from "../shared/texts/index.ts";

type Booked = { kind: "booking"; input: RpcArgs<"create_booking">; receipt: BookingReceipt };
type Ordered = { kind: "order"; input: RpcArgs<"place_order">; receipt: OrderReceipt };
type Asked = Omit<Booked, "receipt"> | Omit<Ordered, "receipt">;

/** With how it was asked for: sent again, the same key answers what has become of it. */
export type Made = Booked | Ordered;

const placeOf = (kind: Made["kind"], id: string) => `made:${kind}:${id}`;

/** The API remembers keys for seven days. A hold, which lasts minutes, would be made anew after that. */
const KEPT_MS = 6 * 86_400_000;
const isKept = ({ receipt: { expires_at } }: Made) =>
  expires_at === null || Date.now() - Date.parse(expires_at) < KEPT_MS;

export function madeBefore(kind: Made["kind"], id: string): Made | null {
  const made = readStored<Made>(placeOf(kind, id));
  return made && isKept(made) ? made : null;
}

/** What was made since the page was loaded needs no second look. */
const madeHere = new Set<string>();
export const isMadeHere = (id: string) => madeHere.has(id);

async function send(asked: Asked): Promise<Made> {
  const made: Made =
    asked.kind === "booking"
      ? { ...asked, receipt: await publicApi.rpc("create_booking", asked.input) }
      : { ...asked, receipt: await publicApi.rpc("place_order", asked.input) };
  writeStored(placeOf(made.kind, made.receipt.id), made);
  return made;
}

/** In the storage before anything is sent, so that a page that was reloaded asks for the same. */
const intent = createIntent({ storage: tab, name: "booking-page" });

/** Books or orders, once for all tries with the same input. */
export async function make(asked: Asked): Promise<Made> {
  // Optional arguments are left out rather than empty.
  const given = Object.fromEntries(Object.entries(asked.input).filter(([, value]) => value !== ""));
  const idempotency_key = intent.key(given);
  // A key stands for all that came with it, and the page may be in another language by the next try.
  const place = `language:${idempotency_key}`;
  const first = readStored(place) ?? language;
  writeStored(place, first);
  const input = { ...given, language: first, idempotency_key };
  const made = await send({ ...asked, input } as Asked);
  intent.done();
  madeHere.add(made.receipt.id);
  return made;
}

/** What has become of it. */
export async function look(made: Made): Promise<Made> {
  if (!isKept(made)) throw new ApiError(404, { code: "PGRST301" });
  return send(made);
}
