/** `npm start`: runs the stack in the foreground until Ctrl-C, with its data in `.local/`. */
import { projectEnv, readConfig } from "./config.ts";
import { portsFromEnv, UserError } from "./ports.ts";
import { sinceStart, stepsOn } from "./progress.ts";
import { type Stack, type StackEnv, startStack } from "./stack.ts";
import { announce, claimFolder, DATA_DIR, PROJECT_DIR, release } from "./state.ts";

const pages = ({ PAGES_URL }: StackEnv) =>
  PAGES_URL
    ? `
Open ${PAGES_URL}/?professional=ana
     ${PAGES_URL}/day/     Ana's day: ana@example.com, demo-password
     ${PAGES_URL}/portal/  her clients' portal: marta@example.com
`
    : "";

const welcome = (env: StackEnv) => `${pages(env)}
${Object.entries(env)
  .map(([name, value]) => `${name.padStart(16)}: ${value}`)
  .join("\n")}

Try it:
curl '${env.API_URL}/rest/v1/services?select=name,price,duration&limit=3' -H 'apikey: ${env.PUBLISHABLE_KEY}'

Ctrl-C stops it.`;

/** Resolves with the exit code once something wants the stack to end. */
function untilAskedToStop(abort: AbortController): Promise<number> {
  return new Promise((resolve) => {
    const ask = (code: number) => {
      abort.abort(new UserError("Stopped before it was ready."));
      resolve(code);
    };
    // Handlers stay in place: npm passes on a Ctrl-C that the terminal has sent here already.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => ask(0));
    process.on("uncaughtException", (error) => {
      console.error(error);
      ask(1);
    });
    // An npm that is killed hard cannot pass on a signal; the stack would run on unseen.
    if (process.env.npm_lifecycle_event) {
      const parent = process.ppid;
      setInterval(() => process.ppid !== parent && ask(1), 100).unref();
    }
  });
}

async function main(): Promise<number> {
  const abort = new AbortController();
  const asked = untilAskedToStop(abort);
  // A closed terminal must not keep the stack from stopping in order.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

  const { MAILPIT_URL } = process.env;
  await claimFolder();
  let stack: Stack | undefined;
  try {
    const ports = await portsFromEnv();
    stack = await startStack({
      ...ports,
      projectDir: PROJECT_DIR,
      dataDir: DATA_DIR,
      demo: true,
      config: readConfig(PROJECT_DIR, projectEnv(PROJECT_DIR, ports.pagesPort)),
      // The stack's own catcher wins over the address in a file, which is made for containers.
      functionsEnv: MAILPIT_URL ? { MAILPIT_URL } : {},
      signal: abort.signal,
      step: stepsOn(process.stdout),
    });
    announce("ready", stack.env);
    console.log(`Ready after ${sinceStart()}.`);
    console.log(welcome(stack.env));
    const code = await Promise.race([asked, stack.exited.then(() => undefined)]);
    announce("stopping");
    if (code === undefined) {
      throw new UserError("PostgreSQL ended by itself: see .local/postgres.log.");
    }
    return code;
  } catch (error) {
    // A Ctrl-C also ends what is under way (initdb, the CLI): no fault of theirs.
    throw abort.signal.aborted ? abort.signal.reason : error;
  } finally {
    await stack?.stop();
    release();
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof UserError ? error.message : error);
    process.exit(1);
  },
);
