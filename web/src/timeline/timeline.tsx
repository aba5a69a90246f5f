/** Every call of every session as it ends, and the selected one in full. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { type LiveState, workspaceOf } from "../live/live-state.ts";
import { useStore } from "../live/store.ts";
import { Empty, Failed, Waiting } from "../shell/parts.tsx";
import { addressOf } from "../shell/router.ts";
import { count } from "../shell/words.ts";
import { CallList } from "./call-list.tsx";
import { CallPane } from "./call-pane.tsx";
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
        . Calls from before the page was there are not kept; what they changed is in the history.
      </p>
    </Empty>
  );
}
