/** The commands of Anthropic's text editor and memory tools, from a call's input to what is meant. */

import type { JsonSchema } from "../../contract/call.ts";
import { lenientInput } from "../lenient-input.ts";

export type CommandName = "view" | "create" | "str_replace" | "insert" | "undo_edit" | "delete" | "rename";

export type Command =
  | { readonly command: "view"; readonly path: string; readonly from: number; readonly to: number | undefined }
  | { readonly command: "create"; readonly path: string; readonly text: string }
  | { readonly command: "str_replace"; readonly path: string; readonly oldText: string; readonly newText: string }
  | { readonly command: "insert"; readonly path: string; readonly line: number; readonly text: string }
  | { readonly command: "undo_edit"; readonly path: string }
  | { readonly command: "delete"; readonly path: string }
  | { readonly command: "rename"; readonly path: string; readonly newPath: string };

/** What may come as a text, though it is none. */
const schema: JsonSchema = {
  type: "object",
  properties: {
    insert_line: { type: "integer" },
    view_range: { type: "array", items: { type: "integer" } },
  },
};

export function commandOf(input: unknown, known: readonly CommandName[]): Command | { readonly fault: string } {
  const meant = lenientInput(input, schema, "lenient");
  const given: Readonly<Record<string, unknown>> = typeof meant === "object" && meant !== null ? { ...meant } : {};
  const name = known.find((one) => one === given["command"]);
  if (name === undefined) {
    return {
      fault: `Unrecognized command ${JSON.stringify(given["command"])}. The allowed commands are: ${known.join(", ")}`,
    };
  }
  const faults: string[] = [];
  const text = (...names: readonly [string, ...string[]]): string => {
    const value = names.map((one) => given[one]).find((one) => one !== undefined);
    if (typeof value === "string") return value;
    faults.push(`Parameter \`${names[0]}\` is required for command: ${name}, as a string`);
    return "";
  };
  const command = read(name, given, text, faults);
  const [fault] = faults;
  return fault === undefined ? command : { fault };
}

function read(
  command: CommandName,
  given: Readonly<Record<string, unknown>>,
  text: (...names: readonly [string, ...string[]]) => string,
  faults: string[],
): Command {
  switch (command) {
    case "view":
      return { command, path: text("path"), ...viewRange(given["view_range"], faults) };
    case "create":
      return { command, path: text("path"), text: text("file_text") };
    case "str_replace": {
      const newText = given["new_str"] === undefined ? "" : text("new_str");
      return { command, path: text("path"), oldText: text("old_str"), newText };
    }
    case "insert": {
      const line = given["insert_line"];
      const isLine = typeof line === "number" && Number.isInteger(line);
      if (!isLine) faults.push("Parameter `insert_line` is required for command: insert, as a whole number");
      // Older versions of the tool call it new_str.
      return { command, path: text("path"), line: isLine ? line : 0, text: text("insert_text", "new_str") };
    }
    case "rename":
      return { command, path: text("old_path"), newPath: text("new_path") };
    case "undo_edit":
    case "delete":
      return { command, path: text("path") };
  }
}

/** Two lines, both included; -1 is the end. */
function viewRange(range: unknown, faults: string[]): { readonly from: number; readonly to: number | undefined } {
  if (range === undefined || range === null) return { from: 1, to: undefined };
  const [from, to, ...others] = Array.isArray(range) ? (range as readonly unknown[]) : [];
  const whole = (one: unknown): one is number => typeof one === "number" && Number.isInteger(one);
  if (whole(from) && whole(to) && others.length === 0 && from >= 1 && (to === -1 || to >= from)) {
    return { from, to: to === -1 ? undefined : to };
  }
  faults.push(
    `Invalid \`view_range\`: ${JSON.stringify(range)}. It should be a list of two line numbers, the first at least 1 and the second not smaller, or -1 for the end of the file`,
  );
  return { from: 1, to: undefined };
}
