import { serverRpc } from "../_shared/data-api.ts";
import { integer, platformEnv, required, webAddress } from "../_shared/env.ts";
import { mailSender } from "../_shared/mail.ts";
import { codeHasher, randomCode } from "../_shared/portal/codes.ts";
import { portalStore } from "../_shared/portal/store.ts";
import { background, httpDeps, pause } from "../_shared/runtime.ts";
import { createHandler } from "./handler.ts";

const read = (name: string) => Deno.env.get(name);

Deno.serve(
  createHandler({
    ...httpDeps(read),
    store: portalStore(serverRpc(platformEnv(read))),
    sendMail: mailSender(read),
    hashCode: codeHasher(required(read, "OTP_HMAC_KEY", 32)),
    randomCode,
    random: Math.random,
    pause,
    sendsPerIpHour: integer(read, "OTP_SENDS_PER_IP_HOUR", 100, 1),
    portalUrl: webAddress(read, "PORTAL_URL"),
    background,
  }),
);
