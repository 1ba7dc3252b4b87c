/** What a feed says besides what was typed, in the languages of the mails. */
import type { Language } from "../mail/texts/index.ts";

export interface FeedTexts {
  busy: string;
  blocked: string;
  client: string;
  phone: string;
  email: string;
}

export const FEED_TEXTS: Record<Language, FeedTexts> = {
  en: { busy: "Busy", blocked: "Blocked", client: "Client", phone: "Phone", email: "E-mail" },
  it: {
    busy: "Occupato",
    blocked: "Bloccato",
    client: "Cliente",
    phone: "Telefono",
    email: "E-mail",
  },
};
