/** Usage: tokens, time, failures. Every plot has a table with the same numbers. */

import { useState } from "preact/hooks";
import type { WorkspaceUsage, SessionList } from "../../../src/surfaces/inspector/wire.ts";
import { type LiveState, inWorkspace } from "../live/live-state.ts";
import { get } from "../live/request.ts";
import { useCallTimes } from "../live/use-call-times.ts";
import { Empty, Failed, Waiting } from "../shell/parts.tsx";
import { useAsked } from "../shell/use-asked.ts";
import { count, plural, sessionWords, short } from "../shell/words.ts";
import { shownText } from "../text/shown.ts";
import { LatencyPlot } from "./latency-plot.tsx";
import { OverTime } from "./over-time.tsx";
import { FailureTable, FileTable, ToolTable } from "./tables.tsx";

export function FigureView({ live }: { readonly live: LiveState }) {
  const [session, setSession] = useState("");
  const times = useCallTimes();
  const sessions = useAsked(`${live.resets}.${times}`, (signal) => get<SessionList>(inWorkspace("sessions"), signal));
  const asked = useAsked(`${live.resets}.${times}.${session}`, (signal) => {
    const parameters = new URLSearchParams({ buckets: "60" });
    if (session !== "") parameters.set("session", session);
    return get<WorkspaceUsage>(inWorkspace(`usage?${parameters}`), signal);
  });
  const figures = asked.answer;
  return (
    <div class="figures">
      <div class="filters">
        <h1>Usage</h1>
        <select aria-label="Session" value={session} onChange={(event) => setSession(event.currentTarget.value)}>
          <option value="">All sessions</option>
          {sessions.answer?.sessions.map(({ id, client, calls }) => (
            <option key={id} value={id}>
              {shownText(sessionWords(id, client))} · {plural(calls, "call")}
            </option>
          ))}
        </select>
      </div>
      {asked.is === "failed" && <Failed message={asked.message} />}
      {figures === undefined ? (
        asked.is === "waiting" && <Waiting what="Asking for the usage…" />
      ) : figures.all.calls === 0 ? (
        <Empty title="No calls yet">As soon as an agent uses a tool there is something to count.</Empty>
      ) : (
        <Shown figures={figures} />
      )}
    </div>
  );
}

function Shown({ figures }: { readonly figures: WorkspaceUsage }) {
  const { all, ever } = figures;
  const tokens = { figures, noun: "token" };
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
        <OverTime {...tokens} of="givenByTool" title="Tokens by tool" names="tool" none="No tokens were given" />
        <OverTime {...tokens} of="givenByFile" title="Tokens by file" names="file" none="No call was about a file" />
        <OverTime
          {...tokens}
          of="savedByFile"
          title="Tokens saved by repeated reads"
          names="file"
          none="No file was read twice without having changed"
        />
        <OverTime
          figures={figures}
          of="failedByReason"
          title="Failed edits by reason"
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

export const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

export const Tile = ({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}) => (
  <div class="tile">
    <dt>{name}</dt>
    <dd>
      <span class="tile-value">{value}</span>
      <span class="tile-note">{note}</span>
    </dd>
  </div>
);
