/**
 * The last mail to a professional. Nothing in it was typed by anybody: whoever signed up may have used an
 * address that is not theirs.
 */
import { escapeHtml, type Mail } from "../_shared/mail.ts";
import type { Language } from "../mail/texts/index.ts";

const WORDS: Record<Language, { subject: string; lines: string[] }> = {
  en: {
    subject: "Your account has been deleted",
    lines: [
      "Your account has been deleted, with everything that belonged to it: clients, bookings, orders, payments and settings.",
      "This was asked for by somebody who had signed in to it and confirmed it. It cannot be undone.",
    ],
  },
  it: {
    subject: "Il tuo account è stato eliminato",
    lines: [
      "Il tuo account è stato eliminato con tutto ciò che conteneva: clienti, prenotazioni, ordini, pagamenti e impostazioni.",
      "Lo ha chiesto e confermato qualcuno che aveva effettuato l'accesso. L'operazione non può essere annullata.",
    ],
  },
};

export function deletedMail(to: string, language: Language): Mail {
  const { subject, lines } = WORDS[language];
  return {
    to,
    subject,
    text: `${lines.join("\n\n")}\n`,
    html: lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("\n"),
    // RFC 3834: so that no out-of-office note answers.
    headers: { "Auto-Submitted": "auto-generated" },
  };
}
