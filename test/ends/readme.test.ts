/** The README's promises: two marked commands, code that runs, figures that were measured. `docs.test.ts` tries its links and commands. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { expect, onTestFinished, test } from "vitest";
import { tableIn } from "../../scripts/bench-plots.ts";
import { clients } from "../../src/surfaces/cli/clients.ts";
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

test("the library's example runs as it stands, twice", async () => {
  const example = blockAfter("example: library") ?? "";
  expect(example.split("\n").length).toBeLessThanOrEqual(10);
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const script = join(folder.path, "example.mjs");
  writeFileSync(script, example);
  mkdirSync(join(folder.path, "node_modules"));
  symlinkSync(project, join(folder.path, "node_modules", "filehand")); // so that it can be imported by name
  for (const time of ["first", "second"]) {
    const ran = await run(process.execPath, [script], { cwd: folder.path });
    expect(ran, time).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout, time).toContain("[ ' one', '-two', '+three' ]\nNOT_FOUND {");
    expect(ran.stdout, time).toContain("did you mean");
  }
});

test("every client that init knows has its name for the command", () => {
  const section = /## In your agent\n(.*?)\n## /s.exec(readme)?.[1] ?? "";
  const shown = [...section.matchAll(/\]\(docs\/clients\/([a-z-]+)\.md\) `([a-z-]+)`/g)];
  for (const [, page, name] of shown) expect(page).toBe(name);
  expect(new Set(shown.map(([, , name]) => name))).toEqual(new Set<string | undefined>(clients.map(({ id }) => id)));
});

/** What a run of the bench printed, by the link that stands behind a fact. */
test("the measured facts are those of the runs that they link to", () => {
  const facts = readme.split("\n- ").flatMap((item) => {
    const file = /\[run\]\((docs\/bench\/[\w-]+\.txt)\)/.exec(item)?.[1];
    return file === undefined ? [] : [{ item, run: readFileSync(join(project, file), "utf8") }];
  });
  expect(facts).toHaveLength(3);
  for (const { item, run: printed } of facts) {
    for (const [figure] of item.matchAll(/\d[\d.]* (?:ms|MB|%)/g)) expect(printed, item).toContain(figure);
  }
  const bytes = tableIn(join(project, "docs/bench/bytes.txt"), "bytes:");
  const row = (name: string) => bytes.find(({ method }) => method === name) ?? {};
  const together = row("ten edits of one file at once");
  expect(together["Filehand"]).toBe("10 of 10, 10 reported");
  for (const peer of ["server-filesystem", "Desktop Commander", "Gemini CLI core", "Cline core"]) {
    expect(together[peer], peer).toBe("1 of 10, 10 reported");
  }
  for (const name of ["Latin-1, é in another line", "GB18030"]) {
    expect(row(name)["Filehand"]).toBe("right");
    for (const peer of ["server-filesystem", "Gemini CLI core", "Cline core", "pi"]) {
      expect(row(name)[peer], peer).toBe("OTHER BYTES");
    }
  }
  expect(row("CRLF file")["server-filesystem"]).toBe("OTHER BYTES");
});

test("the settings example has no fault", async () => {
  const text = /```jsonc\n(.*?)```/s.exec(readme)?.[1] ?? "";
  expect(parse(text, [], { allowTrailingComma: true })).toHaveProperty("permissions");
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(join(folder.path, "filehand.jsonc"), text);
  const ran = await run(process.execPath, [commandLine, "tools"], { cwd: folder.path, env: { HOME: folder.path } });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
});
