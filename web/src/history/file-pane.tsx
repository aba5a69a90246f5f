/** A file of a turn: the change of the turn, or a diff of any two versions. */

import { useEffect, useRef, useState } from "preact/hooks";
import type {
  FileVersionInfo,
  TurnFile,
  TurnInfo,
  VersionList,
  VersionRef,
} from "../../../src/surfaces/inspector/wire.ts";
import { Diff } from "../diff/diff.tsx";
import { inWorkspace } from "../live/live-state.ts";
import { post } from "../live/request.ts";
import { Failed, Waiting } from "../shell/parts.tsx";
import { useAsked } from "../shell/use-asked.ts";
import { size, time } from "../shell/words.ts";
import { Path } from "../text/shown-text.tsx";
import { Pane } from "../shell/pane.tsx";
import type { RewindWish } from "./rewind-pane.tsx";

interface FilePaneProps {
  readonly session: string;
  readonly turn: TurnInfo;
  readonly file: TurnFile;
  readonly onRewind: (wish: RewindWish) => void;
  readonly onClose: () => void;
}

export function FilePane({ session, turn, file, onRewind, onClose }: FilePaneProps) {
  const [comparing, setComparing] = useState(false);
  const at = (when: "before" | "after"): VersionRef =>
    file[when].sizeBytes === null
      ? { nothing: true }
      : { session, turn: turn.id, path: when === "before" ? (file.movedFrom?.path ?? file.path) : file.path, when };
  return (
    <Pane title={<Path path={file.relative} />} label={`Changes of ${file.relative}`} onClose={onClose}>
      <div class="pane-tools">
        <button type="button" class="button" aria-pressed={comparing} onClick={() => setComparing((before) => !before)}>
          Compare versions
        </button>
        <button type="button" class="button" onClick={() => onRewind({ session, to: turn.id, files: [file.path] })}>
          Rewind only this file…
        </button>
      </div>
      <div class="pane-body">
        {comparing ? (
          <Compare path={file.path} />
        ) : (
          <Diff of={{ before: at("before"), after: at("after") }} fill lead="What this turn did" />
        )}
      </div>
    </Pane>
  );
}

function Compare({ path }: { readonly path: string }) {
  const asked = useAsked(path, (signal) => post<VersionList>(inWorkspace("history/versions"), { path }, signal));
  if (asked.is === "failed") return <Failed message={asked.message} />;
  if (asked.answer === undefined) return <Waiting what="Asking for the versions…" />;
  return <ChosenVersions versions={asked.answer.versions} />;
}

function ChosenVersions({ versions }: { readonly versions: readonly FileVersionInfo[] }) {
  const [from, setFrom] = useState(0);
  const [to, setTo] = useState(versions.length - 1);
  const [before, after] = [versions[from], versions[to]];
  const first = useRef<HTMLSelectElement>(null);
  useEffect(() => first.current?.focus(), []);
  if (before === undefined || after === undefined) return <p class="notice">No version of this file is kept</p>;
  return (
    <>
      <div class="versions">
        <label>
          From
          <select ref={first} value={from} onChange={(event) => setFrom(Number(event.currentTarget.value))}>
            <VersionOptions versions={versions} />
          </select>
        </label>
        <label>
          to
          <select value={to} onChange={(event) => setTo(Number(event.currentTarget.value))}>
            <VersionOptions versions={versions} />
          </select>
        </label>
      </div>
      <Diff of={{ before: before.ref, after: after.ref }} fill lead={`Version ${from + 1} to version ${to + 1}`} />
    </>
  );
}

const VersionOptions = ({ versions }: { readonly versions: readonly FileVersionInfo[] }) => (
  <>
    {versions.map((version, index) => (
      <option key={index} value={index}>
        {versionWords(version, index)}
      </option>
    ))}
  </>
);

function versionWords({ ref, timeMs, sizeBytes, current, notKept }: FileVersionInfo, index: number): string {
  const when = "now" in ref ? "on the disk now" : timeMs === null ? "before the first change" : time(timeMs);
  const what = sizeBytes === null ? "no file" : size(sizeBytes);
  const notes = [current === true && !("now" in ref) ? "as it is now" : "", notKept === null ? "" : "not kept"];
  return [`${index + 1}. ${when}`, what, ...notes].filter((words) => words !== "").join(" · ");
}
