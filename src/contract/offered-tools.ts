/** Which tools models get: one list, in names that are the same for every dialect. */

import type { FileTool } from "./edit.ts";

/** Every tool that a dialect may have, by its name in the `claude` dialect. */
export const toolNames = [
  "Read",
  "Outline",
  "Grep",
  "Glob",
  "LS",
  "Edit",
  "MultiEdit",
  "Write",
  "NotebookEdit",
  "EditLines",
  "EditFiles",
  "Patch",
  "Delete",
  "Move",
  "Copy",
  "MakeFolder",
  "History",
  "Rewind",
  "Lsp",
  "Rename",
] as const;
export type ToolName = (typeof toolNames)[number];

/** `Read` offers only the tools that are named in this way; `+Rewind` and `-Delete` add to those, or to the default, and take away. */
export type ToolChoice = ToolName | `+${ToolName}` | `-${ToolName}`;

/** Options from before there was one list. They are accepted for one more version, as shorthand for entries of it. */
export interface OlderToolOptions {
  /** @deprecated Use `tools: ["+History", "+Rewind"]`. */
  readonly historyTools?: boolean;
  /** @deprecated Use `tools: ["+Lsp"]`, or `["+Lsp", "+Rename"]` for `rename`. */
  readonly languageTools?: boolean | "rename";
  /** @deprecated Use `tools: ["+EditLines"]`. */
  readonly lineEdits?: boolean;
  /** @deprecated Use `tools: ["+EditFiles"]`. */
  readonly editFiles?: boolean;
  /** @deprecated Use `tools: ["+Patch"]`. */
  readonly patchTool?: boolean;
  /** @deprecated Use `tools: ["-Outline"]` instead of `false`. */
  readonly outlineTool?: boolean;
  /** @deprecated Use `tools` with the names `Delete`, `Move`, `Copy` and `MakeFolder`. */
  readonly fileTools?: readonly FileTool[];
}
