/** Confinement of a command: what the options and settings wish, which rights it keeps, and what the log says about it. */

import * as nodePath from "node:path";
import type { Confined, Unconfined } from "../../contract/confinement.ts";
import type { ListedRule } from "../../contract/permission.ts";
import {
  bubblewrapArguments,
  commandRights,
  confine,
  findMasks,
  type Mask,
  type MaskedPath,
  type Rights,
  rightsFor,
} from "../../confinement/confinement.ts";
import { confinementWords } from "../../dialects/dialects.ts";
import type { Filehand } from "../../options.ts";
import { programOnPath, type Settings } from "../../settings/settings.ts";
import type { Log } from "../mcp/mcp-workspace.ts";
import { type Given, type Host, UsageError } from "./command.ts";

/** What is known of a workspace when its session is open. */
export interface Confinable {
  readonly roots: readonly string[];
  readonly writable: boolean;
  readonly stateDir: string | undefined;
  readonly settings: Settings["confinement"];
  readonly startsPrograms: boolean;
  readonly commands: readonly string[];
  /** Folders outside that a rule opens to every session. */
  readonly opened: readonly string[];
  /** Called when the process is confined. */
  readonly onConfined: () => void;
  /** The settings let a model ask for folders outside, which no longer can be opened. */
  readonly asksOutside: boolean;
}

/** Undefined if nothing speaks against it. */
export function refusalOf(given: Given, settings: Settings["confinement"]): Unconfined | undefined {
  if (given.flag("no-confine")) return { is: "off", why: "option" };
  return settings === false ? { is: "off", why: "settings" } : undefined;
}

/** The folders of `external_directory(//srv/data/**)`; of a pattern in the middle, the folder before it. */
export function openedFolders(rules: readonly Pick<ListedRule, "verdict" | "text">[], home: string | undefined) {
  return rules.flatMap(({ verdict, text }) => {
    const pattern = verdict === "allow" ? /^external_directory\((.+)\)$/s.exec(text)?.[1] : undefined;
    if (pattern === undefined) return [];
    const [plain = ""] = pattern.split(/[*?[{]/u);
    const folder = plain === pattern ? plain : plain.slice(0, plain.lastIndexOf("/") + 1);
    if (folder.startsWith("//")) return [nodePath.resolve(folder.slice(1))];
    return folder.startsWith("~/") && home !== undefined ? [nodePath.join(home, folder.slice(2))] : [];
  });
}

/** Gives up all other rights, for good. `network`: whether the command itself connects to something. */
export async function confineTo(
  workspaces: readonly Confinable[],
  host: Host,
  network: "closed" | "open",
): Promise<Confined | Unconfined> {
  const program = host.program?.[1];
  if (program === undefined) return { is: "off", why: "runtime" };
  const { home, env } = host;
  const all = workspaces.map((one): Rights => {
    const settings = typeof one.settings === "object" ? one.settings : {};
    const more = { read: settings.read ?? [], write: [...(settings.write ?? []), ...one.opened] };
    const isOpen = network === "open" || settings.network === true;
    return rightsFor({ ...one, program, home, env, more, network: isOpen ? "open" : "closed" });
  });
  const joined = (of: "read" | "run" | "write"): readonly string[] => [...new Set(all.flatMap((rights) => rights[of]))];
  const state = await confine({
    read: joined("read"),
    run: joined("run"),
    write: joined("write"),
    network: all.some((rights) => rights.network === "open") ? "open" : "closed",
    temporary: all[0]?.temporary,
  });
  if (state.is === "on") for (const { onConfined } of workspaces) onConfined();
  return state;
}

/** `--confine` of a command that is not confined by default: it must hold, or the command does nothing. */
export async function confineCommand(workspace: Confinable, host: Host): Promise<void> {
  const state = await confineTo([workspace], host, "closed");
  if (state.is === "off") throw new UsageError(`Cannot confine this command: ${confinementWords(state)}`);
}

/** For a server: confines it unless the person does not want that, and logs what holds from now on. */
export async function confineServer(
  given: Given,
  host: Host,
  workspaces: readonly Confinable[],
  network: "closed" | "open",
  log: Log,
): Promise<void> {
  const [refused] = workspaces.flatMap(({ settings }) => refusalOf(given, settings) ?? []);
  const state = refused ?? (await confineTo(workspaces, host, network));
  if (state.is === "off" && given.flag("confine")) throw new UsageError(`Cannot start: ${confinementWords(state)}`);
  log(state.is === "off" && !["option", "settings"].includes(state.why) ? "warn" : "info", "confinement", {
    ...state,
    words: confinementWords(state),
  });
  if (state.is === "on" && workspaces.some(({ asksOutside }) => asksOutside)) {
    log("warn", "confinement", {
      words:
        'folders outside the roots cannot be opened later: externalDirectories "ask" has no effect, allow them by rules external_directory(...) or in the setting confinement, or use --no-confine',
    });
  }
}

// A command under the same rules, for `filehand run --confined` and `filehand permissions export`.

/** What nobody can be asked about while a command runs is hidden like what is denied; `asked`: the person says yes to it. */
export function masksOf({ permissions, roots }: Filehand, asked: "hidden" | "allowed"): readonly MaskedPath[] {
  const judge = (path: string): Mask | undefined => {
    const reading = permissions.explain("Read", path);
    if (reading.verdict === "deny" || (reading.verdict === "ask" && asked === "hidden")) return "hidden";
    const editing = permissions.explain("Edit", path);
    return editing.verdict === "deny" && editing.by !== "mode" ? "read-only" : undefined;
  };
  const found = findMasks(roots, judge);
  if ("masked" in found) return found.masked;
  const what = found.tooMany === "names" ? "there are too many files" : "the rules cover too many files";
  throw new UsageError(`Cannot confine a command here: ${what}, name a smaller --root`);
}

/** bubblewrap and its arguments, to be put before the command. */
export function confinedCommand(
  workspace: Confinable,
  masked: readonly MaskedPath[],
  host: Host,
): readonly [string, ...string[]] {
  const { env, platform, cwd } = host;
  const bwrap =
    platform === "linux"
      ? programOnPath("bwrap", { path: env["PATH"], platform, notBeneath: workspace.roots })
      : undefined;
  if (bwrap === undefined) {
    const next = platform === "linux" ? "install it (apt install bubblewrap)" : "it is for Linux only";
    throw new UsageError(`Cannot confine a command: there is no bubblewrap, ${next}`);
  }
  return [bwrap, ...bubblewrapArguments(rightsOfCommand(workspace, host), masked, cwd), "--"];
}

export function rightsOfCommand(workspace: Confinable, { home, env, program }: Host): Rights {
  const settings = typeof workspace.settings === "object" ? workspace.settings : {};
  const more = { read: settings.read ?? [], write: [...(settings.write ?? []), ...workspace.opened] };
  return commandRights({ ...workspace, program: program?.[1] ?? "", home, env, more, network: "open" });
}

export const shellQuoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
