import { serverRpc } from "../_shared/data-api.ts";
import { integer, platformEnv, required } from "../_shared/env.ts";
import { links } from "../_shared/links.ts";
import { codeHasher } from "../_shared/portal/codes.ts";
import { portalStore } from "../_shared/portal/store.ts";
import { portalTokens } from "../_shared/portal/tokens.ts";
import { httpDeps } from "../_shared/runtime.ts";
import { tokenSigner } from "../_shared/signing.ts";
import { createHandler } from "./handler.ts";

const read = (name: string) => Deno.env.get(name);

Deno.serve(
  createHandler({
    ...httpDeps(read),
    store: portalStore(serverRpc(platformEnv(read))),
    tokens: portalTokens(await tokenSigner(read)),
    links: links(read),
    hashCode: codeHasher(required(read, "OTP_HMAC_KEY", 32)),
    verifiesPerIpHour: integer(read, "OTP_VERIFIES_PER_IP_HOUR", 100, 1),
    linkUsesPerIpHour: integer(read, "LINK_USES_PER_IP_HOUR", 100, 1),
    now: () => new Date(),
  }),
);
