/**
 * Keeps translated pages in step with their originals: the same headings in the same order, the same blocks of code except for comments, and in
 * each section the same commands, links and figures. What a sentence says is up to people.
 */

import { readFileSync } from "node:fs";

/** Original and translation. */
const pairs = /** @type {const} */ ([
  ["README.md", "README.zh-CN.md"],
  ["docs/tutorials/first-edit.md", "docs/tutorials/first-edit.zh-CN.md"],
]);

/** @typedef {{ readonly level: number, readonly facts: readonly string[] }} Section */

export const outOfStep = () =>
  pairs.flatMap(([original, translation]) =>
    differences(readFileSync(original, "utf8"), readFileSync(translation, "utf8")).map(
      (difference) => `${translation}: ${difference}, which is not as in ${original}`,
    ),
  );

/** @param {string} original @param {string} translation @returns {readonly string[]} */
export function differences(original, translation) {
  const before = sectionsOf(original);
  const after = sectionsOf(translation);
  const levels = (/** @type {readonly Section[]} */ sections) =>
    sections.map(({ level }) => "#".repeat(level)).join(" ");
  if (levels(before) !== levels(after)) return [`it has the headings ${levels(after)}`];
  return before.flatMap(({ facts }, at) => {
    const others = after[at]?.facts ?? [];
    return [
      ...without(facts, others).map((fact) => `section ${at} lacks ${fact}`),
      ...without(others, facts).map((fact) => `section ${at} has ${fact}`),
    ];
  });
}

/** Those of the first list that are not in the second, as often as they are missing. @param {readonly string[]} list @param {readonly string[]} from */
function without(list, from) {
  const left = [...from];
  return list.filter((fact) => {
    const at = left.indexOf(fact);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

/** The text before the first heading is a section, too. @param {string} text @returns {readonly Section[]} */
function sectionsOf(text) {
  /** @type {{ level: number, lines: string[] }[]} */
  const sections = [{ level: 0, lines: [] }];
  let inBlock = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) inBlock = !inBlock;
    const heading = inBlock ? undefined : /^(#+) /.exec(line)?.[1];
    if (heading !== undefined) sections.push({ level: heading.length, lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ level, lines }) => ({ level, facts: factsOf(lines.join("\n")) }));
}

/** @param {string} text */
function factsOf(text) {
  const blocks = text.match(/^```[\s\S]*?^```$/gm) ?? [];
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/^<!--.*-->$/gm, (mark) => `\`${mark}\``);
  const commands = prose.match(/`[^`\n]+`/g) ?? [];
  const links = [...prose.matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => `a link to ${inEnglish(to ?? "")}`);
  const figures = prose.replaceAll(/`[^`\n]+`|\]\([^)]+\)/g, " ").match(/\d[\d.,]*(?:\s?(?:ms|MB|%))?/g) ?? [];
  return [
    ...blocks.map((block) => `the block ${block.replaceAll(/\s+(?:#|\/\/) .*$/gm, "")}`),
    ...commands,
    ...links,
    ...figures.map((figure) => `the figure ${figure.replace(/[.,]$/, "").replaceAll(/\s/g, "")}`),
  ];
}

/** A page and its translation are the same target; headings have other anchors. @param {string} to */
const inEnglish = (to) => to.replace(/\.zh-CN\.md$/, ".md").replace(/\.zh-CN\.md#.*|\.md#.*/, ".md");
