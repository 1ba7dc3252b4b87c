/**
 * POST /functions/v1/send-portal-otp {email, professionalId}: mails a six-digit code to a client.
 *
 * Nobody may learn here who is a client of whom: known and unknown addresses get the same answer
 * after the same work, and are followed by the same work, up to the mail that only a client gets. That
 * happens at a random time after the answer, so that no later request is slower for the one kind.
 */
import { callerIp } from "../_shared/caller-ip.ts";
import { rateLimited } from "../_shared/errors.ts";
import {
  createRouter,
  type Handler,
  type HttpDeps,
  type Route,
  readValid,
} from "../_shared/http.ts";
import type { SendMail } from "../_shared/mail.ts";
import type { HashCode } from "../_shared/portal/codes.ts";
import { BODY_LIMIT, CodeRequest } from "../_shared/portal/inputs.ts";
import type { PortalStore, Recipient } from "../_shared/portal/store.ts";
import { codeMail } from "./mail.ts";

export interface SendDeps extends HttpDeps {
  store: Pick<PortalStore, "startCode" | "setCode">;
  sendMail: SendMail;
  hashCode: HashCode;
  randomCode(): string;
  /** From 0 up to, but not, 1. */
  random(): number;
  pause(milliseconds: number): Promise<void>;
  /** Codes per hour and IP address. */
  sendsPerIpHour: number;
  portalUrl: string | undefined;
  /** Keeps the function alive until a task that nobody waits for has ended. */
  background(task: Promise<void>): void;
}

/** Work after the answer begins within this time: many requests may come before it, or none. */
const SPREAD_MS = 1_000;

/** Answers 200 {message, expires_in}, or 429 with Retry-After. */
export function createHandler(deps: SendDeps): Handler {
  const deliver = async (to: Recipient, owner: string, path: string) => {
    const log = (cause: unknown) =>
      deps.log({ requestId: deps.newRequestId(), method: "POST", path, cause });
    try {
      await deps.pause(deps.random() * SPREAD_MS);
      const code = deps.randomCode();
      const hmac = await deps.hashCode(code, { professionalId: owner, clientId: to.client_id });
      const mail = codeMail(to, code, owner, deps.portalUrl);
      // False: the address is nobody's, or a newer code was asked for, whose mail is the one to send.
      if (await deps.store.setCode(owner, to, hmac)) await deps.sendMail(mail);
    } catch (cause) {
      log(cause);
      // A code that nobody received must not be open to guessing; also one that was stored although
      // the answer to that was lost.
      await deps.store.setCode(owner, to, null).catch(log);
    }
  };

  const sendCode: Route = async (request) => {
    const input = await readValid(request, CodeRequest, BODY_LIMIT);
    const { retry_after, recipient } = await deps.store.startCode(
      input.professionalId,
      input.email,
      callerIp(request.headers),
      deps.sendsPerIpHour,
    );
    if (retry_after !== null) throw rateLimited(retry_after);
    deps.background(deliver(recipient, input.professionalId, new URL(request.url).pathname));
    return Response.json({
      message: "If the address belongs to a client, a code is on its way.",
      expires_in: 600,
    });
  };

  return createRouter(deps, { "": { POST: sendCode } });
}
