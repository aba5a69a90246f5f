/** Servers as people have them: TypeScript's own, pyright, those of VS Code, one that pushes without versions, and one that needs another program. */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { LanguageOptions } from "../../src/contract/lsp.ts";
import { programOnPath } from "../../src/disk/programs.ts";
import { bed, patience, words } from "./support.ts";

const installed = nodePath.join(import.meta.dirname, "servers", "node_modules", ".bin");
const own = nodePath.join(import.meta.dirname, "..", "..", "node_modules", ".bin");

/** Only the servers that are named, each by the whole path of its program. */
const servers: NonNullable<LanguageOptions["servers"]> = {
  typescript: { command: [nodePath.join(own, "tsc"), "--lsp", "--stdio"] },
  pyright: { command: [nodePath.join(installed, "pyright-langserver"), "--stdio"] },
  json: { command: [nodePath.join(installed, "vscode-json-language-server"), "--stdio"] },
  css: { command: [nodePath.join(installed, "vscode-css-language-server"), "--stdio"] },
  html: { command: [nodePath.join(installed, "vscode-html-language-server"), "--stdio"] },
  yaml: { command: [nodePath.join(installed, "yaml-language-server"), "--stdio"] },
  bash: { command: [nodePath.join(installed, "bash-language-server"), "start"] },
};

const strict = JSON.stringify({ compilerOptions: { strict: true, noEmit: true, skipLibCheck: true } });

test("TypeScript: an edit is answered with what it broke, a fix with nothing", async () => {
  const files = { "tsconfig.json": strict, "a.ts": "export const a: number = 1;\nexport const b = a + 1;\n" };
  const { read, edit, session } = bed({ files, languages: { servers } });
  await read("a.ts");
  // Until the server knows the file as it is, nobody can tell what is new.
  expect((await session.diagnostics("a.ts", { waitMsMax: 60_000 }))?.pending).toBe(false);
  expect(words(await edit("a.ts", "= 1;", "= 'x';"))).toContain(
    `1 error in "a.ts":\nnew: 1:14 Type 'string' is not assignable to type 'number'. (ts 2322)`,
  );
  expect(words(await edit("a.ts", "a + 1", "😀 + aa"))).toContain("known before: 1:14 Type 'string'");
  expect(words(await edit("a.ts", "😀 + aa", "a"))).not.toContain("new:");
  expect(words(await edit("a.ts", "= 'x';", "= 1;"))).toBe('Edited "a.ts": 1 replacement at line 1 (+1 -1).');
});

test("TypeScript: what a change breaks or mends in other files is known at once", async () => {
  const files = {
    "tsconfig.json": strict,
    "a.ts": "export const one = 1;\n",
    "b.ts": 'import { one } from "./a.ts";\nexport const x: number = one;\n',
  };
  const { edit, write, session } = bed({ files: { ...files, "tsconfig.json": withImports() }, languages: { servers } });
  expect((await session.diagnostics("b.ts", { waitMsMax: 60_000 }))?.knownErrors).toEqual([]);
  await edit("a.ts", "1;", "'one';");
  const broken = await session.diagnostics("b.ts", { waitMsMax: 60_000 });
  expect(broken?.knownErrors.map(({ code }) => code)).toEqual(["2322"]);
  // Both at once: the answer for one must not be of a time before the other.
  const replies = await Promise.all([
    write("b.ts", 'import { two } from "./a.ts";\nexport const x: number = two;\n'),
    write("a.ts", "export const two = 2;\n"),
  ]);
  expect(words(replies[1])).toBe('Wrote "a.ts" (+1 -1).');
  expect((await session.diagnostics("b.ts", { waitMsMax: 60_000 }))?.knownErrors).toEqual([]);
  await write("new.ts", "export const three = 3;\n");
  expect(words(await write("b.ts", 'export { three } from "./new.ts";\n'))).toBe('Wrote "b.ts" (+1 -2).');
});

const withImports = (): string =>
  JSON.stringify({ compilerOptions: { strict: true, noEmit: true, allowImportingTsExtensions: true } });

test("TypeScript: of 200 fast edits none is answered with old diagnostics", async () => {
  const { write } = bed({ files: { "tsconfig.json": strict }, languages: { servers } });
  let stale = 0;
  let checked = 0;
  for (let state = 1; state <= 200; state += 1) {
    const said = words(await write("a.ts", `export const a: number = missing${state};\n`));
    const named = [...said.matchAll(/'missing(\d+)'/g)].map(([, number]) => Number(number));
    stale += named.filter((number) => number !== state).length;
    checked += named.length;
  }
  expect({ stale, checked }).toEqual({ stale: 0, checked: 200 });
});

test("TypeScript: 200 edits of which none is waited for leave nothing stale either", async () => {
  const { write, session } = bed({ files: { "tsconfig.json": strict }, languages: { servers, waitMsMax: 0 } });
  for (let state = 1; state <= 200; state += 1) {
    const reply = await write("a.ts", `export const a: number = missing${state};\n`);
    const named = [...words(reply).matchAll(/'missing(\d+)'/g)].map(([, number]) => Number(number));
    expect(named.filter((number) => number !== state)).toEqual([]);
  }
  const last = await session.diagnostics("a.ts", { waitMsMax: 60_000 });
  expect(last?.knownErrors.map(({ message }) => message)).toEqual(["Cannot find name 'missing200'."]);
});

test("pyright: errors with versions, pushed", async () => {
  const { write, edit, session } = bed({ files: { "pyrightconfig.json": "{}" }, languages: { servers } });
  expect(words(await write("a.py", 'x: int = "one"\n'))).toMatch(/1 error in "a.py":\nnew: 1:10 .*"int"/);
  expect(words(await edit("a.py", '"one"', "1\ny = undefined_name"))).toMatch(
    /1 error in "a.py":\nnew: 2:5 "undefined_name" is not defined/,
  );
  expect(words(await edit("a.py", "undefined_name", "2"))).toBe('Edited "a.py": 1 replacement at line 2 (+1 -1).');
  expect((await session.diagnostics("a.py", { waitMsMax: 60_000 }))?.knownErrors).toEqual([]);
});

test("JSON: errors that are asked for", async () => {
  const { write } = bed({ files: {}, languages: { servers } });
  expect(words(await write("a.json", '{ "a": }\n'))).toMatch(/1 error in "a.json":\nnew: 1:8 Value expected/);
  expect(words(await write("a.json", '{ "a": 1 }\n'))).toBe('Wrote "a.json" (+1 -1).');
});

test("YAML: errors without versions, pushed", async () => {
  const { write, root } = bed({ files: {}, languages: { servers } });
  expect(words(await write("a.yaml", "a: [1\n"))).toMatch(/errors? in "a.yaml"/);
  expect(words(await write("a.yaml", "a: [1]\n"))).toBe('Wrote "a.yaml" (+1 -1).');
  expect(fs.readdirSync(root)).toEqual(["a.yaml"]);
});

test("CSS: errors that are asked for", async () => {
  const { write } = bed({ files: {}, languages: { servers } });
  expect(words(await write("a.css", "a { color: red; {\n"))).toMatch(/errors? in "a.css"/);
  expect(words(await write("a.css", "a { color: red; }\n"))).toBe('Wrote "a.css" (+1 -1).');
});

test("HTML: errors in its styles and in its scripts", async () => {
  const { write } = bed({ files: {}, languages: { servers } });
  const page = (style: string, script: string): string =>
    `<html><head><style>\n${style}\n</style></head><body><script>\n${script}\n</script></body></html>\n`;
  const said = words(await write("a.html", page("a { colr; }", "let x = ;")));
  expect(said).toMatch(/^(?:new: )?2:\d+ colon expected/m);
  expect(said).toMatch(/^(?:new: )?4:\d+ Expression expected/m);
  expect(words(await write("a.html", page("a { color: red; }", "let x = 1;")))).toBe('Wrote "a.html" (+2 -2).');
});

const hasShellcheck =
  programOnPath("shellcheck", { path: process.env["PATH"], platform: process.platform, notBeneath: [] }) !== undefined;
const script = 'echo "hi\n';

test.skipIf(!hasShellcheck)("bash: errors that shellcheck finds", async () => {
  const { write } = bed({ files: {}, languages: { servers } });
  expect(words(await write("a.sh", script))).toMatch(/errors in "a.sh":\nnew: .*shellcheck SC/);
  expect(words(await write("a.sh", "echo hi\n"))).toBe('Wrote "a.sh" (+1 -1).');
});

test("bash: without shellcheck nobody says that there are no errors", async () => {
  const path = process.env["PATH"];
  onTestFinished(() => void (process.env["PATH"] = path));
  const { write, session, root } = bed({ files: {}, languages: { servers } });
  // Where nothing is but what the server itself is run with.
  const bin = nodePath.join(root, "..", "bin");
  fs.mkdirSync(bin);
  fs.symlinkSync(process.execPath, nodePath.join(bin, "node"));
  process.env["PATH"] = bin;
  expect(words(await write("a.sh", script))).toBe('Created "a.sh" (+1 -0).');
  expect(await session.diagnostics("a.sh", { waitMsMax: patience })).toBeUndefined();
});
