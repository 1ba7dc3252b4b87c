import { resolver } from "../_shared/address-rules.ts";
import { serverRpc, userRpc } from "../_shared/data-api.ts";
import { integer, optional, platformEnv, required } from "../_shared/env.ts";
import { googleApi, googleConfig } from "../_shared/google.ts";
import { background, httpDeps, pause } from "../_shared/runtime.ts";
import { sealer } from "../_shared/sealed.ts";
import { secretCheck } from "../_shared/secrets.ts";
import { userTokens } from "../_shared/user-tokens.ts";
import { busyQueue } from "./busy-sync.ts";
import { feedReader } from "./feed.ts";
import { googleQueue } from "./google-run.ts";
import { createHandler } from "./handler.ts";

const read = (name: string) => Deno.env.get(name);
const env = platformEnv(read);
const server = serverRpc(env);
const now = () => new Date();
const config = googleConfig(read);

Deno.serve(
  createHandler({
    ...httpDeps(read),
    readFeed: feedReader(server, integer(read, "FEED_READS_PER_IP_HOUR", 120, 1)),
    userToken: await userTokens(read, now),
    rpc: userRpc(env),
    serverRpc: server,
    sealer: sealer(read),
    queue: busyQueue(server),
    google: config && googleApi(config, { fetch, now, timeoutMs: 10_000 }),
    googleQueue: googleQueue(server),
    isDispatchSecret: secretCheck(required(read, "DISPATCH_SECRET", 32)),
    background,
    allowLoopback: optional(read, "CALENDAR_ALLOW_LOOPBACK") === "1",
    resolve: resolver(
      (host, type, signal) => Deno.resolveDns(host, type, { signal }),
      (error) => error instanceof Deno.errors.NotFound,
    ),
    fetch,
    now,
    pause,
  }),
);
