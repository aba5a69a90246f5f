/** A bar for work that takes long: on a terminal only, after half a second, on stderr. Not for programs (`--json`). */

import { sizeText } from "../../dialects/dialects.ts";
import type { Given, Host } from "./command.ts";

/** Shorter work needs no bar. */
const patienceMs = 500;
/** Faster updates would only cost time. */
const everyMs = 100;
const width = 30;

export type ProgressBar = ReturnType<typeof progressBar>;

/** `unit`: what is counted; bytes are shown as a size. */
export function progressBar(
  label: string,
  given: Given,
  host: Host,
  unit: "bytes" | "files" | "items" | "entries" | "matching files" = "bytes",
) {
  const { nowMs: now = () => performance.now() } = host;
  const startedMs = now();
  let shownMs: number | undefined;
  const show = (done: number, total: number): void => {
    const nowMs = now();
    if (nowMs - startedMs < patienceMs || nowMs - (shownMs ?? startedMs) < everyMs) return;
    if (total === 0 && unit !== "entries" && unit !== "matching files") return;
    shownMs = nowMs;
    // The number of entries and of matches is unknown until the end.
    if (total === 0) return void host.stderr.write(`\r${label}: ${done} ${unit} so far \x1b[K`);
    const filled = Math.round((width * done) / total);
    const bar = "█".repeat(filled) + "░".repeat(width - filled);
    const all = unit === "bytes" ? sizeText(total) : `${total} ${unit}`;
    host.stderr.write(`\r${label} ${bar} ${Math.floor((100 * done) / total)} % of ${all} \x1b[K`);
  };
  return {
    show: host.stderr.isTTY === true && !given.flag("json") ? show : () => undefined,
    /** Erases the bar before the answer is printed. */
    clear: (): void => {
      if (shownMs !== undefined) host.stderr.write("\r\x1b[K");
    },
  };
}
