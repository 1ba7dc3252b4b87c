/**
 * The mail that tells a professional that an endpoint gets no more events. Of its address only the host
 * is in it: the rest is free text of whoever signed up, maybe with an address that is not theirs.
 */
import { escapeHtml, type Mail } from "../_shared/mail.ts";
import type { Disabled } from "./dispatch.ts";

const REASONS: Record<Disabled["reason"], string> = {
  gone: "It answered 410 Gone.",
  failing: "Nothing could be delivered to it for five days.",
};

export function disabledMail({ reason, host }: Disabled, to: string): Mail {
  const endpoint =
    host === null ? "One of your webhook endpoints" : `Your webhook endpoint at ${host}`;
  const lines = [
    `${endpoint} has been disabled.`,
    REASONS[reason],
    "What was waiting for it is cancelled. Enable it again when it is ready, and have what it missed sent once more.",
  ];
  return {
    to,
    subject: "A webhook endpoint has been disabled",
    text: `${lines.join("\n\n")}\n`,
    html: lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("\n"),
  };
}
