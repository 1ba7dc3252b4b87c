import { serverRpc, userRpc } from "../_shared/data-api.ts";
import { integer, platformEnv } from "../_shared/env.ts";
import { httpDeps } from "../_shared/runtime.ts";
import { secretCheck } from "../_shared/secrets.ts";
import { tokenSigner } from "../_shared/signing.ts";
import { createHandler } from "./handler.ts";

const read = (name: string) => Deno.env.get(name);
const env = platformEnv(read);

Deno.serve(
  createHandler({
    ...httpDeps(read),
    signer: await tokenSigner(read),
    serverRpc: serverRpc(env),
    userRpc: userRpc(env),
    isSecretKey: secretCheck(env.secretKey),
    exchangesPerIpMinute: integer(read, "KEY_EXCHANGES_PER_IP_MINUTE", 30, 1),
    newId: () => crypto.randomUUID(),
    now: () => new Date(),
  }),
);
