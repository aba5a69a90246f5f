/**
 * A Filehand whose own defences are gone: its root is the whole disk, every question is answered with yes, secrets are no secrets,
 * so the guard agrees to every path and the walk follows every symlink. Only the kernel is left. Started by sabotage.test.ts, which
 * also starts it unconfined: then everything must get out. Argument: JSON. Prints JSON.
 */

import * as fs from "node:fs";
import { connect } from "node:net";
import { runRipgrep } from "../../src/search/ripgrep.ts";
import { confine } from "../../src/confinement/landlock.ts";
import { rightsFor } from "../../src/confinement/rights.ts";
import { createFilehand } from "../../src/index.ts";

export interface Task {
  readonly confined: boolean;
  readonly writable: boolean;
  readonly root: string;
  readonly state: string;
  /** Content of every file outside. */
  readonly secret: string;
  readonly calls: readonly { readonly tool: string; readonly input: object }[];
  /** Read again and again while another process swaps names. */
  readonly raced?: { readonly path: string; readonly times: number };
  readonly ripgrep?: string;
  readonly port?: number;
}

const task = JSON.parse(process.argv[2] ?? "") as Task; // written by the test
const { root, state, secret } = task;
const session = createFilehand({
  roots: ["/"],
  cwd: root,
  stateDir: state,
  history: false,
  ask: "yes",
  secrets: "allow",
  readFirst: false,
  dedup: false,
  lineEdits: true,
  fileTools: ["delete", "move", "copy", "make-folder"],
}).session({ dialect: "claude" });

if (task.confined) {
  const rights = rightsFor({
    roots: [root],
    writable: task.writable,
    stateDir: state,
    startsPrograms: false,
    commands: [],
    program: process.argv[1] ?? "",
    home: undefined,
    env: {},
    more: {},
    network: "closed",
  });
  const run = task.ripgrep === undefined ? rights.run : [...rights.run, task.ripgrep];
  const now = await confine({ ...rights, run });
  if (now.is === "off") throw new Error(`not confined: ${now.why}`);
}

const replies: { readonly tool: string; readonly leaked: boolean; readonly isError: boolean }[] = [];
for (const { tool, input } of task.calls) {
  const reply = await session.call(tool, input);
  replies.push({ tool, leaked: JSON.stringify(reply).includes(secret), isError: reply.isError });
}

const raced = { escapes: 0, shown: 0, refused: 0 };
for (let left = task.raced?.times ?? 0; left > 0; left -= 1) {
  const reply = await session.call("Read", { file_path: task.raced?.path });
  if (JSON.stringify(reply.content).includes(secret)) raced.escapes += 1;
  else if (reply.isError) raced.refused += 1;
  else raced.shown += 1;
}

let searched = "";
if (task.ripgrep !== undefined) {
  const end = await runRipgrep([], {
    cwd: root,
    signal: new AbortController().signal,
    where: { path: task.ripgrep, notBeneath: [], kinds: ["path"] },
    onChunk: (chunk) => {
      searched += chunk.toString("utf8");
      return "more";
    },
  });
  searched += JSON.stringify(end);
}

const connected =
  task.port === undefined
    ? ""
    : await new Promise<string>((resolve) => {
        connect(task.port ?? 0, "127.0.0.1", () => resolve("connected")).once("error", (error: NodeJS.ErrnoException) =>
          resolve(error.code ?? ""),
        );
      });
process.stdout.write(
  JSON.stringify({ replies, raced, searched, connected, threads: fs.readdirSync("/proc/self/task").length }),
  () => process.exit(0),
);
