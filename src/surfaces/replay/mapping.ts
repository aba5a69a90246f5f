/**
 * Which tool of a file server does what a recorded call did, and how its input is written: by the names of tools and parameters, so
 * that Filehand in any dialect, server-filesystem, DesktopCommander and servers with similar tools are called alike. Pure.
 */

import { isRecord } from "../../contract/common.ts";
import { type JsonRecord, listIn, recordIn, type RecordedEdit } from "./conversation.ts";

/** A tool as a server lists it. */
export interface OfferedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
}

/** One call that stands for a recorded one. */
export interface MappedCall {
  readonly tool: string;
  readonly input: JsonRecord;
}

export type ToolMapping = ReturnType<typeof mapTools>;

/** Names without case and signs, the best first. */
const toolNames = {
  read: ["read", "readtextfile", "readfile", "view", "viewfile"],
  edit: ["edit", "editfile", "editblock", "strreplace", "replace", "replaceinfile"],
  edits: ["multiedit"],
  editLines: ["editlines"],
  write: ["write", "writefile", "createfile"],
  patch: ["patch", "applypatch"],
  remove: ["delete", "deletefile", "remove", "removefile"],
} as const;

const parameterNames = {
  path: ["file_path", "filePath", "path", "filename", "absolute_path"],
  from: ["offset", "start_line", "startLine"],
  linesMax: ["limit", "length", "line_count"],
  to: ["end_line", "endLine"],
  head: ["head"],
  oldText: ["old_string", "oldString", "oldText", "old_text", "old_str"],
  lines: ["lines"],
  newText: ["new_string", "newString", "newText", "new_text", "new_str"],
  all: ["replace_all", "replaceAll", "allow_multiple"],
  count: ["expected_replacements"],
  content: ["content", "contents", "text", "file_text"],
  patchText: ["patchText", "patch", "input"],
} as const;
type Parameter = keyof typeof parameterNames;

/** Copies of one edit, for a tool that replaces one place at a time. */
const copiesMax = 100;

export function mapTools(tools: readonly OfferedTool[]) {
  const bare = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, "");
  const find = (names: readonly string[]) => {
    for (const name of names) {
      const tool = tools.find((one) => bare(one.name) === name);
      if (tool !== undefined) return parametersOf(tool);
    }
    return undefined;
  };
  const [read, edit, edits] = [find(toolNames.read), find(toolNames.edit), find(toolNames.edits)];
  const editLines = find(toolNames.editLines);
  const [write, patch, remove] = [find(toolNames.write), find(toolNames.patch), find(toolNames.remove)];
  return {
    /** The tools that are used, for the report. */
    used: [read, edit, edits, write, patch, remove].flatMap((one) => one?.tool ?? []),
    /** Lines count from 1; without `from` the whole file is meant. */
    read(path: string, from: number | undefined, linesMax: number | undefined): MappedCall | undefined {
      if (read === undefined || !read.has("path")) return undefined;
      const first = from ?? 1;
      const last = linesMax === undefined ? undefined : first + linesMax - 1;
      // A tool that has no first line shows the lines before it, too.
      if (!read.has("from")) return read.call({ path, head: last });
      const start = from === undefined ? undefined : first - (read.countsFrom0 ? 1 : 0);
      return read.call({ path, from: start, ...(read.has("linesMax") ? { linesMax } : { to: last }) });
    },
    /** Several calls where the tool makes one edit at a time. `count`: places of an edit that is meant for all. */
    edit(
      path: string,
      wanted: readonly RecordedEdit[],
      count: (edit: RecordedEdit) => number,
    ): readonly MappedCall[] | undefined {
      const inList = wanted.length > 1 && edits !== undefined ? edits : edit;
      if (inList === undefined) return undefined;
      if (inList.items !== undefined) {
        const { items } = inList;
        const list = wanted.flatMap((one) => {
          const copies = one.all && !items.has("all") ? Math.min(copiesMax, Math.max(1, count(one))) : 1;
          return Array.from({ length: copies }, () => items.values(valuesOf(one)));
        });
        return [inList.call({ path }, { edits: list })];
      }
      return wanted.map((one) => inList.call({ path, ...valuesOf(one), ...(one.all ? { count: count(one) } : {}) }));
    },
    /** Edits by line, if there is a tool for them. */
    editLines(path: string, wanted: readonly { readonly lines: string; readonly newText: string }[]) {
      const items = editLines?.items;
      if (editLines === undefined || items === undefined) return undefined;
      const list = wanted.map(({ lines, newText }) => items.values({ lines, newText }));
      return editLines.call({ path }, { edits: list });
    },
    write: (path: string, content: string): MappedCall | undefined => write?.call({ path, content }),
    patch: (patchText: string): MappedCall | undefined =>
      patch?.has("patchText") === true ? patch.call({ patchText }) : undefined,
    remove: (path: string): MappedCall | undefined => remove?.call({ path }),
    /** A search with the recorded name and parameters, if the server has just that. */
    search(tool: string, input: JsonRecord, path: string | undefined): MappedCall | undefined {
      const offered = tools.find(({ name }) => name === tool);
      const properties = recordIn(offered?.inputSchema, "properties");
      if (properties === undefined || !Object.keys(input).every((key) => Object.hasOwn(properties, key)))
        return undefined;
      return { tool, input: path === undefined ? input : { ...input, path } };
    },
  };
}

const valuesOf = ({ oldText, newText, all }: RecordedEdit) => ({ oldText, newText, ...(all ? { all } : {}) });

type Values = { readonly [P in Parameter]?: string | number | boolean | undefined };

/** The parameters of a tool by their meaning. */
function parametersOf({ name: tool, inputSchema }: OfferedTool) {
  const own = namesIn(inputSchema);
  const list = recordIn(recordIn(inputSchema, "properties"), "edits");
  const from = own.property("from");
  return {
    tool,
    ...own,
    /** Of the entries of a list of edits. */
    items: list === undefined ? undefined : namesIn(resolved(list["items"], inputSchema)),
    // DesktopCommander counts lines from 0 and says it only in words; its `length` is found in no tool that counts from 1.
    countsFrom0: isRecord(from) && (from["minimum"] === 0 || own.nameOf("linesMax") === "length"),
    call: (values: Values, more: JsonRecord = {}): MappedCall => ({ tool, input: { ...own.values(values), ...more } }),
  };
}

function namesIn(schema: unknown) {
  const properties = recordIn(schema, "properties") ?? {};
  const nameOf = (parameter: Parameter): string | undefined =>
    parameterNames[parameter].find((name) => Object.hasOwn(properties, name));
  return {
    nameOf,
    has: (parameter: Parameter): boolean => nameOf(parameter) !== undefined,
    property: (parameter: Parameter): unknown => properties[nameOf(parameter) ?? ""],
    /** Values that have no parameter are left out. */
    values: (values: Values): JsonRecord =>
      Object.fromEntries(
        Object.entries(values).flatMap(([parameter, value]) => {
          const name = nameOf(parameter as Parameter); // a key of Values
          return name === undefined || value === undefined ? [] : [[name, value]];
        }),
      ),
  };
}

/** A schema, or the definition that it refers to: one step only. */
function resolved(schema: unknown, root: unknown): unknown {
  const reference = isRecord(schema) ? schema["$ref"] : undefined;
  const [, key, name] = typeof reference === "string" ? (/^#\/(\$defs|definitions)\/(\w+)$/.exec(reference) ?? []) : [];
  return key === undefined || name === undefined ? schema : recordIn(recordIn(root, key), name);
}

/** The names of required parameters that a call does not give: a tool that is only similar by its name. */
export function missingIn(tools: readonly OfferedTool[], { tool, input }: MappedCall): readonly string[] {
  const schema = tools.find(({ name }) => name === tool)?.inputSchema;
  return listIn(schema, "required").filter(
    (name): name is string => typeof name === "string" && !Object.hasOwn(input, name),
  );
}
