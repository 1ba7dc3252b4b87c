/** What the booking page asks the API. Nobody is signed in here, whoever is on another page. */
import type {
  BookingReceipt,
  Language,
  OrderReceipt,
  PublicProfessional,
  PublicService,
} from "../../client/src/database.ts";
import { createIntent } from "../../client/src/index.ts";
import { ApiError, connectPublicly } from "../shared/api.ts";
import { readStored, tab, writeStored } from "../shared/store.ts";
import { language } from "../shared/texts/index.ts";

export type * from "../../client/src/database.ts";

export const api = connectPublicly();

/** What the steps of a booking are about. */
export interface Chosen {
  professional: PublicProfessional;
  service: PublicService;
}

/** What a person types, of a booking and of an order. */
export const NO_DETAILS = { client_name: "", client_email: "", client_phone: "", notes: "" };
export type Details = typeof NO_DETAILS;

/** Where it is kept until it is sent: what was written to one is nothing for another. */
export const draftOf = ({ id }: Pick<PublicProfessional, "id">) => `details:${id}`;

type BookingInput = Details & { service_id: string; starts_at: string };
type OrderInput = Details & {
  professional_id: string;
  items: { product_id: string; quantity: number }[];
  expected_total: number;
};

interface Call<Kind, Input, Receipt> {
  kind: Kind;
  /** With its key: sent again it answers what became of it. */
  input: Input & { idempotency_key: string; language: Language };
  /** When it was first sent, in milliseconds since 1970. */
  at: number;
  receipt: Receipt;
  /** It was a hold when it was last looked at, before it was cancelled. */
  wasHeld: boolean;
}

/** What was booked or ordered, and how it was asked for. */
export type Made =
  | Call<"booking", BookingInput, BookingReceipt>
  | Call<"order", OrderInput, OrderReceipt>;

const place = (kind: string, id: string) => `made:${kind}:${id}`;

/** The API remembers keys for seven days; whatever is sent again after that is done again. */
const KEPT_MS = 6 * 86_400_000;
const isKept = ({ at }: Made) => Date.now() - at < KEPT_MS;

export function madeBefore(kind: Made["kind"], id: string): Made | null {
  const made = readStored<Made>(place(kind, id));
  return made && isKept(made) ? made : null;
}

/** What was made since the page was loaded needs no second look. */
const madeHere = new Set<string>();
export const isMadeHere = (id: string) => madeHere.has(id);

/** In the storage before anything is sent, so that a page that was reloaded asks for the same. */
const intent = createIntent({ storage: tab, name: "booking-page" });

/** Sends it, and keeps what came of it. */
async function send(call: Pick<Made, "kind" | "input" | "at">, before?: Made): Promise<Made> {
  const { kind, input, at } = call as Made;
  const receipt = await (kind === "booking"
    ? api.rpc("create_booking", input)
    : api.rpc("place_order", input));
  const wasHeld = receipt.status === "cancelled" ? !!before?.wasHeld : receipt.expires_at !== null;
  const made = { kind, input, at, receipt, wasHeld } as Made;
  writeStored(place(kind, receipt.id), made);
  return made;
}

async function make(kind: Made["kind"], input: BookingInput | OrderInput): Promise<Made> {
  // Optional arguments are left out rather than empty.
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== ""));
  const idempotency_key = intent.key(given);
  // A key stands for all that came with it, and the page may be in another language by the next try.
  const place = `first:${idempotency_key}`;
  const first = readStored<Pick<Made, "at">>(place) ?? { at: Date.now(), language };
  writeStored(place, first);
  const { at, ...rest } = first;
  const made = await send({ kind, input: { ...given, ...rest, idempotency_key } as never, at });
  intent.done();
  madeHere.add(made.receipt.id);
  return made;
}

export const book = (input: BookingInput) => make("booking", input);
export const order = (input: OrderInput) => make("order", input);

/** What has become of it: the same call, whose key makes it once. */
export async function look(made: Made): Promise<Made> {
  if (!isKept(made)) throw new ApiError(404, { code: "PGRST301" });
  return send(made, made);
}

/** The address of the page on which it is paid, which leads back to `success` or `cancel`. */
export async function paymentPage({ kind, receipt }: Made, success: string, cancel: string) {
  const order_id = kind === "booking" ? receipt.order_id : receipt.id;
  const { url } = await api.functions.payments.checkout({
    order_id: order_id ?? "",
    token: receipt.checkout_token ?? "",
    success_url: success,
    cancel_url: cancel,
  });
  return url;
}
