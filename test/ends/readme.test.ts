/** The README's promises: two marked commands, code that runs, links that lead somewhere. */

import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "jsonc-parser";
import { expect, onTestFinished, test } from "vitest";
import { commands } from "../../src/surfaces/cli/commands/index.ts";
import { commandLine, project, run, temporaryFolder } from "./run.ts";

const readme = readFileSync(join(project, "README.md"), "utf8");

/** The text of the fenced block right after a marker that stands alone on its line. */
function blockAfter(marker: string): string | undefined {
  const lines = readme.split("\n");
  const at = lines.indexOf(`<!-- ${marker} -->`);
  if (at === -1 || !/^```\w+$/.test(lines[at + 1] ?? "")) return undefined;
  return lines.slice(at + 2, lines.indexOf("```", at + 2)).join("\n");
}

test("exactly two commands are marked, each before a block of shell", () => {
  expect(readme.match(/^<!-- command: .* -->\n```sh$/gm)).toEqual([
    "<!-- command: main -->\n```sh",
    "<!-- command: test -->\n```sh",
  ]);
  expect(readme.match(/<!-- command:/g)).toHaveLength(2);
});

test("every command of the command line is shown", () => {
  const shown = new Set([...readme.matchAll(/^filehand ([a-z-]+)/gm)].map(([, name]) => name));
  expect(commands.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([]);
});

test("both commands begin from nothing", () => {
  for (const name of ["main", "test"]) expect(blockAfter(`command: ${name}`)).toMatch(/^npm ci --ignore-scripts &&/);
  expect(blockAfter("command: test")).toMatch(/npm run check && npm test$/);
});

test("the part of the main command that comes after the build runs without a terminal", async () => {
  const command = blockAfter("command: main") ?? "";
  const afterBuild = command.slice(command.indexOf("node dist/"));
  const ran = await run("bash", ["-c", afterBuild], { cwd: project });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).toContain("1→# Filehand\n");
});

test("the library's example runs as it stands", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const script = join(folder.path, "example.mjs");
  writeFileSync(script, blockAfter("example: library") ?? "");
  mkdirSync(join(folder.path, "node_modules"));
  symlinkSync(project, join(folder.path, "node_modules", "filehand")); // so that it can be imported by name
  const ran = await run(process.execPath, [script], { cwd: project });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).toContain('"name": "filehand"');
  expect(ran.stdout).toContain("true NOT_FOUND File not found:");
});

test("the example that changes a file runs as it stands, in a folder of its own", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const script = join(folder.path, "example.mjs");
  writeFileSync(script, blockAfter("example: changes") ?? "");
  mkdirSync(join(folder.path, "node_modules"));
  symlinkSync(project, join(folder.path, "node_modules", "filehand")); // so that it can be imported by name
  for (const time of ["first", "second"]) {
    const ran = await run(process.execPath, [script], { cwd: folder.path });
    expect(ran, time).toEqual({ code: 0, stdout: "[ ' one', '-two', '+three' ]\n", stderr: "" });
  }
});

const shownLines = readme.split("\n").filter((line) => line.startsWith("filehand "));

test("the block of the command line is found", () => expect(shownLines.length).toBeGreaterThan(5));

for (const line of shownLines) {
  test(`understood: ${line}`, async () => {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const script = `filehand() { "${process.execPath}" "${commandLine}" "$@"; }; touch calls.jsonl;`;
    const { code, stderr } = await run("bash", ["-c", `${script} ${line}`], { cwd: folder.path });
    expect(code, stderr).not.toBe(2); // 1: the files of the block are not there
  });
}

test("the settings example has no fault", async () => {
  const text = /```jsonc\n(.*?)```/s.exec(readme)?.[1] ?? "";
  expect(parse(text, [], { allowTrailingComma: true })).toHaveProperty("permissions");
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(join(folder.path, "filehand.jsonc"), text);
  const ran = await run(process.execPath, [commandLine, "tools"], { cwd: folder.path, env: { HOME: folder.path } });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
});

const docs = readdirSync(join(project, "docs"), { recursive: true, encoding: "utf8" })
  .map((file) => `docs/${file.replaceAll("\\", "/")}`)
  .filter((file) => file.endsWith(".md"));

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

const anchorsIn = (path: string): readonly string[] =>
  [...readFileSync(path, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading ?? ""));

for (const page of ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md", "CHANGELOG.md", ...docs]) {
  test(`the links of ${page} lead somewhere`, () => {
    const links = [...readFileSync(join(project, page), "utf8").matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to ?? "");
    const broken = links.filter((to) => {
      if (/^\w+:/.test(to)) return false;
      const [file = "", anchor] = to.split("#");
      const target = file === "" ? join(project, page) : join(project, dirname(page), file);
      return !existsSync(target) || (anchor !== undefined && !anchorsIn(target).includes(anchor));
    });
    expect(broken).toEqual([]);
  });
}
