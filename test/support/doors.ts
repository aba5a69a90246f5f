/** Every call that a model can make about one file, made from the tools that a dialect has: the doors that a rule has to shut. */

import type { Reply, Session, ToolDefinition } from "../../src/index.ts";

export interface Door {
  readonly name: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** `named`: the call names the file. `near`: it names another one or none, and may come across the file. */
  readonly how: "named" | "near";
}

export interface Hidden {
  /** Below the root. */
  readonly path: string;
  /** A text that stands in the file. */
  readonly content: string;
  /** A file that may be changed. */
  readonly spare: string;
  /** A turn of the past in which the hidden file was changed. */
  readonly turn: string;
}

export function everyDoor(definitions: readonly ToolDefinition[], hidden: Hidden): readonly Door[] {
  return definitions.flatMap(({ name, inputSchema }) => {
    const properties = Object.keys(inputSchema.properties ?? {});
    const fileKeys = Object.keys(inputSchema.properties?.["files"]?.items?.properties ?? {});
    const inputs = inputsFor(name.toLowerCase(), properties, hidden, fileKeys);
    return inputs.map(([how, input]) => ({ name: `${name} ${JSON.stringify(input)}`, tool: name, input, how }));
  });
}

export const enter = (session: Session, { tool, input }: Door, dryRun = false): Promise<Reply> =>
  session.call(tool, input, { dryRun });

type Input = readonly [Door["how"], Readonly<Record<string, unknown>>];

function inputsFor(
  tool: string,
  properties: readonly string[],
  hidden: Hidden,
  fileKeys: readonly string[],
): readonly Input[] {
  const { path, content, spare, turn } = hidden;
  const has = (name: string): boolean => properties.includes(name);
  const file = ["file_path", "filePath", "notebook_path", "path"].find(has) ?? "";
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
  const typo = path.replace(/.$/u, "");
  const [oldKey, newKey, allKey] = has("filePath")
    ? ["oldString", "newString", "replaceAll"]
    : ["old_string", "new_string", "replace_all"];
  const patch = (...lines: readonly string[]) => ({
    [has("patch_text") ? "patch_text" : "patchText"]: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n"),
  });
  switch (tool) {
    case "read":
      return [
        ["named", { [file]: path }],
        ["named", { [file]: path.startsWith("/") ? `/.//${path}` : `.//./${path}` }],
        ["named", { [file]: path, [has("start_line") ? "start_line" : "offset"]: 1, limit: 1 }],
        ["near", { [file]: typo }],
        ["near", { [file]: `${folder}/${content.slice(0, 3)}` }],
      ];
    case "outline":
      return [
        ["named", { [file]: path }],
        ["named", { [file]: path, depth: 1 }],
        ["near", { [file]: typo }],
      ];
    case "ls":
    case "list":
      return [
        ["near", { path: "." }],
        ["named", { path }],
        ["near", { path: typo }],
      ];
    case "glob":
      return [
        ["near", { pattern: "**/*" }],
        ["near", { pattern: "**/.*" }],
        ["near", { pattern: `${typo}*` }],
        ["near", { pattern: `**/*${path.slice(-3)}` }],
        ["near", { pattern: path }],
        ["near", { pattern: `${path.slice(0, 4)}*` }],
        ["named", { pattern: "*", path }],
        ["near", { pattern: "*", path: typo }],
      ];
    case "grep":
      return (has("output_mode") ? ["content", "files_with_matches", "count"] : [""]).flatMap(
        (mode): readonly Input[] => {
          const how = has("output_mode") ? { output_mode: mode, "-C": 5 } : {};
          const files = has("glob") ? "glob" : "include";
          return [
            ["near", { pattern: `${content}|.`, ...how }],
            ["near", { pattern: "content", [files]: `**/*${path.slice(-4)}`, ...how }],
            ["named", { pattern: content, path, ...how }],
            ["near", { pattern: content, path: typo, ...how }],
          ];
        },
      );
    case "edit":
      return [
        ["named", { [file]: path, [oldKey]: content, [newKey]: "x" }],
        ["named", { [file]: path, [oldKey]: `${content.slice(0, -1)}?`, [newKey]: "x" }],
        ["named", { [file]: path, [oldKey]: "", [newKey]: "x" }],
        ["named", { [file]: path, [oldKey]: "content", [newKey]: "x", [allKey]: true }],
        ["near", { [file]: typo, [oldKey]: "content", [newKey]: "x" }],
      ];
    case "multiedit":
      return [["named", { [file]: path, edits: [{ [oldKey]: "content", [newKey]: "x" }] }]];
    case "editlines": {
      const lines = (edit: object) => ({ [file]: path, edits: [edit] });
      return [
        ["named", lines({ lines: "1", [newKey]: "x" })],
        ["named", lines({ lines: "before 1", [newKey]: "x" })],
        ["named", lines({ lines: "1", [newKey]: "x", first: content.slice(1) })],
        ["named", lines({ lines: "900", [newKey]: "x" })],
        ["near", { [file]: typo, edits: [{ lines: "1", [newKey]: "x" }] }],
      ];
    }
    case "editfiles": {
      const key = ["file_path", "filePath", "path"].find((one) => fileKeys.includes(one)) ?? "";
      const [oldName, newName] = key === "filePath" ? ["oldString", "newString"] : ["old_string", "new_string"];
      const of = (name: string, old: string) => ({ [key]: name, edits: [{ [oldName]: old, [newName]: "x" }] });
      return [
        ["named", { files: [of(path, content)] }],
        ["named", { files: [of(spare, "content"), of(path, "nothing like it")] }],
        ["named", { files: [of(path, "")] }],
        ["near", { files: [of(typo, "content")] }],
      ];
    }
    case "delete":
      return [
        ["named", { path }],
        ["near", { path: typo }],
      ];
    case "makefolder":
      return [["near", { path: `${path}/x` }]];
    case "move":
    case "copy":
      return [
        ["named", { path, to: "elsewhere.txt" }],
        ["named", { path: spare, to: path }],
        ["near", { path: spare, to: `${path}/x` }],
        ["near", { path: typo, to: "elsewhere.txt" }],
      ];
    case "write":
      return [["named", { [file]: path, content: "x" }]];
    case "notebookedit":
      return [
        ["named", { [file]: path, cell_id: "c1", new_source: "x" }],
        ["named", { [file]: path, cell_id: "none", new_source: "x", edit_mode: "insert", cell_type: "code" }],
      ];
    case "patch":
      return [
        ["named", patch(`*** Add File: ${path}`, "+x")],
        ["named", patch(`*** Update File: ${path}`, "@@", `-${content}`, "+x")],
        ["named", patch(`*** Update File: ${path}`, "@@", "-nothing like it", "+x")],
        ["named", patch(`*** Delete File: ${path}`)],
        ["named", patch(`*** Update File: ${path}`, "*** Move to: elsewhere.txt")],
        ["named", patch(`*** Update File: ${spare}`, `*** Move to: ${path}`)],
        ["named", patch(`*** Update File: ${spare}`, "@@", "-content", "+x", `*** Delete File: ${path}`)],
        ["near", patch(`*** Update File: ${typo}`, "@@", "-content", "+x")],
      ];
    case "history":
      return [
        ["near", {}],
        ["near", { turn }],
        ["named", { path }],
        ["named", { turn, path }],
        ["near", { path: typo }],
      ];
    case "rewind":
      return [
        ["near", { turn, [has("dryRun") ? "dryRun" : "dry_run"]: true }],
        ["near", { turn }],
        ["near", { turn, force: true }],
        ["named", { turn, paths: [path] }],
        ["named", { turn, paths: [path], force: true }],
      ];
    case "lsp":
      return [
        ["named", { operation: "documentSymbol", [file]: path }],
        ["named", { operation: "hover", [file]: path, line: 1, symbol: content }],
        ["named", { operation: "hover", [file]: path, line: 900, symbol: "x" }],
        ["named", { operation: "workspaceSymbol", [file]: path, query: content }],
        ["near", { operation: "references", [file]: typo, line: 1, symbol: content }],
      ];
    case "rename":
      return [
        ["named", { [file]: path, line: 1, symbol: content, [has("newName") ? "newName" : "new_name"]: "x" }],
        ["near", { [file]: typo, line: 1, symbol: content, [has("newName") ? "newName" : "new_name"]: "x" }],
      ];
    default:
      throw new Error(`there is no door for the tool ${tool} yet`);
  }
}
