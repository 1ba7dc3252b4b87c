/** docs/tasks.md as printed: every block, in its order, against the stack. */
import { randomUUID } from "node:crypto";
import ts from "typescript";
import { expect, test, vi } from "vitest";
import * as client from "../../client/src/index.ts";
import { sql } from "../support/database.ts";
import { type Block, blocksOf } from "../support/doc-blocks.ts";
import { type Mail, mailsTo } from "../support/portal.ts";
import { stack } from "../support/stack.ts";
import { until } from "../support/webhooks.ts";

const mark = randomUUID();
const GIVEN = {
  API_URL: stack.apiUrl,
  PUBLISHABLE_KEY: stack.publishableKey,
  email: `ana-${mark}@example.com`,
  password: "correct horse",
  new_password: "battery staple",
  username: `ana-${mark}`,
  client_email: `Marta-${mark}@Example.com`,
  client_name: "Marta Rossi",
  hook: "http://127.0.0.1:9/hook",
};

/** What the newest mail to an address has that looks like this. */
async function mailed(address: string, pattern: RegExp): Promise<string> {
  const find = (mails: Mail[]) => mails.map(({ Text }) => pattern.exec(Text)?.[0]).find(Boolean);
  const mails = await until(
    () => mailsTo(address),
    (found) => find(found) !== undefined,
  );
  return find(mails) ?? "";
}

/** What somebody has in hand where a block asks for `code`. */
const CODES: Record<string, () => Promise<string>> = {
  "Recover the password": async () => {
    const link = await mailed(GIVEN.email, /https?:\S+\/verify\S+/);
    const { headers } = await fetch(link, { redirect: "manual" });
    return new URL(headers.get("location") ?? "").searchParams.get("code") ?? "";
  },
  "Sign a client in": () => mailed(GIVEN.client_email, /\b[0-9]{6}\b/),
};

/** Of this stack, which has no keys of Stripe. */
const REFUSED: Record<string, string> = { "Pay online": "payments_not_configured" };

/** One function of all blocks: what one declares, the next ones use. */
function storyOf(blocks: Block[], results: string[]) {
  const parts = blocks.map(({ heading, code }, index) => {
    const run = REFUSED[heading] ? `await refused("${heading}", async () => {\n${code}});` : code;
    return `await begin(${index});\n${/\bcode\b/.test(code) ? "code = await ask();\n" : ""}${run}`;
  });
  const script = ts.transpile(parts.join("\n"), { target: ts.ScriptTarget.ES2022 });
  const body = script.replace(/^import (.*) from "[\w-]+";$/m, "const $1 = library;");
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (client: object, given: object, hooks: object) => Promise<Record<string, unknown>>;
  return new AsyncFunction(
    "library",
    `{ ${Object.keys(GIVEN).join(", ")} }`,
    "{ begin, ask, refused }",
    `let code;\n${body}\nreturn { ${results.join(", ")} };`,
  );
}

test("every block of the task index does what it says", async () => {
  const blocks = blocksOf("docs/tasks.md");
  const said = vi.spyOn(console, "log").mockImplementation(() => {});
  let at = blocks[0] as Block;
  const hooks = {
    begin: async (index: number) => {
      at = blocks[index] as Block;
    },
    ask: () => CODES[at.heading]?.(),
    refused: (heading: string, run: () => Promise<void>) =>
      expect(run()).rejects.toMatchObject({ code: REFUSED[heading] }),
  };
  const story = storyOf(blocks, [
    ...["user", "time_zone", "receipt", "upcoming", "agenda", "client", "known", "count"],
    ...["everybody", "csv", "completed", "paid", "own", "later", "sold", "about", "secret"],
  ]);
  const told = await story(client, GIVEN, hooks).catch((cause: unknown) => {
    throw new Error(`${at.page}:${at.line}, ${at.heading}`, { cause });
  });

  const marta = { id: expect.any(String), name: "Marta Rossi" };
  const { id } = told.receipt as { id: string };
  expect(said.mock.calls).toEqual([
    ["This time has just been taken. Please choose another one.", expect.any(Array)],
    [{ from: "completed", to: "cancelled" }],
  ]);
  said.mockRestore();
  expect(told).toMatchObject({
    time_zone: "Europe/Rome",
    receipt: { status: "confirmed", service_name: "Haircut", price: 38 },
    upcoming: [{ id, status: "confirmed" }],
    agenda: [{ id, clients: { ...marta, phone: null } }],
    client: { ...marta, email: GIVEN.client_email },
    known: { ...marta, email: GIVEN.client_email },
    count: 1,
    everybody: [marta],
    csv: expect.stringMatching(/^name,email,phone\n"?Marta Rossi"?,/),
    completed: [{ status: "completed" }],
    paid: { payment_status: "paid" },
    own: expect.arrayContaining([expect.objectContaining({ id })]),
    sold: [{ number: 1, total: 29.8 }],
    about: { data: { clients: [{ name: "Marta Rossi" }] } },
    secret: expect.stringMatching(/^whsec_/),
  });
  expect(await sql`select id from auth.users where email = ${GIVEN.email}`).toHaveLength(0);
}, 120_000);
