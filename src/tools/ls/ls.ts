/** Ls: the entries of a folder, and of the folders in it as far as there is room. */

import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import type { LsRequest, TreeEntry, TreeOutcome } from "../../contract/read.ts";
import { lineNumber } from "../../contract/target.ts";
import {
  lookupEnd,
  type FolderEntry,
  kindOfEntry,
  withHandleClosed,
  type WalkEntry,
  type WalkFolder,
} from "../../disk/disk.ts";
import { refusal, type SearchView } from "../../guard/guard.ts";
import { type Ignored, ignoredIn, ignoredInNamed, isIgnored, isIgnoreFile } from "../../search/search.ts";
import { compareNames, FirstOnes, type GlobState, newGlobBudget, parseGlob, startGlobState } from "../../text/text.ts";
import { folderAgain, ignoredAt } from "../ignored-at.ts";
import { type Located, locatePermitted } from "../locate.ts";
import type { ToolContext, Tool } from "../tool.ts";

export const ls: Tool<"ls"> = async (request, context) => {
  const leaveOut = patternsOf(request);
  const located = await locatePermitted(request.path, "anything", context);
  using _handle = located.node.handle;
  if (located.node.kind !== "directory") throw new Problem({ code: "NOT_DIRECTORY", place: located.target });
  return await listTree(located, request, leaveOut, context);
};

function patternsOf({ ignore = [] }: LsRequest): readonly LeaveOut[] {
  const budget = newGlobBudget();
  return ignore.slice(0, limits.listIgnoreMax + 1).map((pattern, index) => {
    const parsed = index < limits.listIgnoreMax ? parseGlob(pattern, budget) : { fault: "too many choices" as const };
    if ("fault" in parsed)
      throw new Problem({ code: "INVALID_PARAM", reason: "pattern", pattern, fault: parsed.fault });
    return { state: startGlobState(parsed), foldersOnly: parsed.foldersOnly };
  });
}

/** A pattern of the call's `ignore`, advanced to the current folder. */
interface LeaveOut {
  readonly state: GlobState;
  readonly foldersOnly: boolean;
}

/** A folder of the tree while it is built. */
interface Branch {
  readonly real: string;
  /** What rules hide below its root, as of the call. */
  readonly view: SearchView;
  /** The names from the top of the workspace down to it. */
  readonly above: readonly string[];
  readonly ignored: Ignored;
  readonly leaveOut: readonly LeaveOut[];
  readonly entry: Draft | undefined;
}

type Draft = { -readonly [Key in keyof TreeEntry]: TreeEntry[Key] } & { entries?: Draft[] };

interface Tally {
  shown: number;
  leftOut: number;
  ignored: number;
  hiddenByRules: number;
}

/**
 * A page of the folder, and the tree below it: level by level, so that no level begins before the one above is complete, and
 * every folder of a level gets its share of the room. Entries that are not shown are counted.
 */
async function listTree(
  { target, node }: Located,
  request: LsRequest,
  leaveOut: readonly LeaveOut[],
  context: ToolContext,
): Promise<TreeOutcome> {
  const { from, entriesMax } = request;
  const depth = Math.min(request.depth ?? 1, limits.treeDepthMax);
  const tally: Tally = { shown: 0, leftOut: 0, ignored: 0, hiddenByRules: 0 };
  const above = target.realRelative === "" ? [] : target.realRelative.split("/");
  // Ignore files apply to a tree; a plain list shows every entry.
  const ignored = depth > 1 ? await ignoredAt(target, context) : { levels: [] };
  const view = context.guard.search(target.root);
  const top: Branch = { real: target.real, view, above, ignored, leaveOut, entry: undefined };

  const folder = context.disk.walk(node);
  const listed = await list(folder, top, from - 1 + entriesMax, depth > 1, tally, context);
  if ("errno" in listed) throw refusal(target, listed.errno, "listing it");
  const { total } = listed;
  if (from > 1 && from > total) {
    throw new Problem({ code: "INVALID_PARAM", reason: "range", place: target, of: "entries", from, total });
  }
  const page = listed.entries.slice(from - 1, from - 1 + entriesMax);
  const filled: Branch = { ...top, ignored: listed.ignored };
  const entries = await drafts(folder, page, filled, depth > 1, context);
  tally.shown += entries.length;
  const end = from - 1 + page.length;
  tally.leftOut += total - end;

  // A list of one level does not look into subfolders.
  let level = depth > 1 ? branchesOf(entries, filled) : [];
  let room = limits.treeEntriesMax;
  for (let at = 2; level.length > 0; at += 1) {
    const leaves = at > depth;
    const listings: Listing[] = [];
    for (const branch of level) {
      context.signal.throwIfAborted();
      listings.push(await listingOf(branch, room, tally, context));
    }
    const next: Branch[] = [];
    // Small folders first: the larger ones get the room that these leave.
    const bySize = listings.toSorted((a, b) => a.total - b.total);
    for (const [index, listing] of bySize.entries()) {
      const share = leaves ? 0 : Math.floor(room / (bySize.length - index));
      room -= await fill(listing, share, leaves ? "depth" : "budget", tally, context);
    }
    for (const { branch, ignored } of listings) {
      if (branch.entry?.entries !== undefined) next.push(...branchesOf(branch.entry.entries, { ...branch, ignored }));
    }
    level = leaves ? [] : next;
  }
  return {
    kind: "tree",
    target,
    from,
    depth,
    entries,
    entriesTotal: total,
    next: end < total ? lineNumber(end + 1) : undefined,
    ...tally,
  };
}

/** The first entries of a folder, as many as could be shown. */
interface Listing {
  readonly branch: Branch;
  readonly entries: readonly FolderEntry[];
  readonly total: number;
  readonly ignored: Ignored;
}

async function listingOf(branch: Branch, room: number, tally: Tally, context: ToolContext): Promise<Listing> {
  const none: Listing = { branch, entries: [], total: 0, ignored: branch.ignored };
  using folder = folderAgain(branch.real, context);
  const listed = folder === undefined ? { errno: "ENOENT" } : await list(folder, branch, room, true, tally, context);
  if ("errno" in listed) {
    if (branch.entry !== undefined) branch.entry.closed = "unreadable";
    return none;
  }
  const { total } = listed;
  if (branch.entry !== undefined) {
    branch.entry.entriesTotal = total;
    if (listed.leftOut > 0) branch.entry.entriesLeftOut = listed.leftOut;
  }
  return { branch, entries: listed.entries, total, ignored: listed.ignored };
}

/** Shows at most `share` entries of a folder. Returns how many. */
async function fill(
  { branch, entries, total, ignored }: Listing,
  share: number,
  closed: "depth" | "budget",
  tally: Tally,
  context: ToolContext,
): Promise<number> {
  const { entry } = branch;
  if (entry === undefined || entry.closed !== undefined || total === 0) return 0;
  if (share === 0) {
    entry.closed = closed;
    if (closed === "budget") tally.leftOut += total;
    return 0;
  }
  using folder = folderAgain(branch.real, context);
  if (folder === undefined) {
    entry.closed = "unreadable";
    return 0;
  }
  entry.entries = await drafts(folder, entries.slice(0, share), { ...branch, ignored }, true, context);
  tally.shown += entry.entries.length;
  tally.leftOut += total - entry.entries.length;
  return entry.entries.length;
}

/** Whether ignore files hide all of a folder is judged by its first so many entries, to bound the cost of a huge folder. */
const sampleMax = 1_000;

/**
 * The first entries in order, without those that are denied or that the call ignores, and how many there are. Memory does not
 * grow with the folder.
 */
async function list(
  folder: WalkFolder,
  branch: Branch,
  entriesMax: number,
  asksIgnored: boolean,
  tally: Tally,
  context: ToolContext,
) {
  const first = new FirstOnes<FolderEntry>(
    entriesMax,
    (a, b) => compareNames(a.name, b.name),
    () => 1,
  );
  let total = 0;
  let leftOut = 0;
  const sample: WalkEntry[] = [];
  const below = branch.above.map((name) => `${name}/`).join("");
  const refused = await folder.each((listed) => {
    const entry = { name: listed.name, kind: kindOfEntry(listed) };
    if (sample.length < sampleMax || listed.name === ".git" || isIgnoreFile(listed.name)) sample.push(listed);
    if (isDenied(entry, branch, below, context)) tally.hiddenByRules += 1;
    else if (isLeftOut(entry, branch)) tally.ignored += 1;
    else {
      total += 1;
      first.add(entry);
      return undefined;
    }
    leftOut += 1;
    return undefined;
  }, context.signal);
  if (refused !== undefined) return refused;
  const entries = first.sorted().slice(0, entriesMax);
  if (!asksIgnored) return { entries, total, leftOut, ignored: branch.ignored };
  const ignored =
    branch.entry === undefined
      ? (await ignoredInNamed(folder, sample, branch.above, branch.ignored)).ignored
      : await ignoredIn(folder, sample, branch.above.length, branch.ignored);
  return { entries, total, leftOut, ignored };
}

/** A symlink is denied under its own name or under that of its target. */
function isDenied({ name, kind }: FolderEntry, branch: Branch, below: string, { guard, disk }: ToolContext): boolean {
  if (!guard.denies) return false;
  if (kind !== "link") return branch.view.hides(below + name, kind === "directory" ? "folder" : "file");
  const path = nodePath.join(branch.real, name);
  const end = lookupEnd(withHandleClosed(disk.lookup(path)));
  return guard.denied("read", end === undefined ? [path] : [path, end.real], end?.is ?? "file") !== undefined;
}

const isLeftOut = ({ name, kind }: FolderEntry, { leaveOut }: Branch): boolean =>
  leaveOut.some(
    ({ state, foldersOnly }) => (kind === "directory" || !foldersOnly) && state.accepts(name.normalize("NFC"), "all"),
  );

async function drafts(
  folder: WalkFolder,
  entries: readonly FolderEntry[],
  { real, above, ignored }: Branch,
  opensFolders: boolean,
  context: ToolContext,
): Promise<Draft[]> {
  const made: Draft[] = [];
  for (const { name, kind: listedKind } of entries) {
    // Some file systems do not give the kind of an entry in a listing.
    const looking = listedKind === "file" || listedKind === "unknown" ? folder.glance(name) : undefined;
    const glance = looking instanceof Promise ? await looking : looking;
    const kind = listedKind === "unknown" ? (glance?.kind ?? listedKind) : listedKind;
    const entry: Draft = {
      name,
      kind,
      ...(kind === "file" && glance !== undefined ? { sizeBytes: glance.sizeBytes } : {}),
    };
    if (kind === "link") Object.assign(entry, leadOf(nodePath.join(real, name), context));
    if (opensFolders && kind === "directory" && (name === ".git" || isIgnored(ignored, above, name, "folder")))
      entry.closed = "ignored";
    made.push(entry);
  }
  return made;
}

/** Where a symlink leads, if that is inside the roots; nothing is revealed about targets outside. */
function leadOf(path: string, { disk }: ToolContext): Pick<TreeEntry, "leadsTo" | "linkText"> {
  const lookup = withHandleClosed(disk.lookup(path));
  if (lookup.seen !== "node") return {};
  const leadsTo = lookup.kind === "file" || lookup.kind === "directory" ? lookup.kind : "special";
  return { leadsTo, linkText: nodePath.relative(lookup.root.real, lookup.real) || "." };
}

function branchesOf(entries: readonly Draft[], parent: Branch): Branch[] {
  return entries
    .filter(({ kind }) => kind === "directory")
    .map((entry) => ({
      real: nodePath.join(parent.real, entry.name),
      view: parent.view,
      above: [...parent.above, entry.name],
      ignored: parent.ignored,
      leaveOut: parent.leaveOut.flatMap((one) => {
        const state = one.state.enter(entry.name.normalize("NFC"), "all");
        return state === undefined ? [] : [{ ...one, state }];
      }),
      entry,
    }));
}
