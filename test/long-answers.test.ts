/** Answers to changes stay short, whatever the file and the call are. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createFilehand } from "../src/index.ts";
import { isWellFormed } from "../src/text/encoding/escape.ts";

/** The words of the answer to a call on a file with a text. */
async function answer(text: string, tool: string, input: object, dialect: "claude" | "opencode" = "claude") {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "filehand-")));
  const hand = createFilehand({ roots: [folder], ask: "yes", history: false, readFirst: false });
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  onTestFinished(() => hand.close());
  const file = path.join(folder, "a.txt");
  fs.writeFileSync(file, text);
  const named = dialect === "claude" ? { file_path: file } : { filePath: file };
  const { content } = await hand.session({ dialect }).call(tool, { ...named, ...input });
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

test("a long line that is shown after a loose match is cut between characters", async () => {
  const side = "\u{1f600}abc def ".repeat(20_000);
  const quoted = `${side}\u201cq\u201d${side}`;
  const told = await answer(quoted, "Edit", { old_string: '"q"', new_string: "x" });
  expect(told).toContain("the style of quotes aside");
  expect(told.length).toBeLessThan(5_000);
  expect(isWellFormed(told)).toBe(true);
  expect((await answer(quoted, "edit", { oldString: '"q"', newString: "x" }, "opencode")).length).toBeLessThan(5_000);
});

test("a MultiEdit that fails names the other edits as ranges", async () => {
  const lines = Array.from({ length: 400 }, (_, at) => `line ${at};\n`);
  const edits = lines.map((line, at) => ({ old_string: line, new_string: `now ${at};\n` }));
  const told = await answer(lines.join(""), "MultiEdit", {
    edits: [...edits.slice(0, 300), { old_string: "nowhere", new_string: "x" }, ...edits.slice(300)],
  });
  expect(told).toContain("; edits 1 to 300 and 302 to 401 would have been made");
});

test("each line of an ambiguous place is named once", async () => {
  expect(await answer("a a a\nb\na\n", "Edit", { old_string: "a", new_string: "x" })).toContain(
    "4 places (at lines 1, 3)",
  );
  expect(await answer("a a a\n", "Edit", { old_string: "a", new_string: "x" })).toContain("3 places (at line 1)");
  expect(await answer("a ".repeat(60), "Edit", { old_string: "a", new_string: "x" })).toContain(
    "60 places (the first 50 at line 1)",
  );
});
