/**
 * Calls of one session on one file take effect in the order in which they were sent: sent all together they give the same
 * replies and the same files as sent one by one.
 */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { createFilehand, type FilehandOptions, type Reply, type Session } from "../src/index.ts";
import { commandLine, run } from "./ends/run.ts";
import { replyTo } from "./support/reading.ts";

const base = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-order-"));
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

type Call = (session: Session) => Promise<Reply>;
interface Outcome {
  readonly replies: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

const lines = Array.from({ length: 40 }, (_, n) => `line ${n} alpha`);
const text = `${lines.join("\n")}\n`;
const notebook = JSON.stringify({
  cells: [{ cell_type: "code", execution_count: null, id: "c1", metadata: {}, outputs: [], source: ["x=1"] }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});

let made = 0;
function workspace(): string {
  made += 1;
  const folder = path.join(base, `w${made}`, "workspace");
  fs.mkdirSync(path.join(folder, "sub"), { recursive: true });
  fs.writeFileSync(path.join(folder, "a.txt"), text);
  fs.writeFileSync(path.join(folder, "sub", "quartz.md"), text);
  fs.writeFileSync(path.join(folder, "n.ipynb"), notebook);
  fs.symlinkSync("a.txt", path.join(folder, "zz-link"));
  return folder;
}

function filesIn(folder: string): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const name = path.join(entry.parentPath, entry.name);
    files[path.relative(folder, name)] = entry.isFile() ? fs.readFileSync(name, "utf8") : "";
  }
  return files;
}

/** Ids, times and the folder of this run aside. */
const comparable = (reply: Reply, folder: string): string =>
  JSON.stringify([reply.error?.code, reply.content])
    .replaceAll(folder, "/w")
    .replaceAll(/\b[0-9a-f]{8}\b/g, "id")
    .replaceAll(/\d+(\.\d+)? ?ms/g, "0 ms");

async function outcomeOf(
  calls: readonly Call[],
  how: "together" | "one by one",
  {
    before = [],
    options = {},
  }: { readonly before?: readonly Call[]; readonly options?: Partial<FilehandOptions> } = {},
): Promise<Outcome> {
  const folder = workspace();
  const stateDir = path.join(path.dirname(folder), "state");
  const filehand = createFilehand({ roots: [folder], ask: "yes", reminder: false, stateDir, ...options });
  const session = filehand.session({ dialect: "claude" });
  for (const call of before) await call(session);
  const replies: Reply[] = [];
  if (how === "together") replies.push(...(await Promise.all(calls.map((call) => call(session)))));
  else for (const call of calls) replies.push(await call(session));
  const outcome = { replies: replies.map((reply) => comparable(reply, folder)), files: filesIn(folder) };
  fs.rmSync(path.dirname(folder), { recursive: true });
  return outcome;
}

const read =
  (file_path: string, more: object = {}): Call =>
  (session) =>
    session.call("Read", { file_path, ...more });
const edit =
  (file_path: string, n: number, to = "BETA"): Call =>
  (session) =>
    session.call("Edit", { file_path, old_string: `line ${n} alpha`, new_string: `line ${n} ${to}` });
const write =
  (file_path: string, content: string): Call =>
  (session) =>
    session.call("Write", { file_path, content });
const grep =
  (pattern: string, more: object = {}): Call =>
  (session) =>
    session.call("Grep", { pattern, output_mode: "content", ...more });
const glob =
  (pattern: string): Call =>
  (session) =>
    session.call("Glob", { pattern });
const ls =
  (folder: string): Call =>
  (session) =>
    session.call("LS", { path: folder });
const patch =
  (...sections: readonly string[]): Call =>
  (session) => {
    const patchText = `*** Begin Patch\n${sections.join("\n")}\n*** End Patch`;
    return replyTo(session, (profile) => ({ verb: "patch", patchText, profile }));
  };
const update = (file: string, n: number, to?: string): string =>
  `*** Update File: ${file}\n${to === undefined ? "" : `*** Move to: ${to}\n`}@@\n-line ${n} alpha\n+line ${n} PATCH`;
const move =
  (from: string, to: string): Call =>
  (session) =>
    replyTo(session, (profile) => ({ verb: "move", path: from, to, profile }));
const remove =
  (file: string): Call =>
  (session) =>
    replyTo(session, (profile) => ({ verb: "delete", path: file, profile }));
const rewind: Call = (session) => session.call("Rewind", { turn: "start" });
const notebookEdit: Call = (session) =>
  session.call("NotebookEdit", { notebook_path: "n.ipynb", cell_id: "c1", new_source: "y=2" });
const multiEdit: Call = (session) =>
  session.call("MultiEdit", { file_path: "a.txt", edits: [{ old_string: "line 1 alpha", new_string: "line 1 BETA" }] });

const known = [read("a.txt"), read("sub/quartz.md")];

describe("sent together as sent one by one", () => {
  for (const [name, calls, before] of [
    ["Read, Edit", [read("a.txt"), edit("a.txt", 1)]],
    ["Read of a part, Edit in it", [read("a.txt", { offset: 1, limit: 3 }), edit("a.txt", 1)]],
    ["Read, Write", [read("a.txt"), write("a.txt", "new\n")]],
    ["Read, MultiEdit", [read("a.txt"), multiEdit]],
    ["Read, NotebookEdit of a notebook", [read("n.ipynb"), notebookEdit]],
    ["Read, Edit, Read", [read("a.txt"), edit("a.txt", 1), read("a.txt")]],
    ["Read, Read: the second is the stub", [read("a.txt"), read("a.txt")]],
    ["Read by one name, Edit by another", [read("zz-link"), edit("a.txt", 1), read("zz-link")]],
    ["Write of a new file, Read", [write("new/x.txt", "hello\n"), read("new/x.txt")]],
    ["Write of a new file, Write", [write("new/x.txt", "hello\n"), write("new/x.txt", "again\n")]],
    ["Write of a new file, Edit", [write("x.txt", "line 1 alpha\n"), edit("x.txt", 1), read("x.txt")]],
    ["Write of a file, Write below its name", [write("new", "hello\n"), write("new/x.txt", "hello\n")]],
    ["Edit, Read", [edit("a.txt", 1), read("a.txt")], known],
    ["Edit, Grep of its folder", [edit("sub/quartz.md", 1), grep("BETA", { path: "sub" })], known],
    ["Grep, Edit", [grep("BETA"), edit("a.txt", 1)], known],
    ["Write of a new file, Glob, LS", [write("new/x.txt", "hello\n"), glob("new/*"), ls("."), ls("new")]],
    ["Write, Edit, Read", [write("a.txt", "line 1 alpha\n"), edit("a.txt", 1), read("a.txt")], known],
    ["patch, Edit", [patch(update("a.txt", 3)), edit("a.txt", 5)], known],
    [
      "patch of two, Edit of the second",
      [patch(update("a.txt", 3), update("sub/quartz.md", 3)), edit("sub/quartz.md", 5)],
      known,
    ],
    ["patch that adds, Edit", [patch("*** Add File: n/n.txt\n+line 1 alpha"), edit("n/n.txt", 1)]],
    [
      "patch that moves, Edit of the new name",
      [patch(update("a.txt", 3, "m.txt")), edit("m.txt", 5), read("m.txt")],
      known,
    ],
    ["patch that moves, Edit of the old name", [patch(update("a.txt", 3, "m.txt")), edit("a.txt", 5)], known],
    [
      "two patches with the same files in another order",
      [patch(update("a.txt", 3), update("sub/quartz.md", 3)), patch(update("sub/quartz.md", 5), update("a.txt", 5))],
      known,
    ],
    ["move of a folder, Edit below its new name", [move("sub", "moved"), edit("moved/quartz.md", 2)], known],
    [
      "Edit, move of its folder, Read of the old name",
      [edit("sub/quartz.md", 2), move("sub", "moved"), read("sub/quartz.md")],
      known,
    ],
    ["delete of a folder, Write below it", [remove("sub"), write("sub/quartz.md", "new\n")], known],
    ["delete, Write", [remove("a.txt"), write("a.txt", "fresh\n")], known],
    ["Edit, rewind", [edit("a.txt", 5), rewind], known],
    ["Edit, rewind, Read, Edit", [edit("a.txt", 5), rewind, read("a.txt"), edit("a.txt", 6)], known],
    ["rewind, Edit", [rewind, edit("a.txt", 5)], [...known, edit("a.txt", 7)]],
    ["a call that fails between two that do not", [edit("a.txt", 1), edit("a.txt", 999), edit("a.txt", 2)], known],
  ] as readonly (readonly [string, readonly Call[], (readonly Call[])?])[]) {
    test(name, async () => {
      const given = { before: before ?? [], options: { historyTools: true } };
      const expected = await outcomeOf(calls, "one by one", given);
      for (let round = 0; round < 3; round += 1) expect(await outcomeOf(calls, "together", given)).toEqual(expected);
    });
  }

  test("random calls on few files", { timeout: 120_000 }, async () => {
    const file = fc.constantFrom("a.txt", "sub/quartz.md", "new/vowel.log", "zz-link");
    const n = fc.integer({ min: 0, max: 4 });
    const call: fc.Arbitrary<readonly [string, Call]> = fc.oneof(
      file.map((name) => [`read ${name}`, read(name)] as const),
      fc.tuple(file, n).map(([name, at]) => [`edit ${name} ${at}`, edit(name, at)] as const),
      fc
        .tuple(file, n)
        .map(([name, at]) => [`write ${name}`, write(name, `line ${at} alpha\nline 0 alpha\n`)] as const),
      fc
        .tuple(file, file, n)
        .map(([one, two, at]) => [`patch ${one} ${two}`, patch(update(one, at), update(two, at))] as const),
      fc.tuple(file, file, n).map(([one, two, at]) => [`patch ${one} to ${two}`, patch(update(one, at, two))] as const),
      fc.tuple(file, file).map(([from, to]) => [`move ${from} ${to}`, move(from, to)] as const),
      fc.constantFrom("sub", "new").map((name) => [`move ${name}`, move(name, `${name}-moved`)] as const),
      fc.constantFrom("a.txt", "sub", "new/vowel.log").map((name) => [`delete ${name}`, remove(name)] as const),
      fc.constant(["grep", grep("BETA|PATCH")] as const),
      fc.constant(["ls", ls("sub")] as const),
    );
    const calls = fc.array(call, { minLength: 2, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(calls, async (list) => {
        const all = list.map(([, one]) => one);
        const [expected, together] = [await outcomeOf(all, "one by one"), await outcomeOf(all, "together")];
        expect({ sent: list.map(([name]) => name), ...together }).toEqual({
          sent: list.map(([name]) => name),
          ...expected,
        });
      }),
      { numRuns: 60 },
    );
  });
});

describe("a call in the queue", () => {
  const open = (options: Partial<FilehandOptions> = {}) => {
    const folder = workspace();
    return {
      folder,
      session: createFilehand({ roots: [folder], reminder: false, ...options }).session({ dialect: "claude" }),
    };
  };

  test("of another file does not wait for one whose question is open", async () => {
    let answer = (_reply: "once"): void => undefined;
    const said = new Promise<"once">((resolve) => (answer = resolve));
    const { session } = open({ ask: async () => ({ reply: await said }) });
    await read("a.txt")(session);
    const asked = edit("a.txt", 1)(session);
    const other = await read("sub/quartz.md")(session);
    expect(other.isError).toBe(false);
    answer("once");
    expect((await asked).isError).toBe(false);
  });

  test("of the same file waits for the answer, and sees what came of it", async () => {
    let answer = (_reply: "once"): void => undefined;
    const said = new Promise<"once">((resolve) => (answer = resolve));
    const { session } = open({ ask: async () => ({ reply: await said }) });
    await read("a.txt")(session);
    const asked = edit("a.txt", 1)(session);
    let isAnswered = false;
    const later = read("a.txt")(session).then((reply) => {
      isAnswered = true;
      return reply;
    });
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(isAnswered).toBe(false);
    answer("once");
    expect((await asked).isError).toBe(false);
    expect(JSON.stringify((await later).content)).toContain("line 1 BETA");
  });

  test("leaves it when it is cancelled, also while an earlier one waits for a person", async () => {
    let answer = (_reply: "once"): void => undefined;
    const said = new Promise<"once">((resolve) => (answer = resolve));
    const { session, folder } = open({ ask: async () => ({ reply: await said }) });
    await read("a.txt")(session);
    const asked = edit("a.txt", 1)(session);
    const stop = new AbortController();
    const cancelled = session.call("Read", { file_path: "a.txt" }, { signal: stop.signal });
    stop.abort();
    expect((await cancelled).error?.code).toBe("CANCELLED");
    answer("once");
    expect((await asked).isError).toBe(false);
    expect(fs.readFileSync(path.join(folder, "a.txt"), "utf8")).toContain("line 1 BETA");
  });

  test("made by an asker about the file that it is asked about is answered at once", async () => {
    const seen: string[] = [];
    let session: Session | undefined;
    const ask = async () => {
      const replies = await Promise.all([
        session?.call("Read", { file_path: "a.txt" }),
        session?.call("Grep", { pattern: "BETA" }),
      ]);
      seen.push(...replies.map((reply) => reply?.error?.code ?? "ok"));
      return { reply: "once" } as const;
    };
    ({ session } = open({ ask, dedup: false }));
    await read("a.txt")(session);
    const replies = await Promise.all([edit("a.txt", 1)(session), edit("a.txt", 2)(session), read("a.txt")(session)]);
    expect(replies.map(({ error }) => error?.code)).toEqual([undefined, undefined, undefined]);
    expect(seen).toEqual(["ok", "ok", "ok", "ok"]);
  });

  test("made by a formatter about the file that it formats is answered at once", async () => {
    let session: Session | undefined;
    let seen: Reply | undefined;
    const formatter = async () => {
      seen = await session?.call("Read", { file_path: "a.txt" });
    };
    ({ session } = open({ ask: "yes", formatter, dedup: false }));
    await read("a.txt")(session);
    expect((await edit("a.txt", 1)(session)).isError).toBe(false);
    expect(JSON.stringify(seen?.content)).toContain("line 1 BETA");
  });

  test("a patch of more files than the queue tells apart still keeps its place", async () => {
    const { session, folder } = open({ ask: "yes" });
    const sections = Array.from({ length: 300 }, (_, n) => `*** Add File: many/${n}.txt\n+line 1 alpha`);
    const replies = await Promise.all([patch(...sections)(session), edit("many/299.txt", 1)(session)]);
    expect(replies.map(({ error }) => error?.code)).toEqual([undefined, undefined]);
    expect(fs.readFileSync(path.join(folder, "many/299.txt"), "utf8")).toBe("line 1 BETA\n");
  });
});

test("`batch --parallel 8` gives the answers of `batch`", async () => {
  const calls = [
    ["Read", { file_path: "a.txt" }],
    ["Edit", { file_path: "a.txt", old_string: "line 1 alpha", new_string: "line 1 BETA" }],
    ["Read", { file_path: "a.txt", offset: 2, limit: 1 }],
    ["Write", { file_path: "new.txt", content: "one\n" }],
    ["Edit", { file_path: "new.txt", old_string: "one", new_string: "two" }],
    ["Read", { file_path: "new.txt" }],
    ["Grep", { pattern: "BETA", output_mode: "content" }],
  ].map(([tool, input], id) => JSON.stringify({ id, tool, input }));
  const answers: string[] = [];
  for (const more of [[], ["--parallel", "8"]]) {
    const folder = workspace();
    const args = [commandLine, "batch", "--yes", "--root", folder, ...more];
    const { stdout } = await run(process.execPath, args, { cwd: folder, input: calls.join("\n") });
    answers.push(stdout.replaceAll(folder, "/w").replaceAll(/\b[0-9a-f]{8}\b|"(elapsedMs|durationMs)":[\d.]+/g, ""));
  }
  expect(answers[1]).toBe(answers[0]);
  expect(answers[1]).not.toContain('"isError":true');
});
