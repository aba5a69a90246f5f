/** What lies under a path now, for whoever plans to bring back what was there. */

import * as nodePath from "node:path";
import type { CurrentState } from "../contract/history.ts";
import { limits } from "../contract/limits.ts";
import { hashOf } from "../disk/line-index.ts";
import type { Identity } from "../disk/look.ts";
import { type OpenFile, ReadFailed } from "../disk/open-file.ts";
import { FileCut } from "../disk/scan.ts";
import { parseTempName } from "../disk/temp-file.ts";
import { wholeFile } from "../disk/whole-file.ts";
import { markOf } from "../history/versions.ts";
import { signOf } from "./stamp.ts";
import type { Bench } from "./tool.ts";

export interface Seen {
  /** What the file is known by, to see later whether it is still that; or that there is none. */
  readonly sign: string;
  readonly mode: number | undefined;
}

/** Under this session's rules and borders. `seen` gets what was looked at, by path. */
export async function currentState(path: string, bench: Bench, seen: Map<string, Seen>): Promise<CurrentState> {
  const look = bench.disk.look(path);
  if (look.seen === "missing") {
    seen.set(path, { sign: "absent", mode: undefined });
    return missingState(path, bench);
  }
  if (look.seen !== "node") return { kind: "other", what: look.seen === "outside" ? "outside" : "refused" };
  try {
    if (look.real !== path) return { kind: "other", what: "link" };
    if (look.kind === "directory") return { kind: "other", what: "folder" };
    if (look.kind !== "file") return { kind: "other", what: "special" };
    const file = bench.disk.open(look);
    if ("errno" in file) return { kind: "other", what: "refused" };
    const { sizeBytes, mode, identity } = file;
    const bytes = await smallContent(file);
    const links = file.links > 1 ? file.links - (await leftoversOf(path, identity, bench)) : file.links;
    seen.set(path, { sign: signOf(identity), mode });
    const hash = async (): Promise<string> =>
      bytes === undefined ? hashOfPath(path, bench) : hashOf(bytes).toString("hex");
    return { kind: "file", sizeBytes, mode, links, mark: markOf(identity), hash };
  } finally {
    look.held.close();
  }
}

/** Names beside it that a writer of ours left when it was killed: the next change in the folder sweeps them away. */
async function leftoversOf(path: string, { device, inode }: Identity, { disk }: Bench): Promise<number> {
  const folder = nodePath.dirname(path);
  const above = disk.look(folder);
  if (above.seen !== "node") return 0;
  try {
    const entries = await disk.list(above);
    if ("errno" in entries) return 0;
    return entries.filter(({ name, kind }) => {
      if (kind !== "file" || !["new", "old"].includes(parseTempName(name)?.kind ?? "")) return false;
      const look = disk.look(nodePath.join(folder, name));
      if (look.seen !== "node") return false;
      look.held.close();
      return look.held.identity.device === device && look.held.identity.inode === inode;
    }).length;
  } finally {
    above.held.close();
  }
}

/** Above this, a file is read when somebody asks for its hash. */
const readAtOnceMax = 65_536;

/** Read while it is open, and closed: to find and open a small file again costs more than to read it. */
async function smallContent(file: OpenFile): Promise<Buffer | undefined> {
  try {
    return await wholeFile(file, readAtOnceMax);
  } catch (error) {
    // Perhaps nobody needs it. If somebody does, it fails again, and is told.
    if (error instanceof ReadFailed || error instanceof FileCut) return undefined;
    throw error;
  } finally {
    file.close();
  }
}

/** A file could be made there again, unless a link or something else took its place or that of a folder above it. */
async function missingState(path: string, { disk }: Pick<Bench, "disk">): Promise<CurrentState> {
  const above = nodePath.dirname(path);
  const look = disk.look(above);
  if (look.seen === "missing") return above === path ? { kind: "absent" } : missingState(above, { disk });
  if (look.seen !== "node") return { kind: "other", what: look.seen === "outside" ? "outside" : "refused" };
  try {
    if (look.real !== above) return { kind: "other", what: "link" };
    if (look.kind !== "directory") return { kind: "other", what: "special" };
    const entries = await disk.list(look);
    if ("errno" in entries) return { kind: "other", what: "refused" };
    // There is such a name, and yet it leads to nothing.
    return entries.some(({ name }) => name === nodePath.basename(path))
      ? { kind: "other", what: "link" }
      : { kind: "absent" };
  } finally {
    look.held.close();
  }
}

async function hashOfPath(path: string, bench: Bench): Promise<string> {
  const look = bench.disk.look(path);
  if (look.seen !== "node") return "";
  const file: OpenFile | { readonly errno: string } = bench.disk.open(look);
  look.held.close();
  if ("errno" in file) return "";
  try {
    const bytes = await wholeFile(file, limits.editBytesMax);
    return bytes === undefined ? "" : hashOf(bytes).toString("hex");
  } finally {
    file.close();
  }
}
