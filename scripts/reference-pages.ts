/** Pages of reference that are made from the code: settings, error codes, environment variables, metrics, the library's types. */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import type { FailureCode } from "../src/contract/problem.ts";
import { settingsSchema } from "../src/settings/schema.ts";
import { metricsOffered } from "../src/surfaces/http/metrics.ts";

interface Explained {
  readonly cause: string;
  readonly remedy: string;
}

/** Public, and the same in every dialect. A code without its line does not compile. */
const failures = {
  ACCESS_DENIED: {
    cause:
      "The path is outside the roots, a rule denies it, the mode allows no changes, a question was answered with no, or nobody could be asked.",
    remedy:
      "The message says which. Add a root, change the rule (`filehand permissions explain TOOL PATH` names it), choose another `--mode`, or allow the call with `--allow`.",
  },
  ALREADY_APPLIED: {
    cause: "The old text is not there, and the new text is, at the line that the message names.",
    remedy: "Nothing: the change has been made already. Read the line to be sure.",
  },
  AMBIGUOUS: {
    cause: "The old text occurs more than once; the message lists the lines.",
    remedy: "Add lines around it until it occurs once, or replace all places (`replace_all`).",
  },
  BINARY_FILE: {
    cause: "The content is not text, or the name is one of those that are refused as not being text.",
    remedy: "Use a program for that format. If it is text, take its name off the list with the setting `restricted`.",
  },
  CANCELLED: {
    cause: "The caller cancelled the call, or its client went away.",
    remedy: "Call again. A call that was cancelled has changed nothing, or everything that it was asked to.",
  },
  CHANGED: {
    cause: "The file was replaced or changed while the call looked at it or waited for an answer.",
    remedy: "Call again.",
  },
  DAMAGED: {
    cause: "A picture, PDF, notebook or office document does not follow its format.",
    remedy: "Repair or replace the file. The message says where the reader stopped.",
  },
  ENCODING: {
    cause: "The new text has a character that the file's encoding cannot write.",
    remedy: "Use another character, or convert the file to UTF-8 first.",
  },
  ENCRYPTED: { cause: "The document needs a password.", remedy: "Save a copy without the password and read that." },
  EXISTS: {
    cause: "Something is at the path where a call wants to create, move or copy something.",
    remedy: "Choose another path, or delete what is there first.",
  },
  INVALID_PARAM: {
    cause:
      "An argument is missing, has the wrong type, is out of range, or cannot be meant: a path, pattern, patch or range.",
    remedy: "The message names the argument and what is accepted.",
  },
  IO_ERROR: {
    cause: "The system refused an operation: a full disk, a broken disk, too many open files.",
    remedy: "The message has the system's name for it (such as `ENOSPC`). The file is as before.",
  },
  IS_DIRECTORY: {
    cause: "The path is a folder where a file is needed.",
    remedy: "List it with LS, or name a file in it.",
  },
  LANGUAGE_SERVER: {
    cause:
      "No language server answered: none is switched on, installed or fit for the question, or it failed or was too slow.",
    remedy: "`filehand doctor` says which servers are there and how to install one.",
  },
  LINK_LOOP: { cause: "Symlinks lead around in a circle, or through more than 40.", remedy: "Repair the links." },
  LOCKED: {
    cause: "Another process is changing the file, or no lock can be taken here.",
    remedy: "Wait and call again; where no lock can be taken, the message names the folder and what to do about it.",
  },
  NOT_DIRECTORY: { cause: "The path is a file where a folder is needed.", remedy: "Name its folder." },
  NOT_FOUND: {
    cause: "There is no file of that name.",
    remedy: "Use one of the paths that the message suggests, or search with Glob.",
  },
  NOT_READ: {
    cause: "The session has not been shown the text that would change.",
    remedy: "Read the lines that the message names, then repeat the call. Programs can set `readFirst: false`.",
  },
  NO_CELL: { cause: "The notebook has no cell of that id.", remedy: "Use one of the ids that the message lists." },
  NO_CODEC: {
    cause: "An optional package that reads this format is not installed.",
    remedy: "Install the package that the message names, or Filehand without `--omit=optional`.",
  },
  NO_MATCH: {
    cause: "The old text is not in the file. The message shows the nearest text, if something is near.",
    remedy: "Read the place again and copy the text as it is.",
  },
  NO_OUTLINE: {
    cause: "The declarations of the file cannot be listed: no grammar for the language, or the file is beyond a limit.",
    remedy: "Read the file in pages, or search it with Grep.",
  },
  NO_RENAME: {
    cause: "The language server's edits for a rename are missing, incomplete, or touch what may not be touched.",
    remedy: "The message says which. Rename with Edit where it cannot be done.",
  },
  NO_RIPGREP: {
    cause:
      "There is no ripgrep: neither the optional package, nor `rg` on the PATH, nor the WebAssembly build works here.",
    remedy: "Install ripgrep as the message says.",
  },
  NO_ROOT: {
    cause: "A root that was given is no folder, or is one of the kernel's.",
    remedy: "Give a folder that exists to `--root` or `roots`.",
  },
  NO_TURN: {
    cause: "The history has no such turn, or its content is gone.",
    remedy: "`filehand history` lists the turns that are there.",
  },
  OVER_BUDGET: {
    cause: "The lines that were asked for have more tokens than an answer may have.",
    remedy: "Ask for as many lines as the message says, or search with Grep first.",
  },
  ROLLED_BACK: {
    cause: "One file of several could not be changed, and those before it were put back.",
    remedy: "See the cause in the message, then repeat the whole call.",
  },
  SPECIAL_FILE: {
    cause: "The path is a pipe, a socket, a device or a file of the kernel.",
    remedy: "Nothing: Filehand never opens these.",
  },
  STATE_UNAVAILABLE: {
    cause:
      "The state that several machines share cannot be reached, so the change could be neither locked nor recorded.",
    remedy: "Nothing was written. Try again in a moment; GET /readyz says when the database is back.",
  },
  STALE: {
    cause: "Another program changed the file since the session read it, in the lines that would change.",
    remedy: "Read the lines that the message names, then repeat the call.",
  },
  TOO_LARGE: {
    cause: "The file is beyond a limit of size, time or memory of its format.",
    remedy: "The message names the limit. Read a part, or convert the file.",
  },
  UNCLEAR_RULE: {
    cause: "A deny or ask rule is malformed or can never match, so that what it denies is unknown.",
    remedy: "Correct the rule that the message quotes.",
  },
  UNKNOWN_DIALECT: { cause: "There is no dialect of that name.", remedy: "Use one of those that the message lists." },
  UNKNOWN_TOOL: {
    cause: "The dialect has no tool of that name.",
    remedy: "Use one of the names that the message lists.",
  },
  WRONG_LINES: {
    cause: "An edit by line number does not certainly mean the lines that the session was shown.",
    remedy: "Read the lines again; the message shows them as they are now.",
  },
} satisfies Record<FailureCode, Explained>;

const internal: Explained = {
  cause: "A bug in Filehand. The process lives on.",
  remedy: "Report it with what `filehand doctor --report` prints.",
};

/** `test/ends/docs.test.ts` finds the names that the code reads, and asks for a line here. */
export const variables: Readonly<Record<string, string>> = {
  APPDATA: "On Windows: the folder with the user's settings (`filehand/filehand.jsonc`).",
  CLAUDE_CODE_SESSION_ID:
    "Names the conversation of `filehand mcp`, so that what was read outlives a restart. Set by Claude Code.",
  FILEHAND_STATE: "Address of the database that several machines share, as `--state` (setting `state`).",
  CLAUDE_PROJECT_DIR: "The project's folder, for `filehand hook`. Set by Claude Code.",
  DISPLAY:
    "On Linux: whether there is a desktop on which `filehand inspect` can open a browser. So is `WAYLAND_DISPLAY`.",
  FILEHAND_BRIDGE: "Set by Filehand itself for the server that it starts on another machine.",
  FILEHAND_DEDUP: "`0` switches off the answer “unchanged” for a repeated read (setting `dedup`).",
  FILEHAND_PAGE_TOKENS: "Tokens of a page in the `claude` dialect; wins over the setting `pageTokensMax`.",
  FORCE_COLOR: "Colours where the output is no terminal, unless it is `0` or empty.",
  HOME: "The home folder, for `~/` in paths and rules, settings and state.",
  LOCALAPPDATA: "On Windows: the folder with the state folder (`filehand`).",
  NO_COLOR: "No colours, if it is not empty. Wins over `FORCE_COLOR`.",
  OTEL_:
    "If a variable of this prefix is set and the package `@opentelemetry/api` is installed, `mcp` and `serve` trace calls of tools.",
  PATH: "Where `rg`, `git`, language servers and formatters are looked for, except below a root. On Windows also `Path`.",
  RIPGREP_CONFIG_PATH: "Not honoured: Grep's answers do not depend on it.",
  TERM: "No colours if it is `dumb`.",
  TMPDIR: "Where temporary files go; a confined server sets it to a folder of its state folder.",
  UV_THREADPOOL_SIZE: "Threads of Node for the disk. Filehand sets it for its own command if it is not set.",
  WAYLAND_DISPLAY: "As `DISPLAY`.",
  XDG_CACHE_HOME: "On the other machine of a remote workspace: where Filehand is carried to; else `~/.cache`.",
  XDG_CONFIG_HOME: "The folder with the user's settings; else `~/.config`. A relative path is ignored.",
  XDG_STATE_HOME:
    "The folder with the state folder: history, call log, line indexes; else `~/.local/state`. A relative path is ignored.",
};

export function referencePages(note: string): Readonly<Record<string, string>> {
  return {
    "docs/reference/settings.md": settingsPage(note),
    "docs/reference/errors.md": errorsPage(note),
    "docs/reference/environment.md": environmentPage(note),
    "docs/reference/metrics.md": metricsPage(note),
    "docs/reference/library.md": libraryPage(note),
  };
}

function errorsPage(note: string): string {
  const entries = Object.entries<Explained>({ ...failures, INTERNAL: internal }).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return page(note, "Error codes", [
    "A failure has a code that is the same in every dialect, on every surface: `error.code` of a reply, `code` of a `FilehandError`,",
    '`_meta["io.github.filehand/code"]` over MCP. The sentence beside it is worded by the dialect and has the numbers and names of the case.',
    "",
    ...entries.flatMap(([code, { cause, remedy }]) => [`## ${code}`, "", cause, "", `**What to do:** ${remedy}`, ""]),
  ]);
}

function environmentPage(note: string): string {
  return page(note, "Environment variables", [
    "The command line reads these. The library reads none but `PATH`: a host passes options.",
    "",
    "| variable | means |",
    "| -------- | ----- |",
    ...Object.entries(variables).map(([name, means]) => `| \`${name}${name.endsWith("_") ? "…" : ""}\` | ${means} |`),
  ]);
}

function metricsPage(note: string): string {
  return page(note, "Metrics", [
    "`filehand serve` offers them at `/metrics`, in the text format of Prometheus ([how](../behaviour/mcp.md)).",
    "",
    "| name | type | labels | what |",
    "| ---- | ---- | ------ | ---- |",
    ...metricsOffered.map(
      ({ name, type, labels, help }) =>
        `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`,
    ),
  ]);
}

interface SettingSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SettingSchema[];
  readonly oneOf?: readonly SettingSchema[];
  readonly items?: SettingSchema;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SettingSchema>>;
}

function settingsPage(note: string): string {
  const { properties = {} } = settingsSchema() as SettingSchema; // our own schema
  return page(note, "Settings", [
    "The keys of `filehand.jsonc`, as `settings.schema.json` has them. Where the files are, and whose settings count:",
    "[settings files](../behaviour/settings.md).",
    "",
    "| key | value | means |",
    "| --- | ----- | ----- |",
    ...Object.entries(properties).flatMap(([key, schema]) => settingRows(key, schema)),
  ]);
}

function settingRows(key: string, schema: SettingSchema): readonly string[] {
  const row = `| \`${key}\` | ${valueOf(schema)} | ${cell(schema.description ?? "")} |`;
  return [
    row,
    ...Object.entries(schema.properties ?? {})
      .map(([name, one]) => settingRows(`${key}.${name}`, one))
      .flat(),
  ];
}

function valueOf(schema: SettingSchema): string {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(valueOf))].join(" or ");
  if (schema.enum !== undefined) return schema.enum.map((one) => `\`${JSON.stringify(one)}\``).join(", ");
  if (schema.type === "array") return `list of ${schema.items === undefined ? "values" : valueOf(schema.items)}`;
  return schema.type ?? "";
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ").replaceAll(/[<>*]/g, "\\$&");

const page = (note: string, title: string, lines: readonly string[]): string =>
  [note, "", `# ${title}`, "", ...lines, ""].join("\n");

// The library: every public name with its declaration and comments, as they are in the source.

interface Declared {
  readonly name: string;
  readonly text: string;
}

/** What a program begins with; the other names follow by the alphabet. */
const first = [
  "createFilehand",
  "FilehandOptions",
  "Filehand",
  "SessionOptions",
  "Session",
  "CallOptions",
  "Reply",
  "FilehandError",
];

function libraryPage(note: string): string {
  const declared = namesFrom("src/index.ts", "Export").map(({ name, file }) => declarationOf(name, file));
  const rest = declared.filter(({ name }) => !first.includes(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const all = [...first.flatMap((name) => declared.filter((one) => one.name === name)), ...rest];
  return page(note, "The library", [
    '`import { createFilehand } from "filehand"`, or `require("filehand")`. These are its public names; [versions](../versions.md) says how they',
    "may change. Adapters for agent frameworks are subpaths: [adapters](../adapters.md).",
    "",
    ...all.flatMap(({ name, text }) => [`## ${name}`, "", "```ts", text, "```", ""]),
  ]);
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly source?: { readonly value: string } | null;
  readonly specifiers?: readonly {
    readonly local: { readonly name: string };
    readonly exported?: { readonly name: string };
  }[];
  readonly declaration?: Node | null;
  readonly declarations?: readonly Node[];
  readonly id?: { readonly name: string } | null;
  readonly body?: Node | null;
}

const parsed = new Map<string, { readonly text: string; readonly nodes: readonly Node[] }>();

function moduleAt(file: string): { readonly text: string; readonly nodes: readonly Node[] } {
  let found = parsed.get(file);
  if (found === undefined) {
    const text = readFileSync(file, "utf8");
    found = { text, nodes: parseAst(text, { lang: "ts" }, file).body as unknown as readonly Node[] }; // ESTree
    parsed.set(file, found);
  }
  return found;
}

/** Names that a module takes from others, to give them on (`export`) or for itself (`import`). */
const namesFrom = (
  file: string,
  kind: "Export" | "Import",
): readonly { readonly name: string; readonly file: string }[] =>
  moduleAt(file).nodes.flatMap(({ type, source, specifiers }) =>
    !type.startsWith(kind) || source == null
      ? []
      : (specifiers ?? []).map(({ local, exported }) => ({
          name: (exported ?? local).name,
          file: join(dirname(file), source.value),
        })),
  );

function declarationOf(name: string, file: string): Declared {
  const { text, nodes } = moduleAt(file);
  let before = 0;
  for (const node of nodes) {
    const { declaration } = node;
    if (declaration != null && namesOf(declaration).includes(name)) {
      const comment = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(text.slice(before, node.start))?.[0].trim();
      return { name, text: [...(comment === undefined ? [] : [comment]), shown(declaration, text)].join("\n") };
    }
    before = node.end;
  }
  const through = [...namesFrom(file, "Export"), ...namesFrom(file, "Import")].find((one) => one.name === name);
  if (through === undefined) throw new Error(`${file}: no declaration of ${name}`);
  return declarationOf(name, through.file);
}

const namesOf = ({ id, declarations }: Node): readonly string[] =>
  id == null ? (declarations ?? []).flatMap((one) => (one.id == null ? [] : [one.id.name])) : [id.name];

/** A function without its body. */
const shown = ({ type, start, end, body }: Node, text: string): string =>
  type === "FunctionDeclaration" && body != null ? `${text.slice(start, body.start).trim()};` : text.slice(start, end);
