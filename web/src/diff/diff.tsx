/** The change of one file: lines, images, or the reason why there is nothing to show. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { DiffAsked, DiffPage, NoDiff, VersionRef } from "../../../src/surfaces/inspector/wire.ts";
import { inWorkspace } from "../live/live-state.ts";
import { Badge, Choice, Counts, Failed, Waiting } from "../shell/parts.tsx";
import { count } from "../shell/words.ts";
import { Path } from "../text/shown-text.tsx";
import { DiffView } from "./diff-view.tsx";
import { ImagePair } from "./image-pair.tsx";
import { chooseLayout, useLayout } from "./layout.ts";
import { useDiff } from "./load.ts";

interface DiffProps {
  readonly of: DiffAsked["of"];
  /** Set for another workspace than the current one. */
  readonly workspace?: string;
  /** Fills the available height. */
  readonly fill?: boolean;
  /** Shown instead of the name and the counts, if these are shown elsewhere. */
  readonly lead?: ComponentChildren;
}

export function Diff({ of, workspace, fill = false, lead }: DiffProps) {
  const frame = useRef<HTMLDivElement>(null);
  const base = workspace === undefined ? inWorkspace("") : `/api/w/${encodeURIComponent(workspace)}/`;
  const { page, hunks, left, message } = useDiff(`${base}diff`, of);
  const { layout, room } = useLayout(frame);
  return (
    <div ref={frame} class={`diff-frame ${fill ? "diff-fill" : ""}`}>
      {page === undefined && message === "" && <Waiting what="Asking for the diff…" />}
      {page !== undefined && (
        <div class="diff-head">
          {lead ?? <DiffTitle page={page} />}
          {left > 0 && <span class="quiet">{count(left)} lines to come…</span>}
          {!page.complete && left === 0 && <span class="quiet">not all of it: the diff is too long</span>}
          {room && page.none === null && (
            <Choice
              label="Layout of the diff"
              value={layout}
              options={[
                ["split", "Side by side"],
                ["unified", "Unified"],
              ]}
              onChoose={chooseLayout}
            />
          )}
        </div>
      )}
      {message !== "" && <Failed message={message} />}
      {page !== undefined && <Body page={page} of={of} base={base} />}
      {hunks.length > 0 && page !== undefined && <DiffView path={page.relative} hunks={hunks} layout={layout} />}
    </div>
  );
}

const DiffTitle = ({ page }: { readonly page: DiffPage }) => (
  <>
    <Path path={page.relative} />
    {page.did !== "updated" && page.did !== "nothing" && <Badge tone="calm">{page.did}</Badge>}
    {page.movedFrom !== null && (
      <span class="quiet">
        from <Path path={page.movedFrom} />
      </span>
    )}
    {page.none === null && <Counts additions={page.additions} deletions={page.deletions} />}
  </>
);

function Body({ page, of, base }: { readonly page: DiffPage; readonly of: DiffAsked["of"]; readonly base: string }) {
  if (page.image && !("question" in of)) return <ImagePair address={`${base}image`} {...imagesOf(of)} />;
  return page.none === null ? null : <p class="notice">{noDiffWords[page.none]}</p>;
}

type Versions = Exclude<DiffAsked["of"], { readonly question: string }>;

function imagesOf(of: Versions) {
  if ("call" in of) {
    return { before: { ...of, when: "before" as const }, after: { ...of, when: "after" as const } };
  }
  return { before: of.before satisfies VersionRef, after: of.after satisfies VersionRef };
}

const noDiffWords: Readonly<Record<NoDiff, string>> = {
  same: "Both are the same",
  "not text": "This is not text, so there are no lines to compare",
  "too large": "The file is too large to be compared here",
  gone: "The content of one side is no longer kept",
  damaged: "The content of one side is damaged in the store",
  hidden: "The content is not shown: it holds secrets, or a rule keeps it from being read",
  none: "There is no diff of this change",
};
