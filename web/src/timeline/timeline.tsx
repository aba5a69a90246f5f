/** Every call of every session as it ends, and the selected one in full. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { QuestionInfo } from "../../../src/surfaces/inspector/wire.ts";
import { type LiveState, workspaceOf } from "../live/live-state.ts";
import { useStore } from "../live/store.ts";
import { Badge, Empty, Failed, Waiting } from "../shell/parts.tsx";
import { addressOf } from "../shell/router.ts";
import { count, fullTime, timeOfDay } from "../shell/words.ts";
import { Name, Path } from "../text/shown-text.tsx";
import { CallList } from "./call-list.tsx";
import { CallPane } from "./call-pane.tsx";
import { SessionName } from "./call-row.tsx";
import { watchedWords } from "./watched-words.ts";
import { createFeed } from "./feed.ts";
import { type Filter, noFilter } from "./filter.ts";
import { FilterBar } from "./filter-bar.tsx";

interface TimelineProps {
  readonly item: string | undefined;
  readonly live: LiveState;
}

/** Kept while another view is shown. */
let lastFilter = noFilter;

export function Timeline({ item, live }: TimelineProps) {
  const [filter, setFilter] = useState<Filter>(lastFilter);
  lastFilter = filter;
  const feed = useMemo(() => createFeed(filter, live.workspace), [filter, live.workspace, live.resets]);
  useEffect(() => {
    void feed.more();
    return () => feed.close();
  }, [feed]);
  const state = useStore(feed.state);
  const selected = item === undefined || !/^\d+$/.test(item) ? undefined : Number(item);
  const open = (id: number | undefined): void => {
    location.hash = addressOf("timeline", id);
  };
  return (
    <div class={`timeline ${selected === undefined ? "" : "timeline-open"}`}>
      <h1 class="hidden">Timeline</h1>
      <section class="timeline-list" aria-label="Calls">
        <FilterBar
          filter={filter}
          onFilter={setFilter}
          workspace={workspaceOf(live)}
          tools={state.tools}
          resets={live.resets}
        />
        {state.message !== "" && <Failed message={state.message} />}
        <WaitingNow open={live.open.filter(({ workspace }) => workspace === live.workspace)} />
        {state.calls.length > 0 ? (
          <CallList
            calls={state.calls}
            prepended={state.prepended}
            selected={selected}
            onOpen={open}
            onEnd={feed.more}
          />
        ) : state.next === undefined ? (
          <Waiting what="Asking for the calls…" />
        ) : (
          <NoCalls filtered={filter !== noFilter} live={live} />
        )}
        <p class="foot">
          {state.calls.length > 0 && (
            <span>
              {count(state.calls.length)} shown, {count(state.total)} kept
              {state.dropped > 0 && `, ${count(state.dropped)} older ones dropped`}
            </span>
          )}
          <span>{watchedWords(workspaceOf(live))}</span>
        </p>
      </section>
      {selected !== undefined && <CallPane key={selected} id={selected} onClose={() => open(undefined)} />}
    </div>
  );
}

/** Calls that have not ended, because a person is asked first. */
function WaitingNow({ open }: { readonly open: readonly QuestionInfo[] }) {
  if (open.length === 0) return null;
  return (
    <ul class="waiting-calls" aria-label="Calls that wait for an answer">
      {open.map(({ id, askedMs, tool, relative, path, session, client }) => (
        <li key={id}>
          <span title={fullTime(askedMs)}>{timeOfDay(askedMs)}</span> <Name text={tool} />{" "}
          <Path path={relative === "" ? path : relative} /> <Badge tone="warn">waiting</Badge>{" "}
          <SessionName id={session} client={client} /> <a href={addressOf("approvals")}>Answer</a>
        </li>
      ))}
    </ul>
  );
}

function NoCalls({ filtered, live }: { readonly filtered: boolean; readonly live: LiveState }) {
  if (filtered) return <Empty title="No call matches">Change the filter above to see others.</Empty>;
  return (
    <Empty title="No calls yet">
      <p>
        As soon as an agent uses a tool in {workspaceOf(live)?.roots.length === 1 ? "this folder" : "these folders"}, it
        appears here.
      </p>
      <p>
        Agents connect to this server over HTTP, at <code>/mcp</code>
        {workspaceOf(live)?.acceptsReports === true && (
          <>
            , or start <code>filehand mcp</code> themselves, as before: it finds this page by itself
          </>
        )}
        . Calls from before this server was started are in the <a href={addressOf("log")}>log</a>.
      </p>
    </Empty>
  );
}
