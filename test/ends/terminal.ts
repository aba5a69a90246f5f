/** Runs the program at a terminal, made by util-linux's `script`, and types answers when they are asked for. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { commandLine, environment, type Ran } from "./run.ts";

// Without such a program there is no output at all.
export const hasTerminal = String(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout).includes(
  "util-linux",
);

/** What a question ends with: then an answer is waited for. */
export const question = "/?] ";

const quoted = (part: string): string => `'${part.replaceAll("'", "'\\''")}'`;

export interface Typing {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** How long a person thinks about each answer, at least. */
  readonly answerAfterMs?: number;
}

/** Answers each question when it is asked; after the last answer comes the end of the terminal's input. */
export async function typing(
  answers: readonly string[],
  args: readonly string[],
  { cwd, env, answerAfterMs = 0 }: Typing,
): Promise<Pick<Ran, "code" | "stdout">> {
  // A shell that stays in between would tell of Ctrl-C in its own way.
  const command = `exec ${[process.execPath, commandLine, ...args].map(quoted).join(" ")}`;
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    cwd,
    env: environment({ TERM: "xterm-256color", ...env }),
  });
  onTestFinished(() => void child.kill());
  const left = [...answers];
  let stdout = "";
  let asked = 0;
  if (left.length === 0) child.stdin.end();
  child.stdin.on("error", () => undefined); // it may have ended without asking
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString("utf8");
    for (const questions = stdout.split(question).length - 1; asked < questions; asked += 1) {
      const answer = left.shift();
      if (answer === undefined) child.stdin.end();
      else setTimeout(() => child.stdin.write(answer), answerAfterMs);
    }
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout };
}
