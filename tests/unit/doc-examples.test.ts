/** Every block of TypeScript in the pages compiles against the client, strictly. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { PROJECT_DIR } from "../../local/state.ts";
import { type Block, blocksOf, PAGES } from "../support/doc-blocks.ts";

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  types: [],
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  paths: { "scheduling-and-commerce-client": [join(PROJECT_DIR, "client/src/index.ts")] },
};
/** Its blocks go on from one another; those of the other pages stand by themselves. */
const STORY = "docs/tasks.md";
/** Its blocks are types, which name those of the client. */
const TYPES = "docs/reference.md";

interface Module {
  text: string;
  /** The block that each line is of, and its line in the page. */
  at(line: number): string;
}

/** Keeps the lines of the page, so that a complaint names the line to look at. */
function moduleOf(blocks: Block[]): Module {
  const lines: string[] = [];
  for (const { line, code } of blocks) {
    while (lines.length < line - 1) lines.push("");
    lines.push(...code.trimEnd().split("\n"));
  }
  return { text: `${lines.join("\n")}\nexport {};\n`, at: (line) => `${blocks[0]?.page}:${line}` };
}

/** Behind the types that they name, each under a name of its own. */
function typesOf(blocks: Block[]): Module {
  const lines = readFileSync(join(PROJECT_DIR, "client/src/database.ts"), "utf8").split("\n");
  const places = new Map<number, string>();
  for (const [index, { page, line, code }] of blocks.entries()) {
    const named = code.replace(/^type (\w+)/gm, `export type $1_${index}`);
    const whole = named === code ? `export type Answer_${index} = ${code}` : named;
    for (const [offset, text] of whole.trimEnd().split("\n").entries()) {
      lines.push(text);
      places.set(lines.length, `${page}:${line + offset}`);
    }
  }
  return { text: lines.join("\n"), at: (line) => places.get(line) ?? `line ${line} of the types` };
}

function complaints(modules: Map<string, Module>): string[] {
  const host = ts.createCompilerHost(OPTIONS);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => modules.has(path) || fileExists(path);
  host.getSourceFile = (path, target, ...rest) => {
    const module = modules.get(path);
    return module
      ? ts.createSourceFile(path, module.text, target)
      : getSourceFile(path, target, ...rest);
  };
  const roots = [join(PROJECT_DIR, "docs/examples.d.ts"), ...modules.keys()];
  const program = ts.createProgram(roots, OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
    const place = modules.get(file?.fileName ?? "")?.at(line) ?? `${file?.fileName}:${line}`;
    return `${place} ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}

const groups = PAGES.filter((page) => page !== TYPES).flatMap((page) => {
  const blocks = blocksOf(page);
  return page === STORY ? [blocks] : blocks.map((block) => [block]);
});
/** A mistake, to see that one is found. */
const WRONG: Block = {
  page: "wrong",
  heading: "",
  line: 7,
  code: 'await api.run(api.from("bookings").update({ status: "banana" }).eq("id", id));\n',
};

test("the TypeScript of the pages compiles against the client, and a mistake in it would not", () => {
  expect(groups.length).toBeGreaterThan(15);
  const types = blocksOf(TYPES);
  expect(types.length).toBeGreaterThan(50);
  const modules = [...[...groups, [WRONG]].map(moduleOf), typesOf(types)].map(
    (module, index) => [join(PROJECT_DIR, `docs/block-${index}.ts`), module] as const,
  );
  expect(complaints(new Map(modules))).toEqual([expect.stringMatching(/^wrong:7 .*"banana"/)]);
}, 120_000);
