/** The door of search/: files by pattern, lines by ripgrep, similar names. Other rooms import from here and from nothing else in this room. */

export { countPruned, type FilesTally, newestFiles, walkFiles } from "./files.ts";
export { versionControlFolders, type ReadByRipgrep, type Searched } from "./grep-arguments.ts";
export { compileGlobs, type Globs } from "./grep-globs.ts";
export { type FoundLine, matchSpans } from "./grep-output.ts";
export {
  type PathRecheck,
  countFiles,
  countMatchingFiles,
  type GrepResult,
  type FoundFile,
  grep,
  type GrepTask,
  newestFirst,
} from "./grep.ts";
export { findHidden, leftOutText, type Survey, surveyIgnored } from "./hidden-files.ts";
export {
  type Ignored,
  ignoredIn,
  ignoredInNamed,
  isIgnored,
  isIgnoreFile,
  type NamedIgnored,
  nothingIgnored,
  type IgnoreDifference,
  withGitignore,
} from "./ignored.ts";
export { withLiteralBraces } from "./literal-braces.ts";
export { ripgrep } from "./ripgrep.ts";
export { similarPaths, type Surroundings, type Wanted } from "./similar.ts";
