/**
 * Finds programs on the PATH without running them, and checks whether one can be started. Only this file decides which
 * program a name means. It never picks one below a root, directly or through symlinks: any agent working in that root could
 * have put it there.
 */

import { isUtf8 } from "node:buffer";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { contains } from "../contract/common.ts";
import { attempt, errnoName, orErrno } from "./errno.ts";
import { requireDescriptors } from "./loading.ts";
import { nodeSystem } from "./system.ts";

export interface WhereToLook {
  readonly path: string | undefined;
  readonly platform: NodeJS.Platform;
  /** Only programs that start without a shell, which excludes Windows batch files. */
  readonly runnable?: boolean;
  readonly notBeneath: readonly string[];
}

export function programOnPath(name: string, where: WhereToLook): string | undefined {
  for (const program of programsOnPath(name, where)) return program;
  return undefined;
}

/** All programs of that name in PATH order: the first may be a different program of the same name. */
export function* programsOnPath(name: string, where: WhereToLook): Generator<string> {
  const isTrusted = outsideOf(where.notBeneath);
  for (const folder of trustedFolders(where)) {
    const found = programIn(folder, name, where.platform, where.runnable);
    if (found !== undefined && isTrusted(found)) yield found;
  }
}

export const trustedPath = (where: WhereToLook): string =>
  trustedFolders(where).join(where.platform === "win32" ? nodePath.win32.delimiter : nodePath.posix.delimiter);

/** The system's own program folders; no environment variable adds to them. */
export const systemPath = "/usr/bin:/bin:/run/current-system/sw/bin:/usr/local/bin";

function trustedFolders({ path, platform, notBeneath }: WhereToLook): readonly string[] {
  const paths = platform === "win32" ? nodePath.win32 : nodePath.posix;
  const folders = (path ?? "").split(paths.delimiter).filter((one) => paths.isAbsolute(one));
  return [...new Set(folders.map((one) => paths.resolve(one)))].filter(outsideOf(notBeneath));
}

/** Tests that a path is outside these folders, both as written and with symlinks resolved. */
function outsideOf(roots: readonly string[]): (path: string) => boolean {
  const all = new Set(roots.flatMap((root) => [nodePath.resolve(root), realProgram(root) ?? root]));
  return (path) => {
    const real = realProgram(path);
    return real !== undefined && ![...all].some((root) => contains(root, path) || contains(root, real));
  };
}

export function programIn(
  folder: string,
  name: string,
  platform: NodeJS.Platform,
  runnable = false,
): string | undefined {
  const paths = platform === "win32" ? nodePath.win32 : nodePath.posix;
  const endings = platform !== "win32" ? [""] : runnable ? [".exe"] : [".exe", ".cmd", ".bat"];
  return endings.map((ending) => paths.join(folder, name + ending)).find((one) => isProgram(one, platform));
}

export const realProgram = (path: string): string | undefined =>
  orErrno(
    () => nodeSystem.realPath(path),
    () => undefined,
  );

function isProgram(path: string, platform: NodeJS.Platform): boolean {
  const stat = attempt(() => nodeSystem.statPath(path));
  return stat?.isFile() === true && (platform === "win32" || (stat.mode & 0o111n) !== 0n);
}

/** Both ends of each pipe of a child, and what starting it needs besides. */
const descriptorsToStart = 12;

/** An errno name if no program can be started now. Without descriptors `spawn` fails and leaks those it had opened. */
export function whyNotStarted(): string | undefined {
  if (nodeSystem.platform === "win32") return undefined;
  try {
    requireDescriptors(descriptorsToStart);
    return undefined;
  } catch (error) {
    const errno = errnoName(error);
    return errno === "EMFILE" || errno === "ENFILE" ? errno : undefined;
  }
}

/** Whether the raw arguments of this process are UTF-8: Node replaces what is not. True where the system cannot say. */
export const argumentsAreUtf8 = (): boolean => attempt(() => isUtf8(fs.readFileSync("/proc/self/cmdline"))) ?? true;

/** The variables that programs get: those that tools need to find themselves, and no tokens of the host. */
const passedVariables = new Set(
  (
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP " +
    "XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME " +
    // Homes of languages.
    "CARGO_HOME CONDA_PREFIX GOCACHE GOFLAGS GOMODCACHE GOPATH GOROOT JAVA_HOME NVM_DIR PYENV_ROOT PYTHONPATH " +
    "RUSTUP_HOME RUSTUP_TOOLCHAIN VIRTUAL_ENV " +
    // Hardly any program starts on Windows without these.
    "APPDATA COMSPEC LOCALAPPDATA PATHEXT PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) SYSTEMDRIVE SYSTEMROOT " +
    "USERPROFILE WINDIR"
  ).split(" "),
);

/** For a language server or a formatter. */
export function cleanEnvironment(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const isPassed = passedVariables.has(name.toUpperCase()) || name.startsWith("LC_");
    if (value !== undefined && isPassed) clean[name] = value;
  }
  return clean;
}
