/** Replies on a terminal or a pipe: data on stdout, talk on stderr, colour only where a terminal shows it. */

import { styleText } from "node:util";
import type { Reply } from "../../contract/call.ts";
import { isFailure } from "../../contract/problem.ts";
import { type Line, person, personDialect, type Role, viewOf } from "../../dialects/dialects.ts";
import type { Session } from "../../options.ts";
import { appendError } from "../../state/state.ts";
import { visibleControls } from "../../text/text.ts";
import type { ExitCode, Given, Host } from "./command.ts";
import { stateDirOf } from "./open-session.ts";

// Only `coloured` decides whether there are colours.

export type Style = (format: Parameters<typeof styleText>[0], text: string) => string;

/** Keeps Node from deciding again by stdout and variables like CI. */
export const styled: Style = (format, text) => (text === "" ? "" : styleText(format, text, { validateStream: false }));

/** One line of JSON, with all characters escaped that a terminal would act on. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replace(/[\u007f-\u009f]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)}\n`;

export function printJson(value: unknown, host: Host): 0 {
  host.stdout.write(jsonLine(value));
  return 0;
}

export function print(text: string, host: Host): 0 {
  host.stdout.write(`${text}\n`);
  return 0;
}

/** Prints a reply and returns the exit code. A reply of `person` has colours, and its notes go to stderr; any other is printed unchanged. */
export function printReply(reply: Reply, given: Given, host: Host, words?: typeof person): ExitCode {
  if (given.flag("json")) {
    printJson(reply, host);
  } else if (words === person && !reply.isError) {
    const { body, notes } = viewOf(reply);
    if (body.length > 0 || notes.length === 0) host.stdout.write(`${paintedLines(body, host, "stdout")}\n`);
    if (notes.length > 0) host.stderr.write(`${paintedLines(notes, host, "stderr")}\n`);
  } else {
    const text = reply.content.map((part) => (part.type === "text" ? part.text : `[${part.mimeType}]`)).join("\n\n");
    const stream = reply.isError ? "stderr" : "stdout";
    const shown = shownText(text, host, stream);
    host[stream].write(`${reply.isError && coloured(host, stream) ? styled("red", shown) : shown}\n`);
  }
  return reply.isError ? 1 : 0;
}

/** Undefined for `--json`, for `--dialect`, and for a session in another dialect. */
export const wordsFor = (given: Given, session: Session): typeof person | undefined =>
  isForPerson(given) && session.dialect === personDialect ? person : undefined;

export const isForPerson = (given: Given): boolean => given.text("dialect") === undefined && !given.flag("json");

/** Escapes the control characters of files for a terminal; a pipe gets the exact text. */
export function shownText(text: string, host: Host, stream: "stdout" | "stderr"): string {
  return host[stream].isTTY === true || coloured(host, stream) ? visibleControls(text.replaceAll("\r\n", "\n")) : text;
}

/** Colour is for terminals; NO_COLOR and FORCE_COLOR are honoured. */
export function coloured(host: Host, stream: "stdout" | "stderr"): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = host.env;
  if (NO_COLOR !== undefined && NO_COLOR !== "") return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "" && FORCE_COLOR !== "0") return true;
  return host[stream].isTTY === true && TERM !== "dumb";
}

const styles: Readonly<Record<Role, Parameters<typeof styleText>[0] | undefined>> = {
  text: undefined,
  number: "dim",
  notice: "yellow",
  folder: "blue",
  link: "cyan",
  aside: "dim",
  kind: "cyan",
  file: "magenta",
  count: "green",
  match: ["red", "bold"],
};

/** Lines for people, with colours if the stream supports them. No newline at the end. */
export function paintedLines(lines: readonly Line[], host: Host, stream: "stdout" | "stderr"): string {
  const colours = coloured(host, stream);
  // Control characters are escaped piece by piece, because that changes the length of a piece.
  const painted = ({ role, text }: Line[number]): string => {
    const style = colours ? styles[role] : undefined;
    const shown = shownText(text, host, stream);
    return style === undefined ? shown : styled(style, shown);
  };
  return lines.map((line) => line.map(painted).join("")).join("\n");
}

// Refusals for programs: with `--json` they are on stdout, in the form of a reply.

export async function orJsonFailure(given: Given, host: Host, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if (!isFailure(error) || !given.flag("json")) throw error;
    const { code, message } = error;
    printJson({ isError: true, error: { code, message } }, host);
    return 1;
  }
}

// A bug stays a bug: the caller gets `INTERNAL`, the stack goes to the log, and the process lives on.

export function internalError(error: unknown, host: Host): Reply {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  keepError(stack, host);
  host.stderr.write(
    `filehand: internal error, this is a bug in Filehand: report it at ${bugAddress}, with what "filehand doctor --report" prints\n${stack}\n`,
  );
  return failedReply("INTERNAL", "Filehand failed by a fault of its own, the details are in its log");
}

/** For `filehand doctor --report`. */
export function keepError(stack: string, host: Host): void {
  const stateDir = stateDirOf(undefined, undefined, host);
  if (stateDir !== undefined) appendError(stateDir, { time: new Date().toISOString(), version, stack });
}

export const failedReply = (code: string, message: string): Reply => ({
  content: [{ type: "text", text: message }],
  structured: null,
  isError: true,
  error: { code, message },
});

// What package.json says; the bundler puts it in.

declare const FILEHAND_VERSION: string | undefined;
declare const FILEHAND_BUGS: string | undefined;

export const version: string = typeof FILEHAND_VERSION === "undefined" ? "unbuilt" : FILEHAND_VERSION;

/** Where bugs are reported. */
export const bugAddress: string = typeof FILEHAND_BUGS === "undefined" ? "unbuilt" : FILEHAND_BUGS;
