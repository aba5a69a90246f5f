/** Write: creates a file, or overwrites all of an existing one. The content goes to disk as it was sent. */

import type { ChangeNote, LineEndName, Piece } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { runInSlices } from "../../disk/disk.ts";
import { encode, hunksBetween, isWellFormed, lineEndOf, wellFormed, withLineEnds } from "../../text/text.ts";
import { change, type Diff, type Plan, type Planned } from "../change/change.ts";
import type { CurrentFile } from "../change/current-file.ts";
import { encoded } from "../edit/edit-text.ts";
import type { ToolContext, Tool } from "../tool.ts";

export const write: Tool<"write"> = async (request, context) => {
  const plan: Plan<undefined> = {
    wants: "notebook",
    profile: request.profile,
    overwrites: true,
    there: (current) => planOver(current, request.content, context),
    missing: async (target) => ({ ...(await newTextFile(target, request.content, context)), extra: undefined }),
  };
  const { file } = await change(request.path, plan, context);
  return { kind: "write", target: file.target, file, content: request.content, dryRun: context.dryRun };
};

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
  const bringsBom = content.startsWith("\ufeff") && current.form.bomBytes === 0;
  const shown = old === undefined ? undefined : wellFormed(old);
  return {
    pieces,
    diff: shown === undefined ? unknownDiff : await runInSlices(hunksBetween(shown, text), context.signal),
    before: shown === undefined || shown.length > limits.changeCharsMax * 4 ? undefined : shown,
    notes: [
      ...(old === text && !bringsBom ? [{ note: "same content" } as const] : []),
      ...(keeps ? [] : lineEndNote(lineEnds.before, lineEnds.after)),
    ],
    wrote: "all",
    // The encoding may change with the BOM.
    ...(bringsBom && { indivisible: true }),
    extra: undefined,
  };
}

/** The file keeps its encoding and BOM. Content that begins with a BOM makes a file without one UTF-8. */
function contentPieces(current: CurrentFile, content: string): readonly Piece[] {
  const { form } = current;
  if (content.startsWith("\ufeff")) {
    const encoding = form.bomBytes > 0 ? form.encoding : "utf-8";
    return [encoded(content, { form: { encoding, bomBytes: 0 }, target: current.target })];
  }
  const bom = form.bomBytes > 0 ? [{ from: 0, to: form.bomBytes }] : [];
  return content === "" ? bom : [...bom, encoded(content, current)];
}

const unknownDiff: Diff = { hunks: [], additions: 0, deletions: 0, complete: false, uncounted: true };

function lineEndNote(before: LineEndName | undefined, after: LineEndName | undefined): readonly ChangeNote[] {
  if (before === undefined || after === undefined || before === after) return [];
  return [{ note: "line ends", before, after }];
}

export async function newTextFile(
  target: Target,
  text: string,
  { signal }: Pick<ToolContext, "signal">,
): Promise<{ readonly bytes: Uint8Array; readonly diff: Diff }> {
  const encoded = encode(text, "utf-8");
  if ("lacks" in encoded) {
    throw new Problem({ code: "INVALID_PARAM", reason: "edit", place: target, fault: "lone surrogate" });
  }
  return { bytes: encoded.bytes, diff: await runInSlices(hunksBetween("", text), signal) };
}
