/**
 * Patches come from git and go to git: Filehand makes of an old tree what `git diff` says, to the byte and the mode, and
 * `git apply` and `patch` make of it what `filehand diff` says.
 */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { Readable, Writable } from "node:stream";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { createFilehand, type Session } from "../src/index.ts";
import { main } from "../src/surfaces/cli/main.ts";
import { textOf } from "./support/reading.ts";
import { onWindows, workspace } from "./support/workspace.ts";

const { top } = workspace({});
const repository = nodePath.join(top, "repository");
const tree = nodePath.join(top, "tree");
fs.mkdirSync(repository);

const git = (cwd: string, ...args: readonly string[]): Buffer =>
  execFileSync("git", ["-c", "core.autocrlf=false", "-c", "core.fileMode=true", ...args], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
    maxBuffer: 1e8,
  });

const hasGit = ((): boolean => {
  if (onWindows) return false;
  try {
    git(repository, "init", "-q");
    return true;
  } catch {
    return false;
  }
})();
afterAll(() => fs.rmSync(top, { recursive: true, force: true }));

interface File {
  readonly text: string;
  readonly executable: boolean;
}
type Tree = ReadonlyMap<string, File>;

function clear(folder: string): void {
  fs.mkdirSync(folder, { recursive: true });
  for (const name of fs.readdirSync(folder)) {
    if (name !== ".git") fs.rmSync(nodePath.join(folder, name), { recursive: true });
  }
}

function put(folder: string, files: Tree): void {
  clear(folder);
  for (const [name, { text, executable }] of files) {
    const path = nodePath.join(folder, name);
    fs.mkdirSync(nodePath.dirname(path), { recursive: true });
    fs.writeFileSync(path, text);
    fs.chmodSync(path, executable ? 0o755 : 0o644);
  }
}

function look(folder: string): ReadonlyMap<string, File> {
  const names = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile())
    .map((entry) => nodePath.relative(folder, nodePath.join(entry.parentPath, entry.name)))
    .filter((name) => !name.startsWith(`.git${nodePath.sep}`));
  return new Map(
    files.sort().map((name) => {
      const path = nodePath.join(folder, name);
      const executable = (fs.statSync(path).mode & 0o100) !== 0;
      return [name, { text: fs.readFileSync(path, "utf8"), executable }];
    }),
  );
}

const sorted = (files: Tree): Tree => new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));

const names = [
  "a.txt",
  "b c.txt",
  'q"uote',
  "Übung/ä.txt",
  "tab\there",
  "dir/sub/x",
  "b/y",
  "a/y",
  "back\\slash",
  " lead",
  "trail ",
  "dev/null",
  "new\nline",
] as const;

const plain = fc.constantFrom("one", "two", "three", "}", "", "  go(x);", "answer = 42;");
const odd = fc.constantFrom(
  "--- a/x",
  "+++ b/x",
  "@@ -1 +1 @@",
  "-- ",
  " ",
  "diff --git a/x b/x",
  "\\ No newline at end of file",
  "*** End Patch",
  "“ä” – 😀",
  "a\rb",
  "x\t",
  "- x",
  "+ x",
);
const line = fc.tuple(
  fc.oneof({ weight: 5, arbitrary: plain }, { weight: 1, arbitrary: odd }),
  fc.oneof({ weight: 6, arbitrary: fc.constant("\n") }, { weight: 1, arbitrary: fc.constant("\r\n") }),
);

/** Lines of a file before and after: kept, removed, added. */
const change = fc.record({
  lines: fc.array(
    fc.tuple(
      line,
      fc.oneof({ weight: 6, arbitrary: fc.constant(" ") }, { weight: 2, arbitrary: fc.constantFrom("-", "+") }),
    ),
    { maxLength: 40, size: "max" },
  ),
  crlf: fc.boolean(),
  open: fc.tuple(fc.boolean(), fc.boolean()),
  bom: fc.constantFrom("", "", "", "\ufeff", "-\ufeff", "+\ufeff"),
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

function sideOf({ lines, crlf, open, bom }: Change, side: "-" | "+"): string {
  const own = lines.filter(([, mark]) => mark === " " || mark === side);
  const text = own.map(([[content, end]]) => content + (crlf ? "\r\n" : end)).join("");
  const isOpen = open[side === "-" ? 0 : 1];
  const whole = isOpen ? text.replace(/\r?\n$/, "") : text;
  const mark = bom === "\ufeff" || bom === `${side}\ufeff` ? "\ufeff" : "";
  return whole === "" ? "" : mark + whole;
}

const filePair = fc.record({
  change,
  does: fc.constantFrom("update", "update", "update", "add", "delete", "rename", "keep"),
  executable: fc.tuple(fc.boolean(), fc.boolean()),
});

/** Two trees. A renamed file takes the next free name. */
const trees = fc
  .tuple(
    fc.shuffledSubarray([...names], { minLength: 6, maxLength: 10 }),
    fc.array(filePair, { minLength: 1, maxLength: 3 }),
  )
  .map(([all, pairs]) => {
    const free = [...all];
    const [before, after] = [new Map<string, File>(), new Map<string, File>()];
    for (const { change: lines, does, executable } of pairs) {
      const name = free.shift() ?? "";
      const [was, is] = [sideOf(lines, "-"), sideOf(lines, "+")];
      if (does !== "add") before.set(name, { text: was, executable: executable[0] });
      if (does === "rename") after.set(free.shift() ?? "", { text: is, executable: executable[1] });
      else if (does === "keep") after.set(name, { text: was, executable: executable[0] });
      else if (does !== "delete") after.set(name, { text: is, executable: executable[1] });
    }
    return { before: sorted(before), after: sorted(after) };
  });

const options = fc.constantFrom<readonly string[]>(
  [],
  ["--no-prefix"],
  ["-U0"],
  ["-U10"],
  ["-U1", "-M10%"],
  ["-M30%"],
  ["-M", "--no-prefix", "-U0"],
  ["-C", "--find-copies-harder"],
  ["--src-prefix=old/", "--dst-prefix=new/"],
  ["--full-index", "--minimal"],
  ["--patch-with-stat", "--summary"],
  ["-D"],
);

function diffOf(before: Tree, after: Tree, given: readonly string[], quotes: boolean): string {
  const [from, to] = [before, after].map((files) => {
    put(repository, files);
    git(repository, "add", "-A", "-f", ".");
    return git(repository, "write-tree").toString().trim();
  });
  const quotePath = `core.quotePath=${quotes}`;
  return git(repository, "-c", quotePath, "diff", "--text", ...given, from ?? "", to ?? "").toString();
}

const session = () => createFilehand({ roots: [tree], ask: "yes", readFirst: false }).session({ dialect: "opencode" });

describe.skipIf(!hasGit)("git diff", () => {
  test("gives the same tree, to the byte and the mode", async () => {
    await fc.assert(
      fc.asyncProperty(trees, options, fc.boolean(), async ({ before, after }, given, quotes) => {
        const patchText = diffOf(before, after, given, quotes);
        fc.pre(patchText !== "");
        put(tree, before);
        const reply = await session().call("patch", { patchText });
        expect(reply.isError ? `${textOf(reply)}\n${patchText}` : "").toBe("");
        expect(look(tree)).toEqual(after);
      }),
      { numRuns: 50 },
    );
  });

  test("without the ids of contents it gives the same tree or is refused, and then nothing changes", async () => {
    await fc.assert(
      fc.asyncProperty(trees, options, async ({ before, after }, given) => {
        const patchText = diffOf(before, after, given, true).replace(/^index [0-9a-f]+\.\.[0-9a-f]+(?: \d+)?\n/gm, "");
        fc.pre(patchText !== "");
        put(tree, before);
        const reply = await session().call("patch", { patchText });
        expect(look(tree)).toEqual(reply.isError ? before : after);
      }),
      { numRuns: 30 },
    );
  });
});

/** Makes one file of the tree what it shall be, by the tools. */
async function changeFile(session: Session, name: string, was: File | undefined, is: File | undefined): Promise<void> {
  const filePath = nodePath.join(tree, name);
  if (is === undefined) return expectDone(session.run((profile) => ({ verb: "delete", path: filePath, profile })));
  if (was?.text !== is.text) {
    const { text: content } = is;
    await expectDone(session.run((profile) => ({ verb: "write", path: filePath, content, profile })));
  }
  const isExecutable = (fs.statSync(filePath).mode & 0o100) !== 0;
  if (isExecutable === is.executable) return;
  const modes = is.executable ? ["old mode 100644", "new mode 100755"] : ["old mode 100755", "new mode 100644"];
  const quoted = JSON.stringify(`b/${name}`).replace("b/", "");
  const sides = `${quoted.replace('"', '"a/')} ${quoted.replace('"', '"b/')}`;
  const patchText = [`diff --git ${sides}`, ...modes].join("\n");
  await expectDone(session.run((profile) => ({ verb: "patch", patchText, profile })));
}

async function expectDone(work: ReturnType<Session["run"]>): Promise<void> {
  const { reply } = await work;
  expect(reply.isError ? textOf(reply) : "").toBe("");
}

/** Write keeps the BOM of a file. */
const withoutBoms = (files: Tree): Tree =>
  new Map([...files].map(([name, file]) => [name, { ...file, text: file.text.replaceAll("\ufeff", "") }]));

async function filehand(args: readonly string[]): Promise<{ code: number; stdout: Buffer; stderr: string }> {
  const written: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  const sink = (name: "stdout" | "stderr"): Writable =>
    new Writable({ write: (chunk, _, done) => (written[name].push(Buffer.from(chunk)), done()) });
  const code = await main([...args, "--state-dir", state], {
    stdin: Readable.from([]),
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    env: {},
    cwd: tree,
    home: top,
    platform: process.platform,
    signal: new AbortController().signal,
  });
  return { code, stdout: Buffer.concat(written.stdout), stderr: Buffer.concat(written.stderr).toString() };
}

const state = nodePath.join(top, "state");
let sessions = 0;

describe.skipIf(!hasGit)("filehand diff", () => {
  test("is a patch that git applies, and patch too if the names are plain", async () => {
    const copy = nodePath.join(top, "copy");
    await fc.assert(
      fc.asyncProperty(trees, fc.boolean(), async (given, moves) => {
        const [before, after] = [withoutBoms(given.before), withoutBoms(given.after)];
        put(tree, before);
        sessions += 1;
        const id = `agent-${sessions}`;
        const files = createFilehand({ roots: [tree], ask: "yes", readFirst: false, stateDir: state });
        const session = files.session({ dialect: "opencode", id });
        const gone = [...before.keys()].filter((name) => !after.has(name));
        const fresh = [...after.keys()].filter((name) => !before.has(name));
        const moved = new Map<string, string>();
        for (const [at, from] of gone.entries()) {
          const to = fresh[at];
          if (!moves || to === undefined) continue;
          await expectDone(
            session.run((profile) => ({
              verb: "move",
              path: nodePath.join(tree, from),
              to: nodePath.join(tree, to),
              profile,
            })),
          );
          moved.set(to, from);
        }
        for (const name of new Set([...before.keys(), ...after.keys()])) {
          if ([...moved.values()].includes(name)) continue;
          await changeFile(session, name, before.get(moved.get(name) ?? name), after.get(name));
        }
        expect(look(tree)).toEqual(after);
        const turns = (await session.history())?.snapshots().length ?? 0;
        await files.close();
        fc.pre(turns > 0);
        const { code, stdout, stderr } = await filehand(["diff", `-${turns}..-1`, "--session", id]);
        expect([code, stderr]).toEqual([0, ""]);
        const patch = nodePath.join(top, "patch");
        fs.writeFileSync(patch, stdout);
        put(copy, before);
        if (stdout.length > 0) git(copy, "apply", "--whitespace=nowarn", patch);
        expect(look(copy)).toEqual(after);
        if ([...before.keys(), ...after.keys()].some((name) => !/^[\w./]+$/.test(name))) return;
        put(copy, before);
        execFileSync("patch", ["-p1", "--binary", "-s", "-i", patch], { cwd: copy });
        expect(look(copy)).toEqual(after);
      }),
      { numRuns: 50 },
    );
  });
});

describe.skipIf(onWindows)("the executable bit", () => {
  test("is in the question, is set, and undo takes it back", async () => {
    const plain = { text: "echo\n", executable: false };
    put(tree, new Map([["run.sh", plain]]));
    const asked: unknown[] = [];
    const files = createFilehand({
      roots: [tree],
      readFirst: false,
      stateDir: state,
      permissions: { ask: ["Edit"] },
      ask: async ({ metadata }) => (asked.push(metadata["executable"], metadata["diff"]), { reply: "once" }),
    });
    const one = files.session({ dialect: "opencode" });
    const patchText = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n";
    expect(textOf(await one.call("patch", { patchText }))).toContain("The file is executable now.");
    expect(asked).toEqual([true, patchText]);
    expect(look(tree)).toEqual(new Map([["run.sh", { ...plain, executable: true }]]));
    await one.undo();
    expect(look(tree)).toEqual(new Map([["run.sh", plain]]));
    await files.close();
  });
});
