/** The turns of a session, newest first, with their files. */

import { useEffect, useState } from "preact/hooks";
import type { TurnFile, TurnInfo, TurnPage, TurnsAsked } from "../../../src/surfaces/inspector/wire.ts";
import { inWorkspace, type LiveState } from "../live/live-state.ts";
import { post } from "../live/request.ts";
import { Badge, Empty, Failed, Waiting } from "../shell/parts.tsx";
import { useAsked } from "../shell/use-asked.ts";
import { count, fullTime, plural, time } from "../shell/words.ts";
import { Path, Shown } from "../text/shown-text.tsx";
import type { Looked } from "./history-view.tsx";
import { didWords, turnWords } from "./history-words.ts";

interface TurnsProps {
  readonly session: string;
  readonly live: LiveState;
  readonly looked: Looked | undefined;
  readonly onLook: (looked: Looked) => void;
}

const firstMax = 50;
const moreMax = 200;

export function Turns({ session, live, looked, onLook }: TurnsProps) {
  const [path, setPath] = useState("");
  const [max, setMax] = useState(firstMax);
  useEffect(() => setMax(firstMax), [path]);
  const key = JSON.stringify([session, path, max, live.turns, live.resets]);
  const asked = useAsked(key, (signal) => newestTurns(path === "" ? { session } : { session, path }, max, signal));
  const page = asked.answer;
  const back = (last: "undo" | "redo") => () => onLook({ at: "rewind", wish: { session, to: { last } } });
  return (
    <>
      <div class="filters">
        <button type="button" class="button" disabled={page?.undo == null} onClick={back("undo")}>
          Undo…
        </button>
        <button type="button" class="button" disabled={page?.redo == null} onClick={back("redo")}>
          Redo…
        </button>
        <input
          type="search"
          aria-label="File or folder"
          placeholder="File or folder…"
          value={path}
          onChange={(event) => setPath(event.currentTarget.value.trim())}
        />
      </div>
      {asked.is === "failed" && <Failed message={asked.message} />}
      {page === undefined && asked.is === "waiting" && <Waiting what="Asking for the turns…" />}
      {page !== undefined && page.turns.length === 0 && <Empty title="No turn matches" />}
      {page !== undefined && page.turns.length > 0 && (
        <ol class="turns" aria-label="Turns, newest first" tabIndex={0}>
          {page.turns.map((turn) => (
            <Turn key={turn.id} session={session} turn={turn} looked={looked} onLook={onLook} />
          ))}
          {page.next !== null && (
            <li>
              <button
                type="button"
                class="button button-quiet"
                disabled={asked.is === "waiting"}
                onClick={() => setMax((before) => before + moreMax)}
              >
                {asked.is === "waiting"
                  ? "Asking for older turns…"
                  : `Older turns (${count(page.total - page.turns.length)} more)`}
              </button>
            </li>
          )}
        </ol>
      )}
    </>
  );
}

interface TurnProps {
  readonly session: string;
  readonly turn: TurnInfo;
  readonly looked: Looked | undefined;
  readonly onLook: (looked: Looked) => void;
}

function Turn({ session, turn, looked, onLook }: TurnProps) {
  const at = looked?.at === "rewind" ? looked.wish.to : undefined;
  return (
    <li class={`turn ${turn.undone === "all" ? "turn-undone" : ""}`}>
      <div class="turn-head">
        <span class="turn-time" title={fullTime(turn.timeMs)}>
          {time(turn.timeMs)}
        </span>
        <span class="turn-words">
          <Shown text={turnWords(turn)} />
        </span>
        {turn.undone !== "no" && <Badge tone="calm">{turn.undone === "all" ? "undone" : "partly undone"}</Badge>}
        <button
          type="button"
          class="button button-quiet turn-rewind"
          aria-pressed={at === turn.id}
          onClick={() => onLook({ at: "rewind", wish: { session, to: turn.id } })}
        >
          Rewind to before…<span class="hidden"> the turn of {time(turn.timeMs)}</span>
        </button>
      </div>
      <ul class="turn-files">
        {turn.files.map((file) => (
          <li key={file.path}>
            <FileButton
              file={file}
              pressed={looked?.at === "file" && looked.turn.id === turn.id && looked.file.path === file.path}
              onLook={() => onLook({ at: "file", turn, file })}
            />
          </li>
        ))}
        {turn.filesTotal > turn.files.length && (
          <li class="quiet">{plural(turn.filesTotal - turn.files.length, "more file")}</li>
        )}
        {turn.hiddenByRules > 0 && <li class="quiet">{plural(turn.hiddenByRules, "file")} that rules hide</li>}
      </ul>
    </li>
  );
}

interface FileButtonProps {
  readonly file: TurnFile;
  readonly pressed: boolean;
  readonly onLook: () => void;
}

function FileButton({ file, pressed, onLook }: FileButtonProps) {
  return (
    <button type="button" class="turn-file" aria-pressed={pressed} onClick={onLook}>
      <span class={`did did-${file.did}`}>{didWords[file.did]}</span>
      <Path path={file.relative} />
      {file.observed && <span class="quiet">by somebody else</span>}
      {file.undone && <span class="quiet">undone</span>}
    </button>
  );
}

/** What the server returns at once. */
const pageMax = 200;

async function newestTurns(
  of: Pick<TurnsAsked, "session" | "path">,
  max: number,
  signal: AbortSignal,
): Promise<TurnPage> {
  // By id: a new turn in the meantime shifts all others by one.
  const turns = new Map<string, TurnInfo>();
  let from = 0;
  for (;;) {
    const asked: TurnsAsked = { ...of, from, max: Math.min(pageMax, max - from) };
    const page = await post<TurnPage>(inWorkspace("history/turns"), asked, signal);
    for (const turn of page.turns) turns.set(turn.id, turn);
    if (page.next === null || page.next >= max) return { ...page, turns: [...turns.values()] };
    from = page.next;
  }
}
