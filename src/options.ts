/** The library's public types: the toolkit, its sessions and the options of both. */

import type { Asker, Clock, Ids, KeepRule } from "./contract/ask.ts";
import type { Reply, Request, RunResult, ToolDefinition, Verb } from "./contract/call.ts";
import type { Formatter, FormatterCommands } from "./contract/edit.ts";
import type { CallListener, ChangeListener } from "./contract/event.ts";
import type { RewindOutcome } from "./contract/history.ts";
import type { DiagnosticsReport, LanguageFault, LanguageOptions } from "./contract/lsp.ts";
import type { OutlineOutcome } from "./contract/outline.ts";
import type { Lock, Mode, Permissions, RuleFault, RuleText } from "./contract/permission.ts";
import type { OlderToolOptions, ToolChoice } from "./contract/offered-tools.ts";
import type { LineNumbers, Profile } from "./contract/profile.ts";
import type { DialectName, DialectTools, Words } from "./dialects/dialects.ts";
import type { Watching } from "./disk/disk.ts";
import type { History, SessionHistory } from "./history/history.ts";
import type { ReadState, ShownElsewhere, Timeline, TimelineLimits } from "./session/session.ts";
import type { SessionUsage } from "./state/state.ts";
import type {
  Content,
  Cost,
  Coverage,
  EntryPage,
  FilePage,
  Observed,
  ShellOutput,
  ShownFile,
  ObserveLimits,
  ObserveRequest,
} from "./tools/tools.ts";

export type { Coverage, History, Observed, Timeline, SessionHistory, ShownFile };

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Reports what a change would do and writes nothing. */
  readonly dryRun?: boolean;
  /** Puts the old content and the whole diff of a change into `structured`, whatever their size. */
  readonly full?: boolean;
  /** Maximum bytes of this answer; overrides `FilehandOptions.answerBytesMax`. */
  readonly answerBytesMax?: number;
  /** Counts `structured` into those bytes, for hosts that send it along with the answer; false by default. */
  readonly countStructured?: boolean;
  /**
   * Called now and then during a long scan. `done` and `total` are bytes; a search reports the entries or matching
   * files found so far, and 0 as its unknown total.
   */
  readonly onProgress?: (done: number, total: number) => void;
  /**
   * For surfaces whose asker aborts a call by throwing and repeats it with the answer: an empty object, passed to both
   * calls. In between the call keeps its place in the call queue; if the surface does not repeat the call, it gives the
   * place up with `leave`.
   * @internal
   */
  readonly place?: KeptPlace;
}

/** @internal */
export interface KeptPlace {
  /** Set while the call is suspended. */
  leave?: (() => void) | undefined;
}

export interface DiagnosticsOptions extends CallOptions {
  /** Milliseconds to wait for language servers; 10,000 by default. */
  readonly waitMsMax?: number;
}

export interface RunOptions extends CallOptions {
  /**
   * For adapters whose host words some answers itself.
   * @internal
   */
  readonly words?: Partial<Words>;
}

/** The tools of a dialect as functions. They throw a FilehandError for the failures that the dialect throws. */
export type ToolFunctions<Name extends DialectName> = {
  readonly [Tool in keyof DialectTools[Name]]: DialectTools[Name][Tool] extends {
    input: infer Input;
    output: infer Output;
  }
    ? (input: Input, options?: CallOptions) => Promise<Output>
    : never;
};

export interface SessionStats {
  readonly calls: number;
  readonly failures: number;
  /** Estimated tokens of all replies, and of the content that repeated reads did not send again. */
  readonly tokensGiven: number;
  readonly tokensSaved: number;
}

export interface Session<Name extends DialectName = DialectName> {
  /** The conversation's name as the host gave it, else a random one. */
  readonly id: string;
  readonly dialect: Name;
  readonly mode: Mode;
  /**
   * Changes the mode for the calls that follow. Throws a FilehandError if the operator locked the mode and the new one
   * allows more.
   */
  setMode(mode: Mode): void;
  /** Explains what this session may do and which rule says so. */
  readonly permissions: Permissions;
  /** Runs one tool call as a model writes it. Failures are replies too; it throws only for a bug. */
  call(tool: string, input: unknown, options?: CallOptions): Promise<Reply>;
  /**
   * Runs one request that belongs to no dialect. Returns the outcome, or the problem that prevented it, as data,
   * together with the reply in the session's dialect; throws only for a bug.
   */
  run<V extends Verb>(
    request: (profile: Profile) => Request & { readonly verb: V },
    options?: RunOptions,
  ): Promise<RunResult<V>>;
  readonly tools: ToolFunctions<Name>;
  /** What reading a file would cost in tokens. Throws a FilehandError where a read would be refused. */
  cost(path: string, options?: CallOptions): Promise<Cost>;
  /**
   * What a code file declares, and on which lines. Throws a FilehandError where a read would be refused or the file has
   * no outline.
   */
  outline(path: string, options?: OutlineOptions): Promise<OutlineOutcome>;
  /**
   * Why a read of this file would be refused, by a rule or by the system; undefined if it would succeed or the file
   * does not exist. For hosts that show stored content of a file. Reads nothing; asks the user where a read would ask.
   */
  readRefusal(path: string, options?: CallOptions): Promise<string | undefined>;
  /**
   * Diagnostics of the language servers for a file as it is on disk; undefined if no server handles such files. Throws
   * a FilehandError where a read would be refused.
   */
  diagnostics(path: string, options?: DiagnosticsOptions): Promise<DiagnosticsReport | undefined>;
  /**
   * Reports that a reply did not reach the model, for example because the connection broke. The session then forgets
   * that it showed this content, and what it knew of the same file before.
   */
  undelivered(reply: Reply): void;
  /** Calls, failures and estimated tokens of this session so far. */
  stats(): SessionStats;
  /**
   * Forgets that the session showed a file, or any file, because the content left the conversation: the next read sends
   * it again.
   */
  forget(path?: string): void;
  /**
   * Counts a file, or lines of it, as read because the host showed it to the model by other means (a shell, an
   * attachment). The content is identified by the hash of the whole file; if the file on disk has another hash, it
   * counts as changed since. Throws a FilehandError if the workspace has no such file or `shown` is malformed.
   */
  markRead(path: string, shown: ShownElsewhere): Promise<void>;
  /**
   * Counts the lines as read that a shell command printed whole (`cat`, `sed -n`, `head`, `tail`, `grep`, `git diff` and others),
   * as far as they are in the files now. Returns them, for `markRead` of a session in another process.
   */
  markShell(shown: ShellOutput): Promise<readonly ShownFile[]>;
  /** What the session has read, for `SessionOptions.readState` of a session that continues it in another process. */
  readState(): ReadState;
  /**
   * Assigns the changes that follow to this message of the conversation, until the next checkpoint or rewind. Throws a
   * FilehandError for the id "start", which names the state before the first message.
   */
  checkpoint(messageId: string): Promise<void>;
  /**
   * Scans the workspace and records what other programs (a shell command, a formatter) changed since the last scan as
   * part of the current message, so that a rewind restores it. With a `command` it is called before and after that
   * command, also from two processes, and what the command changed is a turn of its own. Do not call it while other
   * calls of the session run. It skips what `.gitignore` names, `.git` and `node_modules`. Throws a FilehandError where
   * no history is kept.
   */
  observe(options?: ObserveOptions): Promise<Observed>;
  /** The changes of this session; undefined where no history is kept. */
  history(): Promise<SessionHistory | undefined>;
  /** Restores files to their state before a message. Throws a FilehandError if there is no such message. */
  rewind(messageId: string, options?: RewindOptions): Promise<RewindOutcome>;
  /** Rewinds the last turn that is in effect; `redo` applies it again. */
  undo(options?: RewindOptions): Promise<RewindOutcome>;
  redo(options?: RewindOptions): Promise<RewindOutcome>;
  /** The tools for an agent loop: name, description, JSON schema, execute. */
  definitions(): readonly ToolDefinition[];
  /** The files of the workspace, for programs. Its functions throw a FilehandError where a read would be refused. */
  readonly workspace: Workspace;
}

export interface Workspace {
  /** Files in a fixed order, after the path `after`, without denied, ignored and hidden ones and `node_modules`. */
  files(page: { readonly after?: string; readonly max: number }, options?: CallOptions): Promise<FilePage>;
  /** Absolute paths that begin with `start`; those of folders end in a slash. */
  paths(start: string, max: number, options?: CallOptions): Promise<readonly string[]>;
  /** The content of a file, byte for byte, or the paths in a folder. */
  content(path: string, bytesMax: number, options?: CallOptions): Promise<Content>;
  /**
   * The entries of one folder, folders first, with what the rules say about each. Made for people who maintain the
   * rules: it lists denied entries too, but opens no denied folder.
   */
  entries(
    path: string,
    page: { readonly from: number; readonly max: number },
    options?: CallOptions,
  ): Promise<EntryPage>;
  /** Calls back whenever the file is changed, removed or created again. Folders cannot be watched. */
  watch(path: string, onChange: () => void, options?: CallOptions): Promise<Watching>;
}

export interface ObserveOptions extends CallOptions, ObserveRequest {}

export interface OutlineOptions extends CallOptions {
  /** Levels to show; by default as many as fit. */
  readonly depth?: number;
}

export interface RewindOptions extends CallOptions {
  /** Only these files. */
  readonly files?: readonly string[];
  /** Also overwrites what others changed since. */
  readonly force?: boolean;
  /**
   * Called with the plan before anything is changed, to show it and to ask a person. If it answers false, the call ends
   * with the code CANCELLED. What others change while it waits is left as it is.
   */
  readonly confirm?: (plan: RewindOutcome) => Promise<boolean>;
}

export interface SessionOptions<Name extends DialectName> {
  readonly dialect: Name;
  /** The conversation's name, if the host has one. */
  readonly id?: string;
  /**
   * What an earlier session had read, or what the host showed (`{ [real path]: { sha256, lines } }`, as for
   * `markRead`). Malformed entries are ignored; a file that differs on disk counts as changed.
   */
  readonly readState?: unknown;
  /**
   * Set this if calls of several conversations may share the session, as over MCP where clients do not name their
   * conversation. Then no answer relies on an earlier one: a repeated read sends the content again, and every read
   * names the instruction files.
   */
  readonly shared?: boolean;
  /**
   * Stores what the session has read in the state folder under its `id`; a later session with the same `id` and this
   * option continues from there, also in another process. Needs an `id` and a `stateDir`. Ignored if `readState` is
   * given.
   */
  readonly keepReadState?: boolean;
  /** Overrides `FilehandOptions.lineNumbers`. A dialect with a fixed form refuses it. */
  readonly lineNumbers?: LineNumbers;
  /** The program that makes the calls, as people know it, for the list of sessions: "Claude Code". */
  readonly client?: string;
  /** The user that the session works for, reported to listeners. Grants no permission. */
  readonly principal?: string;
  /** Restricts the session to these folders inside the roots. Relative paths start at `cwd`. */
  readonly within?: readonly string[];
  /**
   * The sessions whose turns `history`, `undo`, `redo` and `rewind` are about, merged by time; by default only this one. For
   * hosts that let a person take back what others did. A rewind is recorded in the sessions whose turns it takes back.
   * `within`: leaves out turns that changed nothing below these folders.
   */
  readonly over?: { readonly sessions: readonly string[]; readonly within?: readonly string[] };
}

export interface Filehand {
  /** The roots with symlinks resolved. */
  readonly roots: readonly string[];
  /** A short id made from the roots, the same in every process, for sessions that several processes continue. */
  readonly workspaceId: string;
  /** The stored changes of all sessions; undefined where no history is kept. */
  history(): Promise<History | undefined>;
  session(): Session;
  session<Name extends DialectName>(options: SessionOptions<Name>): Session<Name>;
  /**
   * Calls back after every tool call of every session; the returned function ends that. The second argument is as large
   * as the reply, so keep only the parts you need.
   */
  listen(listener: CallListener): () => void;
  /** A bounded list of calls, for hosts that display them; pass it to `listen`. */
  timeline(limits?: TimelineLimits): Timeline;
  /**
   * `recordUsage` adds a session's statistics to the usage file of the state folder, `usage` reads that file; without
   * a state folder it is empty.
   */
  recordUsage(session: Session): void;
  readonly usage: () => readonly SessionUsage[];
  /** Lists the rules and explains their decisions. */
  readonly permissions: Permissions;
  /** Configured language servers that cannot be used, with the reason. */
  languageFaults(): Promise<readonly LanguageFault[]>;
  /**
   * Stops the language servers, and writes the last read states of sessions with `keepReadState` and the last calls of the call
   * log. Language servers also end with the process.
   */
  close(): Promise<void>;
  /** Rules that are malformed or have no effect, with the reason. */
  readonly ruleFaults: readonly RuleFault[];
}

export interface FilehandOptions extends OlderToolOptions {
  /** The folders that sessions may work in. */
  readonly roots: readonly string[];
  /** Where relative paths start; the first root by default. */
  readonly cwd?: string;
  /** The dialect of sessions that choose none; `claude` by default. */
  readonly dialect?: DialectName;
  /**
   * The tools that models get. `["Read", "Grep"]` offers these and no other; with a sign before each name, such as
   * `["+History", "+Rewind", "-Delete"]`, tools are added to the default and taken from it. The default is what a dialect has by
   * tradition, `Outline`, `Delete` and `Move`. `History` and `Rewind` need `stateDir`, `Lsp` and `Rename` need `languageServers`.
   * Names are those of the `claude` dialect, whatever a dialect calls its tools.
   */
  readonly tools?: readonly ToolChoice[];
  /** Permission rules, such as `Read(secrets/**)`. */
  readonly permissions?: {
    readonly allow?: readonly string[];
    readonly ask?: readonly string[];
    readonly deny?: readonly string[];
  };
  /** More rules, each with its source, for hosts that load rules from several places. */
  readonly rules?: readonly RuleText[];
  /**
   * What happens with a deny or ask rule that cannot be understood: `stop` (the default) throws when the toolkit is
   * created, `report` only lists it in `ruleFaults`, for hosts that show that list.
   */
  readonly unclearRules?: "stop" | "report";
  /** Asks the user where a rule requires it. `"yes"` approves every question about files inside the roots. */
  readonly ask?: Asker | "yes";
  /**
   * What sessions may do; `default` by default. `read-only` writes nothing, whatever the rules say. `plan` is the same,
   * and replies say that the model is planning. `accept-edits` changes files in the roots without asking, except for
   * protected files and files that a rule covers.
   */
  readonly mode?: Mode;
  /**
   * What no session and no project may loosen: `mode`, or `rules` (allow rules then count only from these options and
   * the user's settings, and no answer is stored).
   */
  readonly locked?: readonly Lock[];
  /** Whether allow rules of "project settings" count; false by default, since projects come from strangers. */
  readonly trustProject?: boolean;
  /** What happens with a path outside the roots that no `external_directory(...)` rule covers; `refuse` by default. */
  readonly externalDirectories?: "refuse" | "ask";
  /** Stores rules that the user wants to keep. Without it an "always" lasts for the session. */
  readonly keepRule?: KeepRule;
  /** Whether reading a secret (`.env`, keys) needs approval; `ask` by default. */
  readonly secrets?: "ask" | "allow";
  /** Changes the list of restricted extensions and names. */
  readonly restricted?: { readonly add?: readonly string[]; readonly remove?: readonly string[] };
  /** Maximum tokens of one page in the `claude` dialect; 25,000 by default. */
  readonly pageTokensMax?: number;
  /**
   * Maximum bytes of one answer, at least 1,000: its texts as JSON, without images. Longer answers of Read, Grep, Glob,
   * LS and History end earlier and say how to continue; only what they show counts as read. No limit by default; the
   * MCP server sets one for each client.
   */
  readonly answerBytesMax?: number;
  /** Characters after which a line is truncated; the default depends on the dialect. */
  readonly lineCharsMax?: number;
  /**
   * The answer to a read of a whole code file of more than one page: its `first page` (the default), or an `outline` of
   * what it declares, with the lines to read next.
   */
  readonly longCode?: "first page" | "outline";
  /**
   * How Read numbers the lines of text: `tab` (number, tab, line; the default in `claude`), `arrow` (number, →, line),
   * `every-5` or `every-10` (number and tab on lines that 5 or 10 divides, on the first line of a page, and on the last
   * one if a notice follows), or `none`. Dialects whose tradition fixes the form, which are all but `claude`, ignore it.
   */
  readonly lineNumbers?: LineNumbers;
  /**
   * Whether replies in the `claude` dialect end with the reminder about malware; true by default. Each read has it if
   * `model` names a model, only the first of a session if it does not.
   */
  readonly reminder?: boolean;
  /**
   * Models that get no reminder, by their bare name: a provider before it and a date or variant after it are ignored.
   * `["claude-opus-4-6"]` by default.
   */
  readonly reminderExemptModels?: readonly string[];
  /** The model that reads the answers. */
  readonly model?: string;
  /**
   * Whether a repeated read of an unchanged file gets a stub instead of the content; true by default in the `claude`
   * dialect only. Never in a session with `SessionOptions.shared`.
   */
  readonly dedup?: boolean;
  /** Whether the first read of a file names the instruction files (AGENTS.md, CLAUDE.md) above it. */
  readonly instructions?: boolean;
  /**
   * What a session must have been shown before it may change a file. `file` (the default, and `true`): some lines of it; an edit
   * whose exact text occurs once is then applied anywhere in the file, unless others changed that place since. `lines`: every
   * line that changes. `false`: nothing. A match that is not exact, and Write, need the lines in any case.
   */
  readonly readFirst?: "file" | "lines" | boolean;
  /**
   * Whether an answer ends with a notice of at most three lines when others changed files that the session was shown; true by
   * default.
   */
  readonly changeNotices?: boolean;
  /**
   * What happens with an edit of a file that others changed since it was read: `refuse` (the default), or
   * `content-match`, which applies the edit if its text still occurs exactly once, and says so.
   */
  readonly staleness?: "refuse" | "content-match";
  /** Replacing a file with several hard links: `separate` it from the others (the default), or `keep` them linked. */
  readonly hardLinks?: "separate" | "keep";
  /** Whether mounts below a root count as outside; false by default. */
  readonly sameDevice?: boolean;
  /** Whether to refuse files with several hard links, of which one may be outside the roots; false by default. */
  readonly denyHardlinks?: boolean;
  /** Line endings of a file that Write overwrites: `as sent` (the default), or `keep` those of the file. */
  readonly writeEol?: "as sent" | "keep";
  /**
   * Called with every file that a tool wrote, before the tool answers, for example to format it; or programs that do it. The
   * answer reports what the formatter changed; that belongs to the same turn and counts as read.
   */
  readonly formatter?: Formatter | FormatterCommands;
  /** Milliseconds to wait for the formatter; 10,000 by default. */
  readonly formatterMsMax?: number;
  /**
   * Language servers that check what is read and changed, so that the answer to a change lists the errors it caused.
   * None by default. `true` uses the known servers that are installed.
   */
  readonly languageServers?: boolean | LanguageOptions;
  /** Whether a move lets language servers update the imports of other files; true by default. Needs `languageServers`. */
  readonly updateImports?: boolean;
  /** Called with every file that a tool changed, for example to update an editor. */
  readonly onChanged?: ChangeListener;
  /** Maximum bytes of a file that can be edited; 1 GiB by default. */
  readonly editBytesMax?: number;
  /** Milliseconds after which a search returns what it has found; 20,000 by default, 600,000 at most. */
  readonly searchMsMax?: number;
  /**
   * Folder for state that outlives the process, such as history and the line indexes of large files; without it nothing
   * is stored.
   */
  readonly stateDir?: string;
  /** Limits of the history in the state folder; `false` turns it off. Without a state folder there is none. */
  readonly history?:
    | false
    | {
        /** Maximum turns of one session; 100 by default. */
        readonly snapshotsMax?: number;
        /** Maximum bytes and age of the whole history; 2 GiB and 30 days by default. */
        readonly bytesMax?: number;
        readonly ageMsMax?: number;
      };
  /**
   * Limits of the call log in the state folder, which keeps what each call did to which file and what it cost, without arguments and
   * contents; `false` turns it off. Without a state folder there is none.
   */
  readonly callLog?:
    | false
    | {
        /** Maximum bytes and age of the whole log; 64 MiB and 30 days by default. */
        readonly bytesMax?: number;
        readonly ageMsMax?: number;
      };
  /**
   * Whether each change gets an entry in the audit of the state folder, a chain of hashes that `filehand audit verify` checks; false by
   * default. A change that cannot be entered is refused. Needs `stateDir`.
   */
  readonly audit?: boolean;
  /** Limits of `session.observe`: 250,000 names, copies of 500 MiB, of one file 10 MiB by default. */
  readonly observe?: Partial<ObserveLimits>;
  /** The folder that `~` means in rules; the user's home folder by default. */
  readonly home?: string;
  readonly clock?: Clock;
  /** Ids of attachments and turns. MUST be unique within a session, also across processes. Random by default. */
  readonly ids?: Ids;
}
