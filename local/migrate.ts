/**
 * Brings a database up to the migrations in `supabase/migrations`, with the platform's own CLI:
 * what it accepts, a hosted project accepts.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import type { Config } from "./config.ts";
import { UserError } from "./ports.ts";

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
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: projectDir,
      env: { ...process.env, ...QUIET },
      stdio: ["ignore", "pipe", "pipe"],
      ...(signal && { signal }),
    });
    let output = "";
    const collect = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output: output.trim() }));
  });
}

/** The lines of the CLI's output that name something its next version will not have. */
export function deprecations(output: string): string[] {
  return output.split("\n").filter((line) => /\bdeprecated\b|will be removed in v\d/i.test(line));
}

/** A database of this machine, as the CLI takes it: it would ask for TLS, which there is none of. */
export const cliTarget = (url: string) =>
  `--remote=${url.includes("sslmode=") ? url : `${url}?sslmode=disable`}`;

interface Migration {
  version: string;
  file: string;
  text: string;
}

function migrationsOf(projectDir: string): Migration[] {
  const folder = join(projectDir, "supabase", "migrations");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const version = /^(\d+)_.*\.sql$/.exec(file)?.[1];
      return version ? [{ version, file, text: readFileSync(join(folder, file), "utf8") }] : [];
    });
}

/** The CLI keeps a migration as statements without the space and semicolons between them. */
const essence = (sql: string) => sql.replace(/[\s;]+/g, "");

interface Applied {
  /** Text of each migration by version. */
  migrations: Map<string, string>;
  seeded: boolean;
}

async function readApplied(url: string): Promise<Applied> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const [found] = await sql<{ migrations: boolean; seeds: boolean }[]>`
      select
        to_regclass('supabase_migrations.schema_migrations') is not null as migrations,
        to_regclass('supabase_migrations.seed_files') is not null as seeds
    `;
    const rows = found?.migrations
      ? await sql<{ version: string; text: string }[]>`
          select version, array_to_string(statements, ' ') as text
          from supabase_migrations.schema_migrations
        `
      : [];
    const seeds = found?.seeds ? await sql`select from supabase_migrations.seed_files` : [];
    return {
      migrations: new Map(rows.map((row) => [row.version, row.text])),
      seeded: seeds.length > 0,
    };
  } finally {
    await sql.end();
  }
}

export interface MigrateOptions {
  projectDir: string;
  /** Connection of role `postgres`. */
  url: string;
  config: Config;
  seed: boolean;
  signal?: AbortSignal;
  /** Hears what takes long. */
  report?: (line: string) => void;
  /** Hears what is not as it should be. */
  warn: (line: string) => void;
}

/**
 * Applies what is missing; the seed only to a database that never had one. Starting the CLI takes
 * most of a second, so a database that is up to date does not.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { projectDir, url, config, signal, report, warn } = options;
  const files = migrationsOf(projectDir);
  const applied = await readApplied(url);
  const { seed } = config.db;
  const seedIsDue =
    options.seed &&
    !applied.seeded &&
    seed.sql_paths.some((path) => existsSync(join(projectDir, "supabase", path)));
  const missing = files.filter(({ version }) => !applied.migrations.has(version)).length;

  if (missing > 0 || files.length !== applied.migrations.size || seedIsDue) {
    report?.(`Applying ${missing} migrations${seedIsDue ? " and the seed" : ""} …`);
    const args = ["db", "push", cliTarget(url), "--yes"];
    const { code, output } = await supabase(
      projectDir,
      seedIsDue ? [...args, "--include-seed"] : args,
      signal,
    );
    if (code !== 0) throw new UserError(`supabase db push failed:\n${output}`);
    deprecations(output).forEach(warn);
  }
  for (const { version, file, text } of files) {
    const before = applied.migrations.get(version);
    if (before !== undefined && essence(before) !== essence(text)) {
      warn(`${file} was changed after it was applied: \`npm run reset\` builds the data anew.`);
    }
  }
}
