/** What becomes of the members of a cell when its source, or its type, is another. Those that need not change stay. */

import type { CellType } from "../contract/edit.ts";
import type { NotebookCell } from "../contract/notebook.ts";
import { type Member, memberNamed, sliceOf } from "./json-spans.ts";
import type { MemberPlan, Shape } from "./json-style.ts";
import { codeLanguage, type NotebookText, sourceMember, sourceText, textOf } from "./notebook-text.ts";

export interface Replacement {
  readonly file: NotebookText;
  /** As it is shown. */
  readonly cell: NotebookCell<unknown>;
  /** As it is written. */
  readonly members: readonly Member[];
  readonly shape: Shape;
  readonly type: CellType;
  readonly source: string;
}

export function planFor(replacement: Replacement): MemberPlan {
  const { file, cell, members, shape, type, source } = replacement;
  const { text } = file;
  const set = new Map<Member, string>();
  const add: MemberPlan["add"][number][] = [];
  const put = (name: string, value: string, behind: readonly string[]): void => {
    const member = memberNamed(members, name);
    if (member === undefined) add.push({ name, value, behind });
    else set.set(member, value);
  };

  const wasHeading = textOf(text, memberNamed(members, "cell_type")) === "heading";
  const heading = wasHeading && type === cell.type ? headingIn(source) : undefined;
  const retyped = type !== cell.type || (wasHeading && heading === undefined);
  if (retyped) put("cell_type", JSON.stringify(type), []);
  // A heading without a level is shown with one hash.
  if (heading !== undefined && heading.level !== cell.source.indexOf(" ")) {
    put("level", String(heading.level), ["cell_type"]);
  }

  const holder = sourceMember(text, members);
  const holderName = file.notebook.format === 3 && type === "code" ? "input" : "source";
  const written = heading?.title ?? source;
  if (textOf(text, holder) !== written) {
    const value = sourceText(file, cell.index, written, shape);
    if (holder === undefined) add.push({ name: holderName, value, behind: [] });
    else set.set(holder, value);
  }

  if (type === "code") {
    for (const member of members.filter((other) => isStale(text, other))) set.set(member, emptied(member.name));
    if (retyped) add.push(...lacking(replacement));
  }
  const renamed = retyped && file.notebook.format === 3 && holder !== undefined && holder.name !== holderName;
  return {
    set,
    rename: new Map(renamed ? [[holder, holderName]] : []),
    drop: new Set(retyped ? members.filter((member) => member !== holder && isForeign(file, type, member.name)) : []),
    add,
  };
}

/** Tells of a run of the old source. */
export function isStale(text: string, { name, value }: Member): boolean {
  if (name === "outputs") return text[value.from] !== "[" || text.slice(value.from + 1, value.to - 1).trim() !== "";
  return (name === "execution_count" || name === "prompt_number") && sliceOf(text, value) !== "null";
}

const emptied = (name: string): string => (name === "outputs" ? "[]" : "null");

/** Headings of format 3 are shown as Markdown; what is no longer one line with hashes becomes Markdown. */
function headingIn(source: string): { readonly level: number; readonly title: string } | undefined {
  const [, hashes, title] = /^(#{1,6}) ([^\n]*)$/.exec(source) ?? [];
  return hashes === undefined || title === undefined ? undefined : { level: hashes.length, title };
}

/** Jupyter refuses a cell that has what belongs to another type. */
function isForeign({ notebook }: NotebookText, type: CellType, name: string): boolean {
  // Only one of the two that can hold a source may be left, or reading might take the other one.
  const names3 = type === "code" ? ["source", "input"] : ["source", "input", "language", "collapsed"];
  const names = type === "code" ? ["attachments", "level"] : ["outputs", "execution_count", "prompt_number", "level"];
  return names.includes(name) || (notebook.format === 3 && names3.includes(name));
}

/** What a cell of code must have. Each goes where nbformat, which sorts the names, would write it. */
function lacking({ file, cell, members }: Replacement): MemberPlan["add"] {
  const language = JSON.stringify(codeLanguage(file, cell.index));
  const needed =
    file.notebook.format === 4
      ? [
          { name: "execution_count", value: "null", behind: ["cell_type"] },
          { name: "outputs", value: "[]", behind: ["metadata", "cell_type"] },
        ]
      : [
          { name: "language", value: language, behind: ["input", "source"] },
          { name: "outputs", value: "[]", behind: ["metadata", "cell_type"] },
          { name: "prompt_number", value: "null", behind: ["outputs", "metadata", "cell_type"] },
        ];
  return needed.filter(({ name }) => memberNamed(members, name) === undefined);
}
