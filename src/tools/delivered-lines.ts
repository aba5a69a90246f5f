/**
 * Records in the ledger the lines that were shown whole by something else than a tool that was asked for them: by the context of an
 * answer, or by a shell command.
 */

import { isUtf8 } from "node:buffer";
import * as nodePath from "node:path";
import type { DeliveredLine } from "../contract/call.ts";
import { type LineSpan, Problem } from "../contract/problem.ts";
import { FileTruncated, hashOfContent, type OpenFile, ReadFailed } from "../disk/disk.ts";
import { type FileFingerprint, merged, type ShownElsewhere, type Sight } from "../session/session.ts";
import { linesShownByShell } from "../text/text.ts";
import { refuseDenied } from "./change/change-target.ts";
import { fingerprintOf, isHashed } from "./fingerprint.ts";
import type { ToolContext } from "./tool.ts";
import { atPath } from "./workspace-walk.ts";

/** Files of one answer that are read for it: an answer of a language server may name very many. */
const filesMax = 20;

/**
 * Each line is compared with the file as it is now: only one that stands there, under its number, counts. So an answer about a
 * file that was changed again meanwhile counts no line wrongly. Large files are left out.
 */
export async function noteDelivered(
  lines: readonly DeliveredLine[],
  context: Pick<ToolContext, "disk" | "ledger">,
): Promise<void> {
  for (const path of [...new Set(lines.map((line) => line.path))].slice(0, filesMax)) {
    const ofFile = lines.filter((line) => line.path === path);
    using file = openAt(path, context);
    if (file !== undefined) await noteInFile(file, path, ofFile, context);
  }
}

async function noteInFile(
  file: OpenFile,
  path: string,
  lines: readonly DeliveredLine[],
  { ledger }: Pick<ToolContext, "ledger">,
): Promise<void> {
  const fingerprint = fingerprintOf(file);
  const isNews = (span: LineSpan): boolean => !ledger.knows(path, fingerprint.statKey, span);
  if (!lines.some(({ line }) => isNews({ from: line, to: line }))) return;
  const content = await bytesOf(fingerprint);
  const texts = content === undefined ? undefined : linesOfContent(content);
  if (texts === undefined) return;
  const textAt = (line: number): string | undefined => texts[line - 1]?.replace(/\r$/, "");
  const there = lines.filter(({ line, text }) => textAt(line) === text).map(({ line }) => ({ from: line, to: line }));
  if (there.length > 0) await ledger.saw(path, fingerprint, sightOf(merged(there), texts));
}

/** As an editor counts them; undefined for a content that is not UTF-8. */
function linesOfContent(content: Uint8Array): readonly string[] | undefined {
  if (!isUtf8(content)) return undefined;
  const text = Buffer.from(content.buffer, content.byteOffset, content.length).toString("utf8");
  const texts = text.replace(/^\ufeff/, "").split("\n");
  if (texts.at(-1) === "") texts.pop();
  return texts;
}

/** `spans`: sorted, without overlaps. */
const sightOf = (spans: readonly LineSpan[], texts: readonly string[]): Sight => ({
  views: spans.map((span) => ({ ...span, hash: undefined })),
  cut: [],
  linesTotal: texts.length,
  texts: spans.map(({ from, to }) => ({ from, text: texts.slice(from - 1, to).join("\n") })),
});

/**
 * What another program showed of a file counts, if the file still has the content with this hash, and nothing otherwise. Large files
 * and those that are not UTF-8 are left out.
 */
export async function noteIfSame(
  path: string,
  { sha256, lines }: ShownElsewhere,
  context: Pick<ToolContext, "disk" | "ledger">,
): Promise<void> {
  using file = openAt(path, context);
  if (file === undefined) return;
  const fingerprint = fingerprintOf(file);
  const content = await bytesOf(fingerprint);
  if (content === undefined || sha256Of(content) !== sha256.toLowerCase()) return;
  const texts = linesOfContent(content);
  if (texts === undefined || texts.length === 0) return;
  const all = { from: 1, to: texts.length };
  const spans = (lines ?? [all]).flatMap(({ from, to }) =>
    from > texts.length ? [] : [{ from, to: Math.min(to, texts.length) }],
  );
  if (spans.length > 0) await context.ledger.saw(path, fingerprint, sightOf(merged(spans), texts));
}

/** What a shell command printed, as its client shows it to the model. */
export interface ShellOutput {
  readonly command: string;
  readonly output: string;
  /** The folder in which the command began; by default the one where relative paths start. */
  readonly cwd?: string;
}

/** Lines of a file that count as shown. */
export interface ShownFile extends ShownElsewhere {
  readonly path: string;
  readonly lines: readonly LineSpan[];
}

/** Bytes of all files that are compared with one output: splitting them into lines is one step. */
const comparedBytesMax = 4_194_304;

/** Counts the lines that a shell command showed, and answers with them. Never throws for a path that may not be read. */
export async function noteShell(
  { command, output, cwd }: ShellOutput,
  context: Pick<ToolContext, "disk" | "ledger" | "guard">,
): Promise<readonly ShownFile[]> {
  const asked = new Set<string>();
  linesShownByShell(command, output, (path) => void asked.add(path));
  const contents = new Map<string, { readonly real: string; readonly content: Uint8Array }>();
  let left = comparedBytesMax;
  for (const path of asked) {
    const real = readable(cwd === undefined ? path : nodePath.resolve(cwd, path), context);
    if (real === undefined) continue;
    using file = openAt(real, context);
    if (file === undefined || file.sizeBytes > left) continue;
    const content = await bytesOf(fingerprintOf(file));
    if (content === undefined || !isUtf8(content)) continue;
    left -= content.length;
    contents.set(path, { real, content });
  }
  const shown = linesShownByShell(command, output, (path) => {
    const found = contents.get(path);
    return found && Buffer.from(found.content).toString("utf8");
  });
  const files = shown.flatMap(({ path, lines }): ShownFile[] => {
    const found = contents.get(path);
    return found === undefined ? [] : [{ path: found.real, sha256: sha256Of(found.content), lines }];
  });
  for (const file of files) await noteIfSame(file.path, file, context);
  return files;
}

/** The real path of a file that no rule denies. */
function readable(path: string, context: Pick<ToolContext, "disk" | "guard">): string | undefined {
  try {
    const resolved = context.guard.resolve(path);
    if (resolved.seen === "missing") resolved.folder?.close();
    if (resolved.seen !== "node") return undefined;
    resolved.node.handle.close();
    refuseDenied(resolved.target, context, ["read"]);
    return resolved.target.real;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function openAt(path: string, context: Pick<ToolContext, "disk">): OpenFile | undefined {
  const opened = atPath(path, context, (node) => context.disk.open(node));
  if (opened === undefined || "errno" in opened) return undefined;
  if (isHashed(opened)) return opened;
  opened.close();
  return undefined;
}

/** Undefined if it cannot be read to its end. */
async function bytesOf({ content }: Pick<FileFingerprint, "content">): Promise<Uint8Array | undefined> {
  try {
    return await content();
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileTruncated) return undefined;
    throw error;
  }
}

const sha256Of = (content: Uint8Array): string => Buffer.from(hashOfContent(content), "base64").toString("hex");
