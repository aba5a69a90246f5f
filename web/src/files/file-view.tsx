/** The workspace as a tree, with marks for files that were read, changed, that ask or are denied; and for each entry the explanation. */

import { useEffect, useState } from "preact/hooks";
import type { FolderView } from "../../../src/surfaces/inspector/wire.ts";
import { type LiveState, inWorkspace, workspaceOf } from "../live/live-state.ts";
import { messageOf, post } from "../live/request.ts";
import { useCallTimes } from "../live/use-call-times.ts";
import { ExplainPane } from "./explain-pane.tsx";
import { FileTree } from "./file-tree.tsx";
import type { Folder } from "./tree.ts";

const entriesMax = 500;
/** The most that the server returns at once. */
const askedMax = 1_000;

export function FileView({ live }: { readonly live: LiveState }) {
  const roots = workspaceOf(live)?.roots ?? [];
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set(roots));
  const [folders, setFolders] = useState<ReadonlyMap<string, Folder>>(new Map());
  const [selected, setSelected] = useState<string>();

  const load = async (path: string, from: number, max = entriesMax): Promise<void> => {
    let view: FolderView | undefined;
    let message = "";
    try {
      view = await post<FolderView>(inWorkspace("folder"), { path, from, max });
    } catch (error) {
      message = messageOf(error);
    }
    setFolders((before) => {
      const known = from === 0 ? [] : (before.get(path)?.entries ?? []);
      const entries = [...known, ...(view?.entries ?? [])];
      const total = view?.total ?? entries.length;
      return new Map(before).set(path, { entries, total, next: view?.next ?? null, message });
    });
  };

  const times = useCallTimes();
  const refresh = (): void => {
    for (const path of open) {
      const shown = folders.get(path)?.entries.length ?? 0;
      void load(path, 0, Math.min(askedMax, Math.max(entriesMax, shown)));
    }
  };
  // The marks have changed.
  useEffect(refresh, [live.resets, times]);

  const toggle = (path: string, show: boolean): void => {
    setOpen((before) => {
      const after = new Set(before);
      if (show) after.add(path);
      else after.delete(path);
      return after;
    });
    if (show) void load(path, 0);
  };

  return (
    <div class={`files ${selected === undefined ? "" : "files-open"}`}>
      <section class="files-tree" aria-label="Workspace">
        <div class="filters">
          <h1>Files</h1>
          <ul class="legend">
            <li>
              <span class="mark-read">read</span>
            </li>
            <li>
              <span class="mark-changed">changed</span>
            </li>
            <li>
              <span class="mark-ask">asks</span>
            </li>
            <li>
              <span class="mark-deny">denied</span>
            </li>
          </ul>
          <button type="button" class="button button-quiet" onClick={refresh}>
            Refresh
          </button>
        </div>
        <FileTree
          state={{ roots, open, folders }}
          selected={selected}
          onToggle={toggle}
          onSelect={setSelected}
          onMore={(path) => void load(path, folders.get(path)?.entries.length ?? 0)}
        />
      </section>
      {selected !== undefined && <ExplainPane key={selected} path={selected} onClose={() => setSelected(undefined)} />}
    </div>
  );
}
