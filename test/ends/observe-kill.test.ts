/**
 * Hooks, undo and redo as processes of their own, each killed (SIGKILL) at any moment of its work, again and again. What was
 * acknowledged is never lost: every file is as it was or as it was to become, and the next command brings the whole tree to where it
 * belongs. `npm run test:history` makes more rounds.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, onTestFinished, test } from "vitest";
import { onWindows } from "../support/workspace.ts";
import { commandLine, environment, run, temporaryFolder } from "./run.ts";

/** Each is six to eight processes. */
const rounds = Number(process.env["FILEHAND_SHELL_ROUNDS"] ?? 8);

type Step = "note" | "record" | "undo" | "redo";
const steps: readonly Step[] = ["record", "undo", "note", "redo"];

const tally = { rounds: 0, undone: 0, redone: 0, fell: { note: 0, record: 0, undo: 0, redo: 0, afterwards: 0 } };
afterAll(() => {
  if (rounds > 8) process.stdout.write(`killed around shell commands: ${JSON.stringify(tally)}\n`);
});

const makeTree = `
  mkdir -p src/deep docs empty bin
  for i in $(seq 1 40); do printf 'file %s\\nsecond line\\n' $i > src/f$i.ts; done
  head -c 300000 /dev/urandom > bin/data.bin; printf '#!/bin/sh\\n' > bin/run; chmod 755 bin/run
  printf 'deep\\n' > src/deep/x; ln -s ../docs src/link; printf 'doc\\n' > docs/a.md; chmod 600 docs/a.md
`;
const commands = [
  (round: number) => `rm -rf src/f1* src/deep; echo ${round} > new-${round}.txt`,
  (round: number) => `mkdir -p lib${round}; mv src/f2* lib${round}/; sed -i 's/second/${round}/' src/*.ts`,
  (round: number) =>
    `chmod -R go-rwx src; head -c 200000 /dev/urandom > bin/data.bin; ln -sfn ../bin src/link; : ${round}`,
  (round: number) => `rm -rf src docs; mkdir -p src/a${round}/b; printf '${round}' > src/f30.ts`,
] as const;

/** Every name with its kind, mode and content. */
function treeOf(folder: string): Readonly<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const name of fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()) {
    const path = join(folder, name);
    const stat = fs.lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) tree[name] = `link ${fs.readlinkSync(path)}`;
    else
      tree[name] = stat.isDirectory()
        ? `folder ${mode}`
        : `file ${mode} ${createHash("sha256").update(fs.readFileSync(path)).digest("hex").slice(0, 12)}`;
  }
  return tree;
}

test.skipIf(onWindows)(
  `killed ${rounds} times around shell commands`,
  async () => {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const work = join(folder.path, "work");
    fs.mkdirSync(work);
    const sh = (command: string): void => void execFileSync("sh", ["-c", command], { cwd: work });
    sh(makeTree);
    const env = environment({ XDG_STATE_HOME: join(folder.path, "state") });
    /** How long it last took, so that kills come at any moment of it on any machine. */
    const tookMs: Record<Step, number> = { note: 300, record: 300, undo: 300, redo: 300 };
    /** Its exit code; undefined if it was killed. */
    const start = async (step: Step, args: readonly string[], input: string, isKilled: boolean) => {
      const beganMs = performance.now();
      const child = spawn(process.execPath, [commandLine, ...args], {
        cwd: work,
        env,
        stdio: ["pipe", "pipe", "pipe"],
      });
      let said = "";
      for (const pipe of [child.stdout, child.stderr]) pipe.setEncoding("utf8").on("data", (part) => (said += part));
      child.stdin.on("error", () => undefined);
      child.stdin.end(input);
      const timer = isKilled ? setTimeout(() => child.kill("SIGKILL"), Math.random() * 1.1 * tookMs[step]) : undefined;
      const [code, signal] = (await once(child, "close")) as [number | null, string | null];
      clearTimeout(timer);
      if (signal === null) tookMs[step] = performance.now() - beganMs;
      if (isKilled) tally.fell[signal === null ? "afterwards" : step] += 1;
      return { code: signal === null ? code : undefined, said };
    };
    const hook = (step: "note" | "record", event: string, call: object, isKilled: boolean) => {
      const sent = { session_id: "s1", cwd: work, hook_event_name: event, ...call };
      return start(step, ["hook", "claude-code"], JSON.stringify(sent), isKilled);
    };
    const finished = async (running: ReturnType<typeof start>): Promise<void> => {
      const { code, said } = await running;
      equal(code, 0, said);
    };

    const newestTurn = async () => {
      const listed = await run(process.execPath, [commandLine, "history", "--json"], { cwd: work, env });
      type Turn = { readonly rewinds: { readonly as: string } | null };
      return (JSON.parse(listed.stdout) as { readonly turns: readonly Turn[] }).turns[0];
    };

    for (let round = 0; round < rounds; round += 1) {
      const step = steps[round % steps.length] ?? "record";
      const command = (commands[Math.floor(round / steps.length) % commands.length] ?? commands[0])(round);
      const before = treeOf(work);
      const call = { tool_name: "Bash", tool_use_id: `t${round}`, tool_input: { command } };
      if (step === "note") await hook("note", "PreToolUse", call, true);
      await finished(hook("note", "PreToolUse", call, false));
      sh(command);
      const after = treeOf(work);
      if (step === "record") await hook("record", "PostToolUse", call, true);
      // The client says nothing more of that command; the end of the conversation's turn records it, if it is not recorded yet.
      await finished(hook("record", step === "record" ? "Stop" : "PostToolUse", call, false));
      deepEqual(treeOf(work), after, `round ${round}: recording changes nothing`);

      const rewind = async (way: "undo" | "redo", from: typeof before, to: typeof before): Promise<void> => {
        const args = [way, "--session", "claude-code-s1", "--yes"];
        if (step === way) {
          await start(way, args, "", true);
          const now = treeOf(work);
          for (const name of new Set([...Object.keys(now), ...Object.keys(from), ...Object.keys(to)])) {
            // What it was writing beside a file has a name of ours. A folder may have the mode in which it can be filled.
            if (now[name] === from[name] || now[name] === to[name] || name.includes(".filehand")) continue;
            ok(now[name]?.startsWith("folder "), `round ${round}: "${name}" is ${now[name]?.slice(0, 60)}`);
          }
        }
        const isDone = step === way && JSON.stringify(treeOf(work)) === JSON.stringify(to);
        if (step === way && !isDone && round % 8 < 4 && (await newestTurn())?.rewinds?.as === way) {
          // It had begun: the part can be taken back, and all of it be made again. Every other time it is just made again.
          const back = way === "undo" ? "redo" : "undo";
          await finished(start(back, [back, ...args.slice(1)], "", false));
          deepEqual(treeOf(work), from, `round ${round}: a ${way} in part is taken back`);
        }
        if (!isDone) await finished(start(way, args, "", false));
        deepEqual(treeOf(work), to, `round ${round}: ${way}`);
      };
      await rewind("undo", after, before);
      tally.undone += 1;
      if (step !== "redo") continue;
      await rewind("redo", before, after);
      tally.redone += 1;
      await rewind("undo", after, before);
    }
    tally.rounds = rounds;
    const { afterwards } = tally.fell;
    ok(rounds < 40 || afterwards < rounds / 2, `killed in the middle: ${JSON.stringify(tally.fell)}`);
  },
  120_000 + rounds * 15_000,
);
