/**
 * Brings a database up to the migrations in `supabase/migrations`, with the platform's own CLI:
 * what it accepts, a hosted project accepts.
 */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "./ports.ts";
import { withDatabase } from "./postgres.ts";
import type { Step } from "./progress.ts";

const CLI = fileURLToPath(import.meta.resolve("supabase/dist/supabase.js"));

/** No question, no report and no look for updates: a local stack works without a network. */
const QUIET = {
  SUPABASE_TELEMETRY_DISABLED: "1",
  DO_NOT_TRACK: "1",
  SUPABASE_NO_UPDATE_NOTIFIER: "1",
};

/** Runs the CLI in `projectDir`; the exit code and everything it printed. */
export async function supabase(
  projectDir: string,
  args: string[],
  signal?: AbortSignal,
): Promise<{ code: number; output: string }> {
  const env = { ...process.env, ...QUIET };
  const options = { cwd: projectDir, env, maxBuffer: Number.POSITIVE_INFINITY, signal };
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [CLI, ...args], options, (error, stdout, stderr) => {
      // Of a process that did not run, or was stopped, it is a name.
      if (typeof error?.code === "string") reject(error);
      else resolve({ code: error ? (error.code ?? 1) : 0, output: `${stdout}${stderr}`.trim() });
    });
    child.stdin?.end();
  });
}

/** The lines of the CLI's output that name something its next version will not have. */
export function deprecations(output: string): string[] {
  return output.split("\n").filter((line) => /\bdeprecated\b|will be removed in v\d/i.test(line));
}

/** A database of this machine, as the CLI takes it: it would ask for TLS, which there is none of. */
export const cliTarget = (url: string) =>
  `--remote=${url.includes("sslmode=") ? url : `${url}?sslmode=disable`}`;

function migrationsOf(projectDir: string): { version: string; file: string; text: string }[] {
  const folder = join(projectDir, "supabase", "migrations");
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const version = /^(\d+)_.*\.sql$/.exec(file)?.[1];
      return version ? [{ version, file, text: readFileSync(join(folder, file), "utf8") }] : [];
    });
}

/** The CLI keeps a migration as statements without the space and semicolons between them. */
const essence = (sql: string) => sql.replace(/[\s;]+/g, "");

/** The text of each applied migration by version; whether there was a seed. */
const readApplied = (url: string) =>
  withDatabase(url, async (sql) => {
    const read = async (columns: string, table: string) => {
      const [found] = await sql`select to_regclass(${table}) is not null as yes`;
      return found?.yes ? sql.unsafe(`select ${columns} from ${table}`) : [];
    };
    const text = "version, array_to_string(statements, ' ') as text";
    const migrations = await read(text, "supabase_migrations.schema_migrations");
    const seeds = await read("hash", "supabase_migrations.seed_files");
    const texts = new Map<string, string>(migrations.map(({ version, text }) => [version, text]));
    return { texts, seeded: seeds.length > 0 };
  });

/**
 * Applies what is missing, as role `postgres`; the seed only to a database that never had one. Starting
 * the CLI takes most of a second, so a database that is up to date does not.
 */
export async function migrate(options: {
  projectDir: string;
  url: string;
  seed: boolean;
  signal: AbortSignal | undefined;
  /** What takes long is one. */
  step: Step;
  /** Hears what is not as it should be. */
  warn: (line: string) => void;
}): Promise<void> {
  const { projectDir, url, signal, step, warn } = options;
  const files = migrationsOf(projectDir);
  const { texts, seeded } = await readApplied(url);
  const seedIsDue = options.seed && !seeded;
  const missing = files.filter(({ version }) => !texts.has(version)).length;
  if (missing > 0 || files.length !== texts.size || seedIsDue) {
    const args = ["db", "push", cliTarget(url), "--yes"];
    if (seedIsDue) args.push("--include-seed");
    const name = `Applying ${missing} migrations${seedIsDue ? " and the seed" : ""}`;
    const { code, output } = await step(name, () => supabase(projectDir, args, signal));
    if (code !== 0) throw new UserError(`supabase db push failed:\n${output}`);
    deprecations(output).forEach(warn);
  }
  for (const { version, file, text } of files) {
    const before = texts.get(version);
    if (before !== undefined && essence(before) !== essence(text)) {
      warn(`${file} was changed after it was applied: \`npm run reset\` builds the data anew.`);
    }
  }
}
