import { serverRpc, userRpc } from "../_shared/data-api.ts";
import { platformEnv, required } from "../_shared/env.ts";
import { mailProvider } from "../_shared/mail.ts";
import { background, httpDeps, pause } from "../_shared/runtime.ts";
import { secretCheck } from "../_shared/secrets.ts";
import { userTokens } from "../_shared/user-tokens.ts";
import { createHandler } from "./handler.ts";
import { userDeleter } from "./users.ts";

const read = (name: string) => Deno.env.get(name);
const env = platformEnv(read);
const now = () => new Date();

Deno.serve(
  createHandler({
    ...httpDeps(read),
    userToken: await userTokens(read, now),
    userRpc: userRpc(env),
    serverRpc: serverRpc(env),
    deleteUser: userDeleter(env),
    deliver: mailProvider(read).deliver,
    isDispatchSecret: secretCheck(required(read, "DISPATCH_SECRET", 32)),
    background,
    now,
    pause,
  }),
);
