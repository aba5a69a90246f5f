/** An edit in millions of places takes no memory for each of them, and other work goes on meanwhile. */

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { workspace } from "../support/workspace.ts";

const program = `
import * as fs from "node:fs";
const [library, folder] = process.argv.slice(1);
const { createFilehand } = await import(library);
const file_path = folder + "/file.txt";
fs.writeFileSync(file_path, ("a".repeat(79) + "\\n").repeat(375_000));
const session = createFilehand({ roots: [folder], ask: "yes", readFirst: false }).session({ dialect: "claude" });
let turns = 0;
const timer = setInterval(() => (turns += 1), 1);
const reply = await session.call("Edit", { file_path, old_string: "a", new_string: "b", replace_all: true });
clearInterval(timer);
const isRight = fs.readFileSync(file_path).equals(Buffer.from(("b".repeat(79) + "\\n").repeat(375_000)));
console.log(JSON.stringify({ said: reply.content[0].text, isRight, turns, MB: process.resourceUsage().maxRSS / 1024 }));
`;

test("replace_all of a letter in 30 MB is made with a small heap, in bounded memory and many turns of the event loop", () => {
  const { top } = workspace({});
  const library = new URL("../../dist/index.js", import.meta.url).href;
  const argv = ["--max-old-space-size=100", "--input-type=module", "-e", program, "--", library, top];
  const { said, isRight, turns, MB } = JSON.parse(execFileSync(process.execPath, argv, { encoding: "utf8" }));
  expect(said).toContain("29625000 replacements (+375000 -375000)");
  expect(isRight).toBe(true);
  expect(turns).toBeGreaterThan(50);
  expect(MB).toBeLessThan(400);
}, 60_000);
