/** `filehand doctor` with the built command line: what it finds, what it calls wrong, and that it changes nothing. */

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { nodeNeeded } from "../../src/checkup.ts";
import { installOf } from "../../src/lsp/servers.ts";
import { knownServers } from "../../src/lsp/servers.ts";
import type { Finding } from "../../src/dialects/person/findings.ts";
import { commandLine, project, type Ran, run, temporaryFolder } from "./run.ts";

let top = "";
const at = (name: string): string => join(top, name);

beforeEach(() => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  top = folder.path;
  for (const name of ["ws", "home", "bin"]) mkdirSync(at(name));
});

const doctor = (...args: readonly string[]): Promise<Ran> =>
  run(process.execPath, [commandLine, "doctor", ...args], {
    cwd: at("ws"),
    env: { HOME: at("home"), XDG_CONFIG_HOME: at("config"), XDG_STATE_HOME: at("state"), PATH: at("bin") },
  });
const found = async (
  ...args: readonly string[]
): Promise<{ code: number | null; ok: boolean; findings: readonly Finding[] }> => {
  const { code, stdout } = await doctor(...args, "--json");
  return { code, ...(JSON.parse(stdout) as { ok: boolean; findings: readonly Finding[] }) };
};
const about = (findings: readonly Finding[], what: string): readonly Finding[] =>
  findings.filter((finding) => finding.about === what);

test("what is there is named, and nothing is made", async () => {
  for (const name of ["gopls", "git"]) {
    writeFileSync(at(`bin/${name}`), "#!/bin/sh\n");
    chmodSync(at(`bin/${name}`), 0o755);
  }
  const { code, ok, findings } = await found();
  expect({ code, ok }).toEqual({ code: 0, ok: true });
  expect(about(findings, "node")).toEqual([{ about: "node", grade: "ok", words: process.versions.node }]);
  expect(about(findings, "ripgrep")[0]?.grade).toBe("ok");
  expect(about(findings, "git")[0]?.words).toBe(at("bin/git"));
  const servers = about(findings, "language server");
  expect(servers.filter(({ grade }) => grade === "ok").map(({ words }) => words)).toEqual([
    `gopls for .go .mod: ${at("bin/gopls")}`,
  ]);
  // Every language of the table that has none, with the way to get one.
  expect(servers.filter(({ grade }) => grade === "note").map(({ next }) => next)).toEqual(
    [...new Map(knownServers.map(({ group, name }) => [group, name] as const).toReversed()).values()]
      .toReversed()
      .filter((name) => name !== "gopls")
      .map((name) => installOf(name)),
  );
  expect(about(findings, "root")[0]?.words).toContain(at("ws"));
  expect(about(findings, "state folder")[0]?.words).toBe(`${at("state/filehand")} (made when it is needed)`);
  for (const part of ["sharp", "libheif-js", "@embedpdf/pdfium"]) expect(about(findings, part)).toHaveLength(1);
  expect(existsSync(at("state"))).toBe(false);
});

test("for people it is a table, and it says what to do", async () => {
  const { code, stdout, stderr } = await doctor();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^ok {5}node +\d+\.\d+\.\d+$/m);
  expect(stdout).toMatch(/^note {3}git +not on the PATH/m);
});

test("a settings file with faults is wrong, a rule that never decides is a note", async () => {
  mkdirSync(at("config/filehand"), { recursive: true });
  const file = at("config/filehand/filehand.jsonc");
  writeFileSync(
    file,
    '{\n  "dialec": "claude",\n  "permissions": {"deny": ["Read(/a/**)"], "allow": ["Read(/a/b)"]}\n}\n',
  );
  const { code, ok, findings } = await found();
  expect({ code, ok }).toEqual({ code: 1, ok: false });
  expect(about(findings, "settings")).toEqual([
    { about: "settings", grade: "wrong", words: expect.stringContaining(`${file}:2: `), next: expect.any(String) },
  ]);
  expect(about(findings, "rules").map(({ grade, words }) => [grade, words])).toEqual([
    ["note", expect.stringContaining("the rule allow Read(/a/b) (user settings) never decides")],
  ]);
});

test("a rule that is not in force is wrong", async () => {
  const { code, findings } = await found("--deny", "Reed(x)");
  expect(code).toBe(1);
  expect(about(findings, "rules")[0]).toMatchObject({ grade: "wrong", words: expect.stringContaining("Reed(x)") });
});

test("a root that is missing and a state folder that is a file are wrong, and everything else is still reported", async () => {
  writeFileSync(at("state"), "");
  const { code, findings } = await found("--root", at("nowhere"), "--state-dir", at("state"));
  expect(code).toBe(1);
  expect(about(findings, "root")[0]).toMatchObject({ grade: "wrong", words: `${at("nowhere")} is no folder` });
  expect(about(findings, "state folder")[0]).toMatchObject({ grade: "wrong", words: `${at("state")} is no folder` });
  expect(about(findings, "node")).toHaveLength(1);
});

test.each(["", "elsewhere"])("a home that is no place (%j) puts nothing into the workspace", async (HOME) => {
  const env = { HOME, XDG_CONFIG_HOME: undefined, XDG_STATE_HOME: undefined, PATH: at("bin") };
  const { stdout } = await run(process.execPath, [commandLine, "doctor", "--json"], { cwd: at("ws"), env });
  const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
  expect(about(findings, "state folder")[0]?.words).not.toMatch(/^(?:elsewhere|\.local)/);
});

test("the oldest Node that it wants is that of package.json", () => {
  const { engines } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as { engines: { node: string } };
  expect(engines.node).toBe(`>=${nodeNeeded}`);
});

test("a report has versions, settings without secrets and the last internal errors, and no home folder", async () => {
  mkdirSync(at("config/filehand"), { recursive: true });
  const servers = { mine: { command: ["mine", "--token", "hunter2"], env: { KEY: "hunter3" }, extensions: [".x"] } };
  const settings = { languageServers: { servers }, pageTokensMax: 9_000 };
  writeFileSync(at("config/filehand/filehand.jsonc"), JSON.stringify(settings));
  mkdirSync(at("state/filehand"), { recursive: true });
  const stack = `Error: gone wrong\n    at read (${at("home")}/a.js:1:2)\u001b[31m`;
  const lines = [{ time: "2026-01-01T00:00:00.000Z", version: "0.0.9", stack }, "cut o"].map((one) =>
    JSON.stringify(one),
  );
  writeFileSync(at("state/filehand/errors.jsonl"), `${lines.join("\n")}\n`);
  const { version, bugs } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
    version: string;
    bugs: { url: string };
  };
  const { code, stdout, stderr } = await doctor("--report");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(bugs.url);
  expect(stdout).toContain(`Filehand ${version}, Node ${process.versions.node}, ${process.platform} ${process.arch}`);
  expect(stdout).toContain('"pageTokensMax": 9000');
  expect(stdout).toContain("2026-01-01T00:00:00.000Z 0.0.9\nError: gone wrong");
  expect(stdout).toContain("at read (~/a.js:1:2)");
  for (const hidden of ["hunter2", "hunter3", at("home"), "\u001b"]) expect(stdout).not.toContain(hidden);
});
