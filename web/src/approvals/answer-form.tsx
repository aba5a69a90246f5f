/** The answers to a question: once, always with one of its rules, or no with a message to the model. */

import { useState } from "preact/hooks";
import type { Keep } from "../../../src/contract/ask.ts";
import type { AnswerGiven, QuestionInfo } from "../../../src/surfaces/inspector/wire.ts";
import { Shown } from "../text/shown-text.tsx";
import { keepWords } from "./answer-words.ts";

interface AnswerFormProps {
  readonly question: QuestionInfo;
  readonly sending: boolean;
  readonly onAnswer: (given: Omit<AnswerGiven, "shown">) => Promise<void>;
  /** The checked hunks while hunks are chosen one by one. */
  readonly chosen: ReadonlySet<number> | undefined;
  readonly onChoose: (chosen: ReadonlySet<number> | undefined) => void;
}

const feedbackCharsMax = 2_000;

export function AnswerForm({ question, sending, onAnswer, chosen, onChoose }: AnswerFormProps) {
  const [mode, setMode] = useState<"buttons" | "always" | "reject">("buttons");
  if (mode === "always") {
    return <AlwaysForm question={question} sending={sending} onAnswer={onAnswer} onBack={() => setMode("buttons")} />;
  }
  if (mode === "reject") return <RejectForm sending={sending} onAnswer={onAnswer} onBack={() => setMode("buttons")} />;
  if (chosen !== undefined) {
    return (
      <div class="answers">
        <button
          type="button"
          class="button button-main"
          disabled={sending || chosen.size === 0}
          onClick={() => void onAnswer({ reply: "once", hunks: [...chosen].toSorted((a, b) => a - b) })}
        >
          Allow {chosen.size} of {question.hunks.length} hunks
        </button>
        <button type="button" class="button button-quiet" onClick={() => onChoose(undefined)}>
          Back
        </button>
      </div>
    );
  }
  return (
    <div class="answers">
      <button
        type="button"
        class="button button-main"
        disabled={sending}
        onClick={() => void onAnswer({ reply: "once" })}
      >
        Allow once
      </button>
      {question.hunks.length > 1 && (
        <button type="button" class="button" disabled={sending} onClick={() => onChoose(new Set())}>
          Choose hunks…
        </button>
      )}
      {question.always.length > 0 && (
        <button type="button" class="button" disabled={sending} onClick={() => setMode("always")}>
          Always allow…
        </button>
      )}
      <button type="button" class="button button-bad" disabled={sending} onClick={() => setMode("reject")}>
        Reject…
      </button>
      {question.always.length === 0 && <span class="quiet">This is asked about each time.</span>}
    </div>
  );
}

interface FormProps {
  readonly sending: boolean;
  readonly onAnswer: (given: Omit<AnswerGiven, "shown">) => Promise<void>;
  readonly onBack: () => void;
}

function AlwaysForm({ question, sending, onAnswer, onBack }: FormProps & { readonly question: QuestionInfo }) {
  const [rule, setRule] = useState(question.always[0] ?? "");
  const [keep, setKeep] = useState<Keep>(question.keep[0] ?? "session");
  const group = `rule-${question.id}`;
  return (
    <form
      class="answer-form"
      aria-label="Always allow"
      onSubmit={(event) => {
        event.preventDefault();
        void onAnswer({ reply: "always", rule, keep });
      }}
    >
      <fieldset>
        <legend>What shall always be allowed? The narrowest comes first.</legend>
        {question.always.map((one, index) => (
          <label key={one} class="check">
            <input
              type="radio"
              name={group}
              checked={one === rule}
              ref={(element) => focusFirst(element, index)}
              onChange={() => setRule(one)}
            />
            <code>
              <Shown text={one} />
            </code>
          </label>
        ))}
      </fieldset>
      <div class="answers">
        {question.keep.length > 1 && (
          <label class="check">
            Kept
            <select
              value={keep}
              onChange={(event) => setKeep(question.keep.find((one) => one === event.currentTarget.value) ?? "session")}
            >
              {question.keep.map((one) => (
                <option key={one} value={one}>
                  {keepWords[one]}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="submit" class="button button-main" disabled={sending}>
          Always allow
        </button>
        <button type="button" class="button button-quiet" onClick={onBack}>
          Back
        </button>
      </div>
    </form>
  );
}

function RejectForm({ sending, onAnswer, onBack }: FormProps) {
  const [feedback, setFeedback] = useState("");
  return (
    <form
      class="answer-form"
      aria-label="Reject"
      onSubmit={(event) => {
        event.preventDefault();
        void onAnswer(feedback.trim() === "" ? { reply: "reject" } : { reply: "reject", feedback: feedback.trim() });
      }}
    >
      <label class="answer-feedback">
        What shall it do instead? The model reads this; it may be left empty.
        <textarea
          rows={2}
          maxLength={feedbackCharsMax}
          value={feedback}
          ref={(element) => focusFirst(element, 0)}
          onInput={(event) => setFeedback(event.currentTarget.value)}
        />
      </label>
      <div class="answers">
        <button type="submit" class="button button-bad" disabled={sending}>
          Reject
        </button>
        <button type="button" class="button button-quiet" onClick={onBack}>
          Back
        </button>
      </div>
    </form>
  );
}

/** The form was just opened, so its first field gets the focus. */
function focusFirst(element: HTMLElement | null, index: number): void {
  if (index !== 0 || element === null || element.dataset["focused"] !== undefined) return;
  element.dataset["focused"] = "";
  element.focus();
}
