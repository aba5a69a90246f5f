/** What this machine offers to Filehand, as data for `filehand doctor`. Changes nothing. */

import {
  defaultLockFolders,
  folderFacts,
  loadAttributeCalls,
  loadKernelLock,
  lockFolderStates,
  lockReach,
  programOnPath,
} from "./disk/disk.ts";
import { canConfine } from "./confinement/confinement.ts";
import type { Checkup, FoundServer } from "./contract/checkup.ts";
import type { LanguageOptions } from "./contract/lsp.ts";
import { optionalParts } from "./kinds/kinds.ts";
import { serverFinder } from "./filehand.ts";
import { installOf, serversOf } from "./lsp/lsp.ts";
import { ripgrep } from "./search/search.ts";

export interface CheckupOptions {
  readonly roots: readonly string[];
  readonly stateDir: string | undefined;
  readonly path: string | undefined;
  readonly platform: NodeJS.Platform;
  readonly languages?: LanguageOptions;
}

/** The same as `engines` in package.json. */
export const nodeNeeded = "20.19.0";

export async function checkup(options: CheckupOptions): Promise<Checkup> {
  const { roots, stateDir, path, platform } = options;
  const [found, parts, attributes, kernelLock, confinement] = await Promise.all([
    ripgrep({ path, notBeneath: roots }),
    optionalParts(),
    loadAttributeCalls(),
    loadKernelLock(),
    canConfine(),
  ]);
  const koffi = platform === "linux" ? ([["koffi", attributes === undefined ? "missing" : "there"]] as const) : [];
  const where = { path, platform, notBeneath: roots };
  return {
    node: { version: process.versions.node, needed: nodeNeeded, enough: isEnough(process.versions.node) },
    ripgrep: found === undefined ? undefined : { kind: found.kind, command: found.before[0] ?? found.command },
    parts: new Map([...parts, ...koffi]),
    stateDir: stateDir === undefined ? undefined : { path: stateDir, ...folderFacts(stateDir) },
    locks: lockFolderStates(defaultLockFolders()).map((one) => ({ ...one, ...folderFacts(one.path) })),
    roots: roots.map((path) => {
      const facts = folderFacts(path);
      return { path, ...facts, locks: lockReach(path, facts.isLocal, kernelLock) };
    }),
    git: programOnPath("git", where),
    languageServers: serversFound(options),
    confinement,
  };
}

/** Searches as the toolkit does when it starts a server. */
function serversFound({ roots, path, platform, languages = {} }: CheckupOptions): readonly FoundServer[] {
  const find = serverFinder({ roots, trusted: languages.trustedRoots ?? [], path, platform });
  const found = (command: string): string | undefined =>
    [...roots, ""].map((root) => find(command, root)).find((program) => program !== undefined);
  return serversOf(languages).servers.map(({ name, group, command, extensions, checksWith }) => ({
    name,
    group,
    command,
    program: found(command),
    extensions: Object.keys(extensions),
    install: installOf(name),
    lacks:
      checksWith === undefined || found(checksWith) !== undefined
        ? undefined
        : { program: checksWith, install: installOf(checksWith) },
  }));
}

function isEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = nodeNeeded.split(".").map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}
