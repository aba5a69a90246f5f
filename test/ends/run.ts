/** Runs programs the way a user does: a child process, its own folder, nothing of the caller's settings or colours. */

import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

export const project = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
export const commandLine = join(project, "dist", "filehand.cjs");

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly input?: string | Uint8Array;
  /** Put into the environment, or taken out of it where undefined. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** All that a program needs of its surroundings. Anything more (SHELL, CI, NO_COLOR) would make an answer depend on who runs the tests. */
const needed = ["PATH", "HOME", "TMPDIR", "LANG", "NODE_EXTRA_CA_CERTS"];

/** What a test's calls came to is neither in the figures of whoever runs the tests nor in those of other tests. */
let state: Folder | undefined;
afterAll(() => state?.remove());

export function environment(changes: RunOptions["env"] = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { TERM: "xterm", SHELL: "/bin/sh" };
  for (const name of needed) if (process.env[name] !== undefined) env[name] = process.env[name];
  env["XDG_STATE_HOME"] = (state ??= temporaryFolder()).path;
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
  return env;
}

export function run(program: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: options.cwd, env: environment(options.env) });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.stdin.on("error", () => undefined); // a child that ends before it has read everything is no fault of ours
    child.on("error", reject);
    child.on("close", (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString("utf8"), stderr: Buffer.concat(err).toString("utf8") }),
    );
    child.stdin.end(options.input ?? "");
  });
}

export interface Folder {
  readonly path: string;
  remove(): void;
}

/** Its path has no links in it, so that answers can be compared with it. */
export function temporaryFolder(): Folder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "filehand-test-")));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }) };
}
