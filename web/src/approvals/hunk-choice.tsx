/** The hunks of a question, each with a box: what is checked is changed, and every other line stays as it is. */

import { useState } from "preact/hooks";
import type { Hunk } from "../../../src/contract/edit.ts";
import type { QuestionFile, QuestionInfo } from "../../../src/surfaces/inspector/wire.ts";
import { DiffView } from "../diff/diff-view.tsx";
import { useDiff } from "../diff/load.ts";
import { Counts, Failed, Waiting } from "../shell/parts.tsx";
import { Path } from "../text/shown-text.tsx";

interface HunkChoiceProps {
  readonly question: QuestionInfo;
  /** Indexes of the question's hunks. */
  readonly chosen: ReadonlySet<number>;
  readonly onChoose: (chosen: ReadonlySet<number>) => void;
}

type File = Pick<QuestionFile, "path" | "relative" | "deletes" | "movedTo">;

export function HunkChoice({ question, chosen, onChoose }: HunkChoiceProps) {
  const files: readonly File[] = question.files.length > 0 ? question.files : [question];
  const isPart = question.filesTotal > files.length;
  return (
    <fieldset class="hunks">
      <legend>Check what shall be changed. Every other line stays as it is.</legend>
      {files.map((file, at) => (
        <FileHunks key={file.path} question={question} file={file} at={at} chosen={chosen} onChoose={onChoose} />
      ))}
      {isPart && (
        <p class="quiet">{question.filesTotal - files.length} more files are not shown and stay as they are</p>
      )}
    </fieldset>
  );
}

/** Hunks that are on the page at once; more are added on demand. */
const shownStep = 50;

function FileHunks({ question, file, at, chosen, onChoose }: HunkChoiceProps & { file: File; at: number }) {
  const [shownMax, setShownMax] = useState(shownStep);
  const address = `/api/w/${encodeURIComponent(question.workspace)}/diff`;
  const { page, hunks, left, message } = useDiff(address, { question: question.id, file: at });
  const parts = question.hunks.flatMap((part, index) => (part.file === at ? [{ ...part, index }] : []));
  const name = file.relative === "" ? file.path : file.relative;
  const choose = (index: number, isChecked: boolean): void => {
    const next = new Set(chosen);
    if (isChecked) next.add(index);
    else next.delete(index);
    onChoose(next);
  };
  const shown = parts.slice(0, shownMax).filter(({ hunk }) => hunk === undefined || hunks[hunk] !== undefined);
  // The last hunk may still be loading.
  const ready = left > 0 ? shown.slice(0, -1) : shown;
  return (
    <section class="hunks-file">
      <h3>
        <Path path={name} />
      </h3>
      {message !== "" && <Failed message={message} />}
      {page === undefined && message === "" && <Waiting what="Asking for the diff…" />}
      {ready.map(({ index, hunk }) => (
        <HunkBox
          key={index}
          path={name}
          label={hunk === undefined ? wholeWords(file) : `Hunk ${hunk + 1} of ${parts.length}, ${placeOf(hunks[hunk])}`}
          hunks={hunk === undefined ? hunks : hunks.slice(hunk, hunk + 1)}
          checked={chosen.has(index)}
          onCheck={(isChecked) => choose(index, isChecked)}
        />
      ))}
      {parts.length > shownMax && (
        <button type="button" class="button button-quiet" onClick={() => setShownMax((before) => before + shownStep)}>
          Show more hunks
        </button>
      )}
      {page !== undefined && left === 0 && (parts.length === 0 || !page.complete) && (
        <p class="quiet">Not all of this change can be shown; what is not shown here stays as it is</p>
      )}
    </section>
  );
}

interface HunkBoxProps {
  readonly path: string;
  readonly label: string;
  readonly hunks: readonly Hunk[];
  readonly checked: boolean;
  readonly onCheck: (isChecked: boolean) => void;
}

const HunkBox = ({ path, label, hunks, checked, onCheck }: HunkBoxProps) => (
  <div class="diff-frame hunk">
    <label class="check hunk-head">
      <input type="checkbox" checked={checked} onChange={(event) => onCheck(event.currentTarget.checked)} />
      {label} <Counts additions={countOf(hunks, "+")} deletions={countOf(hunks, "-")} />
    </label>
    {hunks.length > 0 && <DiffView path={path} hunks={hunks} layout="unified" />}
  </div>
);

const countOf = (hunks: readonly Hunk[], sign: "+" | "-"): number =>
  hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.startsWith(sign)).length, 0);

const wholeWords = ({ deletes, movedTo }: File): string =>
  deletes ? "Delete this file" : movedTo === null ? "All of this file" : "Move and change this file";

function placeOf(hunk: Hunk | undefined): string {
  if (hunk === undefined) return "";
  const { oldStart, oldLines } = hunk;
  return oldLines < 2 ? `line ${oldStart}` : `lines ${oldStart} to ${oldStart + oldLines - 1}`;
}
