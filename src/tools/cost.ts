/** What a text file would cost in tokens, measured while it streams. */

import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import { giveBuffer, ReadFailed, takeBuffer } from "../disk/disk.ts";
import { refusal } from "../guard/guard.ts";
import { countTokens, measureText, recognise } from "../kinds/kinds.ts";
import { locatePermitted } from "./locate.ts";
import type { ToolContext } from "./tool.ts";

export interface Cost {
  readonly tokens: number;
  /** `estimated`: the file is large, or no tokenizer is installed. */
  readonly counted: "counted" | "estimated";
  readonly lines: number | undefined;
  readonly sizeBytes: number;
  readonly tokensMax: number;
}

/** Larger texts are only estimated: counting them would take longer than it is worth. */
const countedCharsMax = 2_000_000;

/** For other kinds than text only the size is known without reading them. */
export async function costOf(
  path: string,
  profile: Profile,
  context: ToolContext,
): Promise<Cost | Pick<Cost, "sizeBytes">> {
  const { node, target } = await locatePermitted(path, "file", context);
  using _handle = node.handle;
  if (node.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
  if (node.kind !== "file") throw new Problem({ code: "SPECIAL_FILE", place: target, special: node.kind });
  const opened = context.disk.open(node);
  if ("errno" in opened) throw refusal(target, opened.errno, "opening it");
  using file = opened;
  const scratch = takeBuffer();
  try {
    const none = { known: undefined, keep: () => undefined };
    const recognised = await recognise(file, target, profile, context.restricted, scratch, none);
    if (recognised.as !== "text") return { sizeBytes: file.sizeBytes };
    const scanning = { store: context.indexes, signal: context.signal, onProgress: context.onProgress };
    const { tokens, lines, text } = await measureText(recognised, scanning, countedCharsMax);
    const exact = text === undefined ? undefined : await countTokens(text, context.signal);
    const tokensMax = profile.pageTokensMax ?? limits.pageTokensMax;
    const counted = exact === undefined ? "estimated" : "counted";
    return { tokens: Math.round(exact ?? tokens), counted, lines, sizeBytes: file.sizeBytes, tokensMax };
  } catch (error) {
    if (error instanceof ReadFailed) throw refusal(target, error.errno, "reading it");
    throw error;
  } finally {
    giveBuffer(scratch);
  }
}
