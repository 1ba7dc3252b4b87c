/** Links as the mails have them: signed with the development keys, which the stack under test has too. */
import { developmentEnv } from "../../local/config.ts";
import { PROJECT_DIR } from "../../local/state.ts";
import { type Link, links } from "../../supabase/functions/_shared/links.ts";
import { sql } from "./database.ts";
import type { Row } from "./factories.ts";
import { callFunction } from "./portal.ts";

const env = developmentEnv(PROJECT_DIR);

/** Signs a link; `key` is another one than the functions sign with. */
export function signLink(link: Link, key = env.LINK_SIGNING_KEY): Promise<string> {
  const signer = links((name) => (name === "LINK_SIGNING_KEY" ? key : undefined));
  if (!signer) throw new Error("there is no key for links");
  return signer.sign(link);
}

export const previousKey = env.LINK_SIGNING_KEY_PREVIOUS;

type Booking = Pick<Row<"bookings">, "id" | "client_id">;

/** What a mail about a booking, sent now, would have as its link. */
export async function manageLink(booking: Booking): Promise<Link> {
  const [client] = await sql<{ link_epoch: number }[]>`
    select link_epoch from public.clients where id = ${booking.client_id}`;
  if (!client) throw new Error("the client does not exist");
  return { purpose: "manage", kind: "booking", row: booking.id, epoch: client.link_epoch };
}

export async function manageToken(booking: Booking): Promise<string> {
  return signLink(await manageLink(booking));
}

export function openLink(token: string): Promise<Response> {
  return callFunction("verify-portal-otp/link", { token });
}

export const INVALID_LINK = { status: 401, code: "invalid_link" };
