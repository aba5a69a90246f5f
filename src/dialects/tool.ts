/**
 * A tool is one literal: its name, description, parameters and fixed values. This file derives the rest: the JSON schema, and the
 * request, which is built once for each verb whatever a dialect calls its parameters.
 */

import type { JsonSchema, Verbs } from "../contract/call.ts";
import type { TextEdit } from "../contract/edit.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import { lineNumber } from "../contract/target.ts";
import type { ToolSpec, OptIn } from "./dialect.ts";
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
  readonly optIn?: OptIn;
  readonly toRequest: (values: Values, call: CallOf) => Verbs[V]["request"];
}

interface CallOf {
  readonly profile: Profile;
  /** Whether the call itself sets one of these values. */
  readonly gives: (...keys: readonly string[]) => boolean;
}

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
  readOnly: true,
  toRequest: (
    { path, from = 1, linesMax = Number.POSITIVE_INFINITY, column = 1, pages, overBudget = "first page" },
    { profile, gives },
  ) => ({
    verb: "read",
    path,
    // Column 1 is the default, and models fill in optional parameters.
    ranges: [column > 1 ? { from: lineNumber(from), linesMax, column } : { from: lineNumber(from), linesMax }],
    overBudget: gives("linesMax") ? overBudget : "first page",
    whole: !gives("from", "linesMax", "column"),
    profile,
    ...(pages === undefined ? {} : { pages }),
  }),
};

const ls: VerbOf<"ls", Given<"ls", "path"> & { readonly ignore?: readonly string[]; readonly from?: number }> = {
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
  readOnly: true,
  toRequest: ({ type = "", severalTypes, around = 0, anyCase, multiline, entriesMax = 0, ...values }) => ({
    verb: "grep",
    path: undefined,
    glob: undefined,
    types: (severalTypes ? type.split(/[\s,]+/) : [type]).filter((one) => one !== ""),
    mode: "content",
    before: around,
    after: around,
    letterCase: anyCase ? "any" : "exact",
    reach: multiline ? "lines" : "line",
    numbers: true,
    skip: 0,
    entriesMax: entriesMax === 0 ? limits.searchEntriesMax : entriesMax,
    order: "path",
    lineCharsMax: 500,
    ...values,
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
  Given<"write", "path" | "content"> & {
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
  Given<"notebook-edit", "path" | "source"> & Optional<"notebook-edit", "cellId" | "cellType" | "mode">
> = {
  readOnly: false,
  toRequest: (values, { profile }) => ({
    verb: "notebook-edit",
    cellId: undefined,
    cellType: undefined,
    mode: "replace",
    ...values,
    profile,
  }),
};

const patch: VerbOf<"patch", Given<"patch", "patchText">> = {
  readOnly: false,
  toRequest: ({ patchText }, { profile }) => ({ verb: "patch", patchText, profile }),
};

const remove: VerbOf<"delete", Given<"delete", "path">> = {
  readOnly: false,
  optIn: "delete",
  toRequest: ({ path }, { profile }) => ({ verb: "delete", path, profile }),
};

const move: VerbOf<"move", Given<"move", "path" | "to">> = {
  readOnly: false,
  optIn: "move",
  toRequest: ({ path, to }, { profile }) => ({ verb: "move", path, to, profile }),
};

const copy: VerbOf<"copy", Given<"copy", "path" | "to">> = {
  readOnly: false,
  optIn: "copy",
  toRequest: ({ path, to }, { profile }) => ({ verb: "copy", path, to, profile }),
};

const makeFolder: VerbOf<"make-folder", Given<"make-folder", "path">> = {
  readOnly: false,
  optIn: "make-folder",
  toRequest: ({ path }, { profile }) => ({ verb: "make-folder", path, profile }),
};

const history: VerbOf<"history", Optional<"history", "turn" | "path" | "from" | "itemsMax">> = {
  readOnly: true,
  optIn: "history",
  toRequest: (values, { profile }) => ({
    verb: "history",
    turn: undefined,
    path: undefined,
    from: 1,
    itemsMax: turnsDefault,
    ...values,
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

const lsp: VerbOf<"lsp", PlaceValues & Given<"lsp", "operation"> & Optional<"lsp", "query" | "from">> = {
  readOnly: true,
  optIn: "lsp",
  toRequest: ({ line, symbol, column, ...values }, { profile }) => ({
    verb: "lsp",
    at: { line, symbol, column },
    query: undefined,
    from: 1,
    ...values,
    profile,
  }),
};

const rename: VerbOf<"rename", PlaceValues & { readonly newName: string }> = {
  readOnly: false,
  optIn: "rename",
  toRequest: ({ line, symbol, column, ...values }, { profile }) => ({
    verb: "rename",
    at: { line, symbol, column },
    ...values,
    profile,
  }),
};

const verbs = {
  read,
  ls,
  glob,
  grep,
  edit,
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
}

export function tool<V extends OfferedVerb>(verb: V, literal: ToolLiteral<V>): ToolSpec {
  const { name, description, input, fixed } = literal;
  const { readOnly, optIn, toRequest } = verbs[verb] as VerbOf<V, ValuesOf<V>>; // one verb's own entry
  let inputSchema: JsonSchema | undefined;
  // Made by the first call: each program offers tools that are never called.
  let parsing:
    | { readonly parameters: ReturnType<typeof namedParameters>; readonly usual: Readonly<Record<string, unknown>> }
    | undefined;
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
      parsing ??= { parameters: namedParameters(input), usual: { ...fixed, ...defaultsOf(input) } };
      const { parameters, usual } = parsing;
      const values = parseArguments(parameters, usual, name, sent) as ValuesOf<V>; // the literal's parameters give these values
      const gives: CallOf["gives"] = (...keys) =>
        parameters.some(
          ({ name, parameter }) => keys.includes(parameter.sets) && argumentNamed(name, sent) !== undefined,
        );
      return toRequest(values, { profile, gives });
    },
  };
}
