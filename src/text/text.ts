/** The door of text/: bytes and strings in, data out. Other rooms import only from here. */

export { chooseHunks } from "./diff/chosen-hunks.ts";
export {
  type ChangedRun,
  type DiffLimits,
  diffLimits,
  type DiffOfChanges,
  diffOfChanges,
  finishDiff,
  hunksBetween,
  hunksOfTexts,
  type LinesAround,
  type LinesTouched,
  shownRuns,
  startDiff,
  type TextDiff,
} from "./diff/hunks.ts";
export { lineDiff } from "./diff/line-diff.ts";
export {
  diffOfText,
  type DiffOfText,
  gitBinaryPatch,
  gitPatch,
  hunkHeader,
  moreLine,
  noDiffLine,
  unified,
} from "./diff/unified.ts";
export { type DoubleByteName, isDoubleByte } from "./encoding/encode-tables.ts";
export { doubleByteStep, encode, type Units } from "./encoding/encode.ts";
export {
  type ByteForm,
  codePoints,
  cutChars,
  decode,
  decodeInPieces,
  highLines,
  isUtf8,
  looksBinary,
  sniff,
  unfinishedBytes,
  wideForm,
} from "./encoding/encoding.ts";
export { escapeName, isWellFormed, shownName, visibleControls, visibleText, wellFormed } from "./encoding/escape.ts";
export { FirstOnes } from "./first-ones.ts";
export { expandBraces } from "./glob/braces.ts";
export { parseCharacterSet } from "./glob/character-set.ts";
export { type GlobState, startGlobState } from "./glob/glob-state.ts";
export { type Glob, newGlobBudget, newGlobStep, parseGlob } from "./glob/glob.ts";
export {
  compilePath,
  composed,
  fitsNoName,
  type IgnoreRules,
  matchedPrefixes,
  type PathPattern,
  readIgnoreRules,
} from "./glob/ignore-rules.ts";
export type { Meter } from "./glob/name.ts";
export { isCutOff } from "./json/fault.ts";
export { parseJson, tooManyParts } from "./json/parse.ts";
export {
  type AlignedLines,
  alignLines,
  type OutsideChange,
  outsideChanges,
  hashLines,
  type LineHashes,
} from "./lines/align.ts";
export {
  countNewlines,
  countNewlinesIn,
  createKernel,
  type Kernel,
  kernelForThread,
  lineEndOf,
  type NewlineForm,
  skipNewlinesIn,
  startsIn,
  withLineEnds,
} from "./lines/newlines.ts";
export { numberLines, decodeUtf8 } from "./lines/page-kernel.ts";
export { numbersTokens, numberTokens, type PageRules, type PageStepper, startPage } from "./lines/page.ts";
export { bytePlacesIn, firstIndex } from "./match/find-text.ts";
export { type FinderOptions, isByteSearchable, startFinding } from "./match/find.ts";
export { IndexedForms } from "./match/indexed-text.ts";
export { fits, type Match, matchIn, withoutMark } from "./match/match.ts";
export { nearestRegion, regionAt } from "./match/nearest.ts";
export { exactReplacement, linesRewritten } from "./match/rewrite.ts";
export { type Source, sourceOf } from "./match/source.ts";
export { type SimpleCommand, simpleCommands } from "./shell/commands.ts";
// For a hook after a shell tool, and for recorded commands: which lines `cat`, `sed -n`, `grep` and the like have shown.
export { cutOutput, linesShownByShell, type ShellLines } from "./shell/lines-shown.ts";
export { type CellEdit, type CellEdited, editCell } from "./notebook/edit.ts";
export { type Notebook, type NotebookFault, type NotebookLimits, parseNotebook } from "./notebook/notebook.ts";
export { compareCodePoints, compareNames, comparePaths } from "./order.ts";
export { scanHtml } from "./outline/html.ts";
export { chooseItems, ItemCollector, type OutlineScanner, shortName, type WholeItem } from "./outline/items.ts";
export { scanJson } from "./outline/json.ts";
export { scanMarkdown } from "./outline/markdown.ts";
export { scanSql } from "./outline/sql.ts";
export { scanToml } from "./outline/toml.ts";
export { scanYaml } from "./outline/yaml.ts";
export { applyingHunks, type Refused, matchOnce } from "./patch/apply.ts";
export { parsePatch, parsingPatch, type PatchFile, type PatchHunk, pathsNamed } from "./patch/patch.ts";
export {
  apply,
  changesOfPieces,
  changesOfEdits,
  countLines,
  insertion,
  lineReplacement,
  PieceList,
} from "./pieces.ts";
export { findCodePlace, wordAt } from "./source-position.ts";
export { sourceText, type SourceText } from "./source.ts";
export { finish, partLength, type Steps } from "./steps.ts";
export { estimateTokens, fittingStart, roughTokens } from "./tokens.ts";
export {
  didTo,
  isHash,
  isKnownSame,
  isSameContent,
  isSurelySame,
  modesOf,
  shortCharsMin,
  shortNames,
  type TouchedFile,
  turnFiles,
  undoneIn,
} from "./turns.ts";
