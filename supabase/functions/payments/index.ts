import { serverRpc, userRpc } from "../_shared/data-api.ts";
import { platformEnv, required } from "../_shared/env.ts";
import { background, httpDeps, pause } from "../_shared/runtime.ts";
import { secretCheck } from "../_shared/secrets.ts";
import { userTokens } from "../_shared/user-tokens.ts";
import { createHandler } from "./handler.ts";
import { returnUrls } from "./return-urls.ts";
import { paymentStore } from "./store.ts";
import { eventVerifier, paymentProvider } from "./stripe.ts";

const read = (name: string) => Deno.env.get(name);
const env = platformEnv(read);
const now = () => new Date();
const provider = paymentProvider(read);

Deno.serve(
  createHandler({
    ...httpDeps(read),
    payments: provider && {
      provider,
      checkReturnUrl: returnUrls(read),
      verifyEvent: eventVerifier(read, now),
    },
    store: paymentStore(userRpc(env), serverRpc(env)),
    userToken: await userTokens(read, now),
    isDispatchSecret: secretCheck(required(read, "DISPATCH_SECRET", 32)),
    background,
    debug: (entry) => console.debug(JSON.stringify({ level: "debug", ...entry })),
    now,
    pause,
  }),
);
