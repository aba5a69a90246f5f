/** Loads settings files and merges them. Project settings override the user's; lists are joined. */

import { dirname, isAbsolute, posix, relative, win32 } from "node:path";
import { limits } from "../contract/limits.ts";
import { isWider, type Mode, type RuleText } from "../contract/permission.ts";
import { nodeSystem, privateFile, readSmallFile, realPrefixes } from "../disk/disk.ts";
import type { SettingsValues } from "./schema.ts";

// The rest of this room that other rooms use.
export type {
  AddedSetting,
  ClientChange,
  ClientFile,
  ClientFormat,
  ClientPlan,
  ClientSetting,
  Entry,
  EntryTable,
  EntryWish,
} from "./client-file.ts";
export { readNamedFile } from "./named-file.ts";

/** Keys that are merged in their own way. Of every other key the first project that has it decides, then the user. */
const joinedKeys = ["$schema", "permissions", "mode", "trustedProjects", "restricted", "roots"] as const;
type SingleValues = Omit<SettingsValues, (typeof joinedKeys)[number]>;

/** All files merged. Paths are absolute. */
export interface Settings extends SingleValues {
  readonly rules: readonly RuleText[];
  readonly restricted: { readonly add: readonly string[]; readonly remove: readonly string[] };
  readonly roots: readonly string[];
  /** The strictest of all files; undefined if none has one. */
  readonly mode?: Mode;
  /** The roots that the user trusts. If there are any, allow rules of other projects are dropped. */
  readonly trustedRoots: readonly string[];
}

export interface SettingsFault {
  readonly file: string;
  readonly line: number;
  readonly message: string;
  /** Rules that narrow access may be lost with it. */
  readonly stops?: true;
}

export interface SettingsOptions {
  readonly roots: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string | undefined;
}

export interface SettingsFile {
  readonly path: string;
  readonly source: "user settings" | "project settings";
}

const fileName = "filehand.jsonc";

/** Never rejects because of a file: faults are reported and the rest takes effect. */
export async function loadSettings(
  options: SettingsOptions,
): Promise<{ readonly settings: Settings; readonly faults: readonly SettingsFault[] }> {
  const faults: SettingsFault[] = [];
  const said: Said[] = [];
  for (const { path, source } of settingsFiles(options)) {
    const text = source === "project settings" && leadsOut(path, faults) ? undefined : readOrReport(path, faults);
    if (text === undefined) continue;
    const { parseSettings } = await import("./parse.ts");
    const parsed = parseSettings(text, source);
    faults.push(...parsed.faults.map((fault) => ({ file: path, ...fault })));
    said.push({ source, path, values: withPaths(parsed.values, path, options) });
  }
  return { settings: merge(said, options, faults), faults };
}

/** The places of settings files, the user's first. Tools must never write there. */
export function settingsFiles(options: SettingsOptions): readonly SettingsFile[] {
  const path = pathOf(options.platform);
  const user = configFolder(options);
  const userFile = user === undefined ? undefined : path.join(user, "filehand", fileName);
  const projectFiles = new Set(options.roots.map((root) => projectFile(root, options.platform)));
  if (userFile !== undefined) projectFiles.delete(userFile); // a root may be the configuration folder itself
  return [
    ...(userFile === undefined ? [] : [{ path: userFile, source: "user settings" } as const]),
    ...[...projectFiles].map((file) => ({ path: file, source: "project settings" }) as const),
  ];
}

export const projectFile = (root: string, platform: NodeJS.Platform): string => pathOf(platform).join(root, fileName);

function configFolder({ env, platform, home }: SettingsOptions): string | undefined {
  const path = pathOf(platform);
  const [given, usual] =
    platform === "win32" ? [env["APPDATA"], ["AppData", "Roaming"]] : [env["XDG_CONFIG_HOME"], [".config"]];
  // A relative path would let any working folder bring its own "user" settings.
  if (given !== undefined && path.isAbsolute(given)) return given;
  return home === undefined || home === "" ? undefined : path.join(home, ...usual);
}

const pathOf = (platform: NodeJS.Platform) => (platform === "win32" ? win32 : posix);

/** A project's symlink may lead to any file that the user can read. */
function leadsOut(path: string, faults: SettingsFault[]): boolean {
  const realPrefix = realPrefixes();
  const [file, folder] = [realPrefix(path), realPrefix(dirname(path))];
  const rest = relative(folder, file);
  if (rest !== ".." && !/^\.\.[\\/]/.test(rest) && !isAbsolute(rest)) return false;
  const message = "Cannot use this file: it is a link that leads out of the workspace, put a copy in its place";
  faults.push({ file: path, line: 1, message });
  return true;
}

function readOrReport(path: string, faults: SettingsFault[]): string | undefined {
  try {
    return readSmallFile(path, limits.settingsBytesMax);
  } catch (error) {
    // The file exists, and the rules in it are unknown.
    faults.push({ file: path, line: 1, message: error instanceof Error ? error.message : String(error), stops: true });
    return undefined;
  }
}

interface Said {
  readonly source: SettingsFile["source"];
  readonly path: string;
  readonly values: SettingsValues;
}

function merge(said: readonly Said[], { roots, platform }: SettingsOptions, faults: SettingsFault[]): Settings {
  const ofUser = said.filter(({ source }) => source === "user settings");
  const trustedRoots = trustedOf(ofUser, roots);
  const isTrusted = ({ path }: Said): boolean => trustedRoots.some((root) => projectFile(root, platform) === path);
  const ofProjects = said
    .filter(({ source }) => source === "project settings")
    .map((one) => (isTrusted(one) ? one : withoutPrograms(one, faults)));
  const single: Record<string, unknown> = Object.assign(
    {},
    ...[...ofProjects, ...ofUser].toReversed().map(({ values }) => values),
  );
  for (const key of joinedKeys) delete single[key];
  const mode = strictestMode(ofUser, ofProjects);
  return {
    ...(single as SingleValues), // each value was found under its own key
    ...(mode === undefined ? {} : { mode }),
    trustedRoots,
    rules: said.flatMap((one) => {
      // If no project is trusted, all rules pass, and the policy reports which of them do not count.
      const counts = one.source === "user settings" || trustedRoots.length === 0 || isTrusted(one);
      return counts ? rulesOf(one) : narrowingRulesOf(one, faults);
    }),
    restricted: {
      add: said.flatMap(({ values }) => values.restricted?.add ?? []),
      remove: said.flatMap(({ values }) => values.restricted?.remove ?? []),
    },
    roots: said.flatMap(({ values }) => values.roots ?? []),
  };
}

/** A project can only make the user's mode stricter. */
function strictestMode(ofUser: readonly Said[], ofProjects: readonly Said[]): Mode | undefined {
  const users = ofUser.find(({ values }) => values.mode !== undefined)?.values.mode;
  const projects = ofProjects.flatMap(({ values }) => values.mode ?? []);
  return projects.reduce<Mode | undefined>(
    (strictest, mode) => (isWider(strictest ?? "default", mode) ? mode : strictest),
    users,
  );
}

/** Exactly the folders that the user named, symlinks resolved; not the folders in them. */
function trustedOf(ofUser: readonly Said[], roots: readonly string[]): readonly string[] {
  const named = ofUser.flatMap(({ values }) => values.trustedProjects ?? []);
  if (named.length === 0) return [];
  const folders = new Set(named.flatMap((folder) => realPath(folder) ?? []));
  return roots.filter((root) => folders.has(realPath(root) ?? ""));
}

function realPath(path: string): string | undefined {
  try {
    return nodeSystem.realPath(path);
  } catch {
    return undefined; // a folder that does not exist has nothing to trust
  }
}

/** A project that the user does not trust names no program to run. */
function withoutPrograms(said: Said, faults: SettingsFault[]): Said {
  const { formatter, ...values } = said.values;
  if (formatter === undefined) return said;
  const message = 'Cannot use "formatter" here: this project is not among your trustedProjects';
  faults.push({ file: said.path, line: 1, message });
  return { ...said, values };
}

function narrowingRulesOf(said: Said, faults: SettingsFault[]): readonly RuleText[] {
  const rules = rulesOf(said);
  const narrowing = rules.filter(({ verdict }) => verdict !== "allow");
  if (narrowing.length < rules.length) {
    const message = 'Cannot use "permissions.allow" here: this project is not among your trustedProjects';
    faults.push({ file: said.path, line: 1, message });
  }
  return narrowing;
}

function rulesOf({ source, values }: Said): readonly RuleText[] {
  return (["deny", "ask", "allow"] as const).flatMap((verdict) =>
    (values.permissions?.[verdict] ?? []).map((text) => ({ verdict, text, source })),
  );
}

/** Makes paths absolute: `~/x` is at home, `x` is relative to the settings file. */
function withPaths(values: SettingsValues, file: string, { platform, home }: SettingsOptions): SettingsValues {
  const path = pathOf(platform);
  const absolute = (written: string): string =>
    home !== undefined && /^~(?=[\\/]|$)/.test(written)
      ? path.join(home, written.slice(1))
      : path.resolve(path.dirname(file), written);
  const { confinement } = values;
  return {
    ...values,
    ...(typeof confinement === "object" && {
      confinement: {
        ...confinement,
        ...(confinement.read && { read: confinement.read.map(absolute) }),
        ...(confinement.write && { write: confinement.write.map(absolute) }),
      },
    }),
    ...(values.roots && { roots: values.roots.map(absolute) }),
    ...(values.trustedProjects && { trustedProjects: values.trustedProjects.map(absolute) }),
    ...(values.stateDir !== undefined && { stateDir: absolute(values.stateDir) }),
  };
}

/** What the command line needs to know of the machine at start. Surfaces have no disk access of their own. */

export { argumentsAreUtf8, programOnPath } from "../disk/disk.ts";

// The token of the HTTP server: read from the operator's file, or created with it.

/** A token is one short line; a larger file is another file. */
const tokenBytesMax = 4_096;

/** Throws an Error with a message for the operator. */
export function tokenFrom(path: string, make: () => string): string {
  const token = privateFile(path, make, tokenBytesMax).trim();
  if (token.length < 16) throw new Error(`Cannot use "${path}": a token has at least 16 characters`);
  return token;
}
