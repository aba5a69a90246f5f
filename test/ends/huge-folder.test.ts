/** A folder with very many entries: listed in bounded memory, and the nearest name found for one that is missing. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inMemory, workspace } from "../support/workspace.ts";
import { project, run } from "./run.ts";

const count = 400_000;

/** Says how long the event loop had to wait at most, besides the answers. */
const script = `
  const { createFilehand } = await import(process.argv[1]);
  const folder = process.argv[2];
  const session = createFilehand({ roots: [folder] }).session({ dialect: "claude" });
  let turns = 0;
  const timer = setInterval(() => { turns += 1; }, 1);
  const call = async (tool, input) => {
    turns = 0;
    const reply = await session.call(tool, input);
    return { text: reply.content[0].text.slice(0, 4_000), turns };
  };
  const list = await call("LS", { path: folder });
  const far = await call("LS", { path: folder, offset: 1_000 });
  const missing = await call("Read", { file_path: folder + "/entry-number-399999.tx" });
  clearInterval(timer);
  console.log(JSON.stringify({ list, far, missing }));
`;

interface Answer {
  readonly text: string;
  readonly turns: number;
}

test.skipIf(process.platform === "win32")(
  "a folder of 400,000 files is listed with 64 MB of heap, other work goes on, and a slip finds the file",
  async () => {
    const folder = workspace({}, inMemory());
    execFileSync(process.execPath, [
      "-e",
      `const fs = require("fs"); for (let at = 0; at < ${count}; at += 1) fs.writeFileSync(process.argv[1] + "/entry-number-" + at + ".txt", "");`,
      folder.top,
    ]);
    const args = ["--max-old-space-size=64", "--input-type=module", "-e", script];
    const { code, stdout, stderr } = await run(
      process.execPath,
      [...args, join(project, "dist", "index.js"), folder.top],
      { cwd: "/" },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { list, far, missing } = JSON.parse(stdout) as Record<"list" | "far" | "missing", Answer>;
    expect(list.text).toContain("entry-number-0.txt");
    expect(far.text).toContain("entry-number-");
    expect(missing.text).toContain("entry-number-399999.txt");
    for (const { turns } of [list, far, missing]) expect(turns).toBeGreaterThan(3);
  },
);

const searches = `
  const { readFileSync } = await import("node:fs");
  const { createFilehand } = await import(process.argv[1]);
  const folder = process.argv[2];
  const session = createFilehand({ roots: [folder] }).session({ dialect: "claude" });
  const cpuMs = () => Number(readFileSync("/proc/" + process.pid + "/task/" + process.pid + "/schedstat", "utf8").split(" ")[0]) / 1e6;
  const call = async (tool, input) => {
    let [last, longest] = [cpuMs(), 0];
    const turn = () => {
      const now = cpuMs();
      [last, longest] = [now, Math.max(longest, now - last)];
    };
    const timer = setInterval(turn, 1);
    const reply = await session.call(tool, input);
    turn();
    clearInterval(timer);
    return { text: reply.content[0].text.slice(0, 4_000), longest };
  };
  const glob = await call("Glob", { pattern: "**/*-99999.txt" });
  const again = await call("Glob", { pattern: "many/*-99999.txt" });
  const grep = await call("Grep", { pattern: "needle" });
  console.log(JSON.stringify({ glob, again, grep }));
`;

test.skipIf(process.platform !== "linux")(
  "Glob and Grep of a folder of 100,000 files take the event loop for at most 50 ms at a time",
  async () => {
    const folder = workspace({ many: {} }, inMemory());
    execFileSync(process.execPath, [
      "-e",
      `const fs = require("fs"); for (let at = 0; at < 100_000; at += 1) fs.writeFileSync(process.argv[1] + "/many/file-" + at + ".txt", at === 99_999 ? "needle" : "");`,
      folder.top,
    ]);
    const args = ["--input-type=module", "-e", searches, join(project, "dist", "index.js"), folder.top];
    const { code, stdout, stderr } = await run(process.execPath, args, { cwd: "/" });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const answers = JSON.parse(stdout) as Record<"glob" | "again" | "grep", { text: string; longest: number }>;
    for (const { text, longest } of Object.values(answers)) {
      expect(text).toContain("many/file-99999.txt");
      expect(longest).toBeLessThan(50);
    }
  },
);
