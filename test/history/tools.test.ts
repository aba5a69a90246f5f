/** History and Rewind as a model calls them: what it may see, what it is told, and what holds afterwards. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { limits } from "../../src/contract/limits.ts";
import type { HistoryTools } from "../../src/dialects/opencode/render.ts";
import { createFilehand, type Reply, type Session } from "../../src/index.ts";
import { workspace } from "../support/workspace.ts";
import { type Desk, type DeskOptions, openWorkspace } from "./desk.ts";

const { path: place } = workspace({});
let desks = 0;
const desk = (options: DeskOptions = {}) =>
  openWorkspace(place(`desk-${(desks += 1)}`), { historyTools: true, ...options });
/** The same folders with other rules, in the same session. */
const again = ({ top }: Desk, options: DeskOptions) => openWorkspace(top, { historyTools: true, ...options });

const textOf = ({ content }: Reply): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("\n");

async function history({ session }: Pick<Desk, "session">, input: object = {}) {
  const reply = await session.call("history", input);
  equal(reply.error, undefined);
  return { text: textOf(reply), ...(reply.structured as HistoryTools["history"]["output"]).metadata }; // the dialect's own type
}

async function rewind({ session }: Pick<Desk, "session">, input: object) {
  const reply = await session.call("rewind", input);
  equal(reply.error, undefined);
  return { text: textOf(reply), ...(reply.structured as HistoryTools["rewind"]["output"]).metadata }; // the dialect's own type
}

/** Where dialects tell which turns were passed over. */
interface Passed {
  readonly passed?: readonly string[];
  readonly metadata?: { readonly passed: readonly string[] };
  readonly data?: { readonly passed: readonly string[] };
}

const names = (files: readonly { readonly filePath: string }[]): readonly string[] =>
  files.map(({ filePath }) => filePath.replace(/^.*\/work\//, ""));

test("as a typed function they refuse like an unknown tool where they are off", async () => {
  const { filehand } = desk({ historyTools: false });
  const { tools } = filehand.session({ dialect: "claude" });
  await rejects(tools.History({}), { code: "UNKNOWN_TOOL" });
  await rejects(tools.Rewind({ turn: "start" }), { code: "UNKNOWN_TOOL" });
});

describe("what rules deny is hidden", () => {
  test("from the list and from the diffs, and counted", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("open.txt", "one\n");
    await d.write("private/key.txt", "hidden words\n");
    await d.session.checkpoint("m2");
    await d.write("private/other.txt", "hidden words\n");
    const later = again(d, { permissions: { deny: ["Read(private/**)"] } });
    const list = await history(later);
    deepEqual(
      list.turns.map(({ turn, files, totalFiles, hiddenByRules }) => [turn, names(files), totalFiles, hiddenByRules]),
      [
        ["m2", [], 0, 1],
        ["m1", ["open.txt"], 1, 1],
      ],
    );
    const detail = await history(later, { turn: "m1" });
    deepEqual(
      [names(detail.turns[0]?.files ?? []), detail.total, detail.turns[0]?.hiddenByRules],
      [["open.txt"], 1, 1],
    );
    for (const { text } of [list, detail]) {
      match(text, /\(1 file withheld: rules do not let this session read it\)/);
      ok(!/hidden words|private|key\.txt/.test(text));
    }
    ok(!JSON.stringify([list, detail]).includes("private"));
  });

  test("from a path that is asked for, whether it is there or not", async () => {
    const d = desk();
    await d.write("private/a.txt", "1\n");
    await d.write("private/b.txt", "1\n");
    fs.rmSync(d.at("private/b.txt"));
    const later = again(d, { permissions: { deny: ["Read(private/**)"] } });
    for (const path of ["private/a.txt", "private/b.txt", "private/never.txt"]) {
      equal((await later.session.call("history", { path })).error?.code, "ACCESS_DENIED", path);
      equal((await later.session.call("rewind", { turn: "start", paths: [path] })).error?.code, "ACCESS_DENIED", path);
    }
    deepEqual(Object.keys(d.tree()), ["private/a.txt"]);
  });

  test("from the answer to a rewind, which leaves it as it is", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("open.txt", "one\n");
    await d.write("private/key.txt", "hidden words\n");
    const later = again(d, { permissions: { deny: ["Read(private/**)"] } });
    for (const dryRun of [true, false]) {
      const { text, files, hiddenByRules } = await rewind(later, { turn: "m1", dryRun });
      deepEqual([files.length, hiddenByRules], [1, 1]);
      ok(!/private|key/.test(text));
    }
    deepEqual(Object.keys(d.tree()), ["private/key.txt"]);
  });

  test("a file that was moved out of a denied folder shows no old name and no old lines", async () => {
    const d = desk();
    d.stranger("secret-plan.txt", "old words\nrest\n");
    await d.session.checkpoint("m1");
    await d.patch("*** Update File: secret-plan.txt", "*** Move to: plan.txt", "@@", "-old words", "+new words");
    const later = again(d, { permissions: { deny: ["Read(secret-plan.txt)"] } });
    const { text, turns } = await history(later, { turn: "m1" });
    ok(!/secret-plan|old words/.test(text + JSON.stringify(turns)));
    match(text, /created "plan.txt"/);
  });

  test("a diff that needs approval is shown only if it is given", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("asked.txt", "quiet words\n");
    const permissions = { ask: ["Read(asked.txt)"] };
    const alone = again(d, { permissions, ask: async () => ({ reply: "reject" }) });
    const refused = await history(alone, { turn: "m1" });
    match(refused.text, /created "asked.txt" \(its content may not be read\)/);
    ok(!JSON.stringify(refused).includes("quiet words"));
    const shown = await history(again(d, { permissions }), { turn: "m1" });
    match(shown.text, /\+quiet words/);
  });

  test("files outside the current roots are not listed", async () => {
    const d = desk();
    await d.write("a/one.txt", "1\n");
    await d.write("b/two.txt", "1\n");
    const { session } = again(d, { roots: [d.at("a")] });
    const { turns } = await history({ session });
    deepEqual(
      turns.map(({ files, hiddenByRules }) => [names(files), hiddenByRules]),
      [
        [[], 1],
        [["a/one.txt"], 0],
      ],
    );
  });

  test("no reply has the content of a secret", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write(".env", "TOKEN=abc\n");
    const { text, ...fields } = await history(d, { turn: "m1" });
    ok(!(text + JSON.stringify(fields)).includes("abc"));
    match(text, /created ".env" \(it holds secrets, so its content was not kept\)/);
  });
});

describe("rewind by a model", () => {
  test("a dry run reports what the run then does, for every kind of file", async () => {
    const d = desk();
    d.stranger("edited.txt", "one\n");
    d.stranger("theirs.txt", "one\n");
    await d.session.checkpoint("m1");
    await d.edit("edited.txt", "one", "two");
    await d.edit("theirs.txt", "one", "two");
    await d.write("made.txt", "x\n");
    await d.write(".env", "A=1\n");
    d.stranger("theirs.txt", "three\n");
    const before = d.tree();
    const planned = await rewind(d, { turn: "m1", dryRun: true });
    deepEqual(d.tree(), before);
    const done = await rewind(d, { turn: "m1" });
    const plan = planned.files.map(({ did, ...rest }) => ({ ...rest, did: did.replace(/^would be /, "") }));
    deepEqual(plan, done.files);
    deepEqual([planned.turn, typeof done.turn, planned.dryRun, done.dryRun], [null, "string", true, false]);
    deepEqual([d.read("edited.txt"), d.read("theirs.txt")], ["one\n", "three\n"]);
  });

  test("a conflict is reported for its file, with the next step; force overwrites it, and that can be undone", async () => {
    const d = desk();
    d.stranger("a.txt", "one\n");
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "one", "two");
    await d.write("b.txt", "x\n");
    d.stranger("a.txt", "theirs\n");
    const left = await rewind(d, { turn: "m1" });
    deepEqual(
      left.files.map(({ conflict }) => conflict),
      [true, false],
    );
    match(left.text, /left as it is: "a.txt" \(somebody else changed it since; force overwrites that\)/);
    match(left.text, /call rewind again with force/);
    const listed = await history(d);
    match(listed.text, /turn m1 .*undone in part by a later rewind\)\n {2}changed "a.txt" \(\+1 -1; not undone\)/);
    const forced = await rewind(d, { turn: "m1", force: true });
    equal(d.read("a.txt"), "one\n");
    await rewind(d, { turn: forced.turn ?? "" });
    equal(d.read("a.txt"), "theirs\n");
  });

  test("in `envelope`, what was left in conflict makes it partial, and nothing else does", async () => {
    const d = desk();
    const session = d.filehand.session({ dialect: "envelope", id: "one" });
    d.stranger("a.txt", "one\n");
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "one", "two");
    await d.write("b.txt", "x\n");
    d.stranger("a.txt", "theirs\n");
    const seen: string[] = [];
    for (const force of [false, true]) {
      for (const dry_run of [true, false]) {
        const { status } = await session.tools.Rewind({ turn: "m1", force, dry_run });
        seen.push(status);
      }
    }
    deepEqual(seen, ["partial", "partial", "success", "success"]);
    equal(d.read("a.txt"), "one\n");
  });

  test("turns that an undo skipped are named", async () => {
    for (const [dialect, passedOf] of [
      ["claude", ({ passed }: Passed) => passed],
      ["opencode", ({ metadata }: Passed) => metadata?.passed],
      ["envelope", ({ data }: Passed) => data?.passed],
    ] as const) {
      const d = desk();
      const session = d.filehand.session({ dialect, id: "one" });
      d.stranger("a.txt", "one\n");
      for (const [turn, from, to] of [
        ["m1", "one", "two"],
        ["m2", "two", "three"],
      ] as const) {
        await d.session.checkpoint(turn);
        await d.edit("a.txt", from, to);
      }
      d.stranger("a.txt", "two\n");
      const to = { last: "undo" } as const;
      const { reply } = await session.run(() => ({ verb: "rewind", to, files: undefined, force: false, as: "undo" }));
      equal(reply.error, undefined, dialect);
      deepEqual(passedOf(reply.structured as Passed), ["m2"], dialect); // one of the shapes below
      match(textOf(reply), /Passed over "m2": its changes are undone already, or cannot be restored\./);
      equal(d.read("a.txt"), "one\n");
    }
  });

  test("goes through the rules as every change does, file by file", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("locked/a.txt", "1\n");
    await d.write("b.txt", "1\n");
    const later = again(d, { permissions: { deny: ["Edit(locked/**)"] } });
    const { files, text } = await rewind(later, { turn: "m1" });
    deepEqual(
      files.map(({ did }) => did),
      ["failed", "deleted"],
    );
    match(text, /failed: "locked\/a.txt" \(.*the rule Edit\(locked\/\*\*\) \(options\) denies it/);
    deepEqual(Object.keys(d.tree()), ["locked/a.txt"]);
  });

  test("without anyone to ask it changes nothing", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("a.txt", "1\n");
    const asked: unknown[] = [];
    const later = again(d, {
      ask: async (question) => {
        asked.push(question.permission);
        return { reply: "reject" };
      },
    });
    const { files } = await rewind(later, { turn: "m1" });
    deepEqual([asked, files[0]?.did, Object.keys(d.tree())], [["edit"], "failed", ["a.txt"]]);
  });

  test("later changes are not part of the message that was undone", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("a.txt", "1\n");
    await rewind(d, { turn: "m1" });
    await d.write("b.txt", "1\n");
    const { turns } = await history(d);
    deepEqual([turns.length, turns[0]?.turn === "m1", turns.at(-1)?.undone], [3, false, "all"]);
    await rewind(d, { turn: turns[0]?.turn ?? "" });
    deepEqual(d.tree(), {});
  });

  test("a restored file must be read before it can be edited", async () => {
    const d = desk({ readFirst: true });
    d.stranger("a.txt", "one\n");
    await d.session.call("read", { filePath: "a.txt" });
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "one", "two");
    await rewind(d, { turn: "m1" });
    const edit = { filePath: "a.txt", oldString: "one", newString: "three" };
    equal((await d.session.call("edit", edit)).error?.code, "NOT_READ");
    equal((await d.session.call("write", { filePath: "a.txt", content: "x" })).error?.code, "NOT_READ");
    match(textOf(await d.session.call("read", { filePath: "a.txt" })), /1: one/);
    equal((await d.session.call("edit", edit)).error, undefined);
    equal(d.read("a.txt"), "three\n");
  });

  test("a file that a rewind left unchanged still counts as read", async () => {
    const d = desk({ readFirst: true });
    d.stranger("other.txt", "one\n");
    await d.session.call("read", { filePath: "other.txt" });
    await d.session.checkpoint("m1");
    await d.write("a.txt", "1\n");
    await rewind(d, { turn: "m1" });
    await d.edit("other.txt", "one", "two");
  });

  test("a turn is found by the prefix that history shows, and by no shorter one", async () => {
    const d = desk();
    await d.write("a.txt", "1\n");
    const { turns, text } = await history(d);
    const id = turns[0]?.turn ?? "";
    const shown = /^turn (\S+) /m.exec(text)?.[1] ?? "";
    deepEqual([shown.length, id.startsWith(shown)], [8, true]);
    equal((await d.session.call("rewind", { turn: id.slice(0, 7) })).error?.code, "NO_TURN");
    await rewind(d, { turn: shown });
    deepEqual(d.tree(), {});
  });

  test("a pruned turn is never confused with one whose id begins with it", async () => {
    const d = desk({ history: { snapshotsMax: 1 } });
    for (const id of ["message-1", "message-12"]) {
      await d.session.checkpoint(id);
      await d.write(`${id}.txt`, "1\n");
    }
    const { error } = await d.session.call("rewind", { turn: "message-1" });
    deepEqual(error?.code, "NO_TURN");
    match(error?.message ?? "", /that turn is no longer kept, the latest are message-12/);
    equal(Object.keys(d.tree()).length, 2);
  });
});

describe("long histories", () => {
  test("a list stays within its budget, and going on with the offset shows every turn once", async () => {
    const d = desk({ history: { snapshotsMax: 1_000 } });
    const folder = Array.from({ length: 4 }, () => "long-name-".repeat(20)).join("/");
    for (let turn = 1; turn <= 12; turn += 1) {
      await d.session.checkpoint(`m${turn}`);
      const files = Array.from({ length: 15 }, (_, at) => [`*** Add File: ${folder}/${turn}-${at}.txt`, "+x"]);
      await d.patch(...files.flat());
    }
    const seen: string[] = [];
    let pages = 0;
    for (let offset: number | null = 1; offset !== null; pages += 1) {
      const page = await history(d, { limit: 100, offset });
      ok(page.text.length < 1.5 * limits.historyCharsMax, `${page.text.length} characters`);
      seen.push(...page.turns.map(({ turn }) => turn));
      for (const { files, totalFiles } of page.turns) deepEqual([files.length, totalFiles], [10, 15]);
      match(page.text, /and 5 more; history with turn "m\d+" tells of all/);
      offset = page.nextOffset;
    }
    deepEqual(
      seen,
      Array.from({ length: 12 }, (_, at) => `m${12 - at}`),
    );
    ok(pages > 1);
  });

  test("a turn with long diffs comes in pages, and a diff that is too long alone is truncated and says so", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at} of many\n`).join("");
    for (const [name, count] of [
      ["a.txt", 900],
      ["b.txt", 900],
      ["c.txt", 9_000],
      ["d.txt", 900],
    ] as const) {
      await d.write(name, lines(count));
    }
    await d.write("wide.txt", `${"w".repeat(50_000)}\n`);
    const seen: string[] = [];
    const cut: string[] = [];
    for (let offset: number | null = 1; offset !== null; ) {
      const page = await history(d, { turn: "m1", offset });
      ok(page.text.length < 1.5 * limits.historyCharsMax, `${page.text.length} characters`);
      const files = page.turns[0]?.files ?? [];
      seen.push(...names(files));
      cut.push(...names(files.filter((file) => file.patchCut === true)));
      if (files.some((file) => file.patchCut === true)) match(page.text, /\(diff cut: /);
      offset = page.nextOffset;
    }
    deepEqual(seen, ["a.txt", "b.txt", "c.txt", "d.txt", "wide.txt"]);
    deepEqual(cut, ["c.txt", "wide.txt"]);
  });

  test("files that are too large or not text are listed without line counts", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    d.stranger("large.txt", "x\n".repeat(limits.historyVersionBytesMax / 2 + 1));
    await d.patch("*** Delete File: large.txt");
    await d.write("written.txt", "x\n".repeat(1_000_000));
    d.stranger("raw.bin", "");
    fs.writeFileSync(d.at("raw.bin"), Buffer.from([0, 1, 2, 3]));
    await d.session.observe();
    fs.writeFileSync(d.at("raw.bin"), Buffer.from([0, 1, 2, 3, 4]));
    await d.session.observe();
    const { text } = await history(d);
    match(text, /deleted "large.txt" \(too large to be compared here\)/);
    match(text, /created "written.txt" \(it was too large to be kept\)/);
    match(text, /changed "raw.bin" \(it is not text; not by these tools\)/);
  });

  test("a rewind of very many files names some of them, skipped files first", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    const count = limits.rewindFilesMax + 5;
    const files = Array.from({ length: count }, (_, at) => [
      `*** Add File: f/${String(at).padStart(4, "0")}.txt`,
      "+x",
    ]);
    await d.patch(...files.flat());
    d.stranger(`f/${String(count - 1).padStart(4, "0")}.txt`, "theirs\n");
    const done = await rewind(d, { turn: "m1" });
    deepEqual([done.files.length, done.totalFiles, done.files[0]?.conflict], [limits.rewindFilesMax, count, true]);
    match(done.text, /\nand 5 files more\n/);
    equal(Object.keys(d.tree()).length, 1);
  });
});

describe("texts", () => {
  test("another encoding is decoded in a diff", async () => {
    const d = desk();
    fs.writeFileSync(d.at("latin.txt"), Buffer.from("caf\xe9 one\nna\xefve\n", "latin1"));
    await d.session.checkpoint("m1");
    await d.edit("latin.txt", "one", "two");
    match((await history(d, { turn: "m1" })).text, /-café one\n\+café two/);
  });

  test("with several roots files are listed by absolute path", async () => {
    const [one, two] = [place("root-one"), place("root-two")];
    for (const root of [one, two]) fs.mkdirSync(root, { recursive: true });
    const filehand = createFilehand({
      roots: [one, two],
      stateDir: place("roots-state"),
      ask: "yes",
      historyTools: true,
    });
    const session: Session = filehand.session({ dialect: "opencode", id: "roots" });
    await session.call("write", { filePath: `${two}/a.txt`, content: "1\n" });
    const text = textOf(await session.call("history", {}));
    ok(text.includes(`created "${fs.realpathSync(two)}/a.txt"`), text);
  });
});
