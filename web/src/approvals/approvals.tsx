/** Open questions, each with everything that is needed to answer it; below them the closed ones with their answers. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Answered, QuestionInfo } from "../../../src/surfaces/inspector/wire.ts";
import type { LiveState } from "../live/live-state.ts";
import { announce } from "../shell/announce.tsx";
import { NotifySwitch } from "../shell/notify.tsx";
import { Empty } from "../shell/parts.tsx";
import { shownText } from "../text/shown.ts";
import { answerWords, byWords } from "./answer-words.ts";
import { PastQuestions } from "./past-questions.tsx";
import { QuestionCard } from "./question-card.tsx";

export function Approvals({ live }: { readonly live: LiveState }) {
  const top = useRef<HTMLHeadingElement>(null);
  const [notice, setNotice] = useState("");
  const tell = (question: QuestionInfo, answered: Answered): void => {
    const words =
      `${question.tool} ${shownText(question.relative)}: ${answerWords(answered)} ${byWords(answered)}`.trim();
    announce(words);
    setNotice(answered.by === "you" ? "" : words);
  };
  useAnsweredElsewhere(live, tell);
  const several = (live.hello?.workspaces.length ?? 1) > 1;
  return (
    <div class="approvals">
      <h1 ref={top} tabIndex={-1}>
        Approvals
      </h1>
      <NotifySwitch />
      {notice !== "" && <p class="notice notice-warn">{notice}</p>}
      {live.open.length === 0 ? (
        <Empty title="Nobody waits for an answer">
          <p>When a rule asks before a tool may read or change something, the question appears here at once.</p>
          <p>
            Agents that start <code>filehand mcp</code> themselves and can put questions to people do so themselves:
            answer those in the agent.
          </p>
        </Empty>
      ) : (
        <ol class="questions" aria-label="Open questions">
          {live.open.map((question, index) => (
            <li key={question.id}>
              <QuestionCard
                question={question}
                workspace={several ? question.workspace : undefined}
                open={index === 0}
                onAnswered={() => top.current?.focus({ preventScroll: true })}
              />
            </li>
          ))}
        </ol>
      )}
      <PastQuestions past={live.past} />
    </div>
  );
}

/** Announces open questions that were answered elsewhere. */
function useAnsweredElsewhere(
  { open, past }: LiveState,
  tell: (question: QuestionInfo, answered: Answered) => void,
): void {
  const before = useRef(open);
  useEffect(() => {
    for (const question of before.current) {
      const answered = past.find(({ id }) => id === question.id)?.answered;
      if (answered !== undefined && !open.some(({ id }) => id === question.id)) tell(question, answered);
    }
    before.current = open;
  }, [open, past]);
}
