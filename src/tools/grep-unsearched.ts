/**
 * What a search of a folder passes over without opening it: files that rules hide, whatever they hold, and links. It is
 * found while ripgrep searches, by names alone: a second ripgrep would take as long as a small search itself.
 */

import * as nodePath from "node:path";
import type { GrepOutcome, GrepRequest, Tally } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";
import type { Hidden } from "../guard/guard.ts";
import type { HiddenPatterns } from "../guard/hidden-patterns.ts";
import { countFiles, type GrepTask } from "../search/grep.ts";
import { ownFolders, type Searched } from "../search/grep-arguments.ts";
import { findHidden } from "../search/hidden-files.ts";
import { below } from "./grep-lines.ts";
import type { Ignoring } from "./grep-ignoring.ts";
import type { Located } from "./locate.ts";
import type { Bench } from "./tool.ts";

export interface Passing {
  readonly request: GrepRequest;
  readonly located: Located;
  readonly hidden: HiddenPatterns;
  /** Of paths below the folder: does the call choose it, do rules hide it? */
  readonly fits: (path: string) => boolean;
  readonly hides: (path: string) => Hidden | undefined;
  /** Looks a file up again beneath the roots. */
  readonly isThere: (path: string) => boolean;
  readonly searched: Extract<Searched, { readonly in: "folder" }>;
  readonly ignoring: Ignoring;
  readonly run: GrepTask["run"];
  /** Called if ripgrep reads ignore files otherwise than we do: what it finds is not to be used. */
  readonly onWrong: () => void;
  /** Did the search end without an answer, or is there none that could be wrong? */
  readonly isOver: () => boolean;
}

export interface Unsearched extends Pick<GrepOutcome, "withheld" | "links"> {
  /** How many names there are that were not ignored, if all were looked at. */
  readonly entries: number | undefined;
}

export async function unsearched(passing: Passing, bench: Bench): Promise<Unsearched> {
  const { request, located, hidden, fits, hides, ignoring } = passing;
  const { target, found } = located;
  const folders = target.absolute === target.real ? [target.real] : [target.absolute, target.real];
  const mayBe = folders.some(hidden.mayBeHidden) ? () => true : byNames(hidden.mayBeHidden);
  // Denied files count whether the call chooses them or not: a number that depended on its globs or types would betray
  // their names, one letter after the other. Names of files that ask are no secret.
  const hiddenAs = (path: string): Hidden | undefined => {
    const hidden = mayBe(path) ? hides(path) : undefined;
    return hidden === "asks" && !fits(path) ? undefined : hidden;
  };
  const canHide = hidden.lines.length > 0 || hidden.cover === "some";
  const byRipgrep = (as: Hidden, run: GrepTask["run"]): Promise<Tally> =>
    countFiles(
      as === "asks" ? request.types : [],
      { ...passing.searched, names: undefined },
      (path) => hiddenAs(path) === as && passing.isThere(path),
      limits.searchListedMax,
      run,
    );
  const unknown: Tally = { number: 0, counted: "at least" };
  const brief = { ...passing.run, timeMsMax: limits.searchExtraMsMax };
  // Reading a folder that may hang must be something that can be ended.
  if (found.held.reads === "later") {
    const withheld = canHide ? sumOf(await byRipgrep("denied", brief), await byRipgrep("asks", brief)) : none;
    return { withheld, links: unknown, entries: undefined };
  }
  const seen = await findHidden(bench.disk.walk(found), {
    above: target.realRelative === "" ? [] : target.realRelative.split("/"),
    ignored: ignoring.above,
    isWrong: (what) => ignoring.by === "ripgrep" && ignoring.isWrong(what),
    isLeftOut: (name) => ownFolders.includes(name),
    hiddenAs,
    isMissed: (path) => hides(path) === undefined && isMissed(path, passing, bench),
    isOver: () => ignoring.by === "us" || passing.isOver(),
    entriesMax: limits.searchListedMax,
    signal: bench.signal,
  });
  if (seen.wrong) passing.onWrong();
  const counted = seen.complete ? "all" : "at least";
  const links: Tally = { number: seen.links, counted };
  const entries = seen.complete ? seen.entries : undefined;
  const denied: Tally = { number: seen.denied, counted };
  // Of our own passing files nobody needs to hear that there may be more.
  if (!canHide && seen.denied + seen.asks === 0) return { withheld: none, links, entries };
  // Which names are of a type is known to ripgrep alone. With few entries it takes long only on a slow machine.
  const ofTypes = request.types.length > 0 && seen.asks > 0;
  const asks: Tally = ofTypes
    ? await byRipgrep("asks", seen.complete ? passing.run : brief)
    : { number: seen.asks, counted };
  return { withheld: sumOf(denied, asks), links, entries };
}

const none: Tally = { number: 0, counted: "all" };

const sumOf = (a: Tally, b: Tally): Tally => ({
  number: a.number + b.number,
  counted: a.counted === "all" && b.counted === "all" ? "all" : "at least",
});

/** What makes a path hidden is part of one of its names, and files of one folder come one after the other. */
function byNames(mayBeHidden: (text: string) => boolean): (path: string) => boolean {
  let last = "";
  let lastMayBe = mayBeHidden(last);
  return (path) => {
    const cut = path.lastIndexOf("/") + 1;
    const folder = path.slice(0, cut);
    if (folder !== last) {
      last = folder;
      lastMayBe = mayBeHidden(folder);
    }
    return lastMayBe || mayBeHidden(path.slice(cut));
  };
}

/** What lies in the folder itself is found by its own name. Of what lies outside the border not even its being there is told. */
function isMissed(path: string, { located: { target }, fits }: Passing, { disk, guard }: Bench): boolean {
  const look = disk.look(below(target.real, path));
  if (look.seen === "outside") return true;
  if (look.seen !== "node") return false;
  look.held.close();
  // A link to what is denied is not named, so its name must not be guessed by the number either.
  if (guard.denied("read", [look.real], look.kind === "directory" ? "folder" : "file") !== undefined) return false;
  const start = target.real.endsWith(nodePath.sep) ? target.real : target.real + nodePath.sep;
  const isWithin = look.real === target.real || look.real.startsWith(start);
  // A glob says nothing of a folder: what lies in there may fit.
  return !isWithin && (look.kind === "directory" || (look.kind === "file" && fits(path)));
}
