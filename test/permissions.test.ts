/** The library's side of permissions: why something is judged as it is, folders outside, and what an answer holds for. */

import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  createFilehand,
  type FilehandOptions,
  type Question,
  type Reply,
  type RuleText,
  type Session,
} from "../src/index.ts";
import { onWindows, workspace } from "./support/workspace.ts";

const words = ({ content: [part] }: Reply): string => (part?.type === "text" ? part.text : "");

/** Gives these answers in turn, and says what it was asked. */
function answering(...answers: readonly (Answer | (() => Answer))[]) {
  const asked: Question[] = [];
  const ask = async (question: Question): Promise<Answer> => {
    const answer = answers[asked.length];
    asked.push(question);
    if (answer === undefined) throw new Error("asked once more than expected");
    return typeof answer === "function" ? answer() : answer;
  };
  return { asked, ask };
}

function bed() {
  const { path: at } = workspace({
    ws: {
      "a.txt": "one\n",
      ".env": "KEY=1\n",
      src: { "b.ts": "one\n" },
      link: { link: "src/b.ts" },
      "to-out": { link: "../out" },
      "to-secret": { link: "../out/deep/c.txt" },
    },
    out: { "x.txt": "outside\n", ".env": "OUT=1\n", deep: { "c.txt": "deeper\n" } },
    other: { "y.txt": "other\n" },
    alias: { link: "out" },
    home: { "notes.txt": "mine\n", sub: { "z.txt": "sub\n" } },
    state: {},
  });
  const open = (options: Partial<FilehandOptions> = {}): Session =>
    createFilehand({ roots: [at("ws")], home: at("home"), readFirst: false, ...options }).session({
      dialect: "claude",
    });
  const read = (session: Session, path: string): Promise<Reply> => session.call("Read", { file_path: path });
  return { at, open, read };
}

describe.skipIf(onWindows)("explain", () => {
  const { at, open } = bed();
  const user = (verdict: RuleText["verdict"], text: string): RuleText => ({ verdict, text, source: "user settings" });
  for (const [name, options, tool, path, expected] of [
    ["free to read", {}, "Read", "a.txt", { verdict: "allow", by: "no rule", remedy: undefined }],
    ["a change", {}, "Edit", "a.txt", { verdict: "ask", by: "no rule", remedy: { do: "add", rule: "Edit(/a.txt)" } }],
    ["a secret", {}, "Grep", ".env", { verdict: "ask", by: "secret", remedy: { do: "add", rule: "Read(/.env)" } }],
    ["a secret that is free", { secrets: "allow" }, "Read", ".env", { verdict: "allow", by: "no rule" }],
    [
      "protected",
      { permissions: { allow: ["Edit"] } },
      "Write",
      ".git/config",
      { verdict: "ask", by: "protected", remedy: { do: "nothing" } },
    ],
    ["our own", {}, "apply_patch", "filehand.jsonc", { verdict: "deny", by: "own file", remedy: { do: "nothing" } }],
    ["state", { stateDir: at("ws/st") }, "Read", "st/x", { verdict: "deny", by: "own file" }],
    [
      "denied",
      { rules: [user("deny", "Read(src)")] },
      "Edit",
      "src/b.ts",
      {
        verdict: "deny",
        by: "rule",
        rule: user("deny", "Read(src)"),
        remedy: { do: "remove", rule: user("deny", "Read(src)") },
      },
    ],
    [
      "asked by rule",
      { rules: [user("ask", "Read(a.txt)"), user("allow", "Read")] },
      "Read",
      "a.txt",
      { verdict: "ask", by: "rule", remedy: { do: "remove", rule: user("ask", "Read(a.txt)") } },
    ],
    [
      "allowed",
      { rules: [user("allow", "Edit(/src/**)")] },
      "MultiEdit",
      "src/b.ts",
      { verdict: "allow", by: "rule", rule: user("allow", "Edit(/src/**)"), remedy: undefined },
    ],
    [
      "by the link's goal",
      { rules: [user("deny", "Edit(src/**)")] },
      "Edit",
      "link",
      { verdict: "deny", names: [at("ws/link"), at("ws/src/b.ts")], matched: at("ws/src/b.ts") },
    ],
    [
      "by the link's name",
      { rules: [user("deny", "Edit(/link)")] },
      "Edit",
      "link",
      { verdict: "deny", matched: at("ws/link") },
    ],
    [
      "by a link that is denied",
      { rules: [user("deny", "Read(/link)")] },
      "Read",
      "src/b.ts",
      { verdict: "deny", by: "rule about a link to it" },
    ],
    [
      "allowed only by one name",
      { rules: [user("allow", "Edit(/src/**)")] },
      "Edit",
      "link",
      { verdict: "ask", by: "no rule" },
    ],
    [
      "missing",
      {},
      "Write",
      "new/deep.txt",
      { verdict: "ask", exists: false, remedy: { do: "add", rule: "Edit(/new/deep.txt)" } },
    ],
    [
      "planning",
      { mode: "plan" },
      "Edit",
      "a.txt",
      { verdict: "deny", by: "mode", remedy: { do: "switch mode", to: "default" } },
    ],
    [
      "planning and denied",
      { mode: "plan", rules: [user("deny", "Edit")] },
      "Edit",
      "a.txt",
      { verdict: "deny", by: "rule" },
    ],
    ["accepted", { mode: "accept-edits" }, "Edit", "a.txt", { verdict: "allow", by: "mode" }],
    [
      "outside",
      {},
      "Read",
      "../out/x.txt",
      { verdict: "deny", by: "outside", remedy: { do: "add a root", folder: at("out") } },
    ],
    [
      "outside, asked about",
      { externalDirectories: "ask" },
      "Read",
      "../out/x.txt",
      {
        verdict: "ask",
        by: "external directory",
        names: [at("out/x.txt"), at("out")],
        remedy: { do: "add", rule: `external_directory(/${at("out")}/**)` },
      },
    ],
    ["no path", {}, "Read", "a\0b", { verdict: "deny", by: "path", remedy: { do: "nothing" } }],
  ] as const satisfies readonly [string, Partial<FilehandOptions>, string, string, object][]) {
    test(name, () => {
      expect(open(options).permissions.explain(tool, path)).toMatchObject({ tool, path, ...expected });
    });
  }

  test("what a session keeps and its mode count for it alone", async () => {
    const { ask } = answering({ reply: "always" });
    const filehand = createFilehand({ roots: [at("ws")], ask, readFirst: false });
    const session = filehand.session({ dialect: "claude" });
    await session.call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" });
    expect(session.permissions.explain("Edit", "a.txt")).toMatchObject({
      verdict: "allow",
      rule: { source: "session" },
    });
    expect(session.permissions.list().rules).toEqual([{ verdict: "allow", text: "Edit(/a.txt)", source: "session" }]);
    expect(filehand.permissions.explain("Edit", "a.txt").verdict).toBe("ask");
    expect(session.permissions.check("Edit", ["a.txt"])).toBe(true);
    expect(session.permissions.check("Edit", ["a.txt", "src/b.ts"])).toBe(false);
  });

  test("what explain says is what happens, for every path and rule here", async () => {
    for (const text of ["Edit(a.txt)", "Read(src)", "Edit(/link)", "Read(.env)", "Edit", "Read", "Write(src/**)"]) {
      for (const verdict of ["allow", "ask", "deny"] as const) {
        const session = open({ permissions: { [verdict]: [text] } });
        for (const path of ["a.txt", "src/b.ts", "link", ".env", "../out/x.txt"]) {
          const isRead = !(await session.call("Read", { file_path: path })).isError;
          expect(isRead, `${verdict} ${text}, ${path}`).toBe(session.permissions.check("Read", [path]));
          const tried = await session.call("Write", { file_path: path, content: "one\n" });
          const isAllowed = session.permissions.check("Write", [path]) && session.permissions.check("Read", [path]);
          expect(!tried.isError, `${verdict} ${text}, write ${path}: ${words(tried)}`).toBe(isAllowed);
        }
      }
    }
  });

  test("an unknown tool is an error that names the nearest", () => {
    expect(() => open().permissions.explain("Raed", "a.txt")).toThrow(/did you mean Read/);
    expect(() => open().permissions.explain("external_directory", "a.txt")).toThrow(/no tool/);
  });
});

describe.skipIf(onWindows)("rules that never decide are told in the list", () => {
  const { at, open } = bed();
  test("what is wrong with an allow rule is not said of a deny rule with the same words", () => {
    const source = "project settings"; // whose allow rules count only where the user trusts the project
    const rules = (["allow", "deny"] as const).map((verdict) => ({ verdict, text: "Edit(/src/**)", source }));
    const listed = open({ rules, unclearRules: "report" }).permissions.list().rules;
    expect(listed.map(({ fault }) => fault !== undefined)).toEqual([true, false]);
  });

  const why = (verdict: "allow" | "ask" | "deny", text: string, ...others: readonly string[]): string | undefined => {
    const rules = others.map((other): RuleText => {
      const [kind = "", ...rest] = other.split(" ");
      return { verdict: kind as RuleText["verdict"], text: rest.join(" "), source: "user settings" };
    });
    const all = [{ verdict, text, source: "command line" }, ...rules];
    return open({ rules: all, unclearRules: "report" }).permissions.list().rules[0]?.fault;
  };
  for (const [verdict, text, others, expected] of [
    ["allow", "Edit(/src/**)", ["deny Edit(/src)"], /deny rule Edit\(\/src\) \(user settings\) covers/],
    ["allow", "Edit(/src/**)", ["deny Read(src)"], /deny rule Read\(src\)/],
    ["allow", "Edit(/src/b.ts)", ["deny Edit(*.ts)"], /deny rule/],
    ["allow", "Edit(/src/**)", ["ask Edit"], /ask rule Edit /],
    ["allow", "Edit(*.ts)", ["deny Read"], /deny rule Read /],
    ["allow", "Edit", ["deny Edit"], /deny rule Edit /],
    ["ask", "Edit(/src/**)", ["deny Edit(/src/**)"], /deny rule Edit\(\/src\/\*\*\)/],
    ["allow", "Edit(/src)", ["deny Edit(/src/**)"], undefined],
    ["allow", "Edit(/src/**)", ["deny Edit(/src/**)", "deny Edit(!/src/a)"], undefined],
    ["ask", "Edit(/src/**)", ["ask Edit"], undefined],
    ["allow", "Edit(/src/**)", ["deny Edit(/src/*.ts)"], undefined],
    ["allow", "Edit(/src/**)", ["deny Edit(/src/sub)"], undefined],
    ["allow", "Edit(*.ts)", ["deny Edit(/src/**)"], undefined],
    ["allow", "Read(/src/**)", ["deny Edit"], undefined],
    ["deny", "Edit(/src/**)", ["deny Edit"], undefined],
    ["deny", "Read(//elsewhere/**)", [], /outside all roots/],
    ["allow", "Read(~/notes/**)", [], /outside all roots/],
    ["deny", "Read(//**/x)", [], undefined],
    ["deny", "Read(//*/x)", [], undefined],
    ["deny", `Read(/${at("ws/src")})`, [], undefined],
    ["deny", `Read(/${at()})`, [], undefined],
    ["deny", `Read(/${at("ws-evil")})`, [], /outside all roots/],
    ["allow", "external_directory(//srv)", [], undefined],
    ["allow", "Eddit(x)", [], /did you mean Edit/],
    ["deny", "Read(../x)", [], /never match/],
  ] as const) {
    test(`${verdict} ${text} beside ${others.join(", ") || "nothing"}`, () => {
      const said = why(verdict, text, ...others);
      if (expected === undefined) expect(said).toBeUndefined();
      else expect(said).toMatch(expected);
    });
  }
});

describe.skipIf(onWindows)("a folder outside the roots", () => {
  test("is refused by default, and nothing out there is looked at or asked about", async () => {
    const { open, read } = bed();
    const { ask, asked } = answering();
    for (const path of ["../out/x.txt", "to-out/x.txt", "to-secret"]) {
      expect(await read(open({ ask }), path)).toMatchObject({ isError: true, error: { code: "ACCESS_DENIED" } });
    }
    expect(asked).toEqual([]);
  });

  test("is asked about as a folder, with its real name, and once is for one call", async () => {
    const { at, open, read } = bed();
    const { ask, asked } = answering({ reply: "once" }, { reply: "once" });
    const session = open({ ask, externalDirectories: "ask" });
    expect(words(await read(session, at("alias/x.txt")))).toContain("outside");
    expect(asked).toEqual([
      {
        permission: "external_directory",
        patterns: [at("out")],
        always: [`external_directory(/${at("out")}/**)`],
        keep: ["session"],
        metadata: { path: at("alias/x.txt"), rule: "external_directory", folder: at("out") },
      },
    ]);
    await read(session, at("out/x.txt"));
    expect(asked).toHaveLength(2);
  });

  test("always is for the session, the folder and what lies in it, and for no other session or parent", async () => {
    const { at, read } = bed();
    const { ask, asked } = answering(
      { reply: "always" },
      { reply: "reject" },
      { reply: "reject", feedback: "not that one" },
    );
    const filehand = createFilehand({ roots: [at("ws")], home: at("home"), ask, externalDirectories: "ask" });
    const session = filehand.session({ dialect: "claude" });
    expect(words(await read(session, at("out/x.txt")))).toContain("outside");
    expect(words(await read(session, at("out/deep/c.txt")))).toContain("deeper");
    expect(asked).toHaveLength(1);
    expect((await read(filehand.session({ dialect: "claude" }), at("out/x.txt"))).isError).toBe(true);
    expect(asked).toHaveLength(2);
    expect(words(await read(session, at("other/y.txt")))).toContain("not that one");
    // `..` from inside the folder is outside again, and its parent holds a root: about that nobody is even asked.
    fs.writeFileSync(at("top.txt"), "top\n");
    expect((await read(session, at("out/../top.txt"))).isError).toBe(true);
    expect(asked).toHaveLength(3);
  });

  test("a link out of it leads nowhere, and a folder that was swapped after the question is not entered", async () => {
    const { at, open, read } = bed();
    fs.symlinkSync(at("other/y.txt"), at("out/to-other"));
    const swap = (): Answer => {
      fs.renameSync(at("out"), at("out-before"));
      fs.symlinkSync(at("other"), at("out"));
      fs.writeFileSync(at("other/x.txt"), "swapped\n");
      return { reply: "once" };
    };
    const { ask } = answering({ reply: "always" }, { reply: "reject" });
    const session = open({ ask, externalDirectories: "ask" });
    await read(session, at("out/x.txt"));
    const led = await read(session, at("out/to-other"));
    expect(led.isError).toBe(true);
    expect(words(led)).not.toContain("other\n");
    const swapped = await read(open({ ask: answering(swap).ask, externalDirectories: "ask" }), at("out/x.txt"));
    expect(swapped.isError).toBe(true);
    expect(words(swapped)).not.toContain("swapped");
    // The session that was let in before is not led there either.
    expect(words(await read(session, at("out/x.txt")))).not.toContain("swapped");
  });

  test("inside it secrets ask, changes ask, accept-edits and a bare allow do not reach it", async () => {
    const { at, open, read } = bed();
    const { ask, asked } = answering(
      { reply: "always" },
      { reply: "reject" },
      { reply: "reject" },
      { reply: "reject" },
    );
    const session = open({
      ask,
      externalDirectories: "ask",
      mode: "accept-edits",
      permissions: { allow: ["Edit", "Edit(/**)"] },
    });
    await read(session, at("out/x.txt"));
    expect((await read(session, at("out/.env"))).isError).toBe(true);
    for (const path of [at("out/x.txt"), at("out/new.txt")]) {
      expect((await session.call("Write", { file_path: path, content: "changed" })).isError).toBe(true);
    }
    expect(asked.map(({ permission }) => permission)).toEqual(["external_directory", "read", "edit", "edit"]);
    expect(fs.readFileSync(at("out/x.txt"), "utf8")).toBe("outside\n");
    expect(fs.existsSync(at("out/new.txt"))).toBe(false);
  });

  test("a new file can be made there once both questions are answered", async () => {
    const { at, open } = bed();
    const { ask, asked } = answering({ reply: "once" }, { reply: "once" });
    const session = open({ ask, externalDirectories: "ask" });
    const reply = await session.call("Write", { file_path: at("out/new.txt"), content: "new\n" });
    expect(reply.isError, words(reply)).toBe(false);
    expect(asked.map(({ permission }) => permission)).toEqual(["external_directory", "edit"]);
    expect(fs.readFileSync(at("out/new.txt"), "utf8")).toBe("new\n");
  });

  for (const [name, path] of [
    ["the kernel's files", "/proc/self/environ"],
    ["a device", "/dev/null"],
    ["the devices' folder", "/dev/shm/x"],
    ["home itself", "home/notes.txt"],
    ["a folder that holds a root", "top.txt"],
    ["what does not exist", "nowhere/x.txt"],
    ["Filehand's own state", "state/x"],
    ["a dangling link", "dangling"],
    ["what a rule denies", "out/denied.txt"],
  ] as const) {
    test(`nobody is asked about ${name}`, async () => {
      const { at, open, read } = bed();
      fs.symlinkSync(at("nowhere/y"), at("out/dangling"));
      const { ask, asked } = answering();
      const options = {
        ask,
        externalDirectories: "ask",
        stateDir: at("state"),
        permissions: { deny: ["Read(denied.txt)"] },
      } as const;
      const full = path.startsWith("/") ? path : at(path === "dangling" ? "out/dangling" : path);
      expect((await read(open(options), full)).isError).toBe(true);
      expect(asked).toEqual([]);
    });
  }

  test("rules: deny beats the question, allow spares it, and a project can neither allow nor switch it on", async () => {
    const { at, open, read } = bed();
    const { ask, asked } = answering();
    const rule = `external_directory(/${at("out")}/**)`;
    const denied = open({ ask, externalDirectories: "ask", permissions: { deny: [rule], allow: [rule] } });
    expect((await read(denied, at("out/x.txt"))).isError).toBe(true);
    expect(words(await read(open({ ask, permissions: { allow: [rule] } }), at("out/x.txt")))).toContain("outside");
    for (const [verdict, text] of [
      ["allow", rule],
      ["ask", "external_directory"],
    ] as const) {
      const session = open({ ask, rules: [{ verdict, text, source: "project settings" }] });
      expect((await read(session, at("out/x.txt"))).isError).toBe(true);
    }
    expect(asked).toEqual([]);
  });

  test("with nobody to ask the refusal names the rule that would allow it, and yes is no answer", async () => {
    const { at, open, read } = bed();
    const said = words(await read(open({ externalDirectories: "ask" }), at("out/x.txt")));
    const [, rule = ""] = /the rule (external_directory\(\S+\)) would allow it/.exec(said) ?? [];
    expect(words(await read(open({ permissions: { allow: [rule] } }), at("out/x.txt")))).toContain("outside");
    expect((await read(open({ externalDirectories: "ask", ask: "yes" }), at("out/x.txt"))).isError).toBe(true);
  });
});

describe.skipIf(onWindows)("an answer", () => {
  const edit = { file_path: "a.txt", old_string: "one", new_string: "two" };

  test("offers the narrowest rule first, and is kept where it says", async () => {
    const { at, open } = bed();
    const kept: string[] = [];
    const { ask, asked } = answering(
      { reply: "always", rule: "Edit(/src/**)", keep: "user" },
      { reply: "always", keep: "project" },
    );
    const session = open({
      ask,
      trustProject: true,
      keepRule: async (rule, where) => {
        kept.push(`${where}: ${rule}`);
        return undefined;
      },
    });
    await session.call("Edit", { ...edit, file_path: "src/b.ts" });
    await session.call("Edit", edit);
    expect(asked.map(({ always, keep }) => ({ always, keep }))).toEqual([
      { always: ["Edit(/src/b.ts)", "Edit(/src/**)", "Edit(/**)"], keep: ["session", "project", "user"] },
      { always: ["Edit(/a.txt)", "Edit(/**)"], keep: ["session", "project", "user"] },
    ]);
    expect(kept).toEqual([`user: Edit(/${at("ws/src")}/**)`, "project: Edit(/a.txt)"]);
    await session.call("Edit", { file_path: "src/b.ts", old_string: "two", new_string: "one" });
    expect(asked).toHaveLength(2);
  });

  test("is not kept in a project that is not trusted, nor for what a rule asks about", async () => {
    const { open } = bed();
    const kept: string[] = [];
    const keepRule: FilehandOptions["keepRule"] = async (rule) => {
      kept.push(rule);
      return undefined;
    };
    const { ask, asked } = answering({ reply: "always", keep: "project" }, { reply: "always", keep: "user" });
    await open({ ask, keepRule }).call("Edit", edit);
    await open({ ask, keepRule, permissions: { ask: ["Edit"] } }).call("Edit", { ...edit, file_path: "src/b.ts" });
    expect(asked.map(({ keep }) => keep)).toEqual([["session", "user"], ["session"]]);
    expect(kept).toEqual([]);
  });

  test("with a rule that has nothing to do with the question is a yes for once", async () => {
    const { open } = bed();
    const { ask, asked } = answering(
      { reply: "always", rule: "Edit(/src/**)" },
      { reply: "always", rule: "nonsense(" },
      { reply: "reject" },
    );
    const session = open({ ask });
    await session.call("Edit", edit);
    await session.call("Edit", { ...edit, old_string: "two", new_string: "one" });
    expect((await session.call("Edit", edit)).isError).toBe(true);
    expect(asked).toHaveLength(3);
    expect(session.permissions.list().rules).toEqual([]);
  });

  test.each<[string, unknown]>([
    ["another key", { decision: "reject" }],
    ["an unknown word", { reply: "maybe" }],
    ["a boolean", true],
    ["nothing", undefined],
  ])("that is none (%s) is a fault of the host and no yes", async (_, answer) => {
    const { at, open } = bed();
    // As a host without types would write it.
    const ask = async (): Promise<Answer> => answer as Answer;
    const session = open({ ask });
    await session.call("Write", { file_path: at("ws/a.txt"), content: "two\n" }).catch(() => undefined);
    expect(fs.readFileSync(at("ws/a.txt"), "utf8")).toBe("one\n");
  });

  test("about a protected file is for once, whatever it says", async () => {
    const { open } = bed();
    const { ask, asked } = answering({ reply: "always" }, { reply: "reject" });
    const session = open({ ask });
    const input = { file_path: ".vscode/tasks.json", content: "{}" };
    expect((await session.call("Write", input)).isError).toBe(false);
    expect((await session.call("Write", { ...input, content: "[]" })).isError).toBe(true);
    expect(asked.map(({ always }) => always)).toEqual([[], []]);
  });

  test("to a file that names commands is given in that knowledge", async () => {
    const { open } = bed();
    const { ask, asked } = answering({ reply: "reject" }, { reply: "reject" }, { reply: "reject" });
    const session = open({ ask });
    for (const file_path of ["package.json", "sub/Makefile", "AGENTS.md"])
      await session.call("Write", { file_path, content: "x" });
    expect(asked.map(({ metadata }) => metadata["caution"])).toEqual(["build", "build", "instructions"]);
  });
});

describe.skipIf(onWindows)("a yes was said to what was shown, and to nothing else", () => {
  const diffs = (asked: readonly Question[]): readonly unknown[] => asked.map(({ metadata }) => metadata["diff"]);
  const patchText = [
    "*** Begin Patch",
    "*** Update File: a.txt",
    "@@",
    "-one",
    "+two",
    "*** Update File: src/b.ts",
    "*** Move to: src/c.ts",
    "@@",
    "-one",
    "+two",
    "*** Add File: new.txt",
    "+new",
    "*** End Patch",
  ].join("\n");

  test("a file that changes while a patch is asked about is asked about again", async () => {
    const { at, open } = bed();
    const touch = (): Answer => {
      fs.writeFileSync(at("ws/a.txt"), "zero\none\n");
      return { reply: "once" };
    };
    const { ask, asked } = answering(touch, { reply: "once" });
    const session = open({ ask });
    const { reply } = await session.run((profile) => ({ verb: "patch", patchText, profile }));
    expect(reply.isError, words(reply)).toBe(false);
    expect(asked).toHaveLength(2);
    expect(diffs(asked)[0]).not.toContain("zero");
    expect(diffs(asked)[1]).toContain(" zero");
    expect(fs.readFileSync(at("ws/a.txt"), "utf8")).toBe("zero\ntwo\n");
  });

  test("no to what it has become writes nothing at all", async () => {
    const { at, open } = bed();
    const touch = (): Answer => {
      fs.writeFileSync(at("ws/a.txt"), "zero\none\n");
      return { reply: "once" };
    };
    const { ask } = answering(touch, { reply: "reject", feedback: "not like that" });
    const { reply } = await open({ ask }).run((profile) => ({ verb: "patch", patchText, profile }));
    expect(words(reply)).toContain("not like that");
    expect(fs.readFileSync(at("ws/a.txt"), "utf8")).toBe("zero\none\n");
    expect(fs.existsSync(at("ws/new.txt"))).toBe(false);
  });

  test("all files of a patch are one question, with the diff of each", async () => {
    const { at, open } = bed();
    const { ask, asked } = answering({ reply: "always" });
    const session = open({ ask });
    const { reply } = await session.run((profile) => ({ verb: "patch", patchText, profile }));
    expect(reply.isError, words(reply)).toBe(false);
    expect(asked).toMatchObject([
      {
        patterns: ["ws/a.txt", "ws/src/b.ts", "ws/src/c.ts", "ws/new.txt"].map((name) => at(name)),
        // No rule for one of the files alone would answer the question.
        always: ["Edit(/**)"],
        metadata: {
          files: [
            { path: at("ws/a.txt"), diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n" },
            { path: at("ws/src/b.ts"), movedTo: "src/c.ts" },
            { path: at("ws/new.txt"), diff: "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n" },
          ],
        },
      },
    ]);
    expect(session.permissions.list().rules).toMatchObject([{ text: "Edit(/**)" }]);
  });

  test("where a file is moved to is asked about with its diff", async () => {
    const { at, open } = bed();
    const { ask, asked } = answering({ reply: "reject" });
    await open({ ask, permissions: { allow: ["Edit(/src/b.ts)", "Edit(/a.txt)"] } }).run((profile) => ({
      verb: "patch",
      patchText,
      profile,
    }));
    expect(asked).toMatchObject([{ patterns: [at("ws/src/c.ts"), at("ws/new.txt")] }]);
    expect(asked[0]?.metadata["files"]).toMatchObject([{}, { path: at("ws/src/b.ts"), movedTo: "src/c.ts" }, {}]);
    expect(diffs(asked)[0]).toContain("+two");
  });

  test("a file that comes to be where one was to be made is shown before it is overwritten", async () => {
    const { at, open } = bed();
    const { ask, asked } = answering(
      () => {
        fs.writeFileSync(at("ws/new.txt"), "somebody else's\n");
        return { reply: "once" };
      },
      { reply: "reject" },
    );
    const reply = await open({ ask }).call("Write", { file_path: "new.txt", content: "mine\n" });
    expect(reply.isError).toBe(true);
    expect(diffs(asked)[1]).toContain("-somebody else's");
    expect(fs.readFileSync(at("ws/new.txt"), "utf8")).toBe("somebody else's\n");
  });

  test("another file that took the name of one that was asked about is not read without a question of its own", async () => {
    const { at, open, read } = bed();
    const swap = (): Answer => {
      fs.renameSync(at("ws/.env"), at("ws/.env.before"));
      fs.writeFileSync(at("ws/.env"), "KEY=other\n");
      return { reply: "once" };
    };
    const { ask } = answering(swap, { reply: "reject" });
    expect(words(await read(open({ ask }), ".env"))).not.toContain("KEY=other");
  });

  test("a rewind of a file that changed meanwhile is not done", async () => {
    const { at, open } = bed();
    const { ask } = answering({ reply: "once" }, () => {
      fs.writeFileSync(at("ws/a.txt"), "three\n");
      return { reply: "once" };
    });
    const session = open({ ask, stateDir: at("state") });
    await session.call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" });
    const { files } = await session.undo();
    expect(files).toMatchObject([{ came: { problem: { code: "STALE" } } }]);
    expect(fs.readFileSync(at("ws/a.txt"), "utf8")).toBe("three\n");
  });
});
