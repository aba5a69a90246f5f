/** Permissions with the built command line: what is told about rules, what a person is asked, and what is kept. */

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { commandLine, type Ran, run, temporaryFolder } from "./run.ts";
import { hasTerminal, typing as typeAnswers } from "./terminal.ts";

let top = "";
const at = (...names: readonly string[]): string => join(top, ...names);
const text = (name: string): string => readFileSync(at(name), "utf8");
const put = (name: string, content: string): void => writeFileSync(at(name), content);
const userFile = "config/filehand/filehand.jsonc";
const projectFile = "ws/filehand.jsonc";

beforeEach(() => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  top = folder.path;
  for (const name of ["ws/src", "out", "config/filehand", "home"]) mkdirSync(at(name), { recursive: true });
  put("ws/a.txt", "one\n");
  put("ws/src/b.ts", "one\n");
  put("ws/.env", "KEY=value\n");
  put("out/x.txt", "outside\n");
  symlinkSync("src/b.ts", at("ws/link"));
});

const env = (): Record<string, string> => ({
  HOME: at("home"),
  XDG_CONFIG_HOME: at("config"),
  XDG_STATE_HOME: at("state"),
});
const filehand = (...args: readonly string[]): Promise<Ran> =>
  run(process.execPath, [commandLine, ...args], { cwd: at("ws"), env: env() });

describe("filehand permissions", () => {
  test("explain names the rule, its source, both names of a link and what would allow it", async () => {
    put(userFile, '{"permissions": {"deny": ["Edit(src/**)"]}}');
    expect(await filehand("permissions", "explain", "Edit", "link")).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        'Edit "link": refused',
        "  because   a rule denies it, and deny is stronger than everything",
        "  rule      deny Edit(src/**) (user settings)",
        `  asked     ${at("ws/link")}`,
        `  really    ${at("ws/src/b.ts")}  (the rule matches this name)`,
        "  mode      default",
        "  to allow  take out the rule deny Edit(src/**) (user settings)",
        "",
      ].join("\n"),
    });
  });

  test("the rule that explain names allows it", async () => {
    const { stdout } = await filehand("permissions", "explain", "Read", ".env");
    const [, rule = ""] = /add the allow rule (\S+) /.exec(stdout) ?? [];
    expect(await filehand("read", ".env", "--allow", rule)).toMatchObject({ code: 0 });
    const said = await filehand("permissions", "explain", "Read", ".env", "--allow", rule);
    expect(said.stdout).toContain('Read ".env": allowed, nobody is asked');
    expect(said.stdout).toContain(`allow ${rule} (command line)`);
  });

  test("explain as JSON is the library's answer", async () => {
    const { stdout } = await filehand("permissions", "explain", "Write", "new.txt", "--json");
    expect(JSON.parse(stdout)).toEqual({
      tool: "Write",
      permission: "edit",
      path: "new.txt",
      verdict: "ask",
      by: "no rule",
      names: [at("ws/new.txt")],
      exists: false,
      mode: "default",
      remedy: { do: "add", rule: "Edit(/new.txt)" },
    });
  });

  test("check is for scripts: 0 if all may be done without asking, 1 if not, 2 for a slip", async () => {
    expect(await filehand("permissions", "check", "Read", "a.txt", "src/b.ts", "link")).toMatchObject({ code: 0 });
    const mixed = await filehand("permissions", "check", "Read", "a.txt", ".env");
    expect(mixed).toMatchObject({ code: 1, stdout: "allow  a.txt\nask    .env  ask Read(.env) (default)\n" });
    expect(await filehand("permissions", "check", "Read", ".env", "--quiet")).toEqual({
      code: 1,
      stdout: "",
      stderr: "",
    });
    const json = await filehand("permissions", "check", "Edit", "a.txt", "--allow", "Edit", "--json");
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({ allowed: true, paths: [{ path: "a.txt", verdict: "allow" }] });
    for (const [args, words] of [
      [["check", "Raed", "a.txt"], "did you mean Read"],
      [["check", "Read"], "The path is missing"],
      [["check"], "The tool is missing"],
      [["explain", "Read", "a", "b"], "takes one path"],
      [["list", "x"], "one argument too many"],
      [["lits"], "use list, explain, check or export"],
      [[], "is missing"],
      [["check", "Read", "a.txt", "--mode", "plam"], "did you mean plan"],
    ] as const) {
      const ran = await filehand("permissions", ...args);
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toContain(words);
    }
  });

  test("list has every rule by its source, with what is wrong with it", async () => {
    put(
      userFile,
      '{"mode": "plan", "locked": ["mode"], "permissions": {"allow": ["Edit(/src/**)"], "deny": ["Edit(/src)"]}}',
    );
    put(projectFile, '{"permissions": {"allow": ["Edit"], "ask": ["Read(docs/**)"]}}');
    const ran = await filehand("permissions", "list", "--deny", "Reed(x)");
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout.replace(/^\d+ rules/m, "N rules")).toBe(
      [
        "Mode: plan (locked: mode)",
        `Root: ${at("ws")}`,
        "",
        "user settings",
        "  deny   Edit(/src)",
        "  allow  Edit(/src/**)",
        "         never decides: the deny rule Edit(/src) (user settings) covers all of it and is stronger",
        "",
        "project settings",
        "  ask    Read(docs/**)",
        "  allow  Edit",
        "         never decides: a project may not allow itself anything, add its folder to trustedProjects in your own settings if you trust it",
        "",
        "command line",
        "  deny   Reed(x)",
        "         never decides: its tool is unknown, did you mean Read",
        "",
        "N rules are built in, --all shows them",
        "",
      ].join("\n"),
    );
    const json = JSON.parse((await filehand("permissions", "list", "--json", "--all")).stdout);
    expect(json).toMatchObject({ mode: "plan", locked: ["mode"], roots: [at("ws")] });
    expect(json.builtIn.length).toBeGreaterThan(50);
    expect(json.rules.map(({ source }: { source: string }) => source)).toEqual([
      "user settings",
      "user settings",
      "project settings",
      "project settings",
    ]);
  });

  test("a hostile path does not act on the terminal", async () => {
    const ran = await filehand("permissions", "explain", "Read", "a\x1b[2J\nb");
    expect(ran.stdout).toContain("a\\x1b[2J\\nb");
    expect(ran.stdout).not.toContain("\x1b");
  });
});

describe("a project that comes from strangers", () => {
  const change = ["edit", "a.txt", "--old", "one", "--new", "two"] as const;

  test("cannot allow itself anything, and that is told", async () => {
    put(projectFile, '{"permissions": {"allow": ["Edit", "Read(.env)", "external_directory(//**)"]}}');
    const ran = await filehand(...change);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(
      "the rule Edit (project settings) is not in force: a project may not allow itself anything",
    );
    expect(text("ws/a.txt")).toBe("one\n");
    expect((await filehand("read", ".env")).code).toBe(1);
    expect((await filehand("read", at("out/x.txt"))).code).toBe(1);
  });

  for (const [name, settings] of [
    ["accept-edits", '{"mode": "accept-edits"}'],
    ["the default mode", '{"mode": "default"}'],
    ["trust", '{"trustedProjects": ["."], "permissions": {"allow": ["Edit"]}}'],
    ["a lock", '{"locked": [], "permissions": {"allow": ["Edit"]}}'],
    ["folders outside", '{"externalDirectories": "ask"}'],
  ] as const) {
    test(`cannot give itself ${name}`, async () => {
      put(userFile, '{"mode": "plan"}');
      put(projectFile, settings);
      const ran = await filehand(...change, "--yes");
      expect(ran.code).toBe(1);
      expect(ran.stderr).toContain("filehand.jsonc:1: Cannot use");
      expect(ran.stderr).toContain("in plan mode nothing is written");
    });
  }

  test("can make things stricter", async () => {
    put(userFile, '{"mode": "accept-edits"}');
    put(projectFile, '{"mode": "read-only"}');
    expect((await filehand(...change)).code).toBe(1);
    put(projectFile, "{}");
    expect((await filehand(...change)).code).toBe(0);
  });

  test("may allow what the user trusts it with, but no secrets", async () => {
    put(userFile, `{"trustedProjects": [${JSON.stringify(at("ws"))}]}`);
    put(projectFile, '{"permissions": {"allow": ["Edit", "Read"]}}');
    expect(await filehand(...change)).toMatchObject({ code: 0, stderr: "" });
    expect((await filehand("read", ".env")).code).toBe(1);
    // The folder itself is trusted, not what is cloned into it.
    put(userFile, `{"trustedProjects": [${JSON.stringify(at())}]}`);
    expect((await filehand("edit", "a.txt", "--old", "two", "--new", "one")).code).toBe(1);
  });
});

describe("the formatter of the settings", () => {
  const formatter = '"formatter": {"*.txt": "tr a-z A-Z"}';
  const write = ["write", "new.txt", "--content", "text\n", "--yes"] as const;

  test("runs for a person's command and for a model's call, and an undo takes back both what was written and what it made of it", async () => {
    put(userFile, `{${formatter}}`);
    const ran = await filehand(...write);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).toContain("A formatter changed the file after that");
    expect(text("ws/new.txt")).toBe("TEXT\n");
    const input = JSON.stringify({ file_path: "other.txt", content: "more\n" });
    expect((await filehand("call", "Write", input, "--yes")).stdout).toContain("1\tMORE");
    expect(text("ws/other.txt")).toBe("MORE\n");
    expect((await filehand("undo", "--yes")).code).toBe(0);
    expect(existsSync(at("ws/other.txt"))).toBe(false);
    expect((await filehand("undo", "--yes")).code).toBe(0);
    expect(existsSync(at("ws/new.txt"))).toBe(false);
  });

  test("of a project counts only if the user trusts the project", async () => {
    put(projectFile, `{${formatter}}`);
    const strange = await filehand(...write);
    expect(strange.stderr).toContain('Cannot use "formatter" here: this project is not among your trustedProjects');
    expect(text("ws/new.txt")).toBe("text\n");
    put(userFile, `{"trustedProjects": [${JSON.stringify(at("ws"))}], "formatter": {"*.txt": "false"}}`);
    const again = ["write", "new.txt", "--content", "other\n", "--yes"] as const;
    expect(await filehand(...again)).toMatchObject({ code: 0, stderr: "" });
    expect(text("ws/new.txt")).toBe("OTHER\n");
  });
});

describe("modes", () => {
  test("--mode goes before settings, but not over the user's lock", async () => {
    put(userFile, '{"mode": "plan"}');
    const args = ["write", "new.txt", "--content", "x"] as const;
    expect((await filehand(...args)).code).toBe(1);
    expect((await filehand(...args, "--mode", "accept-edits")).code).toBe(0);
    put(userFile, '{"mode": "plan", "locked": ["mode"]}');
    const locked = await filehand("write", "other.txt", "--content", "x", "--mode", "accept-edits");
    expect(locked).toMatchObject({ code: 2, stdout: "" });
    expect(locked.stderr).toContain("locked");
    expect((await filehand("read", "a.txt", "--mode", "read-only")).code).toBe(0);
    expect(existsSync(at("ws/other.txt"))).toBe(false);
  });

  test("a user's file that is broken keeps what makes things stricter", async () => {
    put(userFile, '{"mode": "read-only", "locked": ["mode"], "permissions": {"allow": ["Edit"]},');
    const ran = await filehand("write", "new.txt", "--content", "x", "--yes");
    expect(ran.code).toBe(1);
    expect(existsSync(at("ws/new.txt"))).toBe(false);
  });

  test("a person's undo is refused in a mode that writes nothing", async () => {
    expect((await filehand("edit", "a.txt", "--old", "one", "--new", "two", "--yes")).code).toBe(0);
    const refused = await filehand("undo", "--yes", "--mode", "read-only");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("in read-only mode nothing is written, use --mode default");
    expect((await filehand("undo", "--dry-run", "--mode", "plan")).code).toBe(0);
    expect(text("ws/a.txt")).toBe("two\n");
    expect((await filehand("undo", "--yes")).code).toBe(0);
    expect(text("ws/a.txt")).toBe("one\n");
  });
});

describe.skipIf(!hasTerminal)("at a terminal", () => {
  const typing = (answers: readonly string[], ...args: readonly string[]): Promise<Pick<Ran, "code" | "stdout">> =>
    typeAnswers(answers, args, { cwd: at("ws"), env: env() });
  const change = ["edit", "src/b.ts", "--old", "one", "--new", "two"] as const;

  test("the answers are told, ? tells them again, and colours are for the terminal", async () => {
    const ran = await typing(["?\n", "y\n"], ...change);
    expect(ran.code).toBe(0);
    expect(ran.stdout.split("always, in this run: Edit(/src/**)")).toHaveLength(3);
    expect(ran.stdout).toContain("\x1b[1mApply this change?");
    expect(text("ws/src/b.ts")).toBe("two\n");
    const told = await typing([], "permissions", "explain", "Edit", "a.txt");
    expect(told.stdout).toContain("\x1b[33masked about first");
  });

  describe("hunk by hunk", () => {
    const before = Array.from({ length: 40 }, (_, line) => `line ${line + 1}\n`).join("");
    const [first, second, third] = [
      ["line 2\n", "two\n"],
      ["line 20\n", "twenty\n"],
      ["line 39\n", "last\n"],
    ] as const;
    const patch = [
      "*** Begin Patch",
      "*** Update File: src/b.ts",
      ...[first, second, third].flatMap(([old, fresh]) => ["@@", `-${old.trimEnd()}`, `+${fresh.trimEnd()}`]),
      "*** End Patch",
      "",
    ].join("\n");
    const made = (...all: (readonly [string, string])[]): string =>
      all.reduce((content, [old, fresh]) => content.replace(old, fresh), before);
    for (const [name, answers, code, after] of [
      ["the first and the third", ["s\n", "y\n", "n\n", "y\n"], 0, made(first, third)],
      ["the second, after the menu", ["s\n", "n\n", "what\n", "y\n", "n\n"], 0, made(second)],
      ["this and all after it", ["s\n", "n\n", "a\n"], 0, made(second, third)],
      ["no more after the first", ["s\n", "y\n", "q\n"], 0, made(first)],
      ["none", ["s\n", "n\n", "n\n", "n\n"], 1, before],
      ["the end of the input refuses all", ["s\n", "y\n"], 1, before],
    ] as const) {
      test(name, async () => {
        put("ws/src/b.ts", before);
        put("ws/change.patch", patch);
        const ran = await typing(answers, "patch", "change.patch");
        expect(text("ws/src/b.ts")).toBe(after);
        expect(ran.code).toBe(code);
        expect(ran.stdout).toContain("(1/3) Apply this hunk?");
        if (code === 0) expect(ran.stdout).toMatch(/Updated "src\/b\.ts" in part \(\d of 3 hunks/);
        else expect(ran.stdout).toContain("Nothing was changed");
      });
    }
  });

  test("always for the user is kept in their settings, beside their comments, for this very place", async () => {
    put(userFile, '{\n  // mine\n  "model": "m", // that one\n}\n');
    const ran = await typing(["u2\n"], ...change);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain(`Kept in ${at(userFile)}`);
    expect(text(userFile)).toBe(
      `{\n  // mine\n  "model": "m", // that one\n  "permissions": { "allow": ["Edit(/${at("ws/src")}/**)"] },\n}\n`,
    );
    put("ws/src/c.ts", "one\n");
    expect((await filehand("edit", "src/c.ts", "--old", "one", "--new", "two")).code).toBe(0);
    expect((await filehand("edit", "a.txt", "--old", "one", "--new", "two")).code).toBe(1);
  });

  test("always for the project is offered where it is trusted, and never through a link", async () => {
    put(userFile, `{"trustedProjects": [${JSON.stringify(at("ws"))}]}`);
    const ran = await typing(["p\n"], ...change);
    expect(ran.code).toBe(0);
    expect(JSON.parse(text(projectFile))).toEqual({ permissions: { allow: ["Edit(/src/b.ts)"] } });
    expect((await filehand("edit", "src/b.ts", "--old", "two", "--new", "one")).code).toBe(0);
    put("theirs.json", "{}\n");
    mkdirSync(at("linked"));
    put("linked/a.txt", "one\n");
    symlinkSync(at("theirs.json"), at("linked/filehand.jsonc"));
    put(userFile, `{"trustedProjects": [${JSON.stringify(at("linked"))}]}`);
    const linked = await typeAnswers(["p\n"], ["edit", "a.txt", "--old", "one", "--new", "two"], {
      cwd: at("linked"),
      env: env(),
    });
    expect(linked.stdout).toContain("it is a link");
    expect(text("theirs.json")).toBe("{}\n");
  });

  test("where the project is not trusted, p is no answer", async () => {
    const ran = await typing(["p\n"], ...change);
    expect(ran.code).toBe(1);
    expect(ran.stdout).not.toContain("kept in this project's settings");
    expect(existsSync(at(projectFile))).toBe(false);
    expect(text("ws/src/b.ts")).toBe("one\n");
  });

  test("words behind a no reach the model", async () => {
    const ran = await typing(["n use a.txt instead\n"], "call", "Write", '{"file_path": "new.txt", "content": "x"}');
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain('the user rejected it and says: "use a.txt instead"');
  });

  test("a file that can run code later is asked about without always", async () => {
    const ran = await typing(["always\n"], "write", ".vscode/tasks.json", "--content", "{}", "--allow", "Edit");
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain("[y/N/?]");
    expect(ran.stdout).toContain("The rule Edit(.vscode/**) asks about this file");
    expect(existsSync(at("ws/.vscode"))).toBe(false);
  });

  test("a link is asked about with the name of what it leads to, a build script with a warning", async () => {
    const ran = await typing(["n\n"], "edit", "link", "--old", "one", "--new", "two");
    expect(ran.stdout).toContain(`"${at("ws/link")}", which is "${at("ws/src/b.ts")}"`);
    const build = await typing(["n\n"], "write", "package.json", "--content", "{}");
    expect(build.stdout).toContain("names commands that are run");
  });

  test("A75 a path that tries to be a question of its own stands escaped on one line", async () => {
    const name = "a.txt\n\x1b[2K\x1b[1Aallowed? yes \u202etxt.evil";
    writeFileSync(at("ws", name), "one\n");
    symlinkSync(name, at("ws/to-it"));
    for (const path of [name, "to-it"]) {
      for (const args of [
        ["edit", path, "--old", "one", "--new", "two"],
        ["write", path, "--content", ""],
        ["read", path, "--ask", "Read(a.txt*)"],
      ]) {
        const ran = await typing(["n\n"], ...args);
        expect(ran.code).toBe(1);
        expect(ran.stdout).toContain("a.txt\\n\\x1b[2K\\x1b[1Aallowed?");
        expect(ran.stdout).not.toMatch(/\u202e|\x1b\[2K|\x1b\[1A/u);
        expect(text(`ws/${name}`)).toBe("one\n");
      }
    }
  });

  test("a folder outside is asked about once it is switched on, and always is kept", async () => {
    const read = ["read", at("out/x.txt")] as const;
    expect((await typing(["y\n"], ...read)).stdout).not.toContain("1→");
    put(userFile, '{"externalDirectories": "ask"}');
    const once = await typing(["y\n"], ...read);
    expect(once.stdout).toContain(`Let this session into the folder "${at("out")}"`);
    expect(once.stdout).toMatch(/1→\S*outside/);
    expect((await filehand(...read)).stderr).toContain(`external_directory(/${at("out")}/**) would allow it`);
    expect((await typing(["u\n"], ...read)).code).toBe(0);
    expect(await filehand(...read)).toMatchObject({ code: 0, stdout: "1→outside\n" });
  });
});
