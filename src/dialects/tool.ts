/**
 * A tool is one literal: its name, description, parameters and fixed values. This file derives the rest: the JSON schema, and the
 * request, which is built once for each verb whatever a dialect calls its parameters.
 */

import type { JsonSchema, Verbs } from "../contract/call.ts";
import { defined } from "../contract/common.ts";
import type { EditedFile, LineEdit, TextEdit } from "../contract/edit.ts";
import { limits } from "../contract/limits.ts";
import type { ToolName } from "../contract/offered-tools.ts";
import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { ReadRequest } from "../contract/read.ts";
import { lineNumber } from "../contract/target.ts";
import type { ToolSpec } from "./dialect.ts";
import { turnsDefault } from "./history-text.ts";
import {
  argumentNamed,
  defaultsOf,
  jsonSchemaOf,
  type Parameter,
  type ParameterOf,
  namedParameters,
  parseArguments,
} from "./parameters.ts";

/** What the tools of one verb share: the values that parameters set, and how to make a request of them. */
interface VerbOf<V extends keyof Verbs, Values> {
  readonly readOnly: boolean;
  readonly tool: ToolName;
  readonly offered?: "if chosen";
  readonly toRequest: (values: Values, call: CallOf) => Verbs[V]["request"];
}

interface CallOf {
  readonly profile: Profile;
  /** The name of the tool. */
  readonly tool: string;
  /** Whether the call itself sets this value. */
  readonly gives: (key: string) => boolean;
}

/** Without the values that the call leaves out, so that they do not replace a default. */
const sent = <Values extends object>(values: Values): Values => defined(values) as Values; // an undefined one is optional

/** Values of the request itself, and those that a call may leave out. */
type Given<V extends keyof Verbs, Key extends keyof Verbs[V]["request"]> = Pick<Verbs[V]["request"], Key>;
type Optional<V extends keyof Verbs, Key extends keyof Verbs[V]["request"]> = Partial<Given<V, Key>>;

const read: VerbOf<
  "read",
  Given<"read", "path"> & {
    readonly from?: number;
    readonly linesMax?: number;
    readonly column?: number;
    readonly pages?: string;
    /** What happens when a range with an end is over the token budget. */
    readonly overBudget?: "first page" | "refuse";
  }
> = {
  tool: "Read",
  readOnly: true,
  toRequest: (
    { path, from = 1, linesMax = Number.POSITIVE_INFINITY, column = 1, pages, overBudget = "first page" },
    { profile, gives },
  ) => {
    // Column 1 is the default, and models fill in optional parameters.
    const range = column > 1 ? { from: lineNumber(from), linesMax, column } : { from: lineNumber(from), linesMax };
    const givesLines = gives("linesMax");
    const request: ReadRequest = {
      verb: "read",
      path,
      ranges: [range],
      overBudget: givesLines ? overBudget : "first page",
      whole: !givesLines && !gives("from") && !gives("column"),
      profile,
    };
    return pages === undefined ? request : { ...request, pages };
  },
};

const outline: VerbOf<"outline", Given<"outline", "path"> & Optional<"outline", "depth">> = {
  tool: "Outline",
  readOnly: true,
  toRequest: (values, { profile }) => ({ verb: "outline", ...values, profile }),
};

const ls: VerbOf<"ls", Given<"ls", "path"> & { readonly ignore?: readonly string[]; readonly from?: number }> = {
  tool: "LS",
  readOnly: true,
  toRequest: ({ path, ignore = [], from = 1 }) => ({
    verb: "ls",
    path,
    from: lineNumber(from),
    entriesMax: limits.treeEntriesMax,
    depth: limits.treeLevels,
    ignore,
  }),
};

const glob: VerbOf<"glob", Given<"glob", "pattern"> & Optional<"glob", "path">> = {
  tool: "Glob",
  readOnly: true,
  toRequest: ({ pattern, path }) => ({ verb: "glob", pattern, path, filesMax: limits.globFilesMax }),
};

const grep: VerbOf<
  "grep",
  Given<"grep", "pattern"> &
    Optional<"grep", "path" | "glob" | "mode" | "before" | "after" | "numbers" | "skip" | "order" | "lineCharsMax"> & {
      readonly type?: string;
      /** Whether `type` may name several, separated by commas or whitespace. */
      readonly severalTypes?: boolean;
      readonly around?: number;
      readonly anyCase?: boolean;
      readonly multiline?: boolean;
      /** 0 for as many as fit in one answer. */
      readonly entriesMax?: number;
    }
> = {
  tool: "Grep",
  readOnly: true,
  toRequest: ({
    type = "",
    severalTypes,
    around = 0,
    before = 0,
    after = 0,
    anyCase,
    multiline,
    entriesMax = 0,
    ...values
  }) => ({
    verb: "grep",
    path: undefined,
    glob: undefined,
    types: (severalTypes ? type.split(/[\s,]+/) : [type]).filter((one) => one !== ""),
    mode: "content",
    // ripgrep lets -B and -A replace a side of -C; a caller who gives both wants no fewer lines than either asks for.
    before: Math.max(around, before),
    after: Math.max(around, after),
    letterCase: anyCase ? "any" : "exact",
    reach: multiline ? "lines" : "line",
    numbers: true,
    skip: 0,
    entriesMax: entriesMax === 0 ? limits.searchEntriesMax : entriesMax,
    order: "path",
    lineCharsMax: 500,
    ...sent(values),
  }),
};

interface EditValues {
  readonly oldText?: string;
  readonly newText?: string;
  readonly all?: boolean;
}

const textEdit = ({ oldText = "", newText = "", all = false }: EditValues): TextEdit => ({ oldText, newText, all });

const edit: VerbOf<"edit", EditValues & { readonly path: string; readonly edits?: readonly EditValues[] }> = {
  tool: "Edit",
  readOnly: false,
  toRequest({ path, edits, ...only }, { profile }) {
    const [first = textEdit(only), ...others] = edits?.map(textEdit) ?? [];
    return { verb: "edit", path, edits: [first, ...others], profile };
  },
};

interface LineEditValues {
  readonly lines: string;
  readonly newText: string;
  readonly first?: string;
}

const linesForm = /^(?:(before|after) )?(\d{1,15})(?: ?[-–] ?(\d{1,15}))?$/;

/** `120-124` and `120` name lines to replace, `before 120` and `after 124` a line beside which others are put. */
function lineEdit({ lines, newText, first }: LineEditValues, name: string, tool: string): LineEdit {
  const [, beside, from = "", to = from] = linesForm.exec(lines.trim()) ?? [];
  const span = { from: Number(from), to: Number(to) };
  const isSound = from !== "" && span.from >= 1 && span.to >= span.from;
  if (!isSound || (beside !== undefined && span.from !== span.to)) {
    const expected = 'lines such as "120-124", "120", "before 120" or "after 124"';
    const got = JSON.stringify(lines.slice(0, 40));
    throw new Problem({
      code: "INVALID_PARAM",
      reason: "arguments",
      tool,
      issues: [{ name, fault: "type", expected, got, optional: false }],
    });
  }
  const does = beside === "before" ? "before" : beside === "after" ? "after" : "replace";
  return { does, ...span, newText, first };
}

const editLines: VerbOf<"edit-lines", { readonly path: string; readonly lines?: readonly LineEditValues[] }> = {
  tool: "EditLines",
  offered: "if chosen",
  readOnly: false,
  toRequest({ path, lines = [] }, { profile, tool }) {
    const [first, ...others] = lines.map((one, at) => lineEdit(one, `edits.${at}.lines`, tool));
    if (first === undefined) throw new Error("the list has at least one edit");
    return { verb: "edit-lines", path, lines: [first, ...others], profile };
  },
};

interface FileValues {
  readonly path: string;
  readonly edits?: readonly (EditValues & Partial<LineEditValues>)[];
}

const editFiles: VerbOf<"edit-files", { readonly files?: readonly FileValues[] }> = {
  tool: "EditFiles",
  offered: "if chosen",
  readOnly: false,
  toRequest({ files = [] }, { profile, tool }) {
    const [first, ...others] = files.map((file, at) => fileChange(file, `files.${at}.edits`, tool));
    if (first === undefined) throw new Error("the list has at least one file");
    return { verb: "edit-files", files: [first, ...others], profile };
  },
};

function fileChange({ path, edits = [] }: FileValues, name: string, tool: string): EditedFile {
  const byLine = edits.flatMap(({ lines, newText = "", first }, at) =>
    lines === undefined
      ? []
      : [lineEdit({ lines, newText, ...(first !== undefined && { first }) }, `${name}.${at}.lines`, tool)],
  );
  const [line, ...lines] = byLine;
  if (line === undefined) {
    const [edit = textEdit({}), ...more] = edits.map(textEdit);
    return { path, edits: [edit, ...more] };
  }
  if (byLine.length === edits.length && edits.every(({ oldText }) => oldText === undefined)) {
    return { path, lines: [line, ...lines] };
  }
  const place = { asked: path, absolute: path, relative: path };
  throw new Problem({ code: "INVALID_PARAM", reason: "edit", place, fault: "text and lines" });
}

const write: VerbOf<
  "write",
  Given<"write", "path" | "content"> & {
    /** Recognizes the notice for an unchanged file, which some models send back as content. */
    readonly isNotice?: (content: string) => boolean;
  }
> = {
  tool: "Write",
  readOnly: false,
  toRequest({ path, content, isNotice }, { profile }) {
    if (isNotice?.(content.trim())) {
      const place = { asked: path, absolute: path, relative: path };
      throw new Problem({ code: "INVALID_PARAM", reason: "edit", place, fault: "stub" });
    }
    return { verb: "write", path, content, profile };
  },
};

const notebookEdit: VerbOf<
  "notebook-edit",
  Given<"notebook-edit", "path" | "source"> & Optional<"notebook-edit", "cellId" | "cellType" | "mode">
> = {
  tool: "NotebookEdit",
  readOnly: false,
  toRequest: (values, { profile }) => ({
    verb: "notebook-edit",
    cellId: undefined,
    cellType: undefined,
    mode: "replace",
    ...sent(values),
    profile,
  }),
};

const patch: VerbOf<"patch", Given<"patch", "patchText">> = {
  tool: "Patch",
  readOnly: false,
  toRequest: ({ patchText }, { profile }) => ({ verb: "patch", patchText, profile }),
};

const remove: VerbOf<"delete", Given<"delete", "path">> = {
  tool: "Delete",
  readOnly: false,
  toRequest: ({ path }, { profile }) => ({ verb: "delete", path, profile }),
};

const move: VerbOf<"move", Given<"move", "path" | "to">> = {
  tool: "Move",
  readOnly: false,
  toRequest: ({ path, to }, { profile }) => ({ verb: "move", path, to, profile }),
};

const copy: VerbOf<"copy", Given<"copy", "path" | "to">> = {
  tool: "Copy",
  offered: "if chosen",
  readOnly: false,
  toRequest: ({ path, to }, { profile }) => ({ verb: "copy", path, to, profile }),
};

const makeFolder: VerbOf<"make-folder", Given<"make-folder", "path">> = {
  tool: "MakeFolder",
  offered: "if chosen",
  readOnly: false,
  toRequest: ({ path }, { profile }) => ({ verb: "make-folder", path, profile }),
};

const history: VerbOf<"history", Optional<"history", "turn" | "path" | "from" | "itemsMax">> = {
  tool: "History",
  offered: "if chosen",
  readOnly: true,
  toRequest: (values, { profile }) => ({
    verb: "history",
    turn: undefined,
    path: undefined,
    from: 1,
    itemsMax: turnsDefault,
    ...sent(values),
    profile,
  }),
};

const rewind: VerbOf<
  "rewind",
  { readonly to: string; readonly files?: readonly string[]; readonly dryRun?: boolean; readonly force?: boolean }
> = {
  tool: "Rewind",
  offered: "if chosen",
  readOnly: false,
  toRequest: ({ to, files, dryRun = false, force = false }) => ({
    verb: "rewind",
    to,
    files,
    force,
    as: files === undefined ? "rewind" : "partial",
    byModel: { dryRun },
  }),
};

/** The symbol in a file, for tools that ask language servers. */
interface PlaceValues {
  readonly path: string;
  readonly line?: number;
  readonly symbol?: string;
  readonly column?: number;
}

const lsp: VerbOf<"lsp", PlaceValues & Given<"lsp", "operation"> & Optional<"lsp", "query" | "from">> = {
  tool: "Lsp",
  offered: "if chosen",
  readOnly: true,
  toRequest: ({ line, symbol, column, ...values }, { profile }) => ({
    verb: "lsp",
    at: { line, symbol, column },
    query: undefined,
    from: 1,
    ...sent(values),
    profile,
  }),
};

const rename: VerbOf<"rename", PlaceValues & { readonly newName: string }> = {
  tool: "Rename",
  offered: "if chosen",
  readOnly: false,
  toRequest: ({ line, symbol, column, ...values }, { profile }) => ({
    verb: "rename",
    at: { line, symbol, column },
    ...values,
    profile,
  }),
};

const verbs = {
  read,
  outline,
  ls,
  glob,
  grep,
  edit,
  "edit-lines": editLines,
  "edit-files": editFiles,
  write,
  "notebook-edit": notebookEdit,
  patch,
  delete: remove,
  move,
  copy,
  "make-folder": makeFolder,
  history,
  rewind,
  lsp,
  rename,
};

type OfferedVerb = keyof typeof verbs;
export type ValuesOf<V extends OfferedVerb> = Parameters<(typeof verbs)[V]["toRequest"]>[0];

/** The literal that a dialect has for each tool. */
export interface ToolLiteral<V extends OfferedVerb> {
  readonly name: string;
  /** From a .txt file. A line may begin with a mark (`descriptionFor` in dialect.ts). */
  readonly description: string;
  readonly input: Readonly<Record<string, Parameter & ParameterOf<ValuesOf<V>>>>;
  /** Values that no call can change. */
  readonly fixed?: Partial<ValuesOf<V>>;
  /** Its name in the operator's list of tools, and when it is offered, if not as its verb says. */
  readonly tool?: ToolName;
  readonly offered?: "if chosen";
  readonly beside?: ToolSpec["beside"];
}

export function tool<V extends OfferedVerb>(verb: V, literal: ToolLiteral<V>): ToolSpec {
  const { name, description, input, fixed } = literal;
  const { readOnly, toRequest, ...usual } = verbs[verb] as VerbOf<V, ValuesOf<V>>; // one verb's own entry
  const { beside } = literal;
  let inputSchema: JsonSchema | undefined;
  // Made by the first call: each program offers tools that are never called.
  let parsing:
    | { readonly parameters: ReturnType<typeof namedParameters>; readonly defaults: Readonly<Record<string, unknown>> }
    | undefined;
  return {
    name,
    verb,
    description,
    input,
    readOnly,
    tool: literal.tool ?? usual.tool,
    offered: literal.offered ?? usual.offered ?? "always",
    ...(beside === undefined ? {} : { beside }),
    get inputSchema() {
      return (inputSchema ??= jsonSchemaOf(input));
    },
    toRequest(sent, profile) {
      parsing ??= { parameters: namedParameters(input), defaults: { ...defaultsOf(input), ...fixed } };
      const { parameters, defaults } = parsing;
      const values = parseArguments(parameters, defaults, name, sent) as ValuesOf<V>; // the literal's parameters give these values
      const gives: CallOf["gives"] = (key) =>
        parameters.some(({ name, parameter }) => parameter.sets === key && argumentNamed(name, sent) !== undefined);
      return toRequest(values, { profile, tool: name, gives });
    },
  };
}
