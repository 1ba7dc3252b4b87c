import { serverRpc, userRpc } from "../_shared/data-api.ts";
import { platformEnv, required } from "../_shared/env.ts";
import { googleApi, googleConfig } from "../_shared/google.ts";
import { disconnectGoogle } from "../_shared/google-grant.ts";
import { mailProvider } from "../_shared/mail.ts";
import { background, httpDeps, pause } from "../_shared/runtime.ts";
import { sealer } from "../_shared/sealed.ts";
import { secretCheck } from "../_shared/secrets.ts";
import { userTokens } from "../_shared/user-tokens.ts";
import { createHandler } from "./handler.ts";
import { userDeleter } from "./users.ts";

const read = (name: string) => Deno.env.get(name);
const env = platformEnv(read);
const now = () => new Date();
const server = serverRpc(env);
const config = googleConfig(read);
const grant = {
  serverRpc: server,
  sealer: sealer(read),
  google: config && googleApi(config, { fetch, now, timeoutMs: 5_000 }),
};

Deno.serve(
  createHandler({
    ...httpDeps(read),
    userToken: await userTokens(read, now),
    userRpc: userRpc(env),
    serverRpc: server,
    disconnectGoogle: (id) => disconnectGoogle(id, grant),
    deleteUser: userDeleter(env),
    deliver: mailProvider(read).deliver,
    isDispatchSecret: secretCheck(required(read, "DISPATCH_SECRET", 32)),
    background,
    now,
    pause,
  }),
);
