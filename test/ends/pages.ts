/** The pages of the documentation, and what is in them: links, blocks of code, commands with the output that they promise. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { project } from "./run.ts";

/** Every page, as a path from the project's root. */
export const pages: readonly string[] = [
  ...readdirSync(project).filter((name) => name.endsWith(".md")),
  ...pagesBelow("docs"),
  ...pagesBelow(".github"),
];

function pagesBelow(folder: string): readonly string[] {
  return readdirSync(join(project, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" || entry.name === "dist" ? [] : pagesBelow(path);
    return entry.name.endsWith(".md") ? [path] : [];
  });
}

export const textOf = (page: string): string => readFileSync(join(project, page), "utf8");

export interface Block {
  readonly language: string;
  /** Of a comment `<!-- … -->` on the line before. */
  readonly mark: string | undefined;
  readonly text: string;
}

export function blocksIn(page: string): readonly Block[] {
  const found: Block[] = [];
  const lines = textOf(page).split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const language = /^```(\w*)$/.exec(lines[at] ?? "")?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf("```", at + 1);
    const mark = /^<!-- (.*) -->$/.exec(lines[at - 1] ?? "")?.[1];
    found.push({ language, mark, text: `${lines.slice(at + 1, end).join("\n")}\n` });
    at = end;
  }
  return found;
}

/** The anchor that GitHub gives a heading. The site gives the same, but puts `_` before a digit. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

const anchorsIn = (path: string): readonly string[] =>
  [...readFileSync(path, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading ?? ""));

/** Links to nowhere: no such file, or no such heading in it. */
export function brokenLinks(page: string): readonly string[] {
  const text = textOf(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to ?? "");
  return links.filter((to) => {
    if (/^\w+:/.test(to)) return false;
    const [file = "", anchor] = to.split("#");
    const target = join(project, file === "" ? page : join(dirname(page), file));
    return !existsSync(target) || (anchor !== undefined && !anchorsIn(target).includes(anchor));
  });
}

export interface Step {
  readonly command: string;
  /** Lines; `…` is any text in a line, and alone on a line any lines, also none. */
  readonly output: readonly string[];
}

/** Of a block of `console`: lines with `$ ` are commands, continued with `> `, and the others are their output. */
export function stepsIn(text: string): readonly Step[] {
  const steps: { command: string; output: string[] }[] = [];
  for (const line of text.trimEnd().split("\n")) {
    const last = steps.at(-1);
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), output: [] });
    else if (line.startsWith("> ") && last?.output.length === 0) last.command += `\n${line.slice(2)}`;
    else last?.output.push(line);
  }
  return steps;
}

/** A pattern for what a step promises to print. */
export function promised({ output }: Step): RegExp {
  const lines = output.map((line) => (line === "…" ? "(?:.*\\n)*" : `${line.split("…").map(escaped).join(".*")}\\n`));
  return new RegExp(`^${lines.join("")}$`);
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
