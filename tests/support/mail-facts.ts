/** Facts of mails as `claim_mails` gives them, and every mail that can be made of them. */
import type { MailLinks } from "../../supabase/functions/mail/context.ts";
import { KINDS, MailFacts } from "../../supabase/functions/mail/facts.ts";
import { type Rendered, render } from "../../supabase/functions/mail/render.ts";

export const sender = { name: "Agenda", email: "mail@agenda.example" };

export const links: Required<MailLinks> = {
  manage: "https://portal.example/#manage=header.manage.signature",
  confirm: "https://portal.example/#confirm=header.confirm.signature",
  unsubscribe: { url: "https://api.example/functions/v1/mail/unsubscribe?t=header.stop.signature" },
  confirmAddress: "https://portal.example/#confirm-address=header.address.signature",
};

export const professional = {
  id: "11111111-1111-4111-8111-111111111111",
  full_name: "Ana Bianchi",
  username: "ana-bianchi",
  email: "ana@studio.example" as string | null,
  phone: "+39 06 555 0100" as string | null,
  address: "Via Appia 7\n00183 Roma" as string | null,
  footer: "Studio Bianchi\nClosed in August" as string | null,
  time_zone: "Europe/Rome",
};

export const client = {
  id: "22222222-2222-4222-8222-222222222222",
  name: "Marta Rossi",
  email: "marta@example.com" as string | null,
  phone: "+39 333 555 0199" as string | null,
  link_epoch: 1,
  proven: true,
};

export const booking = {
  id: "33333333-3333-4333-8333-333333333333",
  version: 4,
  status: "confirmed",
  service_name: "Massage",
  starts_at: "2026-11-27T09:00:00.000Z",
  ends_at: "2026-11-27T10:30:00.000Z",
  price: "45.50",
  currency: "EUR",
  notes: "Mind my left knee" as string | null,
  cancel_reason: null as string | null,
  cancelled_by: null as "owner" | "client" | "system" | null,
  location: null as string | null,
  instructions: "Bring a towel" as string | null,
  cancel_until: "2026-11-26T09:00:00.000Z" as string | null,
  updated_at: "2026-11-20T08:15:30.123Z",
  created_at: "2026-11-19T08:15:30.123Z",
};

export const order = {
  id: "44444444-4444-4444-8444-444444444444",
  number: 1012,
  kind: "product",
  status: "confirmed",
  items: [
    { name: "Oil", quantity: 2, unit_price: "15.00", total: "30.00" },
    { name: "Gift wrap", quantity: 1, unit_price: "2.50", total: "2.50" },
  ] as Array<{ name: string; quantity: number; unit_price: string | number; total: string }>,
  subtotal: "32.50",
  discount: "5.00",
  tax: "6.05",
  total: "33.55",
  currency: "EUR",
  payment_status: "partially_paid",
  amount_paid: "10.00",
  amount_refunded: "0",
  shipping_address: { zip: "00184", city: "Roma", street: "Via Nazionale 3" } as object | null,
  notes: "Leave it with the porter" as string | null,
  updated_at: "2026-11-20T08:15:30.123Z",
};

export const payment = {
  id: "55555555-5555-4555-8555-555555555555",
  kind: "payment",
  amount: "10.00",
  currency: "EUR",
  method: "card" as string | null,
  created_at: "2026-11-20T08:15:30.123Z",
};

export type Audience = "client" | "professional";

/** What a test wants to be different. */
export interface Changes {
  language?: string;
  may_quote?: boolean;
  professional?: Partial<typeof professional>;
  client?: Partial<typeof client>;
  booking?: Partial<typeof booking>;
  order?: Partial<typeof order>;
  payment?: Partial<typeof payment>;
}

/** The states that the database has when it asks for a mail of a kind. */
const STATES: Record<string, Partial<typeof booking>> = {
  booking_received: { status: "pending" },
  booking_to_confirm: { status: "pending" },
  booking_cancelled: { status: "cancelled", cancelled_by: "owner", cancel_reason: "I am ill" },
};

/** A claimed mail as JSON. */
export function claim(audience: Audience, kind: string, changes: Changes = {}) {
  const subjects = Object.entries(KINDS[audience]) as Array<[string, readonly string[]]>;
  const about = subjects.find(([, kinds]) => kinds.includes(kind))?.[0];
  const person = { ...client, ...changes.client };
  const self = { ...professional, ...changes.professional };
  const OWN: Record<string, object> = {
    confirm_address: { email_to_confirm: "ana@account.example" },
    calendar_failing: {
      failing_calendars: [
        { host: "calendar.example", failing_since: "2026-11-18T08:15:00.000Z" },
        { host: "other.example", failing_since: "2026-11-19T08:15:00.000Z" },
      ],
    },
  };
  const hasOrder = about === "order" || about === "payment";
  return {
    mail_id: "66666666-6666-4666-8666-666666666666",
    claim_token: "77777777-7777-4777-8777-777777777777",
    attempt: 1,
    audience,
    kind,
    language: changes.language ?? "en",
    to:
      audience === "client"
        ? { email: person.email, name: person.name }
        : { email: "ana@account.example", name: self.full_name },
    professional: { ...self, ...OWN[kind] },
    client: ["address", "calendars", "google"].includes(about ?? "") ? null : person,
    may_quote: changes.may_quote ?? true,
    booking: about === "booking" ? { ...booking, ...STATES[kind], ...changes.booking } : null,
    order: hasOrder ? { ...order, ...changes.order } : null,
    payment: about === "payment" ? { ...payment, ...changes.payment } : null,
    address_token_subject: null,
    endpoint: null,
  };
}

export const facts = (...of: Parameters<typeof claim>): MailFacts => MailFacts.parse(claim(...of));

/** The mail that a claimed one becomes, with all links. */
export const mailOf = (...of: Parameters<typeof claim>): Rendered =>
  render(facts(...of), links, sender);

/** Every audience with every kind of it. */
export const ALL_KINDS = (Object.keys(KINDS) as Audience[]).flatMap((audience) =>
  Object.values(KINDS[audience])
    .flat()
    .map((kind) => [audience, kind] as [Audience, string]),
);

/** Every state of a booking that has words of its own. */
const VARIANTS: Array<[Audience, string, Changes]> = [
  ["client", "booking_moved", { booking: { status: "pending" } }],
  ["client", "booking_cancelled", { booking: { cancelled_by: "client" } }],
  ["client", "booking_cancelled", { booking: { cancelled_by: "system" } }],
  ["professional", "new_booking", { booking: { status: "pending" } }],
  ["professional", "booking_moved", { booking: { status: "pending" } }],
  ["professional", "booking_cancelled", { booking: { cancelled_by: "client" } }],
];

export const ALL_MAILS: Array<[Audience, string, Changes]> = [
  ...ALL_KINDS.map(([audience, kind]): [Audience, string, Changes] => [audience, kind, {}]),
  ...VARIANTS,
];

/** What a reader of the HTML reads: its text, and where its links lead. */
export function readHtml(html: string): string {
  const body = /<body[^>]*>([\s\S]*)<\/body>/.exec(html)?.[1] ?? "";
  const targets = [...body.matchAll(/href="([^"]*)"/g)].map(([, target]) => target);
  return [body.replace(/<[^>]*>/g, " "), ...targets]
    .join(" ")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, "&")
    .replace(/\s+/g, " ");
}

const VOID_ELEMENTS = ["meta", "br"];

/** What is wrong with the HTML: anything that is no text, no known entity, no quoted attribute, or not closed. */
export function htmlFaults(html: string): string[] {
  const faults: string[] = [];
  const open: string[] = [];
  const token =
    /<!DOCTYPE html>|<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+="[^"<>]*")*)>|[^<>&]+|&(?:amp|lt|gt|quot|#39);/y;
  while (token.lastIndex < html.length) {
    const at = token.lastIndex;
    const found = token.exec(html);
    if (!found) return [...faults, `no token at: ${html.slice(at, at + 60)}`];
    const [, slash, name] = found;
    if (name === undefined || VOID_ELEMENTS.includes(name)) continue;
    if (slash === "") open.push(name);
    else if (open.pop() !== name) faults.push(`closed but not open: ${name}`);
  }
  return [...faults, ...open.map((name) => `not closed: ${name}`)];
}
