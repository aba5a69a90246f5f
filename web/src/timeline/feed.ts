/** The calls of the timeline, newest first: older ones come in pages from the server, new ones from the stream. */

import type { CallInfo, CallPage } from "../../../src/surfaces/inspector/wire.ts";
import { inWorkspace, onCalls } from "../live/live-state.ts";
import { get, messageOf } from "../live/request.ts";
import { createStore } from "../live/store.ts";
import { type Filter, matches, parametersOf } from "./filter.ts";

export interface FeedState {
  readonly calls: readonly CallInfo[];
  /** How many calls the stream has prepended so far, so that a scrolled list can stay in place. */
  readonly prepended: number;
  /** For the next page; null at the end, undefined before the first one. */
  readonly next: number | null | undefined;
  readonly total: number;
  readonly dropped: number;
  /** Tools of the calls so far, including those of other dialects than the workspace's. */
  readonly tools: readonly string[];
  readonly loading: boolean;
  readonly message: string;
}

const pageMax = 200;
/** As many as the server keeps. */
const callsMax = 10_000;
const toolsMax = 200;
/** Calls are rendered in batches: a thousand in a second are ten renderings. */
const gatherMs = 100;

export function createFeed(filter: Filter, workspace: string) {
  const state = createStore<FeedState>({
    calls: [],
    prepended: 0,
    next: undefined,
    total: 0,
    dropped: 0,
    tools: [],
    loading: false,
    message: "",
  });
  const known = new Set<number>();
  const leaving = new AbortController();
  const fresh = (calls: readonly CallInfo[]): readonly CallInfo[] =>
    calls.filter(({ id }) => !known.has(id) && known.add(id));
  let waiting: CallInfo[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const show = (): void => {
    timer = undefined;
    const calls = fresh(waiting.filter((call) => matches(call, filter))).toReversed();
    const all = waiting.length;
    waiting = [];
    state.set((before) => {
      const kept = [...calls, ...before.calls];
      const dropped = kept.splice(callsMax);
      for (const { id } of dropped) known.delete(id);
      const next = dropped.length > 0 ? (kept.at(-1)?.id ?? null) : before.next;
      const total = Math.min(callsMax, before.total + all);
      return {
        ...before,
        calls: kept,
        next,
        prepended: before.prepended + calls.length,
        total,
        dropped: before.dropped + before.total + all - total,
        tools: withTools(before.tools, calls),
      };
    });
  };
  const stop = onCalls((calls) => {
    for (const call of calls) if (call.workspace === workspace) waiting.push(call);
    if (waiting.length > 0) timer ??= setTimeout(show, gatherMs);
  });

  const more = async (): Promise<void> => {
    const { next, loading } = state.get();
    if (loading || next === null) return;
    state.set((before) => ({ ...before, loading: true }));
    const parameters = parametersOf(filter);
    parameters.set("max", String(pageMax));
    if (next !== undefined) parameters.set("before", String(next));
    try {
      const page = await get<CallPage>(inWorkspace(`calls?${parameters}`), leaving.signal);
      state.set((before) => ({
        ...before,
        calls: [...before.calls, ...fresh(page.calls)],
        next: page.next,
        tools: withTools(before.tools, page.calls),
        total: page.total,
        dropped: page.dropped,
        loading: false,
        message: "",
      }));
    } catch (error) {
      if (!leaving.signal.aborted) state.set((before) => ({ ...before, loading: false, message: messageOf(error) }));
    }
  };

  return {
    state,
    more,
    close(): void {
      leaving.abort();
      clearTimeout(timer);
      stop();
    },
  };
}

/** The same list unless there is a new one. */
function withTools(before: readonly string[], calls: readonly CallInfo[]): readonly string[] {
  const fresh = new Set(calls.map(({ tool }) => tool).filter((tool) => !before.includes(tool)));
  return fresh.size === 0 || before.length >= toolsMax ? before : [...before, ...fresh].toSorted();
}
