/**
 * `npm run soak -- --minutes N`: many users at once do everything there is, rightly and wrongly, on a stack
 * of their own while it is broken and attacked (soak.ts). Prints what was lost, and fails if anything was.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { closeAll } from "../../tests/support/closing.ts";
import { children, runInFolder, startMeasuredStack } from "../program.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "2" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error("--minutes takes a number");

await runInFolder(async (dataDir) => {
  const { functionsEnv, goesLive } = await import("./stripe.ts");
  const { google } = await import("./google.ts");
  const functions = { ...functionsEnv, ...google.env };
  const { dbPort, env, stop } = await startMeasuredStack(dataDir, functions);
  goesLive(env.API_URL);
  const { soak } = await import("./soak.ts");
  const results = await soak({ dbPort, dataDir }, minutes);
  await stop();
  await closeAll();
  await sleep(1000);
  results["no process is left"] = children("postgres|supabase/functions");

  for (const [name, wrong] of Object.entries(results)) {
    console.log(`${wrong.length === 0 ? "ok    " : "FAILED"} ${name}`);
    for (const line of wrong.slice(0, 20)) console.log(`         ${line}`);
  }
  const failed = Object.values(results).filter((wrong) => wrong.length > 0).length;
  console.log(`\n${Object.keys(results).length - failed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
});
