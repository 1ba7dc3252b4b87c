/** The mail that tells a professional that an endpoint gets no more events. */
import type { Mail } from "../_shared/mail.ts";
import type { Disabled } from "./dispatch.ts";

const REASONS: Record<Disabled["reason"], string> = {
  gone: "It answered 410 Gone.",
  failing: "Nothing could be delivered to it for five days.",
};

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function disabledMail({ reason, url }: Disabled, to: string): Mail {
  const lines = [
    `Your webhook endpoint ${url} has been disabled.`,
    REASONS[reason],
    "What was waiting for it is cancelled. Enable it again when it is ready, and have what it missed sent once more.",
  ];
  const escapeHtml = (text: string) =>
    text.replace(/[&<>"]/g, (found) => ENTITIES[found] as string);
  return {
    to,
    subject: "A webhook endpoint has been disabled",
    text: `${lines.join("\n\n")}\n`,
    html: lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("\n"),
  };
}
