/** Write: a new file, or all of an old one anew. The content goes to disk as it was sent. */

import type { ChangeNote, Hunk, LineEndName, Piece } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { inTurns } from "../../disk/disk.ts";
import {
  encode,
  hunksBetween,
  hunksOfTexts,
  isWellFormed,
  lineEndOf,
  wellFormed,
  withLineEnds,
} from "../../text/text.ts";
import { change, type Diff, type Plan, type Planned } from "../change/change.ts";
import type { CurrentFile } from "../change/current-file.ts";
import { encoded } from "../edit/edit-text.ts";
import type { ToolContext, Tool } from "../tool.ts";

// A diff that is made when it is first looked at: while the disk is busy, or when somebody has to be shown it.

/** A class, for its getters: each object literal with getters of its own has a shape of its own, which stays in memory. */
class LaterDiff implements Diff {
  readonly #make: () => Diff;
  #made: Diff | undefined;

  constructor(make: () => Diff) {
    this.#make = make;
  }

  /** It costs nothing from then on. */
  made(): Diff {
    return (this.#made ??= this.#make());
  }

  get hunks(): readonly Hunk[] {
    return this.made().hunks;
  }
  get additions(): number {
    return this.made().additions;
  }
  get deletions(): number {
    return this.made().deletions;
  }
  get complete(): boolean {
    return this.made().complete;
  }
}

export const write: Tool<"write"> = async (request, context) => {
  const plan: Plan<undefined> = {
    wants: "notebook",
    profile: request.profile,
    overwrites: true,
    there: (current) => planOver(current, request.content, context),
    missing: (target) => ({ ...newTextFile(target, request.content), extra: undefined }),
  };
  const { file } = await change(request.path, plan, context);
  return { kind: "write", target: file.target, file, content: request.content, dryRun: context.dryRun };
};

/** All of a file anew. */
export async function planOver(current: CurrentFile, sent: string, context: ToolContext): Promise<Planned<undefined>> {
  const { target, bytes } = current;
  if (!isWellFormed(sent)) {
    throw new Problem({ code: "INVALID_PARAM", reason: "edit", place: target, fault: "lone surrogate" });
  }
  const old = bytes === undefined ? undefined : current.source().text;
  const lineEnds = { before: old === undefined ? undefined : lineEndOf(old), after: lineEndOf(sent) };
  const keeps = context.changes.writeEol === "keep" && (lineEnds.before === "LF" || lineEnds.before === "CRLF");
  const content = keeps ? withLineEnds(sent, lineEnds.before === "CRLF" ? "\r\n" : "\n") : sent;
  const pieces = contentPieces(current, content);
  const text = content.startsWith("\ufeff") ? content.slice(1) : content;
  const bringsMark = content.startsWith("\ufeff") && current.form.bomBytes === 0;
  const shown = old === undefined ? undefined : wellFormed(old);
  return {
    pieces,
    diff: shown === undefined ? unknownDiff : await diffOf(shown, text, context.signal),
    before: shown === undefined || shown.length > limits.changeCharsMax * 4 ? undefined : shown,
    notes: [
      ...(old === text && !bringsMark ? [{ note: "same content" } as const] : []),
      ...(keeps ? [] : lineEndNote(lineEnds.before, lineEnds.after)),
    ],
    wrote: "all",
    extra: undefined,
  };
}

/** Texts up to this many characters are compared at once, while the disk is busy. */
const laterCharsMax = 200_000;

async function diffOf(before: string, after: string, signal: AbortSignal): Promise<Diff> {
  if (before.length + after.length <= laterCharsMax) return new LaterDiff(() => hunksOfTexts(before, after));
  return inTurns(hunksBetween(before, after), signal);
}

/** The file's encoding and mark stay, unless the content has a mark of its own: then it is UTF-8 with that mark. */
function contentPieces(current: CurrentFile, content: string): readonly Piece[] {
  const { form } = current;
  if (content.startsWith("\ufeff")) {
    const encoding = form.bomBytes > 0 ? form.encoding : "utf-8";
    return [encoded(content, { form: { encoding, bomBytes: 0 }, target: current.target })];
  }
  const mark = form.bomBytes > 0 ? [{ from: 0, to: form.bomBytes }] : [];
  return content === "" ? mark : [...mark, encoded(content, current)];
}

/** Old content too large to be compared. */
const unknownDiff: Diff = { hunks: [], additions: 0, deletions: 0, complete: false, uncounted: true };

function lineEndNote(before: LineEndName | undefined, after: LineEndName | undefined): readonly ChangeNote[] {
  if (before === undefined || after === undefined || before === after) return [];
  return [{ note: "line ends", before, after }];
}

// The bytes and the diff of a file that is made from a text.

export function newTextFile(target: Target, text: string): { readonly bytes: Uint8Array; readonly diff: Diff } {
  const encoded = encode(text, "utf-8");
  if ("lacks" in encoded) {
    throw new Problem({ code: "INVALID_PARAM", reason: "edit", place: target, fault: "lone surrogate" });
  }
  return { bytes: encoded.bytes, diff: hunksOfTexts("", text) };
}
