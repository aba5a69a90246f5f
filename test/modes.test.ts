/** Modes hold for every tool of every dialect, and what the operator locked no session lifts. */

import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { dialectNames } from "../src/dialects/index.ts";
import { createFilehand, type FilehandOptions, type Mode, type Session } from "../src/index.ts";
import { modeSuite } from "./suites/mode.ts";
import { workspace } from "./support/workspace.ts";

for (const name of dialectNames) modeSuite(name);

describe("locks", () => {
  const { path: at } = workspace({ ws: { "a.txt": "one\n" } });
  const toolkit = (options: Partial<FilehandOptions>) =>
    createFilehand({ roots: [at("ws")], readFirst: false, ...options });
  const edit = { file_path: "a.txt", old_string: "one", new_string: "two" };

  for (const [mode, stricter, wider] of [
    ["read-only", [], ["plan", "default", "accept-edits"]],
    ["plan", ["read-only"], ["default", "accept-edits"]],
    ["default", ["plan", "read-only"], ["accept-edits"]],
    ["accept-edits", ["default", "plan", "read-only"], []],
  ] as const satisfies readonly [Mode, readonly Mode[], readonly Mode[]][]) {
    test(`a mode locked at ${mode} can be made stricter and come back, but not wider`, () => {
      const session = toolkit({ mode, locked: ["mode"] }).session();
      for (const other of wider) {
        expect(() => session.setMode(other)).toThrow(/locked it at/);
        expect(session.mode).toBe(mode);
      }
      for (const other of stricter) session.setMode(other);
      expect(() => session.setMode(mode)).not.toThrow();
    });
  }

  for (const [what, lines] of [
    ["a file that is made", ["*** Add File: new.txt", "+new"]],
    ["a file that is deleted", ["*** Delete File: a.txt"]],
  ] as const) {
    test(`a mode that is switched while somebody is asked holds for ${what}`, async () => {
      const { path, top } = workspace({ "a.txt": "one\n" });
      let session: Session | undefined;
      const ask = async () => {
        session?.setMode("read-only");
        return { reply: "once" } as const;
      };
      session = createFilehand({ roots: [top], ask, readFirst: false }).session({ dialect: "opencode" });
      const patchText = ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
      expect((await session.call("patch", { patchText })).error).toMatchObject({ code: "ACCESS_DENIED" });
      expect([fs.readdirSync(top), fs.readFileSync(path("a.txt"), "utf8")]).toEqual([["a.txt"], "one\n"]);
    });
  }

  test("a mode that does not exist is refused, at the start and later", () => {
    expect(() => toolkit({ mode: "readonly" as Mode })).toThrow(/no such mode/);
    const session = toolkit({ mode: "plan" }).session();
    expect(() => session.setMode("yolo" as Mode)).toThrow(/use one of/);
    expect(session.mode).toBe("plan");
  });

  test("one session's mode is not another's", () => {
    const filehand = toolkit({});
    const [one, other] = [filehand.session(), filehand.session()];
    one.setMode("plan");
    expect([one.mode, other.mode]).toEqual(["plan", "default"]);
  });

  test("locked rules: no answer is kept, nothing but the operator's own rules allows", async () => {
    let asked = 0;
    const questions: unknown[] = [];
    const filehand = toolkit({
      locked: ["rules"],
      rules: [
        { verdict: "allow", text: "Edit", source: "command line" },
        { verdict: "allow", text: "Edit", source: "project settings" },
      ],
      trustProject: true,
      ask: async (question) => {
        asked += 1;
        questions.push(question.always, question.keep);
        return { reply: "always", rule: "Edit" };
      },
    });
    const session = filehand.session();
    expect((await session.call("Edit", edit)).isError).toBe(false);
    expect((await session.call("Edit", { ...edit, old_string: "two", new_string: "one" })).isError).toBe(false);
    expect(asked).toBe(2);
    expect(questions).toEqual([[], [], [], []]);
    expect(filehand.ruleFaults.map(({ why }) => why.includes("locked"))).toEqual([true, true]);
    const user = toolkit({ locked: ["rules"], rules: [{ verdict: "allow", text: "Edit", source: "user settings" }] });
    expect((await user.session().call("Edit", edit)).isError).toBe(false);
  });

  test("a project's allow rules count only where it is trusted; its deny and ask rules always do", () => {
    const judged = (verdict: "allow" | "deny" | "ask", trustProject: boolean, tool = "Edit") =>
      toolkit({ trustProject, rules: [{ verdict, text: tool, source: "project settings" }] }).permissions.explain(
        tool,
        "a.txt",
      ).verdict;
    expect(judged("allow", false)).toBe("ask");
    expect(judged("allow", true)).toBe("allow");
    expect(judged("deny", false)).toBe("deny");
    expect(judged("ask", false, "Read")).toBe("ask");
  });
});
