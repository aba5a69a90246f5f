/** The tree of the workspace, folder by folder, with marks; and why a path may, or may not, be read and edited. */

import type { ExplanationView, Explained, FileEntry, FolderView } from "../../contract/inspector.ts";
import { verdictWords } from "../cli/permission-words.ts";
import { type Inspected, sessionNamed } from "./desk.ts";
import { type Fields, integer, maybeText, text } from "./input.ts";
import { isFailure, Refusal } from "./refusal.ts";

export async function folderView(body: Fields, inspected: Inspected): Promise<FolderView> {
  const asked = text(body, "path");
  const from = integer(body, "from", 0, Number.MAX_SAFE_INTEGER, 0);
  const max = integer(body, "max", 1, 1_000, 200);
  const page = await inspected.own.workspace.entries(asked, { from, max }).catch((error: unknown) => {
    if (!isFailure(error)) throw error;
    if (error.code === "NOT_FOUND") throw new Refusal(404, "NO_SUCH_PATH", error.message);
    throw new Refusal(422, "REFUSED", error.message);
  });
  const { path, relative, total } = page;
  const marksOf = markCounter(path, inspected);
  const entries = page.entries.map(
    ({ sizeBytes, ...entry }): FileEntry => ({ ...entry, sizeBytes: sizeBytes ?? null, ...marksOf(entry.name) }),
  );
  const end = from + entries.length;
  return { path, relative, entries, total, next: end < total && entries.length > 0 ? end : null };
}

interface Marks {
  readonly wasRead: number;
  readonly wasChanged: number;
}

/** One pass over all marks, whatever the folder holds: by the name of the entry that each lies in, or is. */
function markCounter(folder: string, { timeline }: Inspected): (name: string) => Marks {
  const counts = new Map<string, { wasRead: number; wasChanged: number }>();
  const start = /[\\/]$/.test(folder) ? folder : `${folder}${folder.includes("\\") ? "\\" : "/"}`;
  for (const [path, { read, changed }] of timeline.marks()) {
    if (!path.startsWith(start)) continue;
    const [name = ""] = path.slice(start.length).split(/[\\/]/, 1);
    const count = counts.get(name) ?? { wasRead: 0, wasChanged: 0 };
    counts.set(name, count);
    if (read) count.wasRead += 1;
    if (changed) count.wasChanged += 1;
  }
  return (name) => counts.get(name) ?? { wasRead: 0, wasChanged: 0 };
}

export function explained(body: Fields, inspected: Inspected): Explained {
  const path = text(body, "path");
  const session = maybeText(body, "session");
  const { permissions } = session === undefined ? inspected.desk.filehand : sessionNamed(inspected, session);
  const view = (tool: "Read" | "Edit"): ExplanationView => {
    const explanation = permissions.explain(tool, path);
    return { explanation, lines: verdictWords(explanation) };
  };
  return { read: view("Read"), edit: view("Edit") };
}
