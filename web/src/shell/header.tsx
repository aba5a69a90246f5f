/** The header of the page: the workspace, the views, the state of the stream, the theme. */

import type { WorkspaceInfo } from "../../../src/surfaces/inspector/wire.ts";
import { chooseWorkspace, type LiveState, leave, workspaceOf } from "../live/live-state.ts";
import { Name } from "../text/shown-text.tsx";
import { shownText } from "../text/shown.ts";
import { addressOf, type ViewName, views } from "./router.ts";
import { type Theme, themes, useTheme } from "./theme.ts";
import { plural } from "./words.ts";

const titles: Readonly<Record<ViewName, string>> = {
  timeline: "Timeline",
  approvals: "Approvals",
  log: "Log",
  history: "History",
  usage: "Usage",
  files: "Files",
  replay: "Replay",
};

export function Header({ live, view }: { readonly live: LiveState; readonly view: ViewName }) {
  return (
    <header class="head">
      <div class="head-place">
        <span class="head-brand">Filehand</span>
        <Workspace live={live} />
      </div>
      {(live.phase === "in" || live.phase === "starting") && <Views live={live} view={view} />}
      <div class="head-state">
        {live.phase === "in" && <Connection live={live} />}
        <ThemeSwitch />
        {live.phase === "in" && (
          <button
            type="button"
            class="button button-quiet"
            onClick={() => void leave()}
            title="Sign this browser out; a new address is needed to come back"
          >
            Leave
          </button>
        )}
      </div>
    </header>
  );
}

const Views = ({ live, view }: { readonly live: LiveState; readonly view: ViewName }) => (
  <nav class="head-views" aria-label="Views">
    {views
      .filter((name) => name !== "replay" || live.hello?.replay === true)
      .map((name) => (
        <a key={name} href={addressOf(name)} aria-current={name === view ? "page" : undefined}>
          {titles[name]}
          {name === "approvals" && live.open.length > 0 && (
            <span class="head-count">
              <span aria-hidden="true">{live.open.length}</span>
              <span class="hidden"> ({plural(live.open.length, "open question")})</span>
            </span>
          )}
        </a>
      ))}
  </nav>
);

const lastName = (root: string): string => root.slice(root.lastIndexOf("/", root.length - 2) + 1) || root;

const workspaceWords = ({ name, roots }: WorkspaceInfo): string =>
  `${roots.map(lastName).join(", ")}${name === "filehand" ? "" : ` (${name})`}`;

function Workspace({ live }: { readonly live: LiveState }) {
  const { hello } = live;
  const current = workspaceOf(live);
  if (hello === undefined || current === undefined) return null;
  if (hello.workspaces.length > 1) {
    return (
      <select
        aria-label="Workspace"
        value={live.workspace}
        onChange={(event) => chooseWorkspace(event.currentTarget.value)}
      >
        {hello.workspaces.map((one) => (
          <option key={one.name} value={one.name}>
            {shownText(workspaceWords(one))}
          </option>
        ))}
      </select>
    );
  }
  return (
    <span class="head-workspace" title={shownText(current.roots.join("\n"))}>
      <Name text={workspaceWords(current)} />
    </span>
  );
}

function Connection({ live: { connection } }: { readonly live: LiveState }) {
  return (
    <span class={`head-connection head-connection-${connection}`} role="status">
      {connection === "live" ? "Live" : "Reconnecting…"}
    </span>
  );
}

const themeWords: Readonly<Record<Theme, string>> = { system: "Auto", light: "Light", dark: "Dark" };

function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  return (
    <select
      class="head-theme"
      aria-label="Theme"
      value={theme}
      onChange={(event) => setTheme(themes.find((one) => one === event.currentTarget.value) ?? "system")}
    >
      {themes.map((one) => (
        <option key={one} value={one}>
          {themeWords[one]}
        </option>
      ))}
    </select>
  );
}
