/** A neutral request through the library: what it came to as data, beside the words of the dialect. */

import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createFilehand, type Mode } from "../src/index.ts";
import { everyDialect } from "./support/reading.ts";

const top = fs.mkdtempSync(join(tmpdir(), "filehand-run-"));
fs.writeFileSync(join(top, "a.txt"), "one\ntwo\n");
afterAll(() => fs.rmSync(top, { recursive: true }));

const open = (dialect: (typeof everyDialect)[number], mode: Mode = "default") =>
  createFilehand({ roots: [top], ask: "yes", readFirst: false, mode }).session({ dialect });

describe("session.run answers with data and with the reply of the dialect", () => {
  for (const dialect of everyDialect) {
    test(`${dialect}: the outcome of a change, and no problem`, async () => {
      const edits = [{ oldText: "two", newText: "2", all: false }] as const;
      const ran = await open(dialect).run((profile) => ({ verb: "edit", path: "a.txt", edits, profile }), {
        dryRun: true,
      });
      expect(ran.problem).toBeUndefined();
      expect(ran.reply.isError).toBe(false);
      // The type is that of the verb: an edit has a file, and no other kind has to be ruled out first.
      expect(ran.outcome?.file).toMatchObject({ did: "updated", additions: 1, deletions: 1 });
    });

    test(`${dialect}: the problem of a refused one, and no outcome`, async () => {
      const { outcome, problem, reply } = await open(dialect, "plan").run((profile) => ({
        verb: "write",
        path: "a.txt",
        content: "",
        profile,
      }));
      expect(outcome).toBeUndefined();
      expect(problem).toMatchObject({ code: "ACCESS_DENIED", reason: "mode", mode: "plan" });
      expect(reply).toMatchObject({ isError: true, error: { code: "ACCESS_DENIED" } });
    });

    test(`${dialect}: a call that is cancelled is a problem, too`, async () => {
      const signal = AbortSignal.abort();
      const ran = await open(dialect).run(() => ({ verb: "glob", pattern: "*", path: undefined, filesMax: 1 }), {
        signal,
      });
      expect(ran.problem).toEqual({ code: "CANCELLED", tool: "glob" });
    });
  }

  test("the outcome is what the reply shows, cut to the bytes that an answer may have", async () => {
    fs.writeFileSync(join(top, "long.txt"), "a line of the file\n".repeat(1_000));
    const ranges = [{ from: 1, linesMax: Number.POSITIVE_INFINITY }] as never;
    const { outcome } = await open("claude").run(
      (profile) => ({ verb: "read", path: "long.txt", ranges, overBudget: "first page", profile }),
      { answerBytesMax: 2_000 },
    );
    if (outcome?.kind !== "text") throw new Error("a text is read as one");
    expect(outcome.pages[0].count).toBeLessThan(100);
    expect(outcome.pages[0].stopped).toBe("answer");
  });

  test("a bug is no problem: it is thrown", async () => {
    const broken = () => {
      throw new TypeError("made up");
    };
    await expect(
      open("claude").run((profile) => ({ verb: "outline", path: "a.txt", profile }), {
        words: { renderProblem: broken, render: broken },
      }),
    ).rejects.toThrow("made up");
  });
});
