/**
 * Where each page of the site is found, in four parts: to learn, to get a task done, to look something up, to understand. A page that is in no
 * list fails a test.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const docs = join(import.meta.dirname, "..");

/** @typedef {{ readonly text: string, readonly page: string }} Entry a page below `docs/`, without `.md` */
/** @typedef {{ readonly text: string, readonly entries: readonly Entry[] }} Group */
/** @typedef {{ readonly text: string, readonly folder: string, readonly groups: readonly Group[] }} Part */

/** @type {readonly Part[]} */
export const parts = [
  {
    text: "Tutorials",
    folder: "tutorials",
    groups: [
      {
        text: "Tutorials",
        entries: [
          { text: "Your first edit with an agent", page: "tutorials/first-edit" },
          { text: "An agent in 60 lines", page: "tutorials/agent-in-60-lines" },
          { text: "Watch and approve", page: "tutorials/watch-and-approve" },
          { text: "Undo a disaster", page: "tutorials/undo-a-disaster" },
          { text: "第一次编辑（中文）", page: "tutorials/first-edit.zh-CN" },
        ],
      },
    ],
  },
  {
    text: "How-to",
    folder: "how-to",
    groups: [
      {
        text: "Your agent",
        entries: [
          { text: "All clients", page: "clients/README" },
          ...pagesOf("clients"),
          { text: "Replace the built-in tools", page: "how-to/replace-built-in-tools" },
        ],
      },
      {
        text: "Your team",
        entries: [
          { text: "Rules for a team", page: "how-to/rules-for-a-team" },
          { text: "Remote workspaces", page: "how-to/remote-workspaces" },
          { text: "One server for several people", page: "how-to/one-server-for-several" },
          { text: "In CI", page: "how-to/ci" },
        ],
      },
      {
        text: "Your program",
        entries: [{ text: "Adapters for agent frameworks", page: "adapters" }],
      },
    ],
  },
  {
    text: "Reference",
    folder: "reference",
    groups: [
      {
        text: "Tools, as a model sees them",
        entries: pagesOf("tools"),
      },
      {
        text: "Lists",
        entries: [
          { text: "Commands", page: "command-line" },
          { text: "Settings", page: "reference/settings" },
          { text: "Error codes", page: "reference/errors" },
          { text: "Environment variables", page: "reference/environment" },
          { text: "Metrics", page: "reference/metrics" },
          { text: "Library", page: "reference/library" },
          { text: "Protected files", page: "behaviour/protected-files" },
          { text: "Versions", page: "versions" },
        ],
      },
      {
        text: "Behaviour",
        entries: pagesOf("behaviour").filter(({ page }) => page !== "behaviour/protected-files"),
      },
    ],
  },
  {
    text: "Explanation",
    folder: "explanation",
    groups: [
      {
        text: "How it works, and why",
        entries: [
          { text: "The border", page: "explanation/border" },
          { text: "Matching", page: "explanation/matching" },
          { text: "Atomic writes", page: "explanation/atomic-writes" },
          { text: "History", page: "explanation/history" },
          { text: "Performance", page: "explanation/performance" },
          { text: "How cost grows", page: "explanation/scale" },
          { text: "Comparison with others", page: "explanation/comparison" },
          { text: "Threat model", page: "explanation/threat-model" },
        ],
      },
      {
        text: "Measurements",
        entries: [
          { text: "What was measured", page: "bench/README" },
          { text: "Replaying conversations", page: "explanation/benchmark" },
        ],
      },
      {
        text: "The code",
        entries: [
          { text: "A tour of Read and Edit", page: "architecture-tour" },
          { text: "Adding a parameter", page: "adding-a-parameter" },
          { text: "Dependencies", page: "decisions/dependencies" },
        ],
      },
    ],
  },
];

/** Pages that are reached by links alone: dated notes on decisions, and the front page. */
export const unlisted = /^(?:README|decisions\/\d{4}-.*)$/;

/** The address of a page: a folder's README is its index. @param {string} page */
export const addressOf = (page) => `/${page.replace(/(^|\/)README$/, "$1")}`;

/** The pages of a folder by their titles. @param {string} folder @returns {readonly Entry[]} */
function pagesOf(folder) {
  const names = readdirSync(join(docs, folder)).filter((name) => name.endsWith(".md") && name !== "README.md");
  const entries = names.map((name) => ({
    text: titleOf(readFileSync(join(docs, folder, name), "utf8")),
    page: `${folder}/${name.slice(0, -".md".length)}`,
  }));
  return entries.toSorted((a, b) => (a.text < b.text ? -1 : 1));
}

/** @param {string} text */
function titleOf(text) {
  const title = /^# (.*)$/m.exec(text)?.[1] ?? "";
  return title
    .replaceAll("`", "")
    .replace(/^The tools of the (.*) dialect$/, "$1")
    .replace(/:.*/, "");
}
