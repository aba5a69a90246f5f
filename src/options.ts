/** What a host may say when it makes a toolkit. */

import type { Asker, Clock, Ids, RuleKeeper } from "./contract/ask.ts";
import type { ChangeListener } from "./contract/event.ts";
import type { Formatter } from "./contract/formatter.ts";
import type { LanguageOptions } from "./contract/language.ts";
import type { Lock, Mode } from "./contract/mode.ts";
import type { RuleText } from "./contract/rule.ts";
import type { DialectName } from "./dialects/index.ts";

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
