import type { App } from "@supabase/lite";
import { currentRequest, requestContext } from "./context.ts";

export interface MailMessage {
  from: string;
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface Mail {
  send(message: MailMessage): Promise<void>;
}

type Mailer = NonNullable<App["_mailer"]>;

const from = "auth@mail.local";

/**
 * Bend: mail.
 * Upstream points the links at the web site instead of the API and ignores `redirect_to`. The platform's
 * links go to the API's `/verify`, which sends the browser on to `redirect_to`.
 */
export function createMailer(mail: Mail, apiUrl: string, webUrl: string): Mailer {
  function send(
    to: string,
    subject: string,
    lines: { invitation: string; link?: string; otp: string },
  ) {
    const { invitation, link, otp } = lines;
    const text = [invitation, link, `Or enter the code: ${otp}`].filter(Boolean).join("\n\n");
    const anchor = link ? `<p><a href="${link.replaceAll("&", "&amp;")}">${subject}</a></p>` : "";
    const html = `<h2>${subject}</h2>\n<p>${invitation}</p>\n${anchor}\n<p>Or enter the code: ${otp}</p>`;
    // Whoever delivers the mail may log; this is no longer the request's business.
    return requestContext.exit(() => mail.send({ from, to, subject, text, html }));
  }

  function link(type: string, tokenHash: string): string {
    const url = new URL("/auth/v1/verify", apiUrl);
    url.searchParams.set("token", tokenHash);
    url.searchParams.set("type", type);
    url.searchParams.set("redirect_to", currentRequest().redirectTo ?? webUrl);
    return url.href;
  }

  return {
    sendConfirmation: (email, hash, otp) =>
      send(email, "Confirm Your Signup", {
        invitation: "Follow this link to confirm your user:",
        link: link("signup", hash),
        otp,
      }),
    sendRecovery: (email, hash, otp) =>
      send(email, "Reset Your Password", {
        invitation: "Follow this link to reset the password for your user:",
        link: link("recovery", hash),
        otp,
      }),
    sendMagicLink: (email, hash, otp) =>
      send(email, "Your Magic Link", {
        invitation: "Follow this link to login:",
        link: link("magiclink", hash),
        otp,
      }),
    sendEmailChange: (email, hash, otp) =>
      send(email, "Confirm Email Change", {
        invitation: "Follow this link to confirm the update of your email:",
        link: link("email_change", hash),
        otp,
      }),
    sendReauthentication: (email, otp) =>
      send(email, "Confirm Reauthentication", { invitation: "Confirm that it is you.", otp }),
  };
}
