/** A host's formatter runs over what a tool wrote: the answer shows it, the next edit knows it, and one undo takes back both. */

import * as fs from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createFilehand, type FilehandOptions, type Formatter, type Reply, type Session } from "../src/index.ts";
import { type Workspace, workspace } from "./support/workspace.ts";

const words = ({ content: [part] }: Reply): string => (part?.type === "text" ? part.text : "");
const rewriting =
  (change: (text: string) => string): Formatter =>
  ({ path }) =>
    fs.writeFileSync(path, change(fs.readFileSync(path, "utf8")));
/** Two spaces for a tab, and a final newline. */
const tidy = rewriting((text) => `${text.replaceAll("\t", "  ").trimEnd()}\n`);

interface Bed extends Workspace {
  readonly session: Session;
  readonly text: () => string;
  readonly edit: (oldText: string, newText: string, options?: { readonly dryRun: boolean }) => Promise<Reply>;
}

async function bed(before: string, formatter: Formatter, range: object = {}): Promise<Bed> {
  const made = workspace({ ws: { "a.txt": before }, state: {} });
  const root = made.path("ws");
  const options = { roots: [root], ask: "yes", formatter, reminder: false, stateDir: made.path("state") } as const;
  const session: Session = createFilehand(options).session();
  expect((await session.call("Read", { file_path: "a.txt", ...range })).error).toBeUndefined();
  return {
    ...made,
    session,
    text: () => fs.readFileSync(`${root}/a.txt`, "utf8"),
    edit: (oldText, newText, how) =>
      session.call("Edit", { file_path: "a.txt", old_string: oldText, new_string: newText }, how),
  };
}

test("the answer shows what it changed, and the next change needs no reading", async () => {
  const { edit, session, text } = await bed("one\n  two\nthree\n", tidy);
  const reply = await edit("two\n", "two {\n\t\tx\n\t}\n");
  expect(text()).toBe("one\n  two {\n    x\n  }\nthree\n");
  expect(words(reply)).toBe(
    [
      'Edited "a.txt": 1 replacement at line 2 (+3 -1).',
      "A formatter changed the file after that (+2 -2). These lines are there now:",
      "1\tone",
      "2\t  two {",
      "3\t    x",
      "4\t  }",
      "5\tthree",
    ].join("\n"),
  );
  expect(reply.structured).toMatchObject({
    structuredPatch: [{ lines: [" one", "-  two", "+  two {", "+    x", "+  }", " three"] }],
  });
  expect((await edit("    x", "    y")).error).toBeUndefined();
  expect((await session.call("Write", { file_path: "a.txt", content: "\tall\n" })).error).toBeUndefined();
  expect((await edit("  all", "none")).error).toBeUndefined();
  expect(text()).toBe("none\n");
});

test("a new file is shown as it became", async () => {
  const { session, path } = await bed("x\n", tidy);
  const reply = await session.call("Write", { file_path: "new/b.txt", content: "\tb" });
  expect(words(reply)).toContain("A formatter changed the file after that (+1 -1). These lines are there now:\n1\t  b");
  expect(reply.structured).toMatchObject({ type: "create" });
  const edited = { file_path: "new/b.txt", old_string: "  b\n", new_string: "c\n" };
  expect((await session.call("Edit", edited)).error).toBeUndefined();
  expect(fs.readFileSync(path("ws/new/b.txt"), "utf8")).toBe("c\n");
});

test("who has seen some lines still knows those, where they are now", async () => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`).join("");
  const addsTwo = rewriting((text) => (text.startsWith("head") ? text : `head\n\n${text}`));
  const { edit, text } = await bed(lines, addsTwo, { offset: 20, limit: 3 });
  expect((await edit("line 20\n", "line twenty\n")).error).toBeUndefined();
  expect((await edit("line 22\n", "line 22!\n")).error).toBeUndefined();
  expect((await edit("line 30  \n", "line 30!\n")).error?.code).toBe("NOT_READ");
  expect(text()).toBe(`head\n\n${lines.replace("line 20\n", "line twenty\n").replace("line 22\n", "line 22!\n")}`);
});

test("what is too much to be shown must be read, and is not called somebody else's change", async () => {
  const lines = Array.from({ length: 60 }, (_, at) => `\tline ${at + 1}\n`).join("");
  const { edit, session } = await bed(lines, tidy);
  expect(words(await edit("line 7\n", "line seven\n"))).toContain("(+60 -60). Read it again before you go on.");
  expect((await edit("line 8\n", "line eight\n")).error?.code).toBe("NOT_READ");
  await session.call("Read", { file_path: "a.txt" });
  expect((await edit("line 8\n", "line eight\n")).error).toBeUndefined();
});

test("one that writes the same bytes again changes nothing, whatever the size", async () => {
  const lines = Array.from({ length: 80_000 }, (_, at) => `line ${at + 1} of a file\n`).join("");
  const { edit } = await bed(
    lines,
    rewriting((text) => text),
    { offset: 70_000, limit: 5 },
  );
  expect(words(await edit("line 70001 of a file\n", "x\n"))).not.toContain("formatter");
  expect((await edit("line 70002 of a file\n", "y\n")).error).toBeUndefined();
});

test("one that fails is told, and the change stays", async () => {
  const { edit, text } = await bed("one\ntwo\n", () => {
    throw new Error("line 1: I do not like this");
  });
  const reply = await edit("one", "1");
  expect(reply.isError).toBe(false);
  expect(words(reply)).toContain("The change was made, but the formatter failed: line 1: I do not like this.");
  expect((await edit("two", "2")).error).toBeUndefined();
  expect(text()).toBe("1\n2\n");
});

test("one that takes the file away, or makes it no text, is told", async () => {
  const away = await bed("one\n", ({ path }) => fs.unlinkSync(path));
  expect(words(await away.edit("one", "1"))).toContain("the formatter failed: the file is gone or no text now");
  const binary = await bed("one\n", ({ path }) => fs.writeFileSync(path, Buffer.alloc(64)));
  expect(words(await binary.edit("one", "1"))).toContain("the formatter failed: the file is gone or no text now");
});

test("it is not asked about what was not written", async () => {
  const asked: string[] = [];
  const { edit, session } = await bed("one\n", ({ path }) => void asked.push(path));
  await edit("one", "1", { dryRun: true });
  await edit("not there at all", "1");
  await session.call("Write", { file_path: "a.txt", content: "one\n" });
  expect(asked).toEqual([]);
  const reply = await edit("one", "1");
  expect(asked.length).toBe(1);
  expect(words(reply)).toBe('Edited "a.txt": 1 replacement at line 1 (+1 -1).');
});

test("one undo takes back the change and what the formatter made of it", async () => {
  const before = "one\n\ttwo";
  const { edit, session, text } = await bed(before, tidy);
  await edit("one", "1");
  expect(text()).toBe("1\n  two\n");
  await session.undo();
  expect(text()).toBe(before);
});

test("every file of a patch is formatted, once all are written", async () => {
  const { path } = workspace({ ws: { "a.txt": "one\n" }, state: {} });
  const seen: string[] = [];
  const formatter: Formatter = (file) => {
    seen.push(fs.readdirSync(path("ws")).toSorted().join(" "));
    return tidy(file);
  };
  const session = createFilehand({ roots: [path("ws")], ask: "yes", formatter }).session({ dialect: "opencode" });
  await session.call("read", { filePath: "a.txt" });
  const patchText = "*** Begin Patch\n*** Update File: a.txt\n-one\n+\tone\n*** Add File: b.txt\n+\tb\n*** End Patch\n";
  const reply = await session.call("patch", { patchText });
  expect(reply.error).toBeUndefined();
  expect(seen).toEqual(["a.txt b.txt", "a.txt b.txt"]);
  expect([fs.readFileSync(path("ws/a.txt"), "utf8"), fs.readFileSync(path("ws/b.txt"), "utf8")]).toEqual([
    "  one\n",
    "  b\n",
  ]);
  expect(words(reply)).toContain("A formatter changed the file after that (+1 -1)");
});

test("one that never ends is not waited for beyond its limit, and holds no lock then", async () => {
  const made = workspace({ ws: { "a.txt": "one\n", "b.txt": "one\n" } });
  const roots = [made.path("ws")];
  let calls = 0;
  const signals: AbortSignal[] = [];
  const formatter: Formatter = ({ signal }) => {
    calls += 1;
    signals.push(signal);
    return new Promise(() => undefined);
  };
  const options = { roots, ask: "yes", readFirst: false, reminder: false } as const;
  const session = createFilehand({ ...options, formatter, formatterMsMax: 20 }).session();
  const edit = { file_path: "a.txt", old_string: "one", new_string: "two" };
  expect(words(await session.call("Edit", edit))).toContain("the formatter failed: it took longer than 20 ms");
  expect([calls, signals[0]?.aborted]).toEqual([1, true]);
  // Another toolkit has no turn in common with it, but the lock.
  const other = createFilehand(options).session();
  const next = await other.call("Edit", { ...edit, old_string: "two", new_string: "three" });
  expect(next.error).toBeUndefined();

  const patchText = ["*** Update File: a.txt", "@@", "-three", "+x", "*** Update File: b.txt", "@@", "-one", "+x"].join(
    "\n",
  );
  const { reply: patch } = await session.run((profile) => ({
    verb: "patch",
    patchText: `*** Begin Patch\n${patchText}\n*** End Patch`,
    profile,
  }));
  expect(words(patch)).toContain("it did not end with an earlier file");
  expect(calls).toBe(2);
});

test("one that never ends is not waited for when the call is cancelled", async () => {
  const made = workspace({ ws: { "a.txt": "one\n" } });
  const stop = new AbortController();
  const formatter: Formatter = () => {
    stop.abort();
    return new Promise(() => undefined);
  };
  const options = { roots: [made.path("ws")], ask: "yes", readFirst: false, reminder: false, formatter } as const;
  const edit = { file_path: "a.txt", old_string: "one", new_string: "two" };
  const reply = await createFilehand(options).session().call("Edit", edit, { signal: stop.signal });
  expect(words(reply)).toContain("the formatter failed: it was cancelled");
  expect(fs.readFileSync(made.path("ws", "a.txt"), "utf8")).toBe("two\n");
});

test("one that returns the content need not write it: the same turn, the same mode", async () => {
  const { edit, session, text, path } = await bed("one\n\ttwo\n", ({ content }) =>
    content?.toString().replaceAll("\t", "  "),
  );
  fs.chmodSync(path("ws/a.txt"), 0o755);
  expect(words(await edit("one", "1"))).toBe(
    [
      'Edited "a.txt": 1 replacement at line 1 (+2 -2).',
      "A formatter changed the file after that (+1 -1). These lines are there now:",
      "1\t1",
      "2\t  two",
    ].join("\n"),
  );
  expect(text()).toBe("1\n  two\n");
  expect(fs.statSync(path("ws/a.txt")).mode & 0o777).toBe(0o755);
  expect((await edit("  two", "2")).error).toBeUndefined();
  await session.undo();
  await session.undo();
  expect(text()).toBe("one\n\ttwo\n");
});

describe("commands", () => {
  const script = (body: string): string => `#!/bin/sh\n${body}\n`;
  /** Programs in a folder of their own, which is the PATH. */
  async function commandBed(
    programs: Readonly<Record<string, string>>,
    commands: Readonly<Record<string, string>>,
    more: Partial<FilehandOptions> = {},
  ) {
    const made = workspace({ ws: { "a.ts": "one\n", src: { "b.css": "b\n" } }, state: {}, bin: programs });
    for (const name of Object.keys(programs)) fs.chmodSync(made.path("bin", name), 0o755);
    vi.stubEnv("PATH", `${made.path("bin")}:/usr/bin:/bin`);
    vi.stubEnv("SECRET_TOKEN", "t");
    const options = { roots: [made.path("ws")], ask: "yes", reminder: false, stateDir: made.path("state") } as const;
    const session = createFilehand({ ...options, formatter: { commands }, ...more }).session();
    const write = (file_path: string, content: string) => session.call("Write", { file_path, content });
    const there = (name: string): string => fs.readFileSync(made.path("ws", name), "utf8");
    return { ...made, session, write, there };
  }
  afterEach(() => void vi.unstubAllEnvs());

  test("the first glob that matches names the program; the rest is left alone", async () => {
    const { write, there, session } = await commandBed(
      { up: script("tr a-z A-Z"), down: script("tr A-Z a-z") },
      { "src/**/*.{css,scss}": "down", "*.css": "up", "*.ts": "up --name '{file}'" },
    );
    const reply = await write("new.ts", "text\n");
    expect(words(reply)).toContain(
      "A formatter changed the file after that (+1 -1). These lines are there now:\n1\tTEXT",
    );
    await write("src/deep/new.scss", "TeXt\n");
    await write("new.css", "text\n");
    await write("new.md", "text\n");
    expect(["new.ts", "src/deep/new.scss", "new.css", "new.md"].map(there)).toEqual([
      "TEXT\n",
      "text\n",
      "TEXT\n",
      "text\n",
    ]);
    await session.undo();
    await session.undo();
    expect(() => there("new.css")).toThrow("ENOENT");
  });

  test("it gets the file's path as one argument, its root as the folder, and no variables of the host", async () => {
    const { write, there, path } = await commandBed(
      { show: script('cat; echo "$1|$2|$(pwd)|${SECRET_TOKEN:-none}|$HOME"') },
      { "*": "show --as={file} 'two words'" },
    );
    await write("$(touch x); b.ts", "text\n");
    expect(there("$(touch x); b.ts")).toBe(
      `text\n--as=${path("ws/$(touch x); b.ts")}|two words|${path("ws")}|none|${process.env["HOME"]}\n`,
    );
    expect(fs.readdirSync(path("ws"))).not.toContain("x");
  });

  for (const [name, program, command, said] of [
    ["a status other than 0", "echo 'line 1: no' >&2; exit 3", "p {file}", "p ended with status 3: line 1: no"],
    ["nothing printed", "cat > /dev/null", "p", "p printed nothing, it must print the formatted content"],
    ["a report", "cat > /dev/null; echo 1ms", "p", "p printed less than half of its input"],
    ["too much", "yes", "p", "p printed more than 10 times as much"],
    ["a signal", "kill -9 $$", "p", "p was ended by SIGKILL"],
    ["an unknown program", "cat", "nosuch", '"nosuch" is not a program on the PATH outside the workspace'],
    ["a path below the folder", "cat", "./p", '"./p" is not a program'],
    ["a shell", "cat", "p | q", "has |, but it is run without a shell"],
    ["an option that writes", "cat", "p --write {file}", "has --write, but it must print"],
    ["an open quote", "cat", "p 'a", "has a ' without its end"],
    ["no program", "cat", " ", "names no program"],
    ["too long", "sleep 60", "p", "it took longer than 300 ms"],
  ] as const) {
    test(`${name}: the change stays and the reply says why`, async () => {
      const more = name === "too long" ? { formatterMsMax: 300 } : {};
      const { write, there } = await commandBed({ p: script(program) }, { "*.ts": command }, more);
      const reply = await write("new.ts", "some text of a file\n");
      expect(reply.isError).toBe(false);
      expect(words(reply)).toContain(`The change was made, but the formatter failed: `);
      expect(words(reply)).toContain(said);
      expect(there("new.ts")).toBe("some text of a file\n");
    });
  }

  test("a BOM stays, and what is not UTF-8 is left alone", async () => {
    const { write, there, path, session } = await commandBed({ up: script("tr a-z A-Z") }, { "*": "up" });
    await write("bom.ts", "\ufefftext\n");
    expect(there("bom.ts")).toBe("\ufeffTEXT\n");
    fs.writeFileSync(path("ws/l1.ts"), Buffer.from("caf\u00e9 one\n", "latin1"));
    await session.call("Read", { file_path: "l1.ts" });
    const reply = await session.call("Edit", { file_path: "l1.ts", old_string: "one", new_string: "two" });
    expect(words(reply)).toContain("the formatter failed: the file is not UTF-8");
    expect(fs.readFileSync(path("ws/l1.ts"), "latin1")).toBe("caf\u00e9 two\n");
  });

  test("a program of the project runs only if the project is trusted", async () => {
    for (const trusted of [false, true]) {
      const { path, there } = await commandBed({}, {});
      fs.mkdirSync(path("ws/node_modules/.bin"), { recursive: true });
      fs.writeFileSync(path("ws/node_modules/.bin/own"), script("tr a-z A-Z"), { mode: 0o755 });
      vi.stubEnv("PATH", `${path("ws/node_modules/.bin")}:/usr/bin:/bin`);
      const formatter = { commands: { "*.ts": "own" }, ...(trusted && { trustedRoots: [path("ws")] }) };
      const other = createFilehand({ roots: [path("ws")], ask: "yes", formatter }).session();
      const reply = await other.call("Write", { file_path: "new.ts", content: "text\n" });
      expect(there("new.ts")).toBe(trusted ? "TEXT\n" : "text\n");
      expect(words(reply).includes("is not a program on the PATH")).toBe(!trusted);
    }
  });

  test("in a patch, each file has its own program", async () => {
    const { session, there } = await commandBed({ up: script("tr a-z A-Z") }, { "*.ts": "up" }, { patchTool: true });
    const patch = "*** Begin Patch\n*** Add File: x.ts\n+x\n*** Add File: x.md\n+x\n*** End Patch\n";
    expect((await session.call("Patch", { patch_text: patch })).error).toBeUndefined();
    expect([there("x.ts"), there("x.md")]).toEqual(["X\n", "x\n"]);
  });
});
