/**
 * A tool is one literal: its name, description, parameters and fixed values. This file derives the rest: the JSON schema, and the
 * request, which is built once for each verb whatever a dialect calls its parameters.
 */

import type { JsonSchema, Verbs } from "../contract/call.ts";
import type { CellMode, CellType, TextEdit } from "../contract/edit.ts";
import type { GrepMode } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";
import type { LspOperation } from "../contract/lsp.ts";
import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import { lineNumber } from "../contract/target.ts";
import type { ToolSpec, OptIn } from "./dialect.ts";
import { turnsDefault } from "./history-text.ts";
import { defaultsOf, jsonSchemaOf, type Parameter, type ParameterOf, parseArguments } from "./parameters.ts";

/** What the tools of one verb share: the values that parameters set, and how to make a request of them. */
interface VerbOf<V extends keyof Verbs, Values> {
  readonly readOnly: boolean;
  readonly optIn?: OptIn;
  readonly toRequest: (values: Values, call: CallOf) => Verbs[V]["request"];
}

interface CallOf {
  readonly profile: Profile;
  /** Whether the call itself sets one of these values. */
  readonly gives: (...keys: readonly string[]) => boolean;
}

const read: VerbOf<
  "read",
  {
    readonly path: string;
    readonly from?: number;
    readonly linesMax?: number;
    readonly column?: number;
    readonly pages?: string;
    /** What happens when a range with an end is over the token budget. */
    readonly overBudget?: "first page" | "refuse";
  }
> = {
  readOnly: true,
  toRequest: (
    { path, from = 1, linesMax = Number.POSITIVE_INFINITY, column = 1, pages, overBudget = "first page" },
    { profile, gives },
  ) => ({
    verb: "read",
    path,
    // Column 1 is the default, and models fill in optional parameters.
    ranges: [{ from: lineNumber(from), linesMax, ...(column > 1 ? { column } : {}) }],
    overBudget: gives("linesMax") ? overBudget : "first page",
    whole: !gives("from", "linesMax", "column"),
    profile,
    ...(pages === undefined ? {} : { pages }),
  }),
};

const ls: VerbOf<"ls", { readonly path: string; readonly ignore?: readonly string[]; readonly from?: number }> = {
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

const glob: VerbOf<"glob", { readonly pattern: string; readonly path?: string }> = {
  readOnly: true,
  toRequest: ({ pattern, path }) => ({ verb: "glob", pattern, path, filesMax: limits.globFilesMax }),
};

const grep: VerbOf<
  "grep",
  {
    readonly pattern: string;
    readonly path?: string;
    readonly glob?: string;
    readonly type?: string;
    /** Whether `type` may name several, separated by commas or whitespace. */
    readonly severalTypes?: boolean;
    readonly mode?: GrepMode;
    readonly before?: number;
    readonly after?: number;
    readonly around?: number;
    readonly numbers?: boolean;
    readonly anyCase?: boolean;
    readonly multiline?: boolean;
    readonly skip?: number;
    /** 0 for as many as fit in one answer. */
    readonly entriesMax?: number;
    readonly order?: "path" | "newest";
    readonly lineCharsMax?: number;
  }
> = {
  readOnly: true,
  toRequest: ({ pattern, path, glob: files, type = "", severalTypes, around = 0, entriesMax = 0, ...values }) => ({
    verb: "grep",
    pattern,
    path,
    glob: files,
    types: (severalTypes ? type.split(/[\s,]+/) : [type]).filter((one) => one !== ""),
    mode: values.mode ?? "content",
    before: values.before ?? around,
    after: values.after ?? around,
    letterCase: values.anyCase ? "any" : "exact",
    reach: values.multiline ? "lines" : "line",
    numbers: values.numbers ?? true,
    skip: values.skip ?? 0,
    entriesMax: entriesMax === 0 ? limits.searchEntriesMax : entriesMax,
    order: values.order ?? "path",
    lineCharsMax: values.lineCharsMax ?? 500,
  }),
};

interface EditValues {
  readonly oldText?: string;
  readonly newText?: string;
  readonly all?: boolean;
}

const textEdit = ({ oldText = "", newText = "", all = false }: EditValues): TextEdit => ({ oldText, newText, all });

const edit: VerbOf<"edit", EditValues & { readonly path: string; readonly edits?: readonly EditValues[] }> = {
  readOnly: false,
  toRequest({ path, edits, ...only }, { profile }) {
    const [first = textEdit(only), ...others] = edits?.map(textEdit) ?? [];
    return { verb: "edit", path, edits: [first, ...others], profile };
  },
};

const write: VerbOf<
  "write",
  {
    readonly path: string;
    readonly content: string;
    /** Recognizes the notice for an unchanged file, which some models send back as content. */
    readonly isNotice?: (content: string) => boolean;
  }
> = {
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
  {
    readonly path: string;
    readonly cellId?: string;
    readonly source: string;
    readonly cellType?: CellType;
    readonly mode?: CellMode;
  }
> = {
  readOnly: false,
  toRequest: ({ path, cellId, source, cellType, mode = "replace" }, { profile }) => ({
    verb: "notebook-edit",
    path,
    cellId,
    source,
    cellType,
    mode,
    profile,
  }),
};

const patch: VerbOf<"patch", { readonly patchText: string }> = {
  readOnly: false,
  toRequest: ({ patchText }, { profile }) => ({ verb: "patch", patchText, profile }),
};

const history: VerbOf<
  "history",
  { readonly turn?: string; readonly path?: string; readonly from?: number; readonly itemsMax?: number }
> = {
  readOnly: true,
  optIn: "history",
  toRequest: ({ turn, path, from = 1, itemsMax = turnsDefault }, { profile }) => ({
    verb: "history",
    turn,
    path,
    from,
    itemsMax,
    profile,
  }),
};

const rewind: VerbOf<
  "rewind",
  { readonly to: string; readonly files?: readonly string[]; readonly dryRun?: boolean; readonly force?: boolean }
> = {
  readOnly: false,
  optIn: "history",
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

const lsp: VerbOf<
  "lsp",
  PlaceValues & { readonly operation: LspOperation; readonly query?: string; readonly from?: number }
> = {
  readOnly: true,
  optIn: "lsp",
  toRequest: ({ operation, path, line, symbol, column, query, from = 1 }, { profile }) => ({
    verb: "lsp",
    operation,
    path,
    at: { line, symbol, column },
    query,
    from,
    profile,
  }),
};

const rename: VerbOf<"rename", PlaceValues & { readonly newName: string }> = {
  readOnly: false,
  optIn: "rename",
  toRequest: ({ path, line, symbol, column, newName }, { profile }) => ({
    verb: "rename",
    path,
    at: { line, symbol, column },
    newName,
    profile,
  }),
};

const verbs = { read, ls, glob, grep, edit, write, "notebook-edit": notebookEdit, patch, history, rewind, lsp, rename };

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
}

export function tool<V extends OfferedVerb>(verb: V, literal: ToolLiteral<V>): ToolSpec {
  const { name, description, input, fixed } = literal;
  const { readOnly, optIn, toRequest } = verbs[verb] as VerbOf<V, ValuesOf<V>>; // one verb's own entry
  let inputSchema: JsonSchema | undefined;
  return {
    name,
    verb,
    description,
    input,
    readOnly,
    ...(optIn === undefined ? {} : { optIn }),
    get inputSchema() {
      return (inputSchema ??= jsonSchemaOf(input));
    },
    toRequest(sent, profile) {
      const given = parseArguments(input, name, sent);
      const values = { ...fixed, ...defaultsOf(input), ...given } as ValuesOf<V>; // the literal's parameters give these values
      return toRequest(values, { profile, gives: (...keys) => keys.some((key) => Object.hasOwn(given, key)) });
    },
  };
}
