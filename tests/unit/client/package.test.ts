/** The package as others get it: packed, installed in an empty project, compiled against and run. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const bin = (name: string) => join(root, "node_modules/.bin", name);
const project = mkdtempSync(join(tmpdir(), "client-"));
const run = async (file: string, args: string[], cwd = project) => {
  const env = {
    ...process.env,
    npm_config_cache: join(project, "cache"),
    DENO_DIR: join(project, "deno"),
    NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
    NO_COLOR: "1",
  };
  const { stdout } = await promisify(execFile)(file, args, { cwd, env }).catch((error) => {
    throw new Error(`${file} ${args.join(" ")}\n${error.stdout}\n${error.stderr}`);
  });
  return stdout.trim();
};

/** Asks nobody: the answer is in it. */
const PROGRAM = `
import { ApiError, createClient, createIntent, type Functions, isCode } from "scheduling-and-commerce-client";

const api = createClient("https://project.example", "sb_publishable_key", {
  auth: { persistSession: false },
  fetch: async () =>
    Response.json(
      { code: "slot_taken", message: "Taken", details: '{"next_starts": ["2027-03-01T09:00:00.000Z"]}', hint: null },
      { status: 409 },
    ),
});
const intent = createIntent();
const booking = {
  service_id: "a",
  starts_at: "2027-03-01T08:00:00Z",
  client_name: "Marta",
  client_email: "marta@example.com",
};
try {
  await api.rpc("create_booking", { ...booking, idempotency_key: intent.key(booking) });
} catch (error) {
  if (!isCode(error, "slot_taken")) throw error;
  const starts: string[] | undefined = error.details?.next_starts;
  console.log(error instanceof ApiError, error.status, starts?.join());
}
// @ts-expect-error: there is no such argument
void (() => api.rpc("create_booking", { service: "a" }));
// @ts-expect-error: nor such a table
void (() => api.from("customers"));
// @ts-expect-error: nor such a state
void (() => api.from("bookings").update({ status: "banana" }));
// @ts-expect-error: a column that nobody writes
void (() => api.from("clients").update({ link_epoch: 2 }));
// @ts-expect-error: for servers only
void (() => api.rpc("confirm_hold", {}));
void (() => api.from("bookings").update({ status: "confirmed" }));
export type Checkout = Functions["payments"]["checkout"];
`;
const SAYS = "true 409 2027-03-01T09:00:00.000Z";

beforeAll(async () => {
  const packed = await run(
    "npm",
    ["pack", "--json", "--pack-destination", project],
    join(root, "client"),
  );
  const [{ filename, files }] = JSON.parse(packed.slice(packed.indexOf("[")));
  expect(files.every(({ path }: { path: string }) => /^(dist\/|README|package)/.test(path))).toBe(
    true,
  );

  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  // supabase-js is linked: installing it would want the network.
  await run("npm", ["install", "--offline", "--no-audit", "--legacy-peer-deps", `./${filename}`]);
  mkdirSync(join(project, "node_modules/@supabase"));
  symlinkSync(
    join(root, "node_modules/@supabase/supabase-js"),
    join(project, "node_modules/@supabase/supabase-js"),
  );
  writeFileSync(join(project, "program.ts"), PROGRAM);
}, 240_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

test.each(["nodenext", "bundler"])(
  "compiles with the module resolution %s, strictly, and runs in Node",
  async (resolution) => {
    const module = resolution === "bundler" ? "esnext" : resolution;
    // The declarations of supabase-js want those of Node; what is wrong in ours shows in the program.
    const options = ["--strict", "--skipLibCheck", "--target", "es2022", "--lib", "es2023,dom"];
    const modules = ["--module", module, "--moduleResolution", resolution];
    await run(bin("tsc"), [...options, ...modules, "--outDir", resolution, "program.ts"]);
    expect(await run(process.execPath, [`${resolution}/program.js`])).toBe(SAYS);
  },
  120_000,
);

test("is required from CommonJS", async () => {
  const script =
    'console.log(Object.keys(require("scheduling-and-commerce-client")).sort().join())';
  expect(await run(process.execPath, ["--input-type=commonjs", "-e", script])).toBe(
    "ApiError,createClient,createIntent,isCode,keyToken",
  );
}, 60_000);

test("compiles and runs in Deno", async () => {
  const flags = ["--node-modules-dir=manual", "--cached-only", "--no-lock"];
  await run(bin("deno"), ["check", ...flags, "program.ts"]);
  expect(await run(bin("deno"), ["run", ...flags, "--allow-env", "program.ts"])).toBe(SAYS);
}, 240_000);

test("wants the supabase-js that it is tested with", () => {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
  const { peerDependencies } = read("client/package.json");
  const { devDependencies } = read("package.json");
  expect(peerDependencies["@supabase/supabase-js"]).toBe(
    `~${devDependencies["@supabase/supabase-js"]}`,
  );
});
