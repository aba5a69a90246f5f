/** The configuration file of an MCP client: what would become of it, and writing that. Nothing else in it changes. */

import * as nodePath from "node:path";
export { programOnPath } from "../disk/programs.ts";
import { readSmallFile } from "../disk/small-file.ts";
import { writeSmallFile } from "../disk/small-file-write.ts";
import { nodeSystem } from "../disk/system.ts";
import type { Entry, EntryWish, Merged } from "./entry.ts";
import { jsonOf, withJsonEntry } from "./json-entry.ts";
import { tomlOf, withTomlEntry } from "./toml-entry.ts";

/** Some clients keep their history in the same file. */
const bytesMax = 67_108_864;

export interface ClientFile {
  readonly path: string;
  readonly format: "json" | "toml";
  /** A project comes from strangers, and its link may lead to anything that its reader can write. */
  readonly links: "follow" | "refuse";
  /** What a new file holds besides. */
  readonly fresh?: Readonly<Record<string, string>>;
}

/** A change that was worked out and not yet made. */
export type ClientPlan =
  | Exclude<Merged, { readonly merged: "text" }>
  | { readonly merged: "text"; readonly before: string | undefined; readonly after: string };

export function planEntry(file: ClientFile, entry: Entry, wish: EntryWish): ClientPlan {
  let before: string | undefined;
  try {
    before = readSmallFile(file.path, bytesMax, "kept");
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { merged: "refused", why: said.replace(/^Cannot read ".*": /s, "") };
  }
  const fault = file.links === "refuse" ? linkFault(file.path) : undefined;
  if (fault !== undefined) return { merged: "refused", why: fault };
  const mark = before?.startsWith("\uFEFF") === true ? "\uFEFF" : "";
  const text = (before ?? "").slice(mark.length);
  const merged =
    file.format === "json" ? withJsonEntry(text, entry, wish, file.fresh) : withTomlEntry(text, entry, wish);
  return merged.merged === "text" ? { merged: "text", before, after: mark + merged.text } : merged;
}

/** Undefined when it is done. `changed`: somebody else wrote meanwhile, so that it must be planned anew. */
export function writePlan(
  file: ClientFile,
  plan: Extract<ClientPlan, { readonly merged: "text" }>,
): "changed" | { readonly why: string } | undefined {
  const { path, links } = file;
  return writeSmallFile({ path, before: plan.before, text: plan.after, bytesMax, links, mark: "kept" });
}

/** The file as it would be with nothing else in it. */
export const soleText = ({ format, fresh }: Pick<ClientFile, "format" | "fresh">, entry: Entry): string =>
  format === "json" ? jsonOf(entry, fresh) : tomlOf(entry);

/** The file itself, or the folder that it lies in. */
function linkFault(path: string): string | undefined {
  if (isLink(path)) return "it is a link, and a project's links are not followed";
  return isLink(nodePath.dirname(path)) ? "its folder is a link, and a project's links are not followed" : undefined;
}

function isLink(path: string): boolean {
  try {
    return nodeSystem.statLink(path).isSymbolicLink();
  } catch {
    return false; // what is not there is no link
  }
}

/** Is there anything of that name? */
export function isThere(path: string): boolean {
  try {
    nodeSystem.statPath(path);
    return true;
  } catch {
    return false;
  }
}
