import { resolver } from "../_shared/address-rules.ts";
import { serverRpc, userRpc } from "../_shared/data-api.ts";
import { optional, platformEnv, required } from "../_shared/env.ts";
import { mailSender } from "../_shared/mail.ts";
import { background, httpDeps, pause } from "../_shared/runtime.ts";
import { secretCheck } from "../_shared/secrets.ts";
import { userTokens } from "../_shared/user-tokens.ts";
import { deliveryQueue } from "./dispatch.ts";
import { createHandler } from "./handler.ts";

const read = (name: string) => Deno.env.get(name);
const env = platformEnv(read);
const now = () => new Date();

Deno.serve(
  createHandler({
    ...httpDeps(read),
    userToken: await userTokens(read, now),
    rpc: userRpc(env),
    queue: deliveryQueue(serverRpc(env)),
    sendMail: mailSender(read),
    isDispatchSecret: secretCheck(required(read, "DISPATCH_SECRET", 32)),
    background,
    allowLoopback: optional(read, "WEBHOOK_ALLOW_LOOPBACK") === "1",
    resolve: resolver(
      (host, type, signal) => Deno.resolveDns(host, type, { signal }),
      (error) => error instanceof Deno.errors.NotFound,
    ),
    fetch,
    now,
    pause,
  }),
);
