/** Looking back and going back over MCP: the SDK's own client, both eras, a real process, and the command line beside it. */

import * as fs from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { commandLine, run, temporaryFolder } from "../ends/run.ts";
import { holding } from "../support/holding.ts";
import { connect, type ConnectOptions, type Era, eras, textOf } from "./server.ts";

let workspace = "";
let state = "";
const at = (name: string): string => join(workspace, name);
const content = (name: string): string => fs.readFileSync(at(name), "utf8");

beforeEach(() => {
  const folders = [temporaryFolder(), temporaryFolder()];
  [workspace = "", state = ""] = folders.map(({ path }) => path);
  onTestFinished(() => folders.forEach((folder) => folder.remove()));
  fs.writeFileSync(at("a.txt"), "a one\n");
  fs.writeFileSync(at("b.txt"), "b one\n");
});

type Client = Awaited<ReturnType<typeof connect>>["client"];

const started = async (era: Era, args: readonly string[], more: Partial<ConnectOptions> = {}): Promise<Client> =>
  (await connect({ era, cwd: workspace, env: { XDG_STATE_HOME: state }, args, ...more })).client;

/** With the tools switched on, and nobody asked. */
const trusted = (era: Era): Promise<Client> => started(era, ["--history-tools", "--yes", "--structured"]);

async function call(client: Client, name: string, input: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: input });
  return { text: textOf(result), isError: result.isError === true, data: result.structuredContent };
}

async function edit(client: Client, name: string, from: string, to: string): Promise<void> {
  await call(client, "Read", { file_path: name });
  const { isError, text } = await call(client, "Edit", { file_path: name, old_string: from, new_string: to });
  expect([isError, text]).toEqual([false, expect.any(String)]);
}

async function write(client: Client, name: string, text: string): Promise<void> {
  expect((await call(client, "Write", { file_path: name, content: text })).isError).toBe(false);
}

type Rewound = {
  readonly turn: string | null;
  readonly files: readonly { readonly path: string; readonly did: string; readonly why: string | null }[];
};

const rewind = async (client: Client, input: Record<string, unknown> = {}) => {
  const { data, ...told } = await call(client, "Rewind", { turn: "start", ...input });
  const rewound = data as Rewound | undefined; // what the tool answers with --structured
  return { ...told, turn: rewound?.turn ?? null, files: rewound?.files ?? [] };
};

/** The first that a list of turns names. */
const newestIn = (list: string): string => /^turn (\S+) /m.exec(list)?.[1] ?? "there is none";

const didOf = ({ files }: Rewound): Record<string, string> =>
  Object.fromEntries(files.map(({ path, did }) => [path.slice(workspace.length + 1), did]));

const filehand = (...args: readonly string[]) =>
  run(process.execPath, [commandLine, ...args], { cwd: workspace, env: { XDG_STATE_HOME: state } });

/** Two servers that were started for the same conversation are one session. */
let sameTalk: Record<string, string> = {};

/** A client whose person gives these answers, behind which two files were changed by one that asked nobody. */
async function asking(era: Era, ...answers: readonly string[]) {
  sameTalk = { XDG_STATE_HOME: state, CLAUDE_CODE_SESSION_ID: "talk" };
  const before = await started(era, ["--yes"], { env: sameTalk });
  for (const name of ["a.txt", "b.txt"]) await edit(before, name, "one", "two");
  await before.close();
  const questions: { readonly text: string; readonly files: readonly string[] }[] = [];
  const client = await started(era, ["--history-tools", "--structured"], {
    env: sameTalk,
    capabilities: { elicitation: { form: {} } },
    prepare: (made) =>
      made.setRequestHandler("elicitation/create", ({ params }) => {
        questions.push({ text: params.message, files: ["a.txt", "b.txt"].map(content) });
        const decision = answers[questions.length - 1];
        return decision === undefined ? { action: "cancel" } : { action: "accept", content: { decision } };
      }),
  });
  return { client, questions };
}

for (const era of eras) {
  describe(`the ${era} era`, () => {
    test("the tools are there if the operator wants them, and for no project", async () => {
      const names = async (client: Client): Promise<readonly string[]> =>
        (await client.listTools()).tools.map(({ name }) => name);
      const off = await started(era, []);
      expect(await names(off)).not.toContain("History");
      expect(await names(off)).not.toContain("Rewind");
      await expect(off.callTool({ name: "Rewind", arguments: { turn: "start" } })).rejects.toMatchObject({
        code: -32602,
      });
      const on = await started(era, ["--history-tools"]);
      const { tools } = await on.listTools();
      const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
      expect(hints["History"]).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect(hints["Rewind"]).toMatchObject({ readOnlyHint: false, destructiveHint: true });

      fs.writeFileSync(at("filehand.jsonc"), '{"historyTools": true}');
      expect(await names(await started(era, []))).not.toContain("Rewind");
      fs.rmSync(at("filehand.jsonc"));
      const config = temporaryFolder();
      onTestFinished(() => config.remove());
      fs.mkdirSync(join(config.path, "filehand"));
      fs.writeFileSync(join(config.path, "filehand", "filehand.jsonc"), '{"historyTools": true}');
      const env = { XDG_STATE_HOME: state, XDG_CONFIG_HOME: config.path };
      expect(await names(await started(era, [], { env }))).toEqual(expect.arrayContaining(["History", "Rewind"]));
    });

    test("what was changed is listed, and goes back as the dry run told", async () => {
      const client = await trusted(era);
      await edit(client, "a.txt", "one", "two");
      await write(client, "new.txt", "new\n");
      await write(client, ".env", "KEY=1\n");
      const listed = await call(client, "History", {});
      expect(listed.text).toMatch(/^3 turns /);
      const oldest = /turn (\S+) [^\n]*\n {2}changed "a.txt" \(\+1 -1\)/.exec(listed.text)?.[1] ?? "";
      expect((await call(client, "History", { turn: oldest })).text).toContain("-a one\n+a two");

      const dry = await rewind(client, { turn: oldest, dry_run: true });
      expect([content("a.txt"), content("new.txt")]).toEqual(["a two\n", "new\n"]);
      const real = await rewind(client, { turn: oldest });
      expect([content("a.txt"), fs.existsSync(at("new.txt"))]).toEqual(["a one\n", false]);
      expect(dry.files.map(({ did, ...file }) => ({ ...file, did: did.replace(/^would be /, "") }))).toEqual(
        real.files,
      );
      // What was never stored is said, and stays.
      expect(didOf(real)).toEqual({ "a.txt": "restored", "new.txt": "deleted", ".env": "left as it is" });
      expect(real.text).toMatch(/left as it is: ".env" \(.*secrets.*\)/);
      expect(content(".env")).toBe("KEY=1\n");
      // And the rewind is a turn itself.
      expect(didOf(await rewind(client, { turn: real.turn }))).toEqual({
        "a.txt": "restored",
        "new.txt": "made again",
      });
      expect([content("a.txt"), content("new.txt")]).toEqual(["a two\n", "new\n"]);
    });

    test("a turn that there is not, and one that is named badly, are refused with those that there are", async () => {
      const client = await trusted(era);
      await edit(client, "a.txt", "one", "two");
      const unknown = await call(client, "Rewind", { turn: "nonsense" });
      expect(unknown.isError).toBe(true);
      const id = newestIn((await call(client, "History", {})).text);
      expect(unknown.text).toContain(id);
      expect((await call(client, "Rewind", {})).isError).toBe(true);
      expect((await call(client, "Rewind", { turn: 1 })).isError).toBe(true);
      expect(content("a.txt")).toBe("a two\n");
    });

    test("a conflict is left alone for its file, shown from both sides, and overwritten by force only", async () => {
      const client = await trusted(era);
      await edit(client, "a.txt", "one", "two");
      await edit(client, "b.txt", "one", "two");
      fs.appendFileSync(at("a.txt"), "theirs\n");
      for (const dry_run of [true, false]) {
        const told = await rewind(client, { dry_run });
        expect(told.isError).toBe(false);
        expect(told.text).toMatch(/left as it is: "a.txt" \(somebody else changed it since; force overwrites that\)/);
        expect(told.text).toContain("-a one\n+a two");
        expect(told.text).toContain("+theirs");
        expect([content("a.txt"), content("b.txt")]).toEqual(["a two\ntheirs\n", dry_run ? "b two\n" : "b one\n"]);
      }
      expect((await rewind(client, { force: true })).isError).toBe(false);
      expect(content("a.txt")).toBe("a one\n");
    });

    test("who sends a token hears how far a long one is", async () => {
      const client = await trusted(era);
      const names = ["a.txt", "b.txt", "c.txt"];
      for (const name of names) await write(client, `new-${name}`, "new\n");
      const letGo = await holding(at("new-b.txt"));
      const told: (readonly [number, number | undefined])[] = [];
      const onprogress = ({
        progress,
        total,
      }: {
        readonly progress: number;
        readonly total?: number | undefined;
      }): void => {
        // It takes long because somebody else has the second file: longer than two notes lie apart.
        if (told.length === 0) setTimeout(() => void letGo(), 250);
        told.push([progress, total]);
      };
      const done = await client.callTool({ name: "Rewind", arguments: { turn: "start" } }, { onprogress });
      expect(done.isError).toBeUndefined();
      expect(names.filter((name) => fs.existsSync(at(`new-${name}`)))).toEqual([]);
      const progress = told.map(([value]) => value);
      expect(progress.length).toBeGreaterThan(1);
      expect(progress).toEqual([...new Set(progress)].toSorted((a, b) => a - b));
      expect(new Set(told.map(([, total]) => total))).toEqual(new Set([3]));
    });

    test("cancelled in the middle, it leaves each file old or new, and can be gone on with or taken back", async () => {
      const client = await trusted(era);
      const names = ["a.txt", "b.txt", "c.txt", "d.txt"];
      for (const name of ["c.txt", "d.txt"]) fs.writeFileSync(at(name), `${name[0]} one\n`);
      for (const name of names) await edit(client, name, "one", "two");
      const letGo = await holding(at("c.txt"));
      const stop = new AbortController();
      const call = client.callTool({ name: "Rewind", arguments: { turn: "start" } }, { signal: stop.signal });
      // Two are done, the third waits for whoever has it.
      await expect.poll(() => content("b.txt"), { timeout: 60_000, interval: 20 }).toBe("b one\n");
      stop.abort();
      await expect(call).rejects.toThrow();
      await letGo();
      expect(await rewind(client, { dry_run: true })).toMatchObject({ isError: false });
      const texts = names.map(content);
      expect(texts.slice(0, 2)).toEqual(["a one\n", "b one\n"]);
      expect(texts[3]).toBe("d two\n");
      expect(["c one\n", "c two\n"]).toContain(texts[2]);
      // What was done is a turn, to be taken back or gone on from.
      const turn = newestIn(textOf(await client.callTool({ name: "History", arguments: {} })));
      expect((await rewind(client, { turn })).isError).toBe(false);
      expect(names.map(content)).toEqual(names.map((name) => `${name[0]} two\n`));
      expect((await rewind(client)).isError).toBe(false);
      expect(names.map(content)).toEqual(names.map((name) => `${name[0]} one\n`));
    });

    test("a person is asked about every file before the first is changed, and sees what would become of it", async () => {
      const { client, questions } = await asking(era, "allow once", "allow once");
      expect((await rewind(client)).isError).toBe(false);
      expect([content("a.txt"), content("b.txt")]).toEqual(["a one\n", "b one\n"]);
      expect(questions.map(({ text }) => text.split("\n")[0])).toEqual([
        `Change "${at("a.txt")}"? +1 -1: -a two → +a one`,
        `Change "${at("b.txt")}"? +1 -1: -b two → +b one`,
      ]);
      expect(questions[0]?.text).toContain("| -a two\n| +a one");
      expect(questions.map(({ files }) => files)).toEqual([
        ["a two\n", "b two\n"],
        ["a two\n", "b two\n"],
      ]);
    });

    test("a no holds for its file, and is asked for once", async () => {
      const { client, questions } = await asking(era, "reject", "allow once");
      const told = await rewind(client);
      expect(questions).toHaveLength(2);
      expect(didOf(told)).toEqual({ "a.txt": "failed", "b.txt": "restored" });
      expect([content("a.txt"), content("b.txt")]).toEqual(["a two\n", "b one\n"]);
    });

    test("a no to all of it changes nothing and is no turn, and a dry run asks nobody", async () => {
      const { client, questions } = await asking(era, "reject", "reject");
      const before = (await call(client, "History", {})).text;
      expect(didOf(await rewind(client, { dry_run: true }))).toEqual({
        "a.txt": "would be restored",
        "b.txt": "would be restored",
      });
      expect(questions).toEqual([]);
      expect(await rewind(client)).toMatchObject({ turn: null });
      expect(questions).toHaveLength(2);
      expect((await call(client, "History", {})).text).toBe(before);
      expect([content("a.txt"), content("b.txt")]).toEqual(["a two\n", "b two\n"]);
    });

    test("where nobody can be asked, each file is refused with the rule that would allow it", async () => {
      const { client } = await asking(era);
      await client.close();
      const deaf = await started(era, ["--history-tools", "--structured"], { env: sameTalk });
      const told = await rewind(deaf);
      expect(didOf(told)).toEqual({ "a.txt": "failed", "b.txt": "failed" });
      expect(told.text).toContain("Edit(/a.txt)");
      expect([content("a.txt"), content("b.txt")]).toEqual(["a two\n", "b two\n"]);
    });

    test("the command line sees what the server did, takes it back while it runs, and the server goes on from there", async () => {
      const client = await trusted(era);
      await edit(client, "a.txt", "one", "two");
      await write(client, "new.txt", "new\n");
      const listed = JSON.parse((await filehand("history", "--json")).stdout);
      const session: unknown = expect.stringMatching(/^mcp-[0-9a-f]{16}$/);
      expect(listed.turns).toMatchObject([
        { session, files: [{ path: at("new.txt") }] },
        { session, files: [{ path: at("a.txt") }] },
      ]);
      const [, { id: oldest }] = listed.turns;
      expect(newestIn((await call(client, "History", {})).text)).toBe(listed.turns[0].id.slice(0, 8));

      expect(await filehand("rewind", oldest, "--dry-run")).toMatchObject({ code: 0 });
      expect(await filehand("rewind", oldest, "--yes")).toMatchObject({ code: 0, stderr: "" });
      expect([content("a.txt"), fs.existsSync(at("new.txt"))]).toEqual(["a one\n", false]);
      // What the model knows of the file is no longer so, and it is told.
      const stale = await call(client, "Edit", { file_path: "a.txt", old_string: "one", new_string: "three" });
      expect([stale.isError, content("a.txt")]).toEqual([true, "a one\n"]);
      await edit(client, "a.txt", "one", "three");
      expect((await call(client, "History", {})).text).toMatch(/^4 turns /);

      const undone = await filehand("undo", "--session", listed.turns[0].session, "--yes");
      expect([undone.code, content("a.txt")]).toEqual([0, "a one\n"]);
      expect(await filehand("history", "verify")).toMatchObject({ code: 0 });
    });

    test("both at once: each change is in the history, and every file can be brought back", async () => {
      const client = await trusted(era);
      const rounds = [0, 1, 2, 3, 4, 5];
      await Promise.all([
        ...rounds.map((round) => write(client, `model-${round}.txt`, `${round}\n`)),
        ...rounds.map((round) => filehand("write", `person-${round}.txt`, "--content", `${round}\n`, "--yes")),
      ]);
      const { sessions } = JSON.parse((await filehand("history", "--json")).stdout);
      expect(sessions.map(({ turns }: { readonly turns: number }) => turns)).toEqual([6, 6]);
      const [{ id }] = sessions.filter((one: { readonly id: string }) => one.id.startsWith("mcp-"));
      const [mine, theirs] = await Promise.all([rewind(client), filehand("rewind", "start", "--mine", "--yes")]);
      expect([mine.files.length, theirs.code]).toEqual([6, 0]);
      expect(fs.readdirSync(workspace).toSorted()).toEqual(["a.txt", "b.txt"]);
      expect(await filehand("redo", "--session", id, "--yes")).toMatchObject({ code: 0 });
      expect(fs.readdirSync(workspace)).toHaveLength(8);
      expect(await filehand("history", "verify")).toMatchObject({ code: 0 });
    });
  });
}

test.skipIf(process.platform === "win32")(
  "with --observe what a shell did between two calls is taken back as well, each change once",
  async () => {
    const client = await started("modern", ["--history-tools", "--yes", "--structured", "--observe"]);
    await edit(client, "a.txt", "a one", "a two");
    fs.mkdirSync(at("src"));
    fs.writeFileSync(at("src/new.txt"), "new\n");
    fs.unlinkSync(at("b.txt"));
    await call(client, "Read", { file_path: "a.txt" });
    await call(client, "Rewind", { turn: newestIn((await call(client, "History", {})).text) });
    expect([content("b.txt"), fs.existsSync(at("src")), content("a.txt")]).toEqual(["b one\n", false, "a two\n"]);
    await rewind(client);
    expect(content("a.txt")).toBe("a one\n");
  },
);
