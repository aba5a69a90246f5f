/** One question: the file, the reason, the diff, and the answers. */

import { useEffect, useState } from "preact/hooks";
import type { AnswerGiven, Answered, QuestionInfo } from "../../../src/surfaces/inspector/wire.ts";
import { Diff } from "../diff/diff.tsx";
import { answered, live, serverNowMs } from "../live/live-state.ts";
import { messageOf, post, RequestError } from "../live/request.ts";
import { Counts, Failed } from "../shell/parts.tsx";
import { countdown } from "../shell/words.ts";
import { Name, Path, Shown } from "../text/shown-text.tsx";
import { SessionName } from "../timeline/call-row.tsx";
import { AnswerForm } from "./answer-form.tsx";
import { cautionWords, permissionWords } from "./answer-words.ts";
import { HunkChoice } from "./hunk-choice.tsx";

interface QuestionCardProps {
  readonly question: QuestionInfo;
  /** Set if there are several workspaces. */
  readonly workspace: string | undefined;
  /** Is its diff shown from the beginning? */
  readonly open: boolean;
  readonly onAnswered: () => void;
}

export function QuestionCard({ question, workspace, open, onAnswered }: QuestionCardProps) {
  const [diffOpen, setDiffOpen] = useState(open);
  const [sending, setSending] = useState(false);
  const [message, setMessage] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<number> | undefined>();
  const title = `question-${question.id}`;

  const answer = async (given: Omit<AnswerGiven, "shown">): Promise<void> => {
    setSending(true);
    setMessage("");
    try {
      const address = `/api/questions/${encodeURIComponent(question.id)}/answer`;
      const done = await post<Answered>(address, { ...given, shown: question.shown });
      live.set((before) => answered(before, question.id, done));
      onAnswered();
    } catch (error) {
      const first = error instanceof RequestError ? error.refused?.answered : undefined;
      if (first === undefined) setMessage(messageOf(error));
      else live.set((before) => answered(before, question.id, first));
    } finally {
      setSending(false);
    }
  };

  const toggle = question.diff !== null && (
    <button
      type="button"
      class="button button-quiet"
      aria-expanded={diffOpen}
      onClick={() => setDiffOpen((before) => !before)}
    >
      {diffOpen ? "Hide the change" : "Show the change"} <Counts {...question.diff} />
    </button>
  );
  return (
    <article class="question" aria-labelledby={title}>
      <header class="question-head">
        <h2 id={title}>
          <Name text={question.tool} /> <span class="quiet">wants to {permissionWords[question.permission]}</span>{" "}
          {question.files.length > 0 ? (
            `${question.filesTotal} files`
          ) : (
            <Path path={question.relative === "" ? question.path : question.relative} />
          )}
        </h2>
        <TimeLeft deadlineMs={question.deadlineMs} />
      </header>
      <Why question={question} workspace={workspace} />
      {chosen !== undefined && <HunkChoice question={question} chosen={chosen} onChoose={setChosen} />}
      {question.diff !== null && chosen === undefined && (
        <div class="question-diff">
          {diffOpen && question.files.length === 0 ? (
            <Diff of={{ question: question.id }} workspace={question.workspace} lead={toggle} />
          ) : (
            <div class="diff-head">{toggle}</div>
          )}
          {diffOpen && <FileDiffs question={question} />}
        </div>
      )}
      {message !== "" && <Failed message={message} />}
      <AnswerForm question={question} sending={sending} onAnswer={answer} chosen={chosen} onChoose={setChosen} />
    </article>
  );
}

/** The files of a patch one after the other: they are changed together or not at all. */
function FileDiffs({ question }: { readonly question: QuestionInfo }) {
  const { files, filesTotal, workspace } = question;
  const more = filesTotal - files.length;
  return (
    <>
      {files.map((file, at) => (
        <section key={file.path}>
          <h3>
            <Path path={file.relative === "" ? file.path : file.relative} />
            {file.movedTo !== null && (
              <>
                {" moved to "}
                <Name text={file.movedTo} />
              </>
            )}
            {file.deletes && " is deleted"}
          </h3>
          {file.diff !== null && <Diff of={{ question: question.id, file: at }} workspace={workspace} />}
        </section>
      ))}
      {files.length > 0 && more > 0 && <p class="quiet">{more} more files are not shown</p>}
    </>
  );
}

function Why({ question, workspace }: { readonly question: QuestionInfo; readonly workspace: string | undefined }) {
  return (
    <>
      <p class="question-why">
        {question.rule === null ? (
          "Asked by default: no rule allows it"
        ) : (
          <>
            The rule{" "}
            <code>
              <Shown text={question.rule} />
            </code>{" "}
            asks
          </>
        )}
        {" · "}
        <SessionName id={question.session} client={question.client} />
        {workspace !== undefined && (
          <>
            {" · "}
            <Name text={workspace} />
          </>
        )}
        {question.asked !== null && (
          <>
            {" · asked for as "}
            <Name text={question.asked} />
          </>
        )}
        {question.movedFrom !== null && (
          <>
            {" · moved from "}
            <Name text={question.movedFrom} />
          </>
        )}
        {question.movedTo !== null && (
          <>
            {" · moved to "}
            <Name text={question.movedTo} />
          </>
        )}
        {question.copiedFrom !== null && (
          <>
            {" · copied from "}
            <Name text={question.copiedFrom} />
          </>
        )}
        {question.waits === "client" && " · the client shows this question too, and goes on when it comes back"}
      </p>
      {question.deletes && question.size.length === 0 && <p class="notice notice-warn">The file is deleted</p>}
      {question.size.map((words) => (
        <p class="notice notice-warn" key={words}>
          {words}
        </p>
      ))}
      {question.caution !== null && (
        <p class="notice notice-warn">
          <Shown text={cautionWords(question.caution)} />
        </p>
      )}
    </>
  );
}

/** Not a live region: a screen reader would read the clock aloud every second. */
function TimeLeft({ deadlineMs }: { readonly deadlineMs: number }) {
  const [now, setNow] = useState(serverNowMs);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNowMs()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const left = deadlineMs - now;
  return (
    <span class={`question-left ${left < 60_000 ? "question-left-short" : ""}`} title="Then it is rejected by itself">
      <span aria-hidden="true">{countdown(left)} left</span>
      <span class="hidden">is rejected by itself in {Math.max(1, Math.ceil(left / 60_000))} minutes</span>
    </span>
  );
}
