/** The changes, turn by turn, and rewinds. */

import { useState } from "preact/hooks";
import type { PastSessions, TurnFile, TurnInfo } from "../../../src/surfaces/inspector/wire.ts";
import { type LiveState, inWorkspace, workspaceOf } from "../live/live-state.ts";
import { get } from "../live/request.ts";
import { Empty, Failed, Waiting } from "../shell/parts.tsx";
import { addressOf } from "../shell/router.ts";
import { useAsked } from "../shell/use-asked.ts";
import { plural, sessionWords, time } from "../shell/words.ts";
import { shownText } from "../text/shown.ts";
import { FilePane } from "./file-pane.tsx";
import { RewindPane, type RewindWish } from "./rewind-pane.tsx";
import { Turns } from "./turns.tsx";

export type Looked =
  | { readonly at: "file"; readonly turn: TurnInfo; readonly file: TurnFile }
  | { readonly at: "rewind"; readonly wish: RewindWish };

interface HistoryProps {
  readonly session: string | undefined;
  readonly live: LiveState;
}

export function HistoryView({ session: chosen, live }: HistoryProps) {
  const [looked, setLooked] = useState<Looked>();
  const kept = workspaceOf(live)?.history === true;
  const asked = useAsked(kept ? `${live.turns}.${live.resets}` : undefined, (signal) =>
    get<PastSessions>(inWorkspace("history/sessions"), signal),
  );
  if (!kept) {
    return (
      <Empty title="No past is kept here">
        Start the server with a state folder, and what files were before a change can be seen and brought back.
      </Empty>
    );
  }
  if (asked.is === "failed") return <Failed message={asked.message} />;
  if (asked.answer === undefined) return <Waiting what="Asking for the history…" />;
  const { sessions } = asked.answer;
  const session = sessions.find(({ id }) => encodeURIComponent(id) === chosen) ?? sessions[0];
  if (session === undefined) {
    return (
      <Empty title="Nothing was changed yet">Every change that a tool makes appears here, and can be taken back.</Empty>
    );
  }
  return (
    <div class={`history ${looked === undefined ? "" : "history-open"}`}>
      <h1 class="hidden">History</h1>
      <section class="history-turns" aria-label="Turns">
        <div class="filters">
          <select
            aria-label="Session"
            value={session.id}
            onChange={(event) => {
              setLooked(undefined);
              location.hash = addressOf("history", encodeURIComponent(event.currentTarget.value));
            }}
          >
            {sessions.map(({ id, client, turns, lastMs }) => (
              <option key={id} value={id}>
                {shownText(sessionWords(id, client))} · {plural(turns, "turn")} · {time(lastMs)}
              </option>
            ))}
          </select>
        </div>
        <Turns key={session.id} session={session.id} live={live} looked={looked} onLook={setLooked} />
      </section>
      {looked?.at === "file" && (
        <FilePane
          key={`${looked.turn.id} ${looked.file.path}`}
          session={session.id}
          turn={looked.turn}
          file={looked.file}
          onRewind={(wish) => setLooked({ at: "rewind", wish })}
          onClose={() => setLooked(undefined)}
        />
      )}
      {looked?.at === "rewind" && (
        <RewindPane key={JSON.stringify(looked.wish)} wish={looked.wish} onClose={() => setLooked(undefined)} />
      )}
    </div>
  );
}
