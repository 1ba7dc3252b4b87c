/** Runs the stack with pages beside the runner, as a process that needs no bundler to load it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    pagesControl: string;
  }
}

export default async function setUp({ provide }: TestProject) {
  const server = fileURLToPath(new URL("../support/pages-server.ts", import.meta.url));
  const child = fork(server, { execArgv: ["--import", "tsx"] });
  const exited = once(child, "exit");
  const [url] = await Promise.race([
    once(child, "message"),
    exited.then(() => Promise.reject(new Error("the stack with pages did not start"))),
  ]);
  provide("pagesControl", url);
  return async () => {
    child.disconnect();
    await exited;
  };
}
