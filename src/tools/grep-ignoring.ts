/**
 * Who reads the ignore files of a folder that is searched. ripgrep does, as it is quick at it, wherever it comes to the
 * same as our own reading, by which Glob goes. It does not know where the workspace ends, which ignore files are links
 * and that a folder was named: there they are read before the search, and ripgrep is told what to leave out.
 */

import { Problem } from "../contract/problem.ts";
import { areAbove } from "../disk/ignore-files-above.ts";
import { type Ignored, ignoredInNamed, type NamedIgnored, type Unlike } from "../search/files-ignored.ts";
import { ownFolders, type ReadByRipgrep } from "../search/grep-arguments.ts";
import { type Survey, surveyIgnored } from "../search/ignored-survey.ts";
import { type IgnoredAbove, ignoredAbove } from "./ignored-at.ts";
import type { Located } from "./locate.ts";
import type { Bench } from "./tool.ts";

export type Ignoring = {
  /** By ignore files above the folder. */
  readonly above: Ignored;
} & (
  | {
      readonly by: "ripgrep";
      readonly reads: ReadByRipgrep;
      /** Would ripgrep go wrong, if this lies deeper in the folder? */
      readonly isWrong: (what: Unlike) => boolean;
    }
  | { readonly by: "us"; readonly survey: Survey }
);

export async function ignoringOf(located: Located, bench: Bench): Promise<Ignoring> {
  const { target, found } = located;
  // Reading a folder that may hang must be something that can be ended.
  if (found.held.reads === "later") {
    const reads = { parents: true, repository: false, exclude: true };
    return { by: "ripgrep", above: { levels: [] }, reads, isWrong: () => false };
  }
  const above = await ignoredAbove(target, bench);
  const folder = bench.disk.walk(found);
  const entries = await folder.entries();
  // What cannot be listed cannot be searched either; ripgrep will say so.
  const listed = "errno" in entries ? [] : entries;
  let links = above.links;
  const named = await ignoredInNamed(folder, listed, namesTo(located), above.ignored, (what) => {
    if (what === "link") links = true;
  });
  const isRepository = listed.some(({ name }) => name === ".git");
  const parents = named.hold === "all" && above.ignored.levels.length > 0;
  if (links || named.hold === "none" || (parents && isMoreAbove(above, isRepository))) {
    return await ignoringByUs(located, above.ignored, bench, named);
  }
  const reads: ReadByRipgrep = {
    parents,
    repository: isRepository || (parents && above.inRepository),
    exclude: named.ignored.levels.some(({ kind }) => kind === "exclude"),
  };
  const wrong: Readonly<Record<Unlike, boolean>> = {
    link: true,
    border: !reads.repository,
    exclude: !reads.exclude,
    elsewhere: reads.exclude,
  };
  return { by: "ripgrep", above: above.ignored, reads, isWrong: (what) => wrong[what] };
}

/** Would ripgrep, on its way up, come to ignore files that do not hold? Those of Git end at a repository. */
const isMoreAbove = ({ from, inRepository }: IgnoredAbove, isRepository: boolean): boolean =>
  areAbove(from, [".ignore", ".rgignore", ...(inRepository || isRepository ? [] : [".gitignore", ".git"])]);

/** So many are told to ripgrep, which reads each as a pattern; what it finds in others is dropped. */
const foldersMax = 1_000;

export async function ignoringByUs(
  located: Located,
  above: Ignored,
  bench: Bench,
  known?: NamedIgnored,
): Promise<Ignoring> {
  const folder = bench.disk.walk(located.found);
  const names = namesTo(located);
  const { ignored } = known ?? (await read());
  const untilMs = performance.now() + bench.searchMsMax;
  const survey = await surveyIgnored(folder, {
    above: names,
    ignored,
    isLeftOut: (name) => ownFolders.includes(name),
    foldersMax,
    onTurn: () => {
      bench.signal.throwIfAborted();
      return performance.now() > untilMs ? "enough" : "more";
    },
  });
  return { by: "us", above, survey };

  async function read(): Promise<NamedIgnored> {
    const entries = await folder.entries();
    if ("errno" in entries) {
      throw new Problem({ code: "IO_ERROR", place: located.target, errno: entries.errno, during: "listing it" });
    }
    return await ignoredInNamed(folder, entries, names, above);
  }
}

/** Lines of an ignore file that leave these folders out and nothing else. A name that no line can say is not said. */
export const linesOf = (folders: readonly string[]): readonly string[] =>
  folders.filter((path) => !/[\n\r\ufffd]/.test(path)).map((path) => `/${path.replace(/[\\*?[\]{}!#]/g, "\\$&")}/`);

const namesTo = ({ target: { realRelative } }: Located): readonly string[] =>
  realRelative === "" ? [] : realRelative.split("/");
