/** The texts that calls are made from: files of this repository, and variants of them. */

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("../..", import.meta.url));
const folders = ["src", "docs", "test"];
const names = /\.(ts|js|md)$/;
const linesMin = 40;
const charsMax = 60_000;

/** Lines of each file, without line ends. @returns {readonly (readonly string[])[]} */
export function readTexts() {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => names.test(name) && !name.includes("node_modules"))
      .map((name) => join(project, folder, name)),
  );
  return paths
    .sort()
    .map((path) => readFileSync(path, "utf8"))
    .filter((text) => text.length <= charsMax && text.endsWith("\n") && !/[\r\t\ufffd]/.test(text))
    .map((text) => text.slice(0, -1).split("\n"))
    .filter((lines) => lines.length >= linesMin && lines.every((line) => line === line.trimEnd()));
}

/** Two spaces of indentation are one tab. @param {string} line */
export const withTabs = (line) => line.replace(/^(?: {2})+/, (blanks) => "\t".repeat(blanks.length / 2));

/** Two spaces of indentation are that many. @param {string} line @param {number} width */
export const withWidth = (line, width) =>
  line.replace(/^(?: {2})+/, (blanks) => " ".repeat((blanks.length / 2) * width));

/** Quotes as a word processor sets them. @param {string} line */
export const curled = (line) =>
  line
    .replace(/(^|[\s([{])"/g, "$1\u201c")
    .replaceAll('"', "\u201d")
    .replace(/(^|[\s([{\u201c])'/g, "$1\u2018")
    .replaceAll("'", "\u2019");

/** @param {string} line */
export const straight = (line) => line.replace(/[\u201c\u201d\u201e]/g, '"').replace(/[\u2018\u2019]/g, "'");

/** What looks alike as one types it. @param {string} line */
export const plain = (line) =>
  straight(line)
    .normalize("NFC")
    .replace(/[\u00a0\u2009\u202f]/g, " ")
    .replace(/[\u2010\u2013\u2014\u2212]/g, "-");

/** A line as loosely as any step may compare it, and looser. @param {string} line */
export const loose = (line) => plain(line).trim();

/**
 * Where the lines of a block stand in a text, compared as loosely as that.
 * @param {readonly string[]} lines
 * @param {readonly string[]} block
 */
export function placesOf(lines, block) {
  const wanted = block.map(loose);
  const found = [];
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    if (wanted.every((line, row) => loose(lines[at + row] ?? "") === line)) found.push(at);
  }
  return found;
}
