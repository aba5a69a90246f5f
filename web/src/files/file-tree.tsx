/** The tree. Arrow keys move, open and close; Enter shows the explanation. */

import { useRef, useState } from "preact/hooks";
import type { FileEntry } from "../../../src/surfaces/inspector/wire.ts";
import { rowAfterKey, scrollTopFor } from "../list/range.ts";
import { aloneQuery, useMedia } from "../list/use-narrow.ts";
import { useRange } from "../list/use-range.ts";
import { count, plural, size } from "../shell/words.ts";
import { Name, Shown } from "../text/shown-text.tsx";
import { treeMove, type TreeRow, treeRows, type TreeState } from "./tree.ts";

interface FileTreeProps {
  readonly state: TreeState;
  readonly selected: string | undefined;
  readonly onToggle: (path: string, show: boolean) => void;
  readonly onSelect: (path: string) => void;
  readonly onMore: (folder: string) => void;
}

const rowHeight = 28;

export function FileTree({ state, selected, onToggle, onSelect, onMore }: FileTreeProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = treeRows(state);
  const alone = useMedia(aloneQuery);
  const { range, viewport } = useRange(scroller, rowHeight, rows.length);
  const [active, setActive] = useState("");
  const at = Math.max(
    0,
    rows.findIndex(({ path }) => path === active),
  );

  const press = (row: TreeRow, by: "key" | "pointer"): void => {
    setActive(row.path);
    if (row.kind === "more") onMore(row.folder);
    if (row.kind !== "root" && row.kind !== "entry") return;
    const isFolder = row.open !== undefined;
    if (isFolder && by === "pointer") onToggle(row.path, !row.open);
    // If the pane would cover the tree, opening a folder does not open the pane.
    if (!isFolder || by === "key" || !alone) onSelect(row.path);
  };
  const move = (event: KeyboardEvent): void => {
    const row = rows[at];
    if ((event.key === "Enter" || event.key === " ") && row !== undefined) {
      event.preventDefault();
      press(row, "key");
      return;
    }
    const page = event.key.startsWith("Page") ? rowAfterKey(event.key, at, viewport()) : undefined;
    const step = page === undefined ? treeMove(event.key, rows, at) : { to: page };
    if (step === undefined) return;
    event.preventDefault();
    if ("open" in step) onToggle(step.open, true);
    else if ("close" in step) onToggle(step.close, false);
    else {
      setActive(rows[step.to]?.path ?? "");
      const top = scrollTopFor(step.to, viewport());
      if (top !== undefined) scroller.current?.scrollTo({ top });
    }
  };

  const shown = rows.slice(range.from, range.to);
  return (
    <div
      ref={scroller}
      class="tree"
      role="tree"
      tabIndex={0}
      aria-label="Files of the workspace"
      aria-activedescendant={at >= range.from && at < range.to ? rowId(at) : undefined}
      onKeyDown={move}
    >
      <div role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
        <div role="presentation" style={{ transform: `translateY(${range.from * rowHeight}px)` }}>
          {shown.map((row, index) => (
            <Row
              key={row.path}
              row={row}
              id={rowId(range.from + index)}
              active={range.from + index === at}
              selected={row.path === selected}
              onPress={() => press(row, "pointer")}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

const rowId = (index: number): string => `tree-${index}`;

interface RowProps {
  readonly row: TreeRow;
  readonly id: string;
  readonly active: boolean;
  readonly selected: boolean;
  readonly onPress: () => void;
}

function Row({ row, id, active, selected, onPress }: RowProps) {
  const open = row.kind === "root" || row.kind === "entry" ? row.open : undefined;
  return (
    <div
      id={id}
      class={`tree-row ${active ? "tree-active" : ""} ${selected ? "tree-selected" : ""}`}
      role="treeitem"
      aria-level={row.level}
      aria-expanded={open}
      aria-selected={selected}
      style={{ "--level": String(row.level) }}
      onClick={onPress}
    >
      <span
        class={`tree-arrow ${open === undefined ? "" : open ? "tree-arrow-open" : "tree-arrow-closed"}`}
        aria-hidden="true"
      />
      <RowWords row={row} />
    </div>
  );
}

function RowWords({ row }: { readonly row: TreeRow }) {
  switch (row.kind) {
    case "root":
      return <Name text={row.name} class="tree-root" />;
    case "entry":
      return <Entry entry={row.entry} />;
    case "more":
      return <span class="link">Show more ({count(row.left)} left)</span>;
    case "message":
      return (
        <span class="quiet">
          <Shown text={row.message} />
        </span>
      );
  }
}

const kindWords = { file: "", directory: "/", link: " (link)", special: " (device or pipe)", unknown: "" } as const;

function Entry({ entry }: { readonly entry: FileEntry }) {
  const isFolder = entry.kind === "directory";
  return (
    <>
      <Name text={`${entry.name}${kindWords[entry.kind]}`} class={entry.read === "deny" ? "tree-denied" : ""} />
      <span class="tree-marks">
        {entry.wasRead > 0 && <span class="mark-read">{isFolder ? `${count(entry.wasRead)} read` : "read"}</span>}
        {entry.wasChanged > 0 && (
          <span class="mark-changed">{isFolder ? `${count(entry.wasChanged)} changed` : "changed"}</span>
        )}
        {entry.read === "ask" && <span class="mark-ask">asks</span>}
        {entry.read === "deny" && <span class="mark-deny">denied</span>}
        {entry.read !== "deny" && entry.edit === "deny" && <span class="mark-deny">read only</span>}
      </span>
      {entry.sizeBytes !== null && !isFolder && (
        <span class="tree-size" title={plural(entry.sizeBytes, "byte")}>
          {size(entry.sizeBytes)}
        </span>
      )}
    </>
  );
}
