/**
 * A folder with files, a history beside it, and hands that change files as the tools do: keep, then swap. Without the
 * syncs of the real swap, so that thousands of changes take a moment.
 */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import type { CurrentState, RewindKind, RewindPlan, RewindStep } from "../../src/contract/history.ts";
import { createDisk, type Disk } from "../../src/disk/disk.ts";
import { type OpenFile, wholeFile } from "../../src/disk/lookup/open-file.ts";
import { type History, type HistoryOptions, openHistory } from "../../src/history/history.ts";
import type { Kept } from "../../src/history/keeping.ts";
import type { SessionHistory } from "../../src/history/session-history.ts";
import { inodeFingerprint } from "../../src/state/state.ts";

export interface Bed {
  readonly history: History;
  readonly session: SessionHistory;
  readonly at: (name: string) => string;
  /** The folder of the store. */
  readonly store: string;
  readonly turn: (messageId: string, rewinds?: { readonly to: string; readonly as: RewindKind }) => Promise<void>;
  readonly write: (name: string, text: string | Uint8Array) => Promise<Kept>;
  readonly remove: (name: string, movedTo?: string) => Promise<Kept>;
  readonly move: (from: string, to: string) => Promise<void>;
  /** The whole tree: text and mode by name. */
  readonly tree: () => Record<string, string>;
  readonly plan: (messageId: string, files?: readonly string[]) => Promise<RewindPlan>;
  /** Plans and does it, as a turn of its own. Answers with what was planned for each file, by name. */
  readonly rewind: (
    to: string,
    as: { readonly id: string; readonly kind?: RewindKind; readonly force?: boolean },
  ) => Promise<Record<string, RewindStep>>;
  /** The content of a version. */
  readonly text: (content: string | undefined) => Promise<string>;
}

export type BedOptions = Partial<HistoryOptions> & { readonly sessionId?: string };

export function makeBed(top: string, options: BedOptions = {}): Bed {
  const workspace = nodePath.join(top, "work");
  fs.mkdirSync(workspace, { recursive: true });
  const disk = createDisk([workspace]);
  const root = fs.realpathSync(workspace);
  const at = (name: string): string => nodePath.join(root, name);
  const stateDir = nodePath.join(top, "state");
  const { sessionId = "one", ...rest } = options;
  const lockFolder = nodePath.join(top, "locks");
  const history = openHistory({ stateDir, isSecret: () => false, nowMs: Date.now, lockFolder, ...rest });
  const session = history.session({ id: sessionId, roots: [root], dialect: "claude" });
  let messageId = "m0";

  const change = async (
    name: string,
    after: { readonly bytes: Uint8Array; readonly mode?: number } | "absent",
    moved: { readonly movedTo?: string; readonly movedFrom?: string } = {},
  ): Promise<Kept> => {
    const path = at(name);
    const shared = { messageId, path, relative: name, tool: "Write", ...moved };
    const swap = (): void => {
      if (after === "absent") return fs.unlinkSync(path);
      fs.mkdirSync(nodePath.dirname(path), { recursive: true });
      const old = fs.existsSync(path) ? fs.statSync(path).mode & 0o777 : 0o644;
      fs.writeFileSync(`${path}.swap`, after.bytes);
      fs.chmodSync(`${path}.swap`, after.mode ?? old);
      fs.renameSync(`${path}.swap`, path);
    };
    const settled = async (kept: Kept): Promise<Kept> => {
      swap();
      const now = after === "absent" ? undefined : opened(disk, path);
      if (now !== undefined) session.done(kept, now.file.identity, now.file.mode);
      now?.close();
      return kept;
    };
    const before = opened(disk, path);
    if (before === undefined) return settled(await session.keep({ ...shared, before: "absent", after }));
    try {
      const { file } = before;
      return await settled(await session.keep({ ...shared, before: { file, will: "be renamed over" }, after }));
    } finally {
      before.close();
    }
  };

  const open = async (content: string): Promise<Buffer> => {
    const file = await session.open(content);
    if (typeof file === "string") throw new Error(`${content} is ${file}`);
    try {
      return (await wholeFile(file, 1_000_000_000)) ?? Buffer.alloc(0);
    } finally {
      file.close();
    }
  };

  const plan = (to: string, files?: readonly string[]): Promise<RewindPlan> =>
    session.plan(to, { current: (path) => currentState(disk, path), files });

  const turn: Bed["turn"] = async (id, rewinds) => {
    messageId = id;
    await session.checkpoint(id, rewinds);
  };

  return {
    history,
    session,
    at,
    store: nodePath.join(stateDir, "history"),
    turn,
    write: (name, text) => change(name, { bytes: typeof text === "string" ? Buffer.from(text) : text }),
    remove: (name, movedTo) => change(name, "absent", movedTo === undefined ? {} : { movedTo }),
    async move(from, to) {
      const mode = fs.statSync(at(from)).mode & 0o777;
      await change(to, { bytes: fs.readFileSync(at(from)), mode }, { movedFrom: at(from) });
      await change(from, "absent", { movedTo: at(to) });
    },
    tree: () => treeOf(root),
    plan,
    async rewind(to, { id, kind = "rewind", force = false }) {
      const planned = await plan(to);
      if (planned.found !== "turn") throw new Error(planned.found);
      await turn(id, { to, as: kind });
      for (const { relative, step } of planned.files) {
        const action = step.does === "conflict" && force ? step.forced : step;
        if (action.does === "delete") await change(relative, "absent");
        if (action.does !== "restore" && action.does !== "create") continue;
        const mode = action.mode === undefined ? {} : { mode: action.mode };
        await change(relative, { bytes: await open(action.content), ...mode });
      }
      return Object.fromEntries(planned.files.map(({ relative, step }) => [relative, step]));
    },
    text: async (content) => (content === undefined ? "nothing" : (await open(content)).toString()),
  };
}

function opened(disk: Disk, path: string): { readonly file: OpenFile; close(): void } | undefined {
  const found = disk.lookup(path);
  if (found.seen !== "node") return undefined;
  const file = disk.open(found);
  if ("errno" in file) throw new Error(file.errno);
  return {
    file,
    close: () => {
      file.close();
      found.handle.close();
    },
  };
}

export async function currentState(disk: Disk, path: string): Promise<CurrentState> {
  const found = disk.lookup(path);
  if (found.seen === "missing") return { kind: "absent" };
  if (found.seen !== "node") return { kind: "other", what: "outside" };
  found.handle.close();
  if (found.real !== path) return { kind: "other", what: "link" };
  if (found.kind !== "file") return { kind: "other", what: found.kind === "directory" ? "folder" : "special" };
  const open = opened(disk, path);
  if (open === undefined) return { kind: "absent" };
  open.close();
  const { identity, mode, links, sizeBytes } = open.file;
  const hash = async (): Promise<string> => createHash("sha256").update(fs.readFileSync(path)).digest("hex");
  return { kind: "file", sizeBytes, mode, links, fingerprint: inodeFingerprint(identity), hash };
}

export function treeOf(folder: string): Record<string, string> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return Object.fromEntries(
    names.flatMap((name) => {
      const stat = fs.lstatSync(nodePath.join(folder, name));
      if (!stat.isFile()) return [];
      return [[name, `${(stat.mode & 0o777).toString(8)} ${fs.readFileSync(nodePath.join(folder, name), "utf8")}`]];
    }),
  );
}

/** Every file of the store that holds a content, aside or not. */
export const blobFiles = (store: string): readonly string[] =>
  fs.existsSync(`${store}/blobs`)
    ? fs
        .readdirSync(`${store}/blobs`, { recursive: true, encoding: "utf8" })
        .filter((name) => name.includes("/"))
        .map((name) => nodePath.join(store, "blobs", name))
    : [];
