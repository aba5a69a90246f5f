/** Closed questions with their answers. */

import type { PastQuestion } from "../../../src/surfaces/inspector/wire.ts";
import { Badge, type Tone } from "../shell/parts.tsx";
import { fullTime, time } from "../shell/words.ts";
import { Name, Path, Shown } from "../text/shown-text.tsx";
import { answerWords, byWords, keepWords } from "./answer-words.ts";

export function PastQuestions({ past }: { readonly past: readonly PastQuestion[] }) {
  if (past.length === 0) return null;
  return (
    <section class="past">
      <h2 id="past-title">Answered</h2>
      <div class="table-frame" tabIndex={0} role="region" aria-labelledby="past-title">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Tool</th>
              <th scope="col">File</th>
              <th scope="col">Answer</th>
              <th scope="col">By</th>
            </tr>
          </thead>
          <tbody>
            {past.map((question) => (
              <Row key={question.id} question={question} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const tones: Readonly<Record<PastQuestion["answered"]["reply"], Tone>> = {
  once: "good",
  always: "good",
  reject: "bad",
  nobody: "warn",
};

function Row({ question: { tool, relative, path, answered } }: { readonly question: PastQuestion }) {
  return (
    <tr>
      <td title={fullTime(answered.timeMs)}>{time(answered.timeMs)}</td>
      <td>
        <Name text={tool} />
      </td>
      <td>
        <Path path={relative === "" ? path : relative} />
      </td>
      <td>
        <Badge tone={tones[answered.reply]}>
          <Shown text={answerWords(answered)} />
        </Badge>
        {answered.keep !== null && <span class="quiet"> {keepWords[answered.keep]}</span>}
        {answered.feedback !== null && (
          <q>
            <Shown text={answered.feedback} />
          </q>
        )}
      </td>
      <td>{answered.reply === "nobody" && answered.by === "time" ? "time ran out" : byWords(answered)}</td>
    </tr>
  );
}
