/** The care of what is kept: is it whole, how much is it, and away with what is not needed. */

import type { StoreFault } from "../../contract/history.ts";
import { escapeName } from "../../text/escape.ts";
import type { ExitCode, Given, Host } from "./command.ts";
import { timeText } from "./history-list.ts";
import { type Past, stopIfInterrupted } from "./past.ts";
import { type ProgressBar, progressBar, sizeText } from "./progress.ts";
import { printJson } from "./print.ts";

/** Between two steps nothing is half done. */
const interruptible =
  ({ show }: ProgressBar, host: Host): ProgressBar["show"] =>
  (done, total) => {
    stopIfInterrupted(host);
    show(done, total);
  };

/** Faults on the screen; `--json` has them all. */
const faultsMax = 100;

export async function verifyStore({ history }: Past, given: Given, host: Host): Promise<ExitCode> {
  const bar = progressBar("Checking", given, host, "items");
  const verified = await history.verify(interruptible(bar, host)).finally(() => bar.clear());
  const { records, contents, faults } = verified;
  const code = faults.length === 0 ? 0 : 1;
  if (given.flag("json")) {
    printJson(verified, host);
    return code;
  }
  const checked = `Checked ${records} records and ${contents} contents`;
  if (faults.length === 0) host.stdout.write(`${checked}: all are as they were written\n`);
  else {
    const lines = faults.slice(0, faultsMax).map((fault) => `  ${faultText(fault)}`);
    const more = faults.length > faultsMax ? [`  and ${faults.length - faultsMax} more`] : [];
    host.stdout.write(
      `${[`${checked}: ${faults.length} are not as they were written`, ...lines, ...more].join("\n")}\n`,
    );
  }
  return code;
}

function faultText(fault: StoreFault): string {
  switch (fault.fault) {
    case "damaged line":
      return `damaged line: ${escapeName(fault.file)} at byte ${fault.atByte}, session ${escapeName(fault.session)}`;
    case "unreadable":
      return `cannot be read: ${escapeName(fault.file)}`;
    case "damaged content":
    case "missing content": {
      const whose = fault.session === undefined ? "no session needs it" : `session ${escapeName(fault.session)}`;
      return `${fault.fault}: ${fault.content}, ${whose}`;
    }
  }
}

export async function showUsage({ history }: Past, given: Given, host: Host): Promise<ExitCode> {
  const usage = history.usage();
  if (given.flag("json")) {
    const { oldestMs, ...rest } = usage;
    const oldest = oldestMs === undefined ? null : new Date(oldestMs).toISOString();
    printJson({ ...rest, oldest }, host);
    return 0;
  }
  const { bytes, contents, contentBytes, journalBytes, asideBytes, sessions, oldestMs } = usage;
  const lines = [
    `In all: ${sizeText(bytes)}`,
    `Contents: ${contents}, ${sizeText(contentBytes)}`,
    `Sessions: ${sessions}, ${sizeText(journalBytes)}`,
    ...(asideBytes === 0 ? [] : [`No longer needed, to be removed: ${sizeText(asideBytes)}`]),
    ...(oldestMs === undefined ? [] : [`The oldest session began: ${timeText(new Date(oldestMs))}`]),
  ];
  host.stdout.write(`${lines.join("\n")}\n`);
  return 0;
}

export async function collectStore({ history }: Past, given: Given, host: Host): Promise<ExitCode> {
  const bar = progressBar("Tidying", given, host, "items");
  const collected = await history
    .gc({ onProgress: interruptible(bar, host), ifDue: given.flag("if-due") })
    .finally(() => bar.clear());
  if (given.flag("json")) {
    printJson(collected, host);
    return 0;
  }
  if (collected === "not due") {
    host.stdout.write("Nothing to do yet\n");
    return 0;
  }
  const { sessionsRemoved, contentsRemoved, bytesRemoved, over } = collected;
  const still = over ? "; it is still over the limit, for sessions in use need more" : "";
  host.stdout.write(
    `Removed ${sessionsRemoved} sessions and ${contentsRemoved} contents, ${sizeText(bytesRemoved)}${still}\n`,
  );
  return 0;
}
