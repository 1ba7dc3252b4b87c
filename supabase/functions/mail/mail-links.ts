/** The links of a mail: which ones it has, and their addresses. */
import { type Link, type Links, pageLink } from "../_shared/links.ts";
import type { MailLinks } from "./context.ts";
import type { MailFacts } from "./facts.ts";

export interface LinkDeps {
  /** Undefined without a signing key: mails then have no links. */
  links: Links | undefined;
  /** The page that the links lead to; without it only unsubscribing has one. */
  portalUrl: string | undefined;
  /** Address of the edge functions, without a slash at the end. */
  functionsUrl: string;
}

/** The same links each time a mail goes out. */
export async function mailLinks(mail: MailFacts, deps: LinkDeps): Promise<MailLinks> {
  const { links, portalUrl, functionsUrl } = deps;
  const page = async (link: Link) =>
    links && portalUrl ? pageLink(portalUrl, link.purpose, await links.sign(link)) : undefined;
  const ofBooking = ({ client, booking }: Extract<MailFacts, { booking: object }>) =>
    ({ row: booking.id, kind: "booking", epoch: client.link_epoch }) as const;

  if (mail.audience === "professional") {
    if (mail.kind !== "confirm_address") return {};
    const { id: row, email_to_confirm: email } = mail.professional;
    return { confirmAddress: await page({ purpose: "confirm_address", row, epoch: 0, email }) };
  }
  switch (mail.kind) {
    case "booking_to_confirm":
      return { confirm: await page({ purpose: "confirm", ...ofBooking(mail) }) };
    case "order_to_confirm": {
      const { client, order } = mail;
      const link = { row: order.id, kind: "order", epoch: client.link_epoch } as const;
      return { confirm: await page({ purpose: "confirm", ...link }) };
    }
    // What is cancelled cannot be changed any more.
    case "booking_received":
    case "booking_confirmed":
    case "booking_moved":
      return { manage: await page({ purpose: "manage", ...ofBooking(mail) }) };
    case "booking_reminder": {
      const { id: row, link_epoch: epoch } = mail.client;
      const token = await links?.sign({ purpose: "unsubscribe", row, epoch });
      return {
        manage: await page({ purpose: "manage", ...ofBooking(mail) }),
        unsubscribe:
          token === undefined ? undefined : { url: `${functionsUrl}/mail/unsubscribe?t=${token}` },
      };
    }
    default:
      return {};
  }
}
