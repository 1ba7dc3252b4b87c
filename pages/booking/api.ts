/** What the booking page asks the API. Nobody is signed in here, whoever is on another page. */
import type {
  BookingPage,
  BookingReceipt,
  OrderReceipt,
  PublicProduct,
  PublicProfessional,
  PublicService,
} from "../../client/src/database.ts";
import { createIntent } from "../../client/src/index.ts";
import { connectPublicly } from "../shared/api.ts";
import { language } from "../shared/texts/index.ts";
import { readStored, writeStored } from "./store.ts";

export type {
  BookingPage,
  BookingReceipt,
  OrderReceipt,
  PublicProduct,
  PublicProfessional,
  PublicService,
};

export const api = connectPublicly();

/** What a person types, of a booking and of an order. */
export interface Details {
  client_name: string;
  client_email: string;
  client_phone: string;
  notes: string;
}

export const NO_DETAILS: Details = {
  client_name: "",
  client_email: "",
  client_phone: "",
  notes: "",
};

interface Call<Kind, Input> {
  kind: Kind;
  /** With its key: sent again it answers what became of it. */
  input: Input & { idempotency_key: string };
}

type BookingInput = Details & { service_id: string; starts_at: string };
type OrderInput = Details & {
  professional_id: string;
  items: { product_id: string; quantity: number }[];
  expected_total: number;
};

/** What was booked or ordered, and how it was asked for. */
export type Made =
  | (Call<"booking", BookingInput> & { receipt: BookingReceipt })
  | (Call<"order", OrderInput> & { receipt: OrderReceipt });

const place = ({ kind, receipt }: Pick<Made, "kind" | "receipt">) => `made:${kind}:${receipt.id}`;

/** What was made since the page was loaded needs no second look. */
const madeHere = new Set<string>();
export const isMadeHere = (id: string) => madeHere.has(id);

function keep(made: Made): Made {
  madeHere.add(made.receipt.id);
  writeStored(place(made), made);
  return made;
}

export const madeBefore = (kind: Made["kind"], id: string) =>
  readStored<Made>(place({ kind, receipt: { id } } as Made));

/** In the storage before anything is sent, so that a page that was reloaded asks for the same. */
const intent = createIntent({ storage: sessionStorage, name: "booking-page" });

/** Optional arguments are left out rather than empty. */
const given = <Input extends object>(input: Input) =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== "")) as Input;

export async function book(input: BookingInput): Promise<Made> {
  const sent = { ...given(input), idempotency_key: intent.key(input) };
  const receipt = await api.rpc("create_booking", { ...sent, language });
  intent.done();
  return keep({ kind: "booking", input: sent, receipt });
}

export async function order(input: OrderInput): Promise<Made> {
  const sent = { ...given(input), idempotency_key: intent.key(input) };
  const receipt = await api.rpc("place_order", { ...sent, language });
  intent.done();
  return keep({ kind: "order", input: sent, receipt });
}

/** What has become of it: the same call, whose key makes it once. */
export async function look(made: Made): Promise<Made> {
  if (made.kind === "booking") {
    const receipt = await api.rpc("create_booking", { ...made.input, language });
    return keep({ ...made, receipt });
  }
  const receipt = await api.rpc("place_order", { ...made.input, language });
  return keep({ ...made, receipt });
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
