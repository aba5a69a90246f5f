/** The filters of the timeline. */

import type { SessionList, WorkspaceInfo } from "../../../src/surfaces/inspector/wire.ts";
import { useState } from "preact/hooks";
import { inWorkspace } from "../live/live-state.ts";
import { get } from "../live/request.ts";
import { useAsked } from "../shell/use-asked.ts";
import { plural, sessionWords, time } from "../shell/words.ts";
import { shownText } from "../text/shown.ts";
import { processWords } from "./watched-words.ts";
import { type Filter, noFilter } from "./filter.ts";

interface FilterBarProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly workspace: WorkspaceInfo | undefined;
  /** Further tools that were called. */
  readonly tools: readonly string[];
  readonly resets: number;
}

export function FilterBar({ filter, onFilter, workspace, tools, resets }: FilterBarProps) {
  const change = (part: Partial<Filter>): void => {
    const next = { ...filter, ...part };
    const same = JSON.stringify(next) === JSON.stringify(noFilter);
    onFilter(same ? noFilter : next);
  };
  return (
    <form class="filters" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <SessionSelect session={filter.session} resets={resets} onChoose={(session) => change({ session })} />
      <select aria-label="Tool" value={filter.tool} onChange={(event) => change({ tool: event.currentTarget.value })}>
        <option value="">All tools</option>
        {[...new Set([...(workspace?.tools.map(({ name }) => name) ?? []), ...tools])].map((name) => (
          <option key={name} value={name}>
            {shownText(name)}
          </option>
        ))}
      </select>
      <input
        type="search"
        aria-label="Path contains"
        placeholder="Path contains…"
        value={filter.path}
        onInput={(event) => change({ path: event.currentTarget.value })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={filter.errors}
          onChange={(event) => change({ errors: event.currentTarget.checked })}
        />
        Errors only
      </label>
      {filter !== noFilter && (
        <button type="button" class="button button-quiet" onClick={() => onFilter(noFilter)}>
          Clear
        </button>
      )}
    </form>
  );
}

interface SessionSelectProps {
  readonly session: string;
  readonly resets: number;
  readonly onChoose: (session: string) => void;
}

/** The list is loaded again whenever the select gets the focus. */
function SessionSelect({ session, resets, onChoose }: SessionSelectProps) {
  const [asked, again] = useSessions(resets);
  const sessions = asked.answer?.sessions ?? [];
  return (
    <select
      aria-label="Session"
      value={session}
      onFocus={again}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      <option value="">All sessions</option>
      {sessions.map(({ id, client, calls, firstMs, process }) => (
        <option key={id} value={id}>
          {shownText(sessionWords(id, client))} · {plural(calls, "call")} · {time(firstMs)}
          {process !== null && ` · ${processWords(process)}`}
        </option>
      ))}
    </select>
  );
}

function useSessions(resets: number) {
  const [times, setTimes] = useState(0);
  const asked = useAsked(`${resets}.${times}`, (signal) => get<SessionList>(inWorkspace("sessions"), signal));
  return [asked, () => setTimes((before) => before + 1)] as const;
}
