import { serverRpc } from "../_shared/data-api.ts";
import { integer, platformEnv, required, webAddress } from "../_shared/env.ts";
import { links } from "../_shared/links.ts";
import { mailProvider } from "../_shared/mail.ts";
import { background, httpDeps, pause } from "../_shared/runtime.ts";
import { secretCheck } from "../_shared/secrets.ts";
import { eventVerifier } from "./events.ts";
import { createHandler } from "./handler.ts";
import { mailStore } from "./store.ts";

const read = (name: string) => Deno.env.get(name);
const env = platformEnv(read);
const perSecond = integer(read, "MAIL_PER_SECOND", 2, 1, 1000);

Deno.serve(
  createHandler({
    ...httpDeps(read),
    store: mailStore(serverRpc(env), perSecond),
    provider: mailProvider(read),
    perSecond,
    links: links(read),
    portalUrl: webAddress(read, "PORTAL_URL"),
    functionsUrl: `${env.supabaseUrl}/functions/v1`,
    verifyEvent: eventVerifier(read),
    isDispatchSecret: secretCheck(required(read, "DISPATCH_SECRET", 32)),
    background,
    now: () => new Date(),
    pause,
  }),
);
