/** Logs in the state folder: usage of sessions, and internal errors. One write appends a line; unreadable ones are skipped. */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { makeFolders } from "../../disk/disk.ts";

export interface SessionUsage {
  readonly time: string;
  readonly dialect: string;
  readonly calls: number;
  readonly failures: number;
  readonly tokensGiven: number;
  readonly tokensSaved: number;
}

/** An internal error, for `filehand doctor --report`. */
export interface InternalError {
  readonly time: string;
  readonly version: string;
  readonly stack: string;
}

const usageFile = "figures.jsonl";
const errorFile = "errors.jsonl";
/** Above this size the older half is removed. */
const bytesMax = 1_048_576;
/** Of one stack; a bug may quote what it was working on. */
const stackCharsMax = 4_000;

export const appendUsage = (stateDir: string, usage: SessionUsage): void => appendLine(stateDir, usageFile, usage);

export const appendError = (stateDir: string, error: InternalError): void =>
  appendLine(stateDir, errorFile, { ...error, stack: error.stack.slice(0, stackCharsMax) });

export const readUsage = (stateDir: string): readonly SessionUsage[] =>
  linesOf(stateDir, usageFile, (line: Partial<SessionUsage>): line is SessionUsage =>
    [line.calls, line.failures, line.tokensGiven, line.tokensSaved].every(Number.isFinite),
  );

export const readErrors = (stateDir: string): readonly InternalError[] =>
  linesOf(stateDir, errorFile, (line: Partial<InternalError>): line is InternalError =>
    [line.time, line.version, line.stack].every((value) => typeof value === "string"),
  );

/** Never throws: a log is not worth a failed call. */
function appendLine(stateDir: string, fileName: string, value: object): void {
  try {
    makeFolders(stateDir, 0o700);
    const path = nodePath.join(stateDir, fileName);
    fs.appendFileSync(path, `${JSON.stringify(value)}\n`, { mode: 0o600 });
    if (fs.statSync(path).size > bytesMax) shorten(path);
  } catch {
    // A full or read-only state folder.
  }
}

function shorten(path: string): void {
  const lines = fs.readFileSync(path, "utf8").split("\n");
  const temporary = `${path}.${process.pid}.tmp`;
  fs.writeFileSync(temporary, lines.slice(Math.floor(lines.length / 2)).join("\n"), { mode: 0o600, flag: "wx" });
  fs.renameSync(temporary, path);
}

function linesOf<Whole extends object>(
  stateDir: string,
  fileName: string,
  isWhole: (line: Partial<Whole>) => line is Whole,
): readonly Whole[] {
  let text: string;
  try {
    text = fs.readFileSync(nodePath.join(stateDir, fileName), "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      const value = JSON.parse(line) as Partial<Whole> | null; // checked by the next line
      return typeof value === "object" && value !== null && isWhole(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}
