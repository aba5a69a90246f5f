/** What the library offers, as types: sessions and what they answer. */

import type { Asker, Clock, Ids, RuleKeeper } from "./contract/ask.ts";
import type { Reply, Request, RunResult, ToolDefinition, Verb } from "./contract/call.ts";
import type { Formatter } from "./contract/edit.ts";
import type { CallListener, ChangeListener } from "./contract/event.ts";
import type { RewindOutcome } from "./contract/history.ts";
import type { DiagnosticsReport, LanguageFault, LanguageOptions } from "./contract/lsp.ts";
import type { OutlineOutcome } from "./contract/outline.ts";
import type { Lock, Mode, Permissions, RuleFault, RuleText } from "./contract/permission.ts";
import type { Profile } from "./contract/profile.ts";
import type { DialectName, DialectTools, Words } from "./dialects/dialects.ts";
import type { Watching } from "./disk/disk.ts";
import type { History, SessionHistory } from "./history/history.ts";
import type { ReadState, ShownElsewhere, Timeline, TimelineLimits } from "./session/session.ts";
import type { Figures } from "./state/state.ts";
import type { Content, Cost, EntryPage, FilePage, Observed } from "./tools/tools.ts";

export type { History, Timeline, SessionHistory };

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Show what a change would do, and write nothing. */
  readonly dryRun?: boolean;
  /** Give programs the old content and the whole diff of a change, whatever their size. */
  readonly full?: boolean;
  /** Bytes that the answer may have; over the option of the same name. */
  readonly answerBytesMax?: number;
  /** Do these bytes include what programs read, since the answer goes out with it? They do not by default. */
  readonly countStructured?: boolean;
  /** Told now and then how far a long scan is: bytes; of a search the entries or the files that match so far, and 0, as nobody knows the total. */
  readonly onProgress?: (done: number, total: number) => void;
  /**
   * For surfaces whose asker leaves a call by a throw, so that the call is made again with the answer: an empty object that
   * both calls are given. The call keeps its place in the call queue in between; the surface gives it up with `leave` if
   * the call is not made again.
   * @internal
   */
  readonly place?: KeptPlace;
}

/** @internal */
export interface KeptPlace {
  /** Set while the call is left. */
  leave?: (() => void) | undefined;
}

export interface DiagnosticsOptions extends CallOptions {
  /** Milliseconds to wait for an answer; 10,000 by default. */
  readonly waitMsMax?: number;
}

export interface RunOptions extends CallOptions {
  /**
   * For adapters whose host has words of its own for an answer.
   * @internal
   */
  readonly words?: Partial<Words>;
}

/** The tools of a dialect as functions. They throw a FilehandError where the dialect throws. */
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
  /** Tokens of all replies, and those that a repeated read did not spend. */
  readonly tokensGiven: number;
  readonly tokensSaved: number;
}

export interface Session<Name extends DialectName = DialectName> {
  /** The conversation's own name, or a random one. */
  readonly id: string;
  readonly dialect: Name;
  readonly mode: Mode;
  /** From here on. Throws a FilehandError if the operator has locked the mode and this one would allow more. */
  setMode(mode: Mode): void;
  /** Why this session may do what it may. */
  readonly permissions: Permissions;
  /** One call as a model writes it. Answers with a reply, also for a failure; throws only for a bug. */
  call(tool: string, input: unknown, options?: CallOptions): Promise<Reply>;
  /**
   * One neutral request. Answers with its outcome, or with the problem that prevented it, as data, and with the reply in the
   * session's dialect; throws only for a bug.
   */
  run<V extends Verb>(
    request: (profile: Profile) => Request & { readonly verb: V },
    options?: RunOptions,
  ): Promise<RunResult<V>>;
  readonly tools: ToolFunctions<Name>;
  /** What a file would cost in tokens. Throws a FilehandError where a read would be refused. */
  cost(path: string, options?: CallOptions): Promise<Cost>;
  /** What a code file declares, and on which lines. Throws a FilehandError where a read would be refused, or there is none. */
  outline(path: string, options?: OutlineOptions): Promise<OutlineOutcome>;
  /**
   * Why a read of this file would be refused, by a rule or by the system; undefined if it would not be, or if there is none
   * any more. For hosts that show what was kept of a file. Nothing is read. Whoever must be asked is asked.
   */
  readRefusal(path: string, options?: CallOptions): Promise<string | undefined>;
  /**
   * What language servers say of a file as it is. Undefined: none is in charge of it, or it is nothing for them. Throws a
   * FilehandError where a read would be refused.
   */
  diagnostics(path: string, options?: DiagnosticsOptions): Promise<DiagnosticsReport | undefined>;
  /**
   * This reply did not reach the model, as when its connection broke: what it showed does not count as shown. What was known of the
   * same file before is forgotten with it.
   */
  undelivered(reply: Reply): void;
  /** What this session's calls came to, in estimated tokens. */
  stats(): SessionStats;
  /** The content of a file, or of all files, left the conversation: the next read gives it again. */
  forget(path?: string): void;
  /**
   * The host showed a file, or lines of it, to the model by its own means (a shell, an attachment): that counts as read. What
   * it showed is named by the hash of the whole content; if the disk has another, the file counts as changed since. Throws a
   * FilehandError if there is no such file in the workspace, or if what is said is not well formed.
   */
  markRead(path: string, shown: ShownElsewhere): Promise<void>;
  /** What the session has read, for `SessionOptions.readState` of one that goes on in another process. */
  readState(): ReadState;
  /**
   * From here on changes belong to this message of the conversation, until the next one or a rewind. Throws a FilehandError
   * for the id "start", which is the name of the beginning.
   */
  checkpoint(messageId: string): Promise<void>;
  /**
   * Looks at the workspace; what others changed since the last look (a shell command, a formatter) becomes a part of the
   * current message, so that a rewind brings it back. Not to be called while other calls of the session run. Left out:
   * what `.gitignore` names, hidden folders, `node_modules`. Throws a FilehandError where no past is kept.
   */
  observe(options?: CallOptions): Promise<Observed>;
  /** What this session changed; undefined where no past is kept. */
  history(): Promise<SessionHistory | undefined>;
  /** Makes files what they were before the changes of a message. Throws a FilehandError if there is no such message. */
  rewind(messageId: string, options?: RewindOptions): Promise<RewindOutcome>;
  /** The same for the last turn that is in effect, and back again. */
  undo(options?: RewindOptions): Promise<RewindOutcome>;
  redo(options?: RewindOptions): Promise<RewindOutcome>;
  /** The tools for an agent loop: name, description, JSON schema, execute. */
  definitions(): readonly ToolDefinition[];
  /** The files themselves, for programs. Throws a FilehandError where a read would be refused. */
  readonly workspace: Workspace;
}

export interface Workspace {
  /** Files in a fixed order, behind the path `after`. Left out: what is denied, ignored, hidden folders, `node_modules`. */
  files(page: { readonly after?: string; readonly max: number }, options?: CallOptions): Promise<FilePage>;
  /** Absolute paths that begin so; those of folders end in a slash. */
  paths(start: string, max: number, options?: CallOptions): Promise<readonly string[]>;
  /** What a file or a folder holds, byte for byte. */
  content(path: string, bytesMax: number, options?: CallOptions): Promise<Content>;
  /**
   * The entries of one folder, folders first, with what rules say of each. For people who look after the rules: what is denied is
   * named here too, and a denied folder is not opened.
   */
  entries(
    path: string,
    page: { readonly from: number; readonly max: number },
    options?: CallOptions,
  ): Promise<EntryPage>;
  /** Calls back whenever the file has become another, was taken away or came back. Folders cannot be watched. */
  watch(path: string, onChange: () => void, options?: CallOptions): Promise<Watching>;
}

export interface OutlineOptions extends CallOptions {
  /** Levels to show; as many as have room by default. */
  readonly depth?: number;
}

export interface RewindOptions extends CallOptions {
  /** Only these files. */
  readonly files?: readonly string[];
  /** Also over what somebody else changed since. */
  readonly force?: boolean;
}

export interface SessionOptions<Name extends DialectName> {
  readonly dialect: Name;
  /** The conversation's own name, where the host has one. */
  readonly id?: string;
  /**
   * What an earlier session had read, or what a host showed itself (`{ [real path]: { sha256, lines } }`, as for
   * `markRead`). What is not well formed is left out, what the disk contradicts counts as changed.
   */
  readonly readState?: unknown;
  /**
   * Calls of several conversations may come through this session, as over MCP where no client names its conversation. Then no
   * answer relies on what an earlier one showed: a repeated read gets the content, and instruction files are named each time.
   */
  readonly shared?: boolean;
  /**
   * What it has read is kept in the state folder under its `id`, and a later session with the same `id` and this option goes on with
   * it, also in another process. Needs an `id` and a `stateDir`. Not used where `readState` is given.
   */
  readonly keepReadState?: boolean;
  /** Whom it works for, to be told to those who watch. It gives no right to anything. */
  readonly principal?: string;
  /** Folders inside the roots that this session is kept to; all of the roots by default. Relative ones lie below `cwd`. */
  readonly within?: readonly string[];
}

export interface Filehand {
  /** The roots with their links resolved. */
  readonly roots: readonly string[];
  /** A short name made from the roots, the same in every process: for sessions that go on from one to the next. */
  readonly workspaceId: string;
  /** Everything that was kept, of all sessions; undefined where no past is kept. */
  history(): Promise<History | undefined>;
  session(): Session;
  session<Name extends DialectName>(options: SessionOptions<Name>): Session<Name>;
  /**
   * Calls back after every call of a tool, of every session, until the function that it returns is called. What the second
   * argument holds is as large as the reply: keep of it only what is needed.
   */
  listen(listener: CallListener): () => void;
  /** A bounded memory for calls, for hosts that show them; give it to `listen`. */
  timeline(limits?: TimelineLimits): Timeline;
  /** Adds what a session came to to the figures of the state folder, and reads them; without such a folder there are none. */
  keepFigures(session: Session): void;
  readonly figures: () => readonly Figures[];
  /** Which rules there are, and why they decide as they do. */
  readonly permissions: Permissions;
  /** Language servers that were named and cannot be used, with the reason. */
  languageFaults(): Promise<readonly LanguageFault[]>;
  /**
   * Ends what runs for this toolkit: its language servers. A process that simply ends takes them along too. Writes what sessions
   * with `keepReadState` have read last.
   */
  close(): Promise<void>;
  /** Rules that are malformed, or that do not count where they stand. */
  readonly ruleFaults: readonly RuleFault[];
}

// What a host may say when it makes a toolkit.

export interface FilehandOptions {
  /** The folders that may be worked in. */
  readonly roots: readonly string[];
  /** Where relative paths start; the first root by default. */
  readonly cwd?: string;
  /** The dialect of sessions that name none; `claude` by default. */
  readonly dialect?: DialectName;
  /** Permission rules, such as `Read(secrets/**)`. */
  readonly permissions?: {
    readonly allow?: readonly string[];
    readonly ask?: readonly string[];
    readonly deny?: readonly string[];
  };
  /** The same with the place each rule comes from, for hosts that have several. */
  readonly rules?: readonly RuleText[];
  /**
   * A deny or ask rule that cannot be understood: nothing starts with it (`stop`, the default), or it is only listed in
   * `ruleFaults` (`report`), for a host that shows that list to whoever wrote the rule.
   */
  readonly unclearRules?: "stop" | "report";
  /** Whom to ask when a rule says so. `"yes"` answers every question about files inside the roots. */
  readonly ask?: Asker | "yes";
  /**
   * What sessions may do at all; `default` by default. `read-only`: nothing is written, whatever rules say. `plan`: the
   * same, and the model is told that it is planning. `accept-edits`: files in the roots are changed without asking,
   * but for those that are protected or that a rule speaks of.
   */
  readonly mode?: Mode;
  /**
   * What no session and no project can make more generous: `mode`, and `rules` (then allow rules count only from the
   * options and the user's settings, and no answer is kept).
   */
  readonly locked?: readonly Lock[];
  /** Do allow rules whose source is "project settings" count? They do not by default: a project comes from strangers. */
  readonly trustProject?: boolean;
  /** What is done about a path outside the roots that no rule `external_directory(...)` speaks of; refused by default. */
  readonly externalDirectories?: "refuse" | "ask";
  /** Keeps rules that somebody wants for good. Without it an "always" holds for the session. */
  readonly keepRule?: RuleKeeper;
  /** Do secrets (`.env`, keys) ask before they are read? They do by default. */
  readonly secrets?: "ask" | "allow";
  /** Changes to the list of restricted extensions and names. */
  readonly restricted?: { readonly add?: readonly string[]; readonly remove?: readonly string[] };
  /** Tokens of one page in the `claude` dialect; 25,000 by default. */
  readonly pageTokensMax?: number;
  /**
   * Bytes that one answer may have, at least 1,000: its texts as JSON, pictures left out. Longer answers of Read, Grep, Glob, LS and
   * History end sooner and say how to go on; only what they show counts as shown. No limit by default; the MCP server has one for
   * each client.
   */
  readonly answerBytesMax?: number;
  /** Characters after which a line is cut; each dialect has a number of its own. */
  readonly lineCharsMax?: number;
  /**
   * What a read answers with that names no part of a code file of more than one page: its `first page` (the default), or an
   * `outline` of what it declares, with the lines to read next.
   */
  readonly longCode?: "first page" | "outline";
  /** Is the reminder about malware appended in the `claude` dialect? It is by default. */
  readonly reminder?: boolean;
  /**
   * Models that get no reminder, by the name of the model alone: a provider before it and a date or a variant behind it do
   * not matter. `["claude-opus-4-6"]` by default.
   */
  readonly reminderExemptModels?: readonly string[];
  /** The model that reads the answers. */
  readonly model?: string;
  /**
   * Is a repeated read of an unchanged file answered with a stub? The `claude` dialect does by default, others do not. A session
   * that several conversations share (`SessionOptions.shared`) never does.
   */
  readonly dedup?: boolean;
  /** Are instruction files (AGENTS.md, CLAUDE.md) named when a file below them is first read? */
  readonly instructions?: boolean;
  /** Must a file have been read in a session before the session may change it? It must by default. */
  readonly readFirst?: boolean;
  /**
   * What becomes of an edit of a file that somebody else changed since it was read: `refuse` (the default), or
   * `content-match`, which applies it if its text still stands there once, to the letter, and says so.
   */
  readonly staleness?: "refuse" | "content-match";
  /** A file with several names: `separate` it from the others when it is replaced (the default), or `keep` them together. */
  readonly hardLinks?: "separate" | "keep";
  /** Is a mount below a root outside? By default it is inside: whoever mounted it there meant so. */
  readonly sameDevice?: boolean;
  /** Are files with several names refused? One of them may lie outside. By default they are read like any other. */
  readonly denyHardlinks?: boolean;
  /** Line ends of a file that is written anew: `as sent` (the default), or those the file had (`keep`). */
  readonly writeEol?: "as sent" | "keep";
  /**
   * Called with every file that a tool wrote, before the tool answers, such as to run a formatter on it. What that changes is
   * told in the answer, belongs to the same turn, and counts as read.
   */
  readonly formatter?: Formatter;
  /** Milliseconds after which a formatter is no longer waited for; 10,000 by default. */
  readonly formatterMsMax?: number;
  /**
   * Language servers that look at what is read and changed, so that the answer to a change says what it broke. None by
   * default. `true`: those of the table of known servers whose programs are installed.
   */
  readonly languageServers?: boolean | LanguageOptions;
  /**
   * Is the tool `Lsp`, with which models ask language servers about code, offered to them? It is not by default.
   * `rename`: so is `Rename`, which changes files. They need `languageServers`.
   */
  readonly languageTools?: boolean | "rename";
  /** Called with every file that a tool changed, such as to bring an editor up to date. */
  readonly onChanged?: ChangeListener;
  /** Bytes of a file that can be edited; 1 GiB by default. */
  readonly editBytesMax?: number;
  /** Milliseconds after which a search ends with what it has found; 20,000 by default, 600,000 at most. */
  readonly searchMsMax?: number;
  /** Folder for what is kept between runs, such as the line indexes of large files; nothing is kept without it. */
  readonly stateDir?: string;
  /** Is the past of changed files kept in the state folder? It is, within these limits, if there is such a folder. */
  readonly history?:
    | false
    | {
        /** Turns of a session; 100 by default. */
        readonly snapshotsMax?: number;
        /** Bytes of all that is kept, and how long; 2 GiB and 30 days by default. */
        readonly bytesMax?: number;
        readonly ageMsMax?: number;
      };
  /** Are the tools `History` and `Rewind` offered to models? They are not by default. They need a state folder. */
  readonly historyTools?: boolean;
  /** What `~` means in rules; the user's home folder by default. */
  readonly home?: string;
  readonly clock?: Clock;
  /** Ids for attachments and turns: never the same twice in a session, also in another process. Random by default. */
  readonly ids?: Ids;
}
