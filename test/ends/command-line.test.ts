/** The built command line as a child process: exit codes, streams, colours, help, batch, rules and settings. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { commandLine, environment, type Ran, run, temporaryFolder } from "./run.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const workspace = join(folder.path, "workspace");
const other = join(folder.path, "other");
const home = join(folder.path, "home");

beforeAll(() => {
  for (const path of [workspace, other, home, join(workspace, "src")]) mkdirSync(path);
  writeFileSync(join(workspace, "a.txt"), "one\ntwo\nthree\n");
  writeFileSync(join(workspace, "src", "deep.txt"), "deep\n");
  writeFileSync(join(workspace, "escape.txt"), "red: \x1b[31m!\n");
  writeFileSync(join(workspace, ".env"), "KEY=value\n");
  writeFileSync(join(workspace, "lines.txt"), "0123456789\n".repeat(500_000));
  writeFileSync(join(other, "b.txt"), "from the other root\n");
  symlinkSync(join(other, "b.txt"), join(workspace, "way-out.txt"));
});

interface Where {
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const filehand = (args: readonly string[], { cwd = workspace, input = "", env = {} }: Where = {}): Promise<Ran> =>
  run(process.execPath, [commandLine, ...args], { cwd, input, env: { HOME: home, ...env } });

test.skipIf(process.platform !== "linux")("arguments that are not UTF-8 are refused, not guessed", () => {
  const typed = (text: string): Ran => {
    const line = `exec "$0" "$1" write odd.txt --yes --content "$(printf '${text}')"`;
    const { status, stdout, stderr } = spawnSync("sh", ["-c", line, process.execPath, commandLine], {
      cwd: workspace,
      env: environment({ HOME: home }),
      encoding: "utf8",
    });
    return { code: status ?? -1, stdout, stderr };
  };
  expect(typed("caf\\351")).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "filehand: Cannot take the arguments: one of them is not UTF-8, give a text in a file and a path by a pattern or a link\n",
  });
  expect(existsSync(join(workspace, "odd.txt"))).toBe(false);
  // The character itself may well be meant.
  expect(typed("caf\\357\\277\\275")).toMatchObject({ code: 0 });
  expect(readFileSync(join(workspace, "odd.txt"), "utf8")).toBe("caf\ufffd");
});

const reading = ["read", "ls", "glob", "grep", "tools", "stats", "permissions", "diagnostics"];
const changing = ["edit", "write", "patch", "notebook-edit", "call", "batch", "delete", "move", "copy", "mkdir"];
const lookingBack = ["run", "observe", "hook", "log", "replay", "history", "diff", "show", "rewind", "undo", "redo"];
const knowingCode = ["outline", "lsp", "rename"];
const serving = ["completion", "mcp", "serve", "inspect", "init", "doctor", "audit", "state", "token"];
const commands = [...reading, ...changing, ...lookingBack, ...knowingCode, ...serving];
const numbered = "1→one\n2→two\n3→three\n";

describe("exit codes and streams", () => {
  for (const [name, args, code, stdout, stderr] of [
    ["a file goes to stdout", ["read", "a.txt"], 0, numbered, ""],
    ["the version is printed", ["--version"], 0, /^\d+\.\d+\.\d+\n$/, ""],
    ["a refusal goes to stderr", ["read", "a.tx"], 1, "", /^Cannot read "a\.tx": it does not exist, did you mean /],
    ["the border is a refusal", ["read", "way-out.txt"], 1, "", /it is outside the workspace/],
    ["a tool's own refusal ends with 1", ["call", "Read", "{}"], 1, "", /"file_path" is missing/],
    ["an unknown tool is a refusal", ["call", "Raed", "{}"], 1, "", /there is no such tool/],
    ["an unknown command is wrong usage", ["reed", "a.txt"], 2, "", /no command "reed", did you mean read/],
    ["an unknown option is wrong usage", ["read", "a.txt", "--limt", "1"], 2, "", /did you mean --limit/],
    ["an unknown dialect is wrong usage", ["read", "a.txt", "--dialect", "clade"], 2, "", /did you mean claude/],
    ["a missing parameter is wrong usage", ["read"], 2, "", /<path> is missing/],
    ["a parameter too many is wrong usage", ["ls", "a", "b"], 2, "", /"b" is one argument too many/],
    ["a number that is none is wrong usage", ["read", "a.txt", "--limit", "x"], 2, "", /must be a whole number/],
    ["an option without its value is wrong usage", ["read", "a.txt", "--limit"], 2, "", /needs a value/],
    ["an option given twice is wrong usage", ["read", "a.txt", "--limit", "1", "--limit", "2"], 2, "", /given twice/],
    ["an empty root is wrong usage", ["ls", "--root", ""], 2, "", /^filehand: --root must not be empty\n$/],
    ["an empty state folder is wrong usage", ["ls", "--state-dir="], 2, "", /--state-dir must not be empty/],
    ["an empty address is wrong usage", ["serve", "--host", ""], 2, "", /^filehand: --host must not be empty\n$/],
    ["an empty folder is wrong usage", ["serve", "--port", "0", ""], 2, "", /must not be empty, name it/],
    ["one line is one", ["grep", "two", "a.txt", "--offset", "5"], 0, "", /^There is only 1 line, so none behind/],
    ["JSON that is none is wrong usage", ["call", "Read", "{]"], 2, "", /not valid JSON/],
    [
      "JSON that was cut off is told to come in parts",
      ["call", "Write", '{"file_path": "cut.txt", "content": "one'],
      2,
      "",
      /ends too early, after 40 characters, so nothing was done; send less at once/,
    ],
    [
      "a root that does not exist is wrong usage",
      ["ls", "--root", "nowhere"],
      2,
      "",
      /nowhere" as a root: it does not/,
    ],
    ["a root that is a file is wrong usage", ["ls", "--root", "a.txt"], 2, "", /a\.txt" as a root: it is not a folder/],
  ] as const) {
    test(name, async () => {
      const ran = await filehand(args);
      expect(ran.code).toBe(code);
      expect(ran.stdout).toMatch(stdout === "" ? /^$/ : stdout);
      expect(ran.stderr).toMatch(stderr === "" ? /^$/ : stderr);
    });
  }

  test("with --json the reply goes to stdout, also a refusal", async () => {
    const good = await filehand(["read", "a.txt", "--json"]);
    expect({ ...good, stdout: JSON.parse(good.stdout) as unknown }).toEqual({
      code: 0,
      stdout: {
        content: [{ type: "text", text: numbered.trimEnd().replaceAll("→", "\t") }],
        structured: {
          type: "text",
          file: {
            filePath: join(workspace, "a.txt"),
            content: "one\ntwo\nthree",
            numLines: 3,
            startLine: 1,
            totalLines: 3,
          },
        },
        isError: false,
      },
      stderr: "",
    });
    const bad = await filehand(["read", "nothing-like-it", "--json"]);
    expect(bad).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(bad.stdout)).toMatchObject({ isError: true, error: { code: "NOT_FOUND" } });
  });

  test("a reader that has seen enough ends the program in peace", async () => {
    const script = `"${process.execPath}" "${commandLine}" read lines.txt --line-chars 20 | head -1; echo "$\{PIPESTATUS[0]}"`;
    const ran = await run("bash", ["-c", script], { cwd: workspace, env: { HOME: home } });
    expect(ran).toEqual({ code: 0, stdout: "1→0123456789\n0\n", stderr: "" });
  });
});

describe("values are literal", () => {
  const made = (name: string): string => readFileSync(join(workspace, name), "utf8");

  test("-h is a text to write, and a text to replace", async () => {
    expect(await filehand(["write", "dash.txt", "--content", "-h", "--yes"])).toMatchObject({ code: 0 });
    expect(made("dash.txt")).toBe("-h");
    writeFileSync(join(workspace, "dash.txt"), "-h or -h\n");
    const edited = await filehand(["edit", "dash.txt", "--old", "-h", "--new", "-x", "--all", "--yes"]);
    expect(edited).toMatchObject({ code: 0 });
    expect(made("dash.txt")).toBe("-x or -x\n");
  });

  test("after -- it is a pattern and a path", async () => {
    writeFileSync(join(workspace, "-h"), "a -h b\n");
    expect(await filehand(["grep", "--", "-h", "-h"])).toMatchObject({ code: 0, stdout: "1:a -h b\n" });
    expect(await filehand(["read", "--", "-h"])).toEqual({ code: 0, stdout: "1→a -h b\n", stderr: "" });
  });
});

describe("reading", () => {
  for (const [name, args, stdout] of [
    ["a part", ["--offset", "2", "--limit", "1"], "2→two\n\n[lines 2 to 2 of 3, go on with offset 3]\n"],
    ["the end", ["--tail", "2"], "2→two\n3→three\n"],
    ["the end by a negative offset", ["--offset", "-1"], "3→three\n"],
    [
      "several ranges",
      ["--range", "1", "--range", "3-"],
      "1→one\n\n[lines 1 to 1 of 3, go on with offset 2]\n\n3→three\n",
    ],
  ] as const) {
    test(name, async () => expect(await filehand(["read", "a.txt", ...args])).toEqual({ code: 0, stdout, stderr: "" }));
  }

  test("people get no reminder, models do", async () => {
    expect((await filehand(["read", "a.txt"])).stdout).not.toContain("<system-reminder>");
    const called = await filehand(["call", "Read", '{"file_path":"a.txt"}']);
    expect(called.stdout).toContain("<system-reminder>");
  });

  test("people's paths start where they stand, models' at the root", async () => {
    const where = { cwd: join(workspace, "src") };
    expect(await filehand(["read", "deep.txt", "--root", workspace], where)).toMatchObject({ stdout: "1→deep\n" });
    const called = await filehand(["call", "Read", '{"file_path":"src/deep.txt"}', "--root", workspace], where);
    expect(called).toMatchObject({ code: 0 });
  });
});

describe("help", () => {
  test("the overview names every command", async () => {
    const asked = await filehand(["--help"]);
    expect(asked).toMatchObject({ code: 0, stderr: "" });
    const [, list = ""] = /^Commands:\n((?: {2}.*\n)+)/m.exec(asked.stdout) ?? [];
    const named = list.match(/^ {2}\S+/gm)?.map((name) => name.trim());
    expect(named?.toSorted()).toEqual(commands.toSorted());
    for (const args of [[], ["-h"], ["help"]]) expect(await filehand(args)).toEqual(asked);
  });

  for (const command of commands) {
    test(`${command} explains itself, with an example`, async () => {
      const asked = await filehand([command, "--help"]);
      expect(asked).toMatchObject({ code: 0, stderr: "" });
      expect(asked.stdout).toContain(`Usage: filehand ${command}`);
      expect(asked.stdout).toMatch(new RegExp(`^Examples:\\n  .*filehand ${command}`, "m"));
      for (const args of [
        [command, "-h"],
        ["help", command],
      ])
        expect(await filehand(args)).toEqual(asked);
    });
  }

  test("tools shows the descriptions that a model gets", async () => {
    const { stdout } = await filehand(["tools", "--dialect", "envelope", "--json"]);
    const tools = JSON.parse(stdout) as { name: string; readOnly: boolean }[];
    expect(tools[0]).toMatchObject({
      name: "Read",
      readOnly: true,
      inputSchema: { required: ["path"], additionalProperties: false },
    });
    expect(tools.filter(({ readOnly }) => !readOnly).map(({ name }) => name)).toEqual([
      "Edit",
      "MultiEdit",
      "Write",
      "NotebookEdit",
      "Delete",
      "Move",
    ]);
    expect((await filehand(["tools"])).stdout).toMatch(/^Read\n\n {2}Reads a file from the workspace: /);
  });
});

describe("arguments that would act on a terminal", () => {
  const name = "\x1b]0;x\x07\n\u202ename";
  const shown = "\\x1b]0;x\\x07\\n\\u202ename";
  for (const args of [
    [name],
    ["ls", "a.txt", name],
    ["read", "a.txt", `--${name}`],
    ["edit", "a.txt", "--old-file", name, "--new", "x"],
    ["read", "a.txt", "--mode", name],
    ["read", "a.txt", "--root", name],
  ]) {
    test(`are escaped in messages: ${JSON.stringify(args)}`, async () => {
      const { code, stderr } = await filehand(args);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^filehand: [^\p{Cc}\u202e]+\n$/u);
      expect(stderr).toContain(shown);
    });
  }
});

describe("colours", () => {
  const escape = "\x1b[";
  const terminal = terminalProgram();
  const onTerminal = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> => {
    const [program = "", ...rest] = terminal?.([process.execPath, commandLine, ...args]) ?? [];
    return run(program, rest, { cwd: workspace, env: { HOME: home, TERM: "xterm-256color", ...env } });
  };

  test("a pipe gets none, and the file's bytes as they are", async () => {
    expect((await filehand(["read", "a.txt"])).stdout).toBe(numbered);
    expect((await filehand(["read", "nope.bin"])).stderr).not.toContain(escape);
    expect((await filehand(["read", "escape.txt"])).stdout).toBe("1→red: \x1b[31m!\n");
  });

  test("FORCE_COLOR colours a pipe too", async () => {
    expect((await filehand(["read", "a.txt"], { env: { FORCE_COLOR: "1" } })).stdout).toContain(escape);
  });

  if (terminal === undefined) {
    test.skip("on a terminal: needs util-linux's script or python3 to make one");
    return;
  }

  test("a terminal gets them", async () => {
    const ran = await onTerminal(["read", "a.txt"]);
    expect(ran.stdout).toContain(escape);
    expect(ran.stdout).toContain("three");
    expect((await onTerminal(["read", "a.txt"], { CI: "true" })).stdout).toBe(ran.stdout);
  });

  test("NO_COLOR and TERM=dumb are honoured", async () => {
    expect((await onTerminal(["read", "a.txt"], { NO_COLOR: "1" })).stdout).not.toContain(escape);
    expect((await onTerminal(["read", "a.txt"], { TERM: "dumb" })).stdout).not.toContain(escape);
  });

  for (const [name, env] of [
    ["with colours", {}],
    ["with NO_COLOR", { NO_COLOR: "1" }],
    ["with TERM=dumb", { TERM: "dumb" }],
  ] as const) {
    test(`escapes inside a file do not act on a terminal ${name}`, async () => {
      const missed = ["edit", "escape.txt", "--old", "ted: \x1b[31m!\n", "--new", "x", "--yes"];
      const asModel = ["call", "Read", '{"file_path": "escape.txt"}'];
      for (const args of [["read", "escape.txt"], ["grep", "red", "escape.txt"], missed, asModel]) {
        const { stdout } = await onTerminal(args, env);
        expect(stdout).toContain("^[[31m!");
        expect(stdout).not.toContain("\x1b[31m!");
      }
    });
  }
});

/** How to run a command on a terminal that nobody looks at. */
function terminalProgram(): ((command: readonly string[]) => readonly string[]) | undefined {
  const quoted = (command: readonly string[]) => command.map((part) => `'${part.replaceAll("'", "'\\''")}'`).join(" ");
  if (spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux")) {
    return (command) => ["script", "-qec", quoted(command), "/dev/null"];
  }
  if (spawnSync("python3", ["-c", "import pty"]).status === 0) {
    return (command) => ["python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])", ...command];
  }
  return undefined;
}

describe("batch", () => {
  const line = (id: unknown, path: string, more: Readonly<Record<string, unknown>> = {}): string =>
    JSON.stringify({ id, tool: "Read", input: { file_path: path, ...more } });

  interface Answered {
    readonly id: unknown;
    readonly reply: { readonly isError: boolean; readonly content: readonly { readonly text: string }[] };
  }
  const batch = async (input: string | Uint8Array, ...args: readonly string[]): Promise<readonly Answered[]> => {
    const { code, stdout, stderr } = await filehand(["batch", ...args], { input });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^$|\n$/);
    return stdout
      .split("\n")
      .filter((text) => text !== "")
      .map((text) => JSON.parse(text) as Answered);
  };
  const short = (answers: readonly Answered[]) => answers.map(({ id, reply }) => [id, reply.isError ? "no" : "ok"]);

  test("replies keep the order of the calls, however many run at once", async () => {
    const calls = Array.from({ length: 60 }, (_, id) =>
      id % 3 === 0 ? line(id, "lines.txt", { offset: 400_000, limit: 1 }) : line(id, "a.txt"),
    );
    for (const parallel of ["1", "8", "256"]) {
      const answers = await batch(`${calls.join("\n")}\n`, "--parallel", parallel);
      expect(short(answers)).toEqual(calls.map((_, id) => [id, "ok"]));
    }
  });

  test("with --parallel an answer is printed when it is ready, not when that many calls are under way", async () => {
    const child = spawn(process.execPath, [commandLine, "batch", "--parallel", "8"], {
      cwd: workspace,
      env: environment(),
    });
    try {
      const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      // Each call is sent when the answer to the one before is there, as an agent does; stdin stays open.
      for (const id of [1, 2, 3]) {
        child.stdin.write(`${line(id, "a.txt")}\n`);
        const answer = await answers.next();
        expect(JSON.parse(String(answer.value))).toMatchObject({ id, reply: { isError: false } });
      }
      child.stdin.end();
      expect(await answers.next()).toMatchObject({ done: true });
    } finally {
      child.kill();
    }
  });

  test("a line that is no call gets an error, and the stream goes on", async () => {
    const lines = ["{", "[]", "7", '{"id":"no tool"}', '{"id":"no such","tool":"Foo"}', line({ any: "id" }, "a.txt")];
    expect(short(await batch(`${lines.join("\n")}\n`))).toEqual([
      [null, "no"],
      [null, "no"],
      [null, "no"],
      ["no tool", "no"],
      ["no such", "no"],
      [{ any: "id" }, "ok"],
    ]);
  });

  test("a truncated line gets an error that says to send it in parts, and nothing is written", async () => {
    const call = JSON.stringify({ id: 1, tool: "Write", input: { file_path: "cut.txt", content: "word ".repeat(99) } });
    const answers = await batch(`${call.slice(0, 301)}\n${line(2, "a.txt")}\n`, "--yes");
    expect(short(answers)).toEqual([
      [null, "no"],
      [2, "ok"],
    ]);
    expect(JSON.stringify(answers[0])).toContain(
      "ends too early, after 301 characters, so nothing was done; send less",
    );
    expect(existsSync(join(workspace, "cut.txt"))).toBe(false);
  });

  test("a line that is not UTF-8 gets an error, and nothing is written", async () => {
    const call = JSON.stringify({ id: 1, tool: "Write", input: { file_path: "bad.txt", content: "caf\xe9" } });
    const answers = await batch(Buffer.from(`${call}\n${line(2, "a.txt")}\n`, "latin1"), "--yes");
    expect(short(answers)).toEqual([
      [null, "no"],
      [2, "ok"],
    ]);
    expect(existsSync(join(workspace, "bad.txt"))).toBe(false);
  });

  test("U+2028 inside a line does not end it", async () => {
    const [answer] = await batch(`{"id":1,"tool":"Read","input":{"file_path":"a\u2028b"}}\n`);
    expect(answer).toMatchObject({ id: 1, reply: { error: { code: "NOT_FOUND" } } });
  });

  test("empty lines, CRLF and a missing final newline are no trouble", async () => {
    expect(short(await batch(`\n\r\n${line(1, "a.txt")}\r\n   \n\n${line(2, "a.txt")}`))).toEqual([
      [1, "ok"],
      [2, "ok"],
    ]);
    expect(await batch("")).toEqual([]);
    expect(await batch("\n\n")).toEqual([]);
  });

  test("a line of megabytes is answered, one over the limit is refused, the next one is answered", async () => {
    const megabytes = line(1, "x".repeat(5_000_000));
    const over = Buffer.alloc(67_108_865, 0x20);
    const answers = await batch(
      Buffer.concat([Buffer.from(`${megabytes}\n`), over, Buffer.from(`\n${line(3, "a.txt")}\n`)]),
    );
    expect(short(answers)).toEqual([
      [1, "no"],
      [null, "no"],
      [3, "ok"],
    ]);
    expect(answers[1]?.reply.content[0]?.text).toContain("more than 67108864 bytes");
  });

  test("a reply comes before the next call is sent", async () => {
    const child = spawn(process.execPath, [commandLine, "batch"], { cwd: workspace, env: environment({ HOME: home }) });
    onTestFinished(() => void child.kill());
    for (const id of [1, 2]) {
      child.stdin.write(`${line(id, "a.txt")}\n`);
      const [chunk] = (await once(child.stdout, "data")) as [Buffer];
      expect(JSON.parse(chunk.toString("utf8"))).toMatchObject({ id, reply: { isError: false } });
    }
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
  });

  test("a reader that has seen enough ends it in peace", async () => {
    const calls = `${Array.from({ length: 300 }, (_, id) => line(id, "lines.txt", { limit: 500 })).join("\n")}\n`;
    const script = `"${process.execPath}" "${commandLine}" batch | head -1 | cut -c1-7; echo "$\{PIPESTATUS[0]}"`;
    const ran = await run("bash", ["-c", script], { cwd: workspace, env: { HOME: home }, input: calls });
    expect(ran).toEqual({ code: 0, stdout: '{"id":0\n0\n', stderr: "" });
  });
});

describe("roots and rules", () => {
  test("two roots are both open; a relative path starts at the first one", async () => {
    const roots = ["--root", other, "--root", workspace];
    const where = { cwd: folder.path };
    expect(await filehand(["read", "b.txt", ...roots], where)).toMatchObject({ stdout: "1→from the other root\n" });
    expect(await filehand(["read", join(workspace, "a.txt"), ...roots], where)).toMatchObject({ stdout: numbered });
    expect(await filehand(["read", "way-out.txt", ...roots], { cwd: workspace })).toMatchObject({ code: 0 });
  });

  test("--yes does not open the border", async () => {
    expect(await filehand(["read", "way-out.txt", "--yes"])).toMatchObject({ code: 1, stdout: "" });
    expect(await filehand(["read", join(other, "b.txt"), "--yes", "--allow", "Read"])).toMatchObject({ code: 1 });
  });

  test("--deny refuses, hides, and is not lifted by --allow or --yes", async () => {
    const rules = ["--deny", "Read(a.txt)", "--allow", "Read(a.txt)", "--yes"];
    const { code, stdout, stderr } = await filehand(["read", "a.txt", ...rules]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("the rule Read(a.txt) (command line) denies it");
    expect((await filehand(["ls", ...rules])).stdout).not.toContain("a.txt");
  });

  test("--ask refuses if there is no one to ask, and --yes approves", async () => {
    const refused = await filehand(["read", "a.txt", "--ask", "Read(a.txt)"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("needs approval and nobody is connected who could give it");
    expect(await filehand(["read", "a.txt", "--ask", "Read(a.txt)", "--yes"])).toMatchObject({ stdout: numbered });
  });

  test("secrets ask by default, and the rule that the refusal names allows them", async () => {
    const refused = await filehand(["read", ".env"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    const remedy = /the rule (Read\([^ ]+\)) would allow it/.exec(refused.stderr)?.[1] ?? "";
    expect(await filehand(["read", ".env", "--allow", remedy])).toMatchObject({ stdout: "1→KEY=value\n" });
  });

  test("a deny or ask rule that cannot be understood stops the command, an allow rule is reported", async () => {
    for (const list of ["deny", "ask"]) {
      const ran = await filehand(["read", "a.txt", `--${list}`, "Raed(a.txt)"]);
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toBe(
        `filehand: Cannot start with the ${list} rule "Raed(a.txt)" (command line): its tool is unknown, did you mean Read, correct or remove it\n`,
      );
    }
    for (const server of [["mcp"], ["serve", "--port", "0"]]) {
      const ran = await filehand([...server, "--deny", "Read(../a.txt)"]);
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toContain(
        'Cannot start with the deny rule "Read(../a.txt)" (command line): it can never match',
      );
    }
    const allowed = await filehand(["read", "a.txt", "--allow", "Raed(a.txt)"]);
    expect(allowed).toMatchObject({ code: 0, stdout: numbered });
    expect(allowed.stderr).toMatch(
      /^filehand: the rule Raed\(a\.txt\) \(command line\) is not in force: its tool is unknown/,
    );
  });
});

describe("settings", () => {
  const withSettings = async (project: string | undefined, user: string | undefined, args: readonly string[]) => {
    const place = temporaryFolder();
    onTestFinished(() => place.remove());
    const [root, config] = [join(place.path, "root"), join(place.path, "config")];
    mkdirSync(root);
    mkdirSync(join(config, "filehand"), { recursive: true });
    writeFileSync(join(root, "a.txt"), "one\n");
    writeFileSync(join(root, ".env"), "KEY=value\n");
    if (project !== undefined) writeFileSync(join(root, "filehand.jsonc"), project);
    if (user !== undefined) writeFileSync(join(config, "filehand", "filehand.jsonc"), user);
    return filehand(args, { cwd: root, env: { XDG_CONFIG_HOME: config } });
  };

  test("a project's file is honoured, with comments and final commas", async () => {
    const text = '{\n  // as the team likes it\n  "permissions": {"deny": ["Read(a.txt)",],},\n}\n';
    const ran = await withSettings(text, undefined, ["read", "a.txt"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("the rule Read(a.txt) (project settings) denies it");
  });

  test("a project chooses neither the dialect nor the model nor how long a search takes", async () => {
    const text = '{"dialect": "opencode-legacy", "model": "claude-mythos", "searchMsMax": 1}';
    const ran = await withSettings(text, undefined, ["read", "a.txt"]);
    expect(ran).toMatchObject({ code: 0, stdout: "1→one\n" });
    for (const key of ["dialect", "model", "searchMsMax"])
      expect(ran.stderr).toContain(`Cannot use "${key}" here: it belongs in the user's own settings`);
    expect((await withSettings(undefined, '{"dialect": "opencode-legacy"}', ["read", "a.txt"])).stdout).toContain(
      "00001| one",
    );
    for (const searchMsMax of [1, 99, 600_001, 2 ** 31, 2 ** 53]) {
      const searched = await withSettings(undefined, JSON.stringify({ searchMsMax }), ["grep", "one"]);
      expect(searched.stdout).toContain("a.txt");
      expect(searched.stderr).toContain("expected a whole number of at least 100 and at most 600000");
    }
  });

  test("a project's file that is a link out of the root is not followed", async () => {
    const place = temporaryFolder();
    onTestFinished(() => place.remove());
    const [root, out] = [join(place.path, "root"), join(place.path, "out.jsonc")];
    mkdirSync(root);
    writeFileSync(join(root, "a.txt"), "one\n");
    writeFileSync(out, '{"permissions": {"deny": ["Read(a.txt)"]}}');
    symlinkSync(out, join(root, "filehand.jsonc"));
    const env = { XDG_CONFIG_HOME: place.path };
    const ran = await filehand(["read", "a.txt"], { cwd: root, env });
    expect(ran).toMatchObject({ code: 0, stdout: "1→one\n" });
    expect(ran.stderr).toContain("it is a link that leads out of the workspace");
    // A link to another file of the root is one of the project's own.
    rmSync(join(root, "filehand.jsonc"));
    renameSync(out, join(root, "settings.jsonc"));
    symlinkSync("settings.jsonc", join(root, "filehand.jsonc"));
    expect(await filehand(["read", "a.txt"], { cwd: root, env })).toMatchObject({ code: 1, stdout: "" });
  });

  test("the user's deny holds whatever the project allows", async () => {
    const project = '{"permissions": {"allow": ["Read(a.txt)"]}}';
    const ran = await withSettings(project, '{"permissions": {"deny": ["Read(a.txt)"]}}', ["read", "a.txt"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("(user settings) denies it");
  });

  test("only the user's file talks secrets free", async () => {
    const allow = '{"permissions": {"allow": ["Read(.env)"]}}';
    expect(await withSettings(allow, undefined, ["read", ".env"])).toMatchObject({ code: 1, stdout: "" });
    expect(await withSettings(undefined, allow, ["read", ".env"])).toMatchObject({ code: 0, stdout: "1→KEY=value\n" });
    const secrets = '{"secrets": "allow"}';
    const project = await withSettings(secrets, undefined, ["read", ".env"]);
    expect(project).toMatchObject({ code: 1, stdout: "" });
    expect(project.stderr).toContain(`"secrets" here: it belongs in the user's own settings`);
    expect(await withSettings(undefined, secrets, ["read", ".env"])).toMatchObject({ code: 0 });
  });

  test("faults are reported with file and line, and the rest is honoured", async () => {
    const text = '{\n  "dialct": "envelope",\n  "permissions": {"deny": ["Read(a.txt)"], "allow": [7]}\n}\n';
    const ran = await withSettings(text, undefined, ["read", "a.txt"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toMatch(
      /filehand\.jsonc:2: Cannot use "dialct": there is no such key, the nearest is "dialect"/,
    );
    expect(ran.stderr).toMatch(/filehand\.jsonc:3: Cannot use "permissions\.allow\[0\]"/);
    expect(ran.stderr).toContain("(project settings) denies it");
  });

  for (const [what, text] of [
    ["a deny rule that is no text", '{"permissions": {"deny": ["Read(b.txt)", 7]}}'],
    ["a list that is none", '{"permissions": {"ask": "Read(b.txt)"}}'],
    ["a list with a slip in its name", '{"permissions": {"denny": ["Read(b.txt)"]}}'],
    ["rules with a slip in their name", '{"permision": {"deny": ["Read(b.txt)"]}}'],
    ["a second list", '{"permissions": {"deny": ["Read(b.txt)"], "deny": ["Read(a.txt)"]}}'],
    ["a rule that cannot be understood", '{"permissions": {"deny": ["Read(../b.txt)"]}}'],
  ] as const) {
    test(`${what} stops the command in user and project settings, and doctor reports it`, async () => {
      for (const [project, user] of [
        [text, undefined],
        [undefined, text],
      ] as const) {
        const ran = await withSettings(project, user, ["read", "a.txt"]);
        expect(ran).toMatchObject({ code: 2, stdout: "" });
        expect(ran.stderr).toMatch(
          /filehand\.jsonc:1: Cannot use .*, correct it first|Cannot start with the deny rule/,
        );
        expect((await withSettings(project, user, ["doctor"])).code).toBe(1);
      }
    });
  }

  test("of a file that is not valid only what makes things stricter counts", async () => {
    const text = '{"dialect": "envelope", "permissions": {"deny": ["Read(a.txt)"]}';
    const ran = await withSettings(text, undefined, ["read", "a.txt"]);
    expect(ran.stderr).toMatch(/filehand\.jsonc:1: Cannot use this file: it is not valid JSON with comments/);
    expect(ran.stderr).toContain('Cannot read "a.txt": the rule Read(a.txt) (project settings) denies it');
  });

  test("options of the command line go before settings", async () => {
    const ran = await withSettings(undefined, '{"dialect": "envelope"}', ["read", "a.txt", "--dialect", "claude"]);
    expect(ran).toEqual({ code: 0, stdout: "1\tone\n", stderr: "" });
  });
});

describe("usage", () => {
  test("stats sums up the calls of the command line by day", async () => {
    const state = temporaryFolder();
    const cwd = temporaryFolder();
    writeFileSync(join(cwd.path, "a.txt"), "some words to read\n");
    const given = { cwd: cwd.path, env: { XDG_STATE_HOME: state.path } };
    expect((await run(process.execPath, [commandLine, "stats"], given)).stdout).toBe("No calls were made yet\n");
    await run(process.execPath, [commandLine, "read", "a.txt"], given);
    await run(process.execPath, [commandLine, "read", "b.txt"], given);
    const line = '{"id":1,"tool":"Read","input":{"file_path":"a.txt"}}\n';
    await run(process.execPath, [commandLine, "batch"], { ...given, input: line.repeat(2) });
    const { stdout } = await run(process.execPath, [commandLine, "stats", "--json"], given);
    const [day] = JSON.parse(stdout) as { calls: number; failures: number; tokensSaved: number }[];
    expect(day).toMatchObject({ calls: 4, failures: 1 });
    expect(day?.tokensSaved).toBeGreaterThan(2);
    const table = await run(process.execPath, [commandLine, "stats"], given);
    expect(table.stdout).toMatch(
      /^day +calls +failed +tokens given +tokens saved\n\d{4}-\d\d-\d\d +4 +1 +\d+ +[1-9]\d*\n$/,
    );
    state.remove();
    cwd.remove();
  });

  test("--tokens shows the cost of a file instead of its content", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd.path, "a.txt"), "some words to read\n".repeat(100));
    const given = { cwd: cwd.path };
    const { stdout, code } = await run(process.execPath, [commandLine, "read", "a.txt", "--tokens"], given);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+ tokens \(counted\), 100 lines, 1,900 bytes: one read within the budget of 25,000\n$/);
    const tight = { ...given, env: { FILEHAND_PAGE_TOKENS: "50" } };
    expect((await run(process.execPath, [commandLine, "read", "a.txt", "--tokens"], tight)).stdout).toMatch(
      /about \d+ reads/,
    );
    expect((await run(process.execPath, [commandLine, "read", "b.txt", "--tokens"], given)).code).toBe(1);
    const none = await run(process.execPath, [commandLine, "read", "b.txt", "--tokens", "--json"], given);
    expect(none).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(none.stdout)).toMatchObject({ isError: true, error: { code: "NOT_FOUND" } });
    const wrong = { ...given, env: { FILEHAND_PAGE_TOKENS: "many" } };
    expect((await run(process.execPath, [commandLine, "read", "a.txt"], wrong)).code).toBe(2);
    cwd.remove();
  });
});
