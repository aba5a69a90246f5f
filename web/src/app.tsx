/** The page: its header and the current view. */

import { useEffect, useRef } from "preact/hooks";
import type { QuestionInfo } from "../../src/surfaces/inspector/wire.ts";
import { Approvals } from "./approvals/approvals.tsx";
import { FigureView } from "./figures/figure-view.tsx";
import { ReplayView } from "./figures/replay-view.tsx";
import { FileView } from "./files/file-view.tsx";
import { HistoryView } from "./history/history-view.tsx";
import { type LiveState, live as liveState, start } from "./live/live-state.ts";
import { useStore } from "./live/store.ts";
import { LogView } from "./log/log-view.tsx";
import { announce, Announcer } from "./shell/announce.tsx";
import { Header } from "./shell/header.tsx";
import { notifyAbout } from "./shell/notify.tsx";
import { type Route, useRoute } from "./shell/router.ts";
import { Shown } from "./text/shown-text.tsx";
import { shownText } from "./text/shown.ts";
import { Timeline } from "./timeline/timeline.tsx";

export function App() {
  const live = useStore(liveState);
  const route = useRoute();
  useAnnouncedQuestions(live);
  return (
    <>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to content
      </a>
      <Header live={live} view={route.view} />
      <main id="main" tabIndex={-1} class={`view view-${route.view}`}>
        {live.phase === "in" ? <View route={route} live={live} /> : <LoggedOut live={live} />}
      </main>
      <Announcer />
    </>
  );
}

function View({ route, live }: { readonly route: Route; readonly live: LiveState }) {
  // Another workspace starts with new views: no state of the old one stays.
  const key = live.workspace;
  switch (route.view) {
    case "timeline":
      return <Timeline key={key} item={route.item} live={live} />;
    case "approvals":
      return <Approvals live={live} />;
    case "log":
      return <LogView key={key} live={live} />;
    case "history":
      return <HistoryView key={key} session={route.item} live={live} />;
    case "usage":
      return <FigureView key={key} live={live} />;
    case "files":
      return <FileView key={key} live={live} />;
    case "replay":
      return <ReplayView live={live} />;
  }
}

const titles = {
  out: "This browser is not let in",
  left: "You have left",
  failed: "The server cannot be reached",
} as const;

/** Shown before login and after logout. */
function LoggedOut({ live: { phase, message } }: { readonly live: LiveState }) {
  if (phase === "starting" || phase === "in") {
    return (
      <p class="waiting" role="status">
        Coming in…
      </p>
    );
  }
  return (
    <div class="logged-out" role="alert">
      <h1>{titles[phase]}</h1>
      <p>
        <Shown text={message} />
      </p>
      {phase !== "failed" ? (
        <p>
          Open the address that the terminal shows. It ends in <code>#key=…</code> and works once; after each use the
          terminal shows a new one.
        </p>
      ) : (
        <button type="button" class="button" onClick={() => void start()}>
          Try again
        </button>
      )}
    </div>
  );
}

/** The part of the address after `#` names the view, so the link must not change it. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
}

/** Announces new questions to screen readers, in the title of the tab, and as notifications if the person wants them. */
function useAnnouncedQuestions({ open }: LiveState): void {
  const known = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const fresh = open.filter(({ id }) => !known.current.has(id));
    known.current = new Set(open.map(({ id }) => id));
    const [first] = fresh;
    if (first !== undefined) {
      const more = fresh.length > 1 ? `, and ${fresh.length - 1} more` : "";
      announce(`New question: ${questionWords(first)}${more}`);
    }
    const [oldest] = open;
    document.title = oldest === undefined ? "Filehand" : `(${open.length}) ${questionWords(oldest)} · Filehand`;
    notifyAbout(open, questionWords);
  }, [open]);
}

/** Of a path in the title and in a notification. */
const pathCharsMax = 80;

const verbs: Readonly<Record<QuestionInfo["permission"], string>> = {
  read: "read",
  edit: "change",
  external_directory: "use",
};

function questionWords({ tool, permission, relative, path }: QuestionInfo): string {
  const name = shownText(relative === "" ? path : relative);
  // The end of a path says more than its beginning.
  const shown = name.length <= pathCharsMax ? name : `…${name.slice(-pathCharsMax)}`;
  return `May ${shownText(tool)} ${verbs[permission]} ${shown}?`;
}
