import { serverRpc } from "../_shared/data-api.ts";
import { integer, platformEnv } from "../_shared/env.ts";
import { httpDeps } from "../_shared/runtime.ts";
import { feedReader } from "./feed.ts";
import { createHandler } from "./handler.ts";

const read = (name: string) => Deno.env.get(name);
const env = platformEnv(read);

Deno.serve(
  createHandler({
    ...httpDeps(read),
    readFeed: feedReader(serverRpc(env), integer(read, "FEED_READS_PER_IP_HOUR", 120, 1)),
  }),
);
