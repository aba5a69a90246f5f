/** Usage: tokens, time, failures. Every plot has a table with the same numbers. */

import { useState } from "preact/hooks";
import type { Figures, SessionList } from "../../../src/surfaces/inspector/wire.ts";
import { type Desk, inWorkspace } from "../live/desk.ts";
import { get } from "../live/request.ts";
import { useCallTimes } from "../live/use-call-times.ts";
import { Empty, Failed, Waiting } from "../shell/parts.tsx";
import { useAsked } from "../shell/use-asked.ts";
import { count, plural, short, shortId } from "../shell/words.ts";
import { shownText } from "../text/shown.ts";
import { FailureTable } from "./failure-table.tsx";
import { FileTable } from "./file-table.tsx";
import { ToolTable } from "./tool-table.tsx";
import { LatencyPlot } from "./latency-plot.tsx";
import { OverTime } from "./over-time.tsx";

export function FigureView({ desk }: { readonly desk: Desk }) {
  const [session, setSession] = useState("");
  const times = useCallTimes();
  const sessions = useAsked(`${desk.resets}.${times}`, (signal) => get<SessionList>(inWorkspace("sessions"), signal));
  const asked = useAsked(`${desk.resets}.${times}.${session}`, (signal) => {
    const parameters = new URLSearchParams({ buckets: "60" });
    if (session !== "") parameters.set("session", session);
    return get<Figures>(inWorkspace(`figures?${parameters}`), signal);
  });
  const figures = asked.answer;
  return (
    <div class="figures">
      <div class="filters">
        <h1>Figures</h1>
        <select aria-label="Session" value={session} onChange={(event) => setSession(event.currentTarget.value)}>
          <option value="">All sessions</option>
          {sessions.answer?.sessions.map(({ id, calls }) => (
            <option key={id} value={id}>
              {shownText(shortId(id))} · {plural(calls, "call")}
            </option>
          ))}
        </select>
      </div>
      {asked.is === "failed" && <Failed message={asked.message} />}
      {figures === undefined ? (
        asked.is === "waiting" && <Waiting what="Asking for the figures…" />
      ) : figures.all.calls === 0 ? (
        <Empty title="No calls yet">As soon as an agent uses a tool there is something to count.</Empty>
      ) : (
        <Shown figures={figures} />
      )}
    </div>
  );
}

function Shown({ figures }: { readonly figures: Figures }) {
  const { all, ever } = figures;
  const share = all.tokensGiven + all.tokensSaved === 0 ? 0 : all.tokensSaved / (all.tokensGiven + all.tokensSaved);
  return (
    <>
      <dl class="tiles">
        <Tile
          name="Calls"
          value={count(all.calls)}
          note={ever.calls > all.calls ? `${count(ever.calls)} since the start` : ""}
        />
        <Tile
          name="Failed"
          value={count(all.failures)}
          note={`${percent(all.failures / Math.max(1, all.calls))} of the calls`}
        />
        <Tile name="Tokens given" value={short(all.tokensGiven)} note={count(all.tokensGiven)} />
        <Tile
          name="Tokens saved"
          value={short(all.tokensSaved)}
          note={`${percent(share)}, by repeated reads answered short`}
        />
      </dl>
      <div class="figure-columns">
        <OverTime
          id="given-by-tool"
          title="Tokens by tool"
          series={figures.givenByTool}
          figures={figures}
          noun="token"
          names="tool"
          none="No tokens were given"
        />
        <OverTime
          id="given-by-file"
          title="Tokens by file"
          series={figures.givenByFile}
          figures={figures}
          noun="token"
          names="file"
          none="No call was about a file"
        />
        <OverTime
          id="saved-by-file"
          title="Tokens saved by repeated reads"
          series={figures.savedByFile}
          figures={figures}
          noun="token"
          names="file"
          none="No file was read twice without having changed"
        />
        <OverTime
          id="failed-by-reason"
          title="Failed edits by reason"
          series={figures.failedByReason}
          figures={figures}
          noun="failure"
          names="reason"
          none="No edit has failed"
        />
        <LatencyPlot tools={figures.tools} />
        <FailureTable title="Which edits failed" failures={figures.failedEdits} none="None" />
        <ToolTable tools={figures.tools} />
        <FileTable files={figures.files} total={figures.filesTotal} />
        <FailureTable title="Other failures" failures={figures.failedOthers} none="Nothing else has failed" />
      </div>
    </>
  );
}

const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

const Tile = ({ name, value, note }: { readonly name: string; readonly value: string; readonly note: string }) => (
  <div class="tile">
    <dt>{name}</dt>
    <dd>
      <span class="tile-value">{value}</span>
      <span class="tile-note">{note}</span>
    </dd>
  </div>
);
