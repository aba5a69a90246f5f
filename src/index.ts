/** The public names of Filehand, one by one: this file is a promise. */

export type { Answer, Asker, Clock, Keep, OfferedHunk, Question, KeepRule } from "./contract/ask.ts";
export { type LineNumber, lineNumber } from "./contract/target.ts";
export type { JsonSchema, Reply, ReplyPart, ToolDefinition } from "./contract/call.ts";
export type { CallChange, CallDetail, CallDiff, CallEvent, CallListener, CallRange } from "./contract/event.ts";
export { type FailureCode, FilehandError, type ProblemData } from "./contract/problem.ts";
export type { ChangeListener, FileChanged } from "./contract/event.ts";
export type {
  EditRequest,
  FileTool,
  Formatter,
  FormatterCommands,
  HunkLines,
  PartAccepted,
  PatchRequest,
  WriteRequest,
} from "./contract/edit.ts";
export type {
  DiffStats,
  FileChange,
  FileVersion,
  RewindStep,
  Snapshot,
  TurnChanges,
  Usage,
} from "./contract/history.ts";
export type { GlobRequest } from "./contract/glob.ts";
export type { GrepRequest } from "./contract/grep.ts";
export type {
  Diagnostic,
  DiagnosticsReport,
  LanguageFault,
  LanguageOptions,
  LanguageServerOptions,
  Position,
  Severity,
  TextRange,
} from "./contract/lsp.ts";
export type { Lock, Mode } from "./contract/permission.ts";
export type { OutlineItem, OutlineOutcome, OutlineRequest } from "./contract/outline.ts";
export type { Decider, Explanation, ListedRule, PermissionList, Permissions, Remedy } from "./contract/permission.ts";
export { toolNames } from "./contract/offered-tools.ts";
export type { OlderToolOptions, ToolChoice, ToolName } from "./contract/offered-tools.ts";
export type { LineNumbers, Profile } from "./contract/profile.ts";
export type { LineRange, LsRequest, ReadRequest } from "./contract/read.ts";
export type { RewindOutcome, RewoundFile } from "./contract/history.ts";
export type { RuleFault, RuleText, Verdict } from "./contract/permission.ts";
export type { Outcome, Request, RunResult, Verb } from "./contract/call.ts";
export type { DialectName, DialectTools } from "./dialects/dialects.ts";
export type {
  CallOptions,
  DiagnosticsOptions,
  Filehand,
  FilehandOptions,
  History,
  ObserveOptions,
  OutlineOptions,
  RewindOptions,
  RunOptions,
  Session,
  SessionHistory,
  SessionOptions,
  SessionStats,
  ToolFunctions,
  Workspace,
} from "./options.ts";
export { restrictedFiles } from "./kinds/kinds.ts";
export type { ReadState, ShownElsewhere, Timeline, TimelineLimits } from "./session/session.ts";
export { createFilehand } from "./filehand.ts";
export type { SessionUsage } from "./state/state.ts";
export type {
  Content,
  Cost,
  Coverage,
  EntryPage,
  FilePage,
  NotCoveredGroup,
  Observed,
  ShellOutput,
  ShownFile,
  ObservedCommand,
  ObserveLimits,
  ObserveRequest,
} from "./tools/tools.ts";
