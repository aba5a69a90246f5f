/**
 * Where language servers meet the disk and the rules. They are loaded by the first call that has use for them; a toolkit without
 * them never loads any of it.
 */

import * as nodePath from "node:path";
import type { FilehandOptions } from "./api.ts";
import type { LanguageFault, LanguageOptions, Languages } from "./contract/language.ts";
import { lazily } from "./disk/loading.ts";
import { limits } from "./contract/limits.ts";
import type { Disk } from "./disk/disk.ts";
import { programIn, programOnPath, realProgram, trustedPath } from "./disk/programs.ts";
import { readSmallText } from "./disk/small-text.ts";
import type { Guard } from "./guard/guard.ts";
import type { World } from "./lsp/world.ts";
import { signOf } from "./tools/stamp.ts";

export interface LazyLanguages {
  readonly open: () => Promise<Languages>;
  /** Servers that the operator named and that cannot be used. */
  faults(): Promise<readonly LanguageFault[]>;
  /** Ends the servers, if any were started. */
  close(): Promise<void>;
}

/** What the operator wants; undefined where no servers are used. */
export function languageOptionsOf({ languageServers }: FilehandOptions): LanguageOptions | undefined {
  if (languageServers === undefined || languageServers === false) return undefined;
  return languageServers === true ? {} : languageServers;
}

export function languagesOf(options: FilehandOptions, disk: Disk, guard: () => Guard): LazyLanguages | undefined {
  const wanted = languageOptionsOf(options);
  if (wanted === undefined) return undefined;
  let opened: Promise<Languages> | undefined;
  const load = lazily(async (): Promise<Languages> => {
    const { createLanguages } = await import("./lsp/languages.ts");
    return createLanguages(wanted, worldOf(wanted, options, disk, guard));
  });
  const open = (): Promise<Languages> => (opened = load());
  return {
    open,
    close: async () => (await opened?.catch(() => undefined))?.close(), // what could not be loaded has nothing to close
    faults: async () => (await import("./lsp/servers.ts")).serversOf(wanted).faults,
  };
}

function worldOf(
  wanted: LanguageOptions,
  { trustProject = false }: FilehandOptions,
  disk: Disk,
  guard: () => Guard,
): World {
  const roots = disk.roots.map(({ real }) => real);
  const { env, platform } = process;
  const trusted = wanted.trustedRoots ?? (trustProject ? roots : []);
  // A server runs programs of its own choice, by their names.
  const notBeneath = untrustedOf(roots, trusted);
  return {
    env: {
      ...Object.fromEntries(Object.entries(env).filter(([name]) => name.toUpperCase() !== "PATH")),
      PATH: trustedPath({ path: env["PATH"], platform, notBeneath }),
    },
    roots,
    find: serverFinder({ roots, trusted, path: env["PATH"], platform }),
    has: (folder, name) => {
      const look = disk.look(nodePath.join(folder, name));
      if (look.seen === "node") look.held.close();
      return look.seen === "node";
    },
    textOf: (path) => (guard().isSecret(path) ? undefined : readSmallText(path, disk, limits.languageFileBytesMax)),
    stampOf: (path) => {
      const look = disk.look(path);
      if (look.seen !== "node") return undefined;
      look.held.close();
      return signOf(look.held.identity);
    },
  };
}

export interface ServerPlaces {
  readonly roots: readonly string[];
  readonly trusted: readonly string[];
  readonly path: string | undefined;
  readonly platform: NodeJS.Platform;
}

/**
 * Where the program of a server is, for a file of a folder. What lies in a project is code of strangers: it is run only if its operator
 * trusts the project.
 */
export function serverFinder({ roots, trusted, path, platform }: ServerPlaces): World["find"] {
  const isTrusted = (one: string): boolean => trusted.some((root) => isBeneath(one, root));
  const notBeneath = untrustedOf(roots, trusted);
  return (command, folder) => {
    if (nodePath.isAbsolute(command)) return realProgram(command) === undefined ? undefined : command;
    if (command.includes("/") || command.includes(nodePath.sep)) return undefined;
    const own = isTrusted(folder) ? installedIn(folder, roots, command) : undefined;
    return own ?? programOnPath(command, { path, platform, runnable: true, notBeneath });
  };
}

const untrustedOf = (roots: readonly string[], trusted: readonly string[]): readonly string[] =>
  roots.filter((root) => !trusted.some((one) => isBeneath(root, one)));

/** In `node_modules` of the project or of a folder above, up to the workspace's root. */
function installedIn(folder: string, roots: readonly string[], command: string): string | undefined {
  for (let at = folder; roots.some((root) => isBeneath(at, root)); at = nodePath.dirname(at)) {
    const program = programIn(nodePath.join(at, "node_modules", ".bin"), command, process.platform, true);
    if (program !== undefined) return program;
    if (at === nodePath.dirname(at)) break;
  }
  return undefined;
}

function isBeneath(path: string, root: string): boolean {
  const rest = nodePath.relative(root, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest));
}
