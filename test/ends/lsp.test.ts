/** `filehand lsp` and `filehand rename`, as the built program runs, with TypeScript's own server. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine, type Folder, type Ran, run, temporaryFolder } from "./run.ts";

let folder: Folder;
let top = "";
const sum = "export function total(items: number[]): number {\n  return items.length;\n}\n";
const use = 'import { total } from "./sum.js";\nexport const one = total([1]);\n';

beforeAll(() => {
  folder = temporaryFolder();
  top = join(folder.path, "work");
  mkdirSync(top);
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  const servers = { typescript: { command: [process.execPath, tsc, "--lsp", "--stdio"] } };
  mkdirSync(join(folder.path, ".config", "filehand"), { recursive: true });
  writeFileSync(
    join(folder.path, ".config", "filehand", "filehand.jsonc"),
    JSON.stringify({ languageServers: { servers } }),
  );
  for (const [name, text] of [
    ["tsconfig.json", '{"compilerOptions":{"strict":true,"module":"nodenext"}}'],
    ["package.json", '{"type":"module"}'],
    ["sum.ts", sum],
    ["use.ts", use],
  ] as const) {
    writeFileSync(join(top, name), text);
  }
});
afterAll(() => folder.remove());

const filehand = (args: readonly string[]): Promise<Ran> =>
  run(process.execPath, [commandLine, ...args], { cwd: top, env: { HOME: folder.path } });

describe("filehand lsp", () => {
  test("answers questions about a place", async () => {
    const { code, stdout, stderr } = await filehand(["lsp", "definition", "use.ts:2:20"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(
      '[1 definition of "total" at line 2 of "use.ts" (typescript)]\nsum.ts:1:17: export function total(items: number[]): number {\n',
    );
    expect((await filehand(["lsp", "callers", "sum.ts", "--symbol", "total"])).stdout).toContain(
      "use.ts:1:1: module use.ts (calls it at line 2)",
    );
    const symbols = await filehand(["lsp", "symbols", "sum.ts", "--json"]);
    expect(JSON.parse(symbols.stdout)).toMatchObject({
      structured: { operation: "documentSymbol", results: [{ name: "total", kind: "function", line: 1, endLine: 3 }] },
    });
  });

  test("says what is wrong with a call", async () => {
    expect(await filehand(["lsp", "defintion", "use.ts:2:20"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no question "defintion", did you mean definition'),
    });
    expect(await filehand(["lsp", "hover", "use.ts:2", "--query", "a"])).toMatchObject({ code: 2 });
    expect(await filehand(["lsp", "hover", "use.ts:9:1"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("there is no line 9, it has 2 lines"),
    });
  });

  test("models get the tool where it is switched on", async () => {
    const call = ["call", "Lsp", '{"operation":"hover","file_path":"use.ts","line":2,"symbol":"total"}'];
    expect((await filehand(call)).stderr).toContain("there is no such tool");
    expect((await filehand([...call, "--language-tools"])).stdout).toContain("total(items: number[]): number");
  });
});

describe("filehand rename", () => {
  test("shows what it would do, does it, and is undone", async () => {
    const dry = await filehand(["rename", "use.ts:2", "count", "--symbol", "total", "--yes", "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("+export function count(items") });
    expect(readFileSync(join(top, "sum.ts"), "utf8")).toBe(sum);

    const done = await filehand(["rename", "use.ts:2", "count", "--symbol", "total", "--yes"]);
    expect(done.stdout).toContain('Renamed "total" to "count" at 3 places in 2 files, as typescript found them.');
    expect(readFileSync(join(top, "use.ts"), "utf8")).toBe(use.replaceAll("total", "count"));

    expect((await filehand(["undo", "--yes"])).code).toBe(0);
    expect(readFileSync(join(top, "sum.ts"), "utf8")).toBe(sum);
    expect(readFileSync(join(top, "use.ts"), "utf8")).toBe(use);
  });

  test("asks for a symbol", async () => {
    expect(await filehand(["rename", "use.ts:2", "count"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Say what is to be renamed: src/a.ts:LINE:COLUMN, or --symbol NAME"),
    });
  });
});
