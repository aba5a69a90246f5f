/** One call as a row. */

import type { CallInfo } from "../../../src/surfaces/inspector/wire.ts";
import { Badge, Counts } from "../shell/parts.tsx";
import { count, duration, fullTime, sessionWords, short, shortId, timeOfDay } from "../shell/words.ts";
import { shownText } from "../text/shown.ts";
import { Name, Path } from "../text/shown-text.tsx";
import { hueOf, outcomeWords, rangeWords, toneOf } from "./call-words.ts";

export const columns = 8;

export const CallRowHead = () => (
  <div class="call call-head" role="row" aria-rowindex={1}>
    {["Time", "Tool", "File", "Outcome", "Tokens", "Saved", "Took", "Session"].map((name) => (
      <span key={name} class={`call-${name.toLowerCase()}`} role="columnheader">
        {name}
      </span>
    ))}
  </div>
);

interface CallRowProps {
  readonly call: CallInfo;
  readonly index: number;
  readonly active: boolean;
  readonly selected: boolean;
  readonly onOpen: (id: number) => void;
}

export function CallRow({ call, index, active, selected, onOpen }: CallRowProps) {
  const state = `${active ? "call-active" : ""} ${selected ? "call-selected" : ""}`;
  return (
    <div
      id={`call-${call.id}`}
      class={`call ${state} ${call.outcome === "ok" ? "" : "call-failed"}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      onClick={() => onOpen(call.id)}
    >
      <span class="call-time" role="gridcell" title={fullTime(call.startedMs)}>
        {timeOfDay(call.startedMs)}
      </span>
      <span class="call-tool" role="gridcell">
        <Name text={call.tool} />
      </span>
      <span class="call-file" role="gridcell">
        <About call={call} />
      </span>
      <span class="call-outcome" role="gridcell">
        {call.outcome === "ok" ? (
          <span class="call-ok">{outcomeWords(call)}</span>
        ) : (
          <Badge tone={toneOf(call)}>{outcomeWords(call)}</Badge>
        )}
      </span>
      <span class="call-tokens" role="gridcell" title={`${count(call.tokensGiven)} tokens given`}>
        {short(call.tokensGiven)}
      </span>
      <span class="call-saved" role="gridcell" title={`${count(call.tokensSaved)} tokens saved`}>
        {call.tokensSaved === 0 ? "" : short(call.tokensSaved)}
      </span>
      <span class="call-took" role="gridcell">
        {duration(call.elapsedMs)}
      </span>
      <span class="call-session" role="gridcell">
        <SessionName id={call.session} client={call.client} />
      </span>
    </div>
  );
}

function About({ call }: { readonly call: CallInfo }) {
  const range = rangeWords(call);
  const [first] = call.changes;
  return (
    <>
      {call.pattern !== null && (
        <span class="call-pattern">
          <Name text={call.pattern} />
        </span>
      )}
      {call.path !== null && <Path path={call.path === "" ? "./" : call.path} />}
      {range !== "" && <span class="call-range">{range}</span>}
      {first !== undefined && (
        <Counts
          additions={call.changes.reduce((sum, { additions }) => sum + additions, 0)}
          deletions={call.changes.reduce((sum, { deletions }) => sum + deletions, 0)}
        />
      )}
      {call.changesTotal > 1 && <span class="call-range">{count(call.changesTotal)} files</span>}
    </>
  );
}

/** The client, or else the beginning of the id, with a dot in the colour of the session. */
export const SessionName = ({ id, client }: { readonly id: string; readonly client: string | null }) => (
  <span class="session" title={shownText(sessionWords(id, client))}>
    <span class="session-dot" style={{ "--hue": String(hueOf(id)) }} aria-hidden="true" />
    <Name text={client ?? shortId(id)} />
  </span>
);
