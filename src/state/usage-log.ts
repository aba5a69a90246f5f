/** Usage of sessions, a line each, in the state folder. One write appends a line; unreadable ones are skipped. */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { makeFolders } from "../disk/disk.ts";

export interface SessionUsage {
  readonly time: string;
  readonly dialect: string;
  readonly calls: number;
  readonly failures: number;
  readonly tokensGiven: number;
  readonly tokensSaved: number;
}

const fileName = "figures.jsonl";
/** Above this size the older half is removed. */
const bytesMax = 1_048_576;

/** Never throws: statistics are not worth a failed call. */
export function appendUsage(stateDir: string, usage: SessionUsage): void {
  try {
    makeFolders(stateDir, 0o700);
    const path = nodePath.join(stateDir, fileName);
    fs.appendFileSync(path, `${JSON.stringify(usage)}\n`, { mode: 0o600 });
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

export function readUsage(stateDir: string): readonly SessionUsage[] {
  let text: string;
  try {
    text = fs.readFileSync(nodePath.join(stateDir, fileName), "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      const value = JSON.parse(line) as SessionUsage; // checked by the next line
      return [value.calls, value.failures, value.tokensGiven, value.tokensSaved].every(Number.isFinite) ? [value] : [];
    } catch {
      return [];
    }
  });
}
