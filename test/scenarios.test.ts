/**
 * Every scenario folder, in every dialect it has calls for: the replies are compared whole with the replies file.
 * `UPDATE=1` rewrites that file; what changed is then reviewed as text, against the specification.
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createFilehand, type DialectName, type Reply } from "../src/index.ts";
import {
  buildWorkspace,
  callsOf,
  repliesFile,
  type Scenario,
  scenariosIn,
  whySkipped,
  wordsOf,
} from "./support/scenario.ts";

const scenarios = scenariosIn(fileURLToPath(new URL("scenarios", import.meta.url)));
const program = fileURLToPath(new URL("../dist/filehand.cjs", import.meta.url));

/** It stands still, so that no reply tells how long it took. */
const clock = { nowMs: () => 0 };

describe("scenarios", () => {
  for (const scenario of scenarios) {
    for (const dialect of scenario.dialects) {
      test.skipIf(whySkipped(scenario) !== undefined)(`${scenario.name} ${dialect}`, async () => {
        const replies = await repliesTo(scenario, dialect);
        const file = repliesFile(scenario, dialect);
        if (process.env["UPDATE"] === "1") fs.writeFileSync(file, replies);
        expect(replies).toBe(fs.readFileSync(file, "utf8"));
      });
    }
  }
});

async function repliesTo(scenario: Scenario, dialect: DialectName): Promise<string> {
  using workspace = buildWorkspace(scenario);
  const options = workspace.meant(scenario.options ?? {});
  let parts = 0;
  const ids = { next: () => `part-${++parts}` };
  const filehand = createFilehand({ ...options, roots: [workspace.root], clock, ids });
  const session = filehand.session({ dialect, id: "session-1" });
  const blocks: string[] = [];
  for (const call of callsOf(scenario, dialect)) {
    const reply = await session.call(call.tool, workspace.meant(call.input));
    blocks.push(wordsOf(call, workspace.shown(reply)));
  }
  await filehand.close();
  return blocks.join("\n");
}

test("every scenario says what it shows, has calls, and has no replies without calls", () => {
  for (const scenario of scenarios) {
    expect(scenario.shows, scenario.name).toMatch(/^[^\n]{10,}$/);
    expect(scenario.dialects, scenario.name).not.toEqual([]);
    const expected = scenario.dialects.map((dialect) => `replies.${dialect}.txt`).sort();
    const found = fs.readdirSync(scenario.folder).filter((name) => name.startsWith("replies."));
    expect(found.sort(), scenario.name).toEqual(expected);
  }
});

test("no two scenarios have the same number", () => {
  const numbers = scenarios.map(({ name }) => name.slice(0, 3));
  expect(numbers.filter((number) => !/^\d{3}$/.test(number))).toEqual([]);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test("a scenario run by hand through `filehand batch` gives the same structured replies", () => {
  const scenario = scenarios[0];
  if (scenario === undefined) throw new Error("There are no scenarios");
  using workspace = buildWorkspace(scenario);
  const calls = callsOf(scenario, "opencode");
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [program, "batch", "--root", workspace.root, "--dialect", "opencode"],
    {
      input: calls.map((call) => `${JSON.stringify(workspace.meant(call))}\n`).join(""),
      encoding: "utf8",
      // A home of its own: the settings of whoever runs the tests are not part of the scenario.
      env: { PATH: process.env["PATH"], HOME: workspace.root },
    },
  );
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  const answers = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly id: number; readonly reply: Reply });
  const words = answers.map(({ reply }, index) => {
    const call = calls[index];
    if (call === undefined) throw new Error("There are more answers than calls");
    return wordsOf(call, workspace.shown(reply));
  });
  expect(words.join("\n")).toBe(fs.readFileSync(repliesFile(scenario, "opencode"), "utf8"));
});
