/** The calls of the past, of all sessions and programs in this workspace: who touched which file, when, with which result. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LogCallInfo, LogView as LogPage, WaitingCall } from "../../../src/surfaces/inspector/wire.ts";
import { inWorkspace, type LiveState, workspaceOf } from "../live/live-state.ts";
import { get, messageOf } from "../live/request.ts";
import { createStore, useStore } from "../live/store.ts";
import { Badge, Counts, Empty, Failed, Waiting } from "../shell/parts.tsx";
import { count, duration, fullTime, plural, short, time } from "../shell/words.ts";
import { Name, Path } from "../text/shown-text.tsx";
import { rangeWords, toneOf } from "../timeline/call-words.ts";

interface LogFilter {
  readonly session: string;
  readonly client: string;
  readonly path: string;
  readonly errors: boolean;
}

const noFilter: LogFilter = { session: "", client: "", path: "", errors: false };

export function LogView({ live }: { readonly live: LiveState }) {
  const [filter, setFilter] = useState(noFilter);
  const [times, setTimes] = useState(0);
  const log = useMemo(() => createLog(filter), [filter, times, live.resets]);
  useEffect(() => {
    // A person who types changes the filter with every letter.
    const timer = setTimeout(() => void log.more(), 150);
    return () => {
      clearTimeout(timer);
      log.close();
    };
  }, [log]);
  const state = useStore(log.state);
  // The calls of the old filter stay until those of the new one are there.
  const last = useRef(state);
  if (state.next !== undefined || state.message !== "") last.current = state;
  const { calls, waiting, next, loading, message, lost, damaged } = last.current;
  if (workspaceOf(live)?.log !== true) {
    return (
      <Empty title="No calls are kept here">
        Start the server with a state folder, and calls can be looked at later.
      </Empty>
    );
  }
  const change = (part: Partial<LogFilter>): void => setFilter((before) => ({ ...before, ...part }));
  return (
    <div class="log">
      <h1 class="hidden">Log</h1>
      <LogFilters
        filter={filter}
        onChange={change}
        onClear={() => setFilter(noFilter)}
        onAgain={() => setTimes(times + 1)}
      />
      {message !== "" && <Failed message={message} />}
      <WaitingCalls waiting={waiting} />
      {calls.length > 0 ? (
        <Calls calls={calls} onChange={change} />
      ) : loading || next === undefined ? (
        <Waiting what="Asking for the log…" />
      ) : (
        <Empty title={JSON.stringify(filter) === JSON.stringify(noFilter) ? "No calls yet" : "No call matches"}>
          Calls are kept without arguments and contents, for as long as the setting <code>callLog</code> says.
        </Empty>
      )}
      <p class="foot">
        <span>{plural(calls.length, "call")} shown</span>
        {lost > 0 && <span>{plural(lost, "call")} came faster than they could be written</span>}
        {damaged > 0 && <span>{plural(damaged, "line")} of the log cannot be read</span>}
        {typeof next === "string" && (
          <button type="button" class="button" disabled={loading} onClick={() => void log.more()}>
            Show older calls
          </button>
        )}
      </p>
    </div>
  );
}

interface LogFiltersProps {
  readonly filter: LogFilter;
  readonly onChange: (part: Partial<LogFilter>) => void;
  readonly onClear: () => void;
  readonly onAgain: () => void;
}

function LogFilters({ filter, onChange, onClear, onAgain }: LogFiltersProps) {
  return (
    <form class="filters" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        aria-label="Path contains"
        placeholder="Path contains…"
        value={filter.path}
        onInput={(event) => onChange({ path: event.currentTarget.value })}
      />
      <input
        type="search"
        aria-label="Program contains"
        placeholder="Program contains…"
        value={filter.client}
        onInput={(event) => onChange({ client: event.currentTarget.value })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={filter.errors}
          onChange={(event) => onChange({ errors: event.currentTarget.checked })}
        />
        Errors only
      </label>
      {filter !== noFilter && (
        <button type="button" class="button button-quiet" onClick={onClear}>
          Clear
        </button>
      )}
      <button type="button" class="button button-quiet" onClick={onAgain}>
        Refresh
      </button>
    </form>
  );
}

/** Also calls whose question is shown elsewhere, such as in the agent itself. */
function WaitingCalls({ waiting }: { readonly waiting: readonly WaitingCall[] }) {
  if (waiting.length === 0) return null;
  return (
    <ul class="waiting-calls" aria-label="Calls that wait for an answer">
      {waiting.map((call) => (
        <li key={call.id}>
          <Badge tone="warn">waiting</Badge> <span title={fullTime(call.timeMs)}>{time(call.timeMs)}</span>{" "}
          {call.permission === "external_directory" ? "folder outside" : call.permission}{" "}
          {call.path === null ? (
            <span class="quiet">a hidden name</span>
          ) : (
            <Path path={call.path === "" ? "./" : call.path} />
          )}{" "}
          <SessionTitle of={call} />
        </li>
      ))}
    </ul>
  );
}

interface CallsProps {
  readonly calls: readonly LogCallInfo[];
  readonly onChange: (part: Partial<LogFilter>) => void;
}

const Calls = ({ calls, onChange }: CallsProps) => (
  <div class="table-frame log-frame" tabIndex={0} role="region" aria-label="Calls of the past, newest first">
    <table>
      <thead>
        <tr>
          {["Time", "Tool", "File", "Outcome", "Tokens", "Took"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {calls.flatMap((call, at) => [
          ...(calls[at - 1]?.session === call.session
            ? []
            : [<SessionRow key={`s${at}`} call={call} onChange={onChange} />]),
          <CallLine key={at} call={call} onChange={onChange} />,
        ])}
      </tbody>
    </table>
  </div>
);

interface LineProps {
  readonly call: LogCallInfo;
  readonly onChange: CallsProps["onChange"];
}

const SessionRow = ({ call, onChange }: LineProps) => (
  <tr class="log-session">
    <th scope="colgroup" colSpan={6}>
      <SessionTitle of={call} />{" "}
      <button type="button" class="button button-quiet" onClick={() => onChange({ session: call.session })}>
        Only this session
      </button>
    </th>
  </tr>
);

/** `Claude Code, since 14:02` and the id. */
const SessionTitle = ({ of }: { readonly of: LogCallInfo | WaitingCall }) => (
  <span class="log-title">
    <Name text={of.client ?? "A program without a name"} />
    {of.principal !== null && (
      <>
        {" for "}
        <Name text={of.principal} />
      </>
    )}
    , since {time(of.sessionMs)}{" "}
    <span class="quiet">
      <Name text={of.session} />
    </span>
  </span>
);

function CallLine({ call, onChange }: LineProps) {
  const said = call.outcome === "ok" ? (call.reason === "unchanged" ? "unchanged" : "ok") : call.outcome;
  return (
    <tr>
      <td title={fullTime(call.startedMs)}>{time(call.startedMs)}</td>
      <td>{call.tool === null ? <span class="quiet">unknown tool</span> : <Name text={call.tool} />}</td>
      <td>
        <Files call={call} onPath={(path) => onChange({ path })} />
      </td>
      <td>
        <Badge tone={toneOf(call)}>{call.dryRun ? `${said}, dry run` : said}</Badge>
      </td>
      <td title={`${count(call.tokensGiven)} tokens given, ${count(call.tokensSaved)} saved`}>
        {short(call.tokensGiven)}
      </td>
      <td>{duration(call.elapsedMs)}</td>
    </tr>
  );
}

/** Changed files of one call on the page. */
const filesMax = 3;

function Files({ call, onPath }: { readonly call: LogCallInfo; readonly onPath: (path: string) => void }) {
  const { path, changes, changesTotal, hidden } = call;
  const range = rangeWords(call);
  const more = changesTotal - Math.min(changes.length, filesMax);
  return (
    <>
      {changes.length === 0 && path !== null && <PathButton path={path} onPath={onPath} />}
      {changes.length === 0 && range !== "" && <span class="call-range"> {range}</span>}
      {changes.slice(0, filesMax).map((change) => (
        <span key={change.path} class="log-change">
          {change.movedFrom !== null && (
            <>
              <Path path={change.movedFrom} />
              {" → "}
            </>
          )}
          <PathButton path={change.path} onPath={onPath} /> {change.did !== "updated" && `${change.did} `}
          <Counts additions={change.additions} deletions={change.deletions} />
        </span>
      ))}
      {changes.length > 0 && more > 0 && <span class="quiet"> and {plural(more, "more file")}</span>}
      {hidden && <span class="quiet"> a name that a rule hides</span>}
    </>
  );
}

/** Shows who else touched the file. */
const PathButton = ({ path, onPath }: { readonly path: string; readonly onPath: (path: string) => void }) => (
  <button type="button" class="link" title="Show all calls about this file" onClick={() => onPath(path)}>
    <Path path={path === "" ? "./" : path} />
  </button>
);

// Loading: a page at a time, older ones on demand.

interface LogState {
  readonly calls: readonly LogCallInfo[];
  readonly waiting: readonly WaitingCall[];
  /** Undefined before the first page, null at the end. */
  readonly next: string | null | undefined;
  readonly lost: number;
  readonly damaged: number;
  readonly loading: boolean;
  readonly message: string;
}

const pageMax = 100;
/** Pages without a match that are asked for in a row: each searches some megabytes. */
const emptyPagesMax = 20;

function createLog({ session, client, path, errors }: LogFilter) {
  const nothing = { calls: [], waiting: [], next: undefined, lost: 0, damaged: 0, loading: false, message: "" };
  const state = createStore<LogState>(nothing);
  const leaving = new AbortController();
  const load = async (): Promise<boolean> => {
    const { next } = state.get();
    const parameters = new URLSearchParams({ max: String(pageMax), session, client, path, errors: errors ? "1" : "" });
    if (typeof next === "string") parameters.set("before", next);
    const page = await get<LogPage>(inWorkspace(`log?${parameters}`), leaving.signal);
    state.set((before) => ({
      ...before,
      calls: [...before.calls, ...page.calls],
      waiting: before.next === undefined ? page.waiting : before.waiting,
      next: page.next,
      lost: before.lost + page.lost,
      damaged: before.damaged + page.damaged,
    }));
    return page.calls.length > 0 || page.next === null;
  };
  return {
    state,
    async more(): Promise<void> {
      if (state.get().loading || state.get().next === null) return;
      state.set((before) => ({ ...before, loading: true, message: "" }));
      try {
        for (let pages = 0; pages < emptyPagesMax && !(await load()); pages += 1);
        state.set((before) => ({ ...before, loading: false }));
      } catch (error) {
        if (!leaving.signal.aborted) state.set((before) => ({ ...before, loading: false, message: messageOf(error) }));
      }
    },
    close: () => leaving.abort(),
  };
}
