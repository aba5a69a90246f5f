/** From the operator's list of tools to those that a session offers. */

import type { FileTool } from "../contract/edit.ts";
import { type OlderToolOptions, type ToolChoice, type ToolName, toolNames } from "../contract/offered-tools.ts";
import type { ToolSpec } from "./dialect.ts";
import { nearestWord } from "./parameters.ts";

/** `multiedit`, `make-folder` and `MakeFolder` are spellings of the same name in one dialect or another. */
const letters = (name: string): string => name.replace(/[-_ ]/g, "").toLowerCase();

/** Dialects name these in another way. */
const otherNames: Readonly<Record<string, ToolName>> = { list: "LS" };

/** The tool that a person names, in the spelling of any dialect. */
const toolNamed = (name: string): ToolName | undefined =>
  toolNames.find((known) => letters(known) === letters(name)) ?? otherNames[letters(name)];

/** One entry of the list as a person wrote it, or what is wrong with it. */
export function toolChoice(text: string): ToolChoice | { readonly fault: string } {
  const [, sign = "", name = ""] = /^([+-]?)(.*)$/s.exec(text.trim()) ?? [];
  const found = toolNamed(name);
  if (found !== undefined) return `${sign as "" | "+" | "-"}${found}`;
  const near = nearestWord(name, toolNames);
  const hint = near === undefined ? `use one of ${toolNames.join(", ")}` : `did you mean ${near}`;
  return { fault: `there is no tool "${name.slice(0, 40)}", ${hint}` };
}

const isPlain = (choice: ToolChoice): choice is ToolName => !choice.startsWith("+") && !choice.startsWith("-");

/** `later` replaces `earlier` if it names tools without a sign; else it adds to it and takes away. */
export const joinedChoices = (earlier: readonly ToolChoice[], later: readonly ToolChoice[]): readonly ToolChoice[] =>
  later.some(isPlain) ? later : [...earlier, ...later];

/** The tools of a dialect that these choices leave; without any, those that the dialect offers by default. */
export function offeredSpecs(
  specs: readonly ToolSpec[],
  choices: readonly ToolChoice[] | undefined,
): readonly ToolSpec[] {
  const plain = choices?.filter(isPlain) ?? [];
  const isExact = plain.length > 0 || choices?.length === 0;
  const names = new Set(isExact ? plain : specs.filter(({ offered }) => offered === "always").map(({ tool }) => tool));
  for (const choice of choices ?? []) {
    const name = choice.slice(1) as ToolName; // after its sign; a plain one is skipped
    if (choice.startsWith("+")) names.add(name);
    if (choice.startsWith("-")) names.delete(name);
  }
  return specs.filter(
    ({ tool, beside }) => names.has(tool) && (beside === undefined || beside.is === names.has(beside.tool)),
  );
}

const fileToolNames = {
  delete: "Delete",
  move: "Move",
  copy: "Copy",
  "make-folder": "MakeFolder",
} as const satisfies Readonly<Record<FileTool, ToolName>>;

/** The options of earlier versions as entries of the list. */
export function choicesOfOlder(older: OlderToolOptions): readonly ToolChoice[] {
  const { fileTools, languageTools = false, outlineTool } = older;
  const added = (isOn: boolean | undefined, ...names: readonly ToolName[]): readonly ToolChoice[] =>
    isOn === true ? names.map((name) => `+${name}` as const) : [];
  return [
    ...added(older.historyTools, "History", "Rewind"),
    ...added(languageTools !== false, "Lsp"),
    ...added(languageTools === "rename", "Rename"),
    ...added(older.lineEdits, "EditLines"),
    ...added(older.editFiles, "EditFiles"),
    ...added(older.patchTool, "Patch"),
    ...(outlineTool === undefined ? [] : [`${outlineTool ? "+" : "-"}Outline` as const]),
    ...(fileTools === undefined
      ? []
      : Object.entries(fileToolNames).map(
          ([key, name]) => `${fileTools.some((one) => one === key) ? "+" : "-"}${name}` as const,
        )),
  ];
}
