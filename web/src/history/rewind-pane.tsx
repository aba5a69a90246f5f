/** A rewind: first the plan, then, after a click, the result. */

import { useState } from "preact/hooks";
import type { RewindAsked, RewindFileView, RewindView } from "../../../src/surfaces/inspector/wire.ts";
import { Diff } from "../diff/diff.tsx";
import { live, inWorkspace } from "../live/live-state.ts";
import { messageOf, post, RequestError } from "../live/request.ts";
import { useStore } from "../live/store.ts";
import { announce } from "../shell/announce.tsx";
import { Badge, Empty, Failed, type Tone, Waiting } from "../shell/parts.tsx";
import { useAsked } from "../shell/use-asked.ts";
import { plural } from "../shell/words.ts";
import { Path, Shown } from "../text/shown-text.tsx";
import { cameWords, doesWords, whyWords } from "./history-words.ts";
import { Pane } from "../shell/pane.tsx";

export type RewindWish = Omit<RewindAsked, "force">;

/** Not `randomUUID`: it is missing where the page comes from another machine without TLS. */
const newName = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");

interface RewindPaneProps {
  readonly wish: RewindWish;
  readonly onClose: () => void;
}

export function RewindPane({ wish, onClose }: RewindPaneProps) {
  const [force, setForce] = useState(false);
  const [changed, setChanged] = useState<RewindView>();
  const [done, setDone] = useState<RewindView>();
  const [job, setJob] = useState<string>();
  const [message, setMessage] = useState("");
  const asked = useAsked(JSON.stringify([wish, force]), (signal) =>
    post<RewindView>(inWorkspace("history/plan"), { ...wish, force }, signal),
  );
  const plan = changed ?? asked.answer;

  const rewind = async (shown: RewindView): Promise<void> => {
    const name = newName();
    setJob(name);
    setMessage("");
    try {
      const view = await post<RewindView>(inWorkspace("history/rewind"), {
        ...wish,
        force,
        plan: shown.plan,
        job: name,
      });
      setDone(view);
      announce(`${titleOf(view)}: ${summaryOf(view)}`);
    } catch (error) {
      const fresh = error instanceof RequestError ? error.refused?.plan : undefined;
      if (fresh !== undefined) setChanged(fresh);
      setMessage(messageOf(error));
    } finally {
      setJob(undefined);
    }
  };

  return (
    <Pane title={titleOf(done ?? plan)} label="Rewind" onClose={onClose}>
      {message !== "" && <Failed message={message} />}
      {asked.is === "failed" && <Failed message={asked.message} />}
      {plan === undefined && asked.is === "waiting" && <Waiting what="Looking at the files…" />}
      {done !== undefined && (
        <p class="notice notice-good" role="status">
          {summaryOf(done)}.{done.turn !== null && ` It is a turn of its own: ${wayBack[done.as]} takes it back.`}
        </p>
      )}
      {done === undefined && plan !== undefined && (
        <PlanHead
          plan={plan}
          force={force}
          job={job}
          onForce={(next) => {
            setChanged(undefined);
            setForce(next);
          }}
          onRewind={() => void rewind(plan)}
        />
      )}
      <div class="pane-body">
        {(done ?? plan) !== undefined && <Files view={done ?? plan} done={done !== undefined} />}
      </div>
    </Pane>
  );
}

function titleOf(view: RewindView | undefined): string {
  if (view === undefined) return "Rewind";
  return {
    rewind: "Rewind",
    undo: "Undo the last turn",
    redo: "Redo what was undone",
    partial: "Rewind of some files",
  }[view.as];
}

const wayBack: Readonly<Record<RewindView["as"], "Undo" | "Redo">> = {
  rewind: "Redo",
  undo: "Redo",
  redo: "Undo",
  partial: "Undo",
};

function summaryOf({ files }: RewindView): string {
  const done = files.filter(({ came }) => came === "done").length;
  const left = files.filter(({ came, does }) => came === "left" && does !== "nothing").length;
  const refused = files.filter(({ came }) => came === "refused").length;
  return [
    `${plural(done, "file")} brought back`,
    ...(left > 0 ? [`${left} left as they are`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
  ].join(", ");
}

interface PlanHeadProps {
  readonly plan: RewindView;
  readonly force: boolean;
  readonly job: string | undefined;
  readonly onForce: (force: boolean) => void;
  readonly onRewind: () => void;
}

const acts = (file: RewindFileView, force: boolean): boolean =>
  ["restore", "create", "delete"].includes(file.does) || (force && file.does === "conflict" && file.forced !== null);

function PlanHead({ plan, force, job, onForce, onRewind }: PlanHeadProps) {
  const conflicts = plan.files.filter(({ does }) => does === "conflict").length;
  const todo = plan.files.filter((file) => acts(file, force)).length;
  return (
    <div class="plan-head">
      <p>
        {todo === 0
          ? "There is nothing to bring back."
          : `${plural(todo, "file")} would change. Nothing has been done yet.`}
        {plan.hiddenByRules > 0 &&
          ` ${plural(plan.hiddenByRules, "file")} that rules hide ${plan.hiddenByRules === 1 ? "is" : "are"} left alone.`}
      </p>
      {(conflicts > 0 || force) && (
        <label class="check">
          <input type="checkbox" checked={force} onChange={(event) => onForce(event.currentTarget.checked)} />
          Also over {plural(conflicts, "conflict")}: what others changed there is lost, but for this history
        </label>
      )}
      <div class="answers">
        <button
          type="button"
          class={`button ${force ? "button-bad" : "button-main"}`}
          disabled={todo === 0 || job !== undefined}
          onClick={onRewind}
        >
          {job === undefined ? `Change ${plural(todo, "file")}` : "At work…"}
        </button>
        {job !== undefined && <Progress job={job} />}
      </div>
    </div>
  );
}

function Progress({ job }: { readonly job: string }) {
  const progress = useStore(live).progress.get(job);
  return progress === undefined || progress.total === 0 ? (
    <progress aria-label="Rewind" />
  ) : (
    <progress aria-label="Rewind" value={progress.done} max={progress.total} />
  );
}

function Files({ view, done }: { readonly view: RewindView | undefined; readonly done: boolean }) {
  if (view === undefined || view.files.length === 0) return <Empty title="No file is concerned" />;
  return (
    <ul class="plan-files" aria-label="Files">
      {view.files.map((file) => (
        <PlanFile key={file.path} file={file} done={done} />
      ))}
    </ul>
  );
}

const tones: Readonly<Record<RewindFileView["does"], Tone>> = {
  restore: "accent",
  create: "good",
  delete: "bad",
  nothing: "calm",
  conflict: "warn",
  unavailable: "calm",
};

function PlanFile({ file, done }: { readonly file: RewindFileView; readonly done: boolean }) {
  const [open, setOpen] = useState(false);
  // A plan has no result yet.
  const came = !done || file.does === "nothing" ? "" : cameWords[file.came];
  const shows = file.came === "planned" || file.came === "left";
  const target = file.target ?? (file.does === "delete" ? ({ nothing: true } as const) : null);
  return (
    <li class="plan-file">
      <div class="plan-line">
        <Badge tone={tones[file.does]}>{doesWords[file.does]}</Badge>
        <Path path={file.relative} />
        {file.why !== null && <span class="quiet">{whyWords[file.why]}</span>}
        {file.does === "conflict" && file.forced !== null && (
          <span class="quiet">(with force: {doesWords[file.forced]})</span>
        )}
        {came !== "" && <Badge tone={file.came === "done" ? "good" : "warn"}>{came}</Badge>}
        {file.problem !== null && (
          <span class="quiet">
            <Shown text={file.problem} />
          </span>
        )}
        {shows && target !== null && file.does !== "nothing" && (
          <button
            type="button"
            class="button button-quiet"
            aria-expanded={open}
            onClick={() => setOpen((before) => !before)}
          >
            {open ? "Hide diff" : "Diff"}
          </button>
        )}
      </div>
      {open && target !== null && <Diff of={{ before: { now: file.path }, after: target }} />}
    </li>
  );
}
