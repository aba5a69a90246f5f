/** Records in the ledger the lines that an answer shows whole besides those that its tool was asked for. */

import { isUtf8 } from "node:buffer";
import type { DeliveredLine } from "../contract/call.ts";
import type { LineSpan } from "../contract/problem.ts";
import { FileTruncated, type OpenFile, ReadFailed } from "../disk/disk.ts";
import { merged } from "../session/session.ts";
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
    const opened = atPath(path, context, (node) => context.disk.open(node));
    if (opened === undefined || "errno" in opened) continue;
    using file = opened;
    try {
      if (isHashed(file)) await noteInFile(file, path, ofFile, context);
    } catch (error) {
      // A file that cannot be read to its end has no known state.
      if (!(error instanceof ReadFailed || error instanceof FileTruncated)) throw error;
    }
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
  const content = await fingerprint.content();
  if (content === undefined || !isUtf8(content)) return;
  const texts = Buffer.from(content.buffer, content.byteOffset, content.length)
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .split("\n");
  if (texts.at(-1) === "") texts.pop();
  const textAt = (line: number): string | undefined => texts[line - 1]?.replace(/\r$/, "");
  const there = lines.filter(({ line, text }) => textAt(line) === text).map(({ line }) => ({ from: line, to: line }));
  if (there.length === 0) return;
  const spans = merged(there);
  await ledger.saw(path, fingerprint, {
    views: spans.map((span) => ({ ...span, hash: undefined })),
    cut: [],
    linesTotal: texts.length,
    texts: spans.map(({ from, to }) => ({ from, text: texts.slice(from - 1, to).join("\n") })),
  });
}
