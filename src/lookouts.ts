/** Inspectors of other processes, for surfaces: how to be found, and how to find. */

import * as nodePath from "node:path";
import { type LookoutPlace, reportProtocol } from "./contract/report.ts";
import { readLookouts } from "./disk/lookout-files.ts";

export { type LookoutFile, makeLookoutFile, watchLookouts } from "./disk/lookout-files.ts";

/** One that listens, and which of its workspaces holds the roots that were asked about. */
export interface Lookout {
  readonly name: string;
  readonly place: LookoutPlace;
  readonly workspace: string;
}

/** Those that watch all of these roots. What a file says is looked at field by field. */
export function lookoutsFor(stateDir: string, roots: readonly string[]): readonly Lookout[] {
  return [...readLookouts(stateDir)].flatMap(([name, text]) => {
    const place = placeIn(text);
    const found = place?.workspaces.find((workspace) => holdsAll(workspace.roots, roots));
    return place === undefined || found === undefined ? [] : [{ name, place, workspace: found.name }];
  });
}

/** Do all of these lie in one of those folders, or are they such a folder? */
export const holdsAll = (folders: readonly string[], roots: readonly string[]): boolean =>
  roots.length > 0 && roots.every((root) => folders.some((folder) => holds(folder, root)));

function holds(folder: string, path: string): boolean {
  const rest = nodePath.relative(folder, path);
  return rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest);
}

function placeIn(text: string): LookoutPlace | undefined {
  let value: Partial<LookoutPlace> | null;
  try {
    value = JSON.parse(text) as Partial<LookoutPlace> | null; // every field is looked at below
  } catch {
    return undefined;
  }
  const { protocol, address, key, workspaces } = value ?? {};
  if (protocol !== reportProtocol || typeof address !== "string" || typeof key !== "string") return undefined;
  if (!Array.isArray(workspaces) || !workspaces.every(isWorkspace)) return undefined;
  return { protocol, address, key, workspaces };
}

const isWorkspace = (value: unknown): value is LookoutPlace["workspaces"][number] =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  typeof value.name === "string" &&
  "roots" in value &&
  Array.isArray(value.roots) &&
  value.roots.every((root) => typeof root === "string");
