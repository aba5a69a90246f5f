/** Every verb on one path, so that an attack can be tried through each of them. */

import { lineNumber } from "../../src/contract/target.ts";
import type { Reply } from "../../src/contract/call.ts";
import type { Session } from "../../src/index.ts";
import { replyTo } from "./reading.ts";

export type Attempt = (path: string) => Promise<Reply>;

/** `inside` is a file of the workspace that a patch moves away, in the attempts that move something to the path. */
export function everyAttempt(session: Session<"claude">, inside: string): Readonly<Record<string, Attempt>> {
  const patch = (...lines: readonly string[]): Promise<Reply> =>
    replyTo(session, (profile) => ({
      verb: "patch",
      patchText: ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n"),
      profile,
    }));
  return {
    read: (path) => session.call("Read", { file_path: path }),
    ls: (path) => replyTo(session, () => ({ verb: "ls", path, from: lineNumber(1), entriesMax: 1_000 })),
    edit: (path) => session.call("Edit", { file_path: path, old_string: "content", new_string: "changed" }),
    "edit that makes a file": (path) => session.call("Edit", { file_path: path, old_string: "", new_string: "made" }),
    write: (path) => session.call("Write", { file_path: path, content: "written" }),
    "notebook-edit": (path) =>
      session.call("NotebookEdit", { notebook_path: path, new_source: "x", cell_type: "code", edit_mode: "insert" }),
    "patch that adds": (path) => patch(`*** Add File: ${path}`, "+added"),
    "patch that updates": (path) => patch(`*** Update File: ${path}`, "@@", "-content", "+changed"),
    "patch that deletes": (path) => patch(`*** Delete File: ${path}`),
    "patch that moves from": (path) =>
      patch(`*** Update File: ${path}`, "*** Move to: moved-away", "@@", "-content", "+changed"),
    "patch that moves to": (path) =>
      patch(`*** Update File: ${inside}`, `*** Move to: ${path}`, "@@", "-content", "+changed"),
  };
}

/** Those whose answer does not depend on a line of text: a path with a line end in it is no line of a patch. */
export const withoutPatch = (attempts: Readonly<Record<string, Attempt>>): Readonly<Record<string, Attempt>> =>
  Object.fromEntries(Object.entries(attempts).filter(([name]) => !name.startsWith("patch")));
