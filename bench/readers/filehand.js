/** Filehand as a library, in the dialect that the variant names. */

import { pathToFileURL } from "node:url";
import { library } from "../filehand.js";

/** @typedef {{ readonly content: readonly { readonly text?: string }[], readonly structured: any }} Reply */

/** How each dialect is asked, and where its answer holds the lines. */
const dialects = {
  claude: {
    tool: "Read",
    input: (/** @type {string} */ path, /** @type {Span} */ { from, count }) => ({
      file_path: path,
      offset: from,
      limit: count,
    }),
    lines: (/** @type {Reply} */ { structured }) => structured.file.content.split("\n"),
    total: (/** @type {Reply} */ { structured }) => structured.file.totalLines ?? undefined,
  },
  opencode: {
    tool: "read",
    input: (/** @type {string} */ path, /** @type {Span} */ { from, count }) => ({
      filePath: path,
      offset: from,
      limit: count,
    }),
    lines: (/** @type {Reply} */ reply) => linesBetween(shown(reply), "<content>\n", /^\d+: /),
    total: (/** @type {Reply} */ reply) => totalIn(shown(reply)),
  },
  "opencode-legacy": {
    tool: "read",
    input: (/** @type {string} */ path, /** @type {Span} */ { from, count }) => ({
      filePath: path,
      offset: from - 1,
      limit: count,
    }),
    lines: (/** @type {Reply} */ reply) => linesBetween(shown(reply), "<file>\n", /^\d+\| /),
    total: (/** @type {Reply} */ reply) => totalIn(shown(reply)),
  },
  envelope: {
    tool: "Read",
    input: (/** @type {string} */ path, /** @type {Span} */ { from, count }) => ({
      path,
      start_line: from,
      limit: count,
    }),
    lines: (/** @type {Reply} */ { structured }) =>
      structured.data.content
        .replace(/\n$/, "")
        .split("\n")
        .map((/** @type {string} */ line) => line.replace(/^ *\d+ \| /, "")),
    total: (/** @type {Reply} */ { structured }) => structured.stats.total_lines,
  },
};
/** @typedef {import("../corpus.js").Span} Span */

/**
 * @param {import("../worker.js").Setting} setting
 * @returns {Promise<import("../worker.js").Reader<Reply>>}
 */
export async function open({ folder, variant }) {
  const { createFilehand } = await import(pathToFileURL(library).href);
  const [given = "claude", fresh] = (variant ?? "claude").split(", ");
  const name = /** @type {keyof typeof dialects} */ (given); // suites name no other
  // Every call must give the content: a stub for what was read before would win by doing nothing.
  // A budget that no page comes near: counting tokens is not what is measured here.
  const session = createFilehand({ roots: [folder], dedup: false, pageTokensMax: 1e6 }).session({ dialect: name });
  const { tool, input, lines, total } = dialects[name];
  // Asked for a few lines more each time, the answer is the same and no kept page is that answer.
  let more = 0;
  return {
    read: async (path, span) =>
      orThrow(
        await session.call(tool, input(path, fresh === undefined ? span : { ...span, count: span.count + ++more })),
      ),
    tail: async (path, { count }) => {
      const { reply } = await session.run((/** @type {object} */ profile) => ({
        verb: "read",
        path,
        ranges: [{ last: count, numbered: "from the end" }],
        overBudget: "first page",
        profile: { ...profile, pageTokensMax: undefined, pageBytesMax: 100e6 },
      }));
      return orThrow(reply);
    },
    lines,
    total,
  };
}

/** @param {Reply & { isError: boolean, error?: { message: string } }} reply */
function orThrow(reply) {
  if (reply.isError) throw new Error(reply.error?.message ?? "the call failed");
  return reply;
}

const shown = (/** @type {Reply} */ reply) => reply.content[0]?.text ?? "";

function linesBetween(/** @type {string} */ text, /** @type {string} */ opening, /** @type {RegExp} */ number) {
  const start = text.indexOf(opening) + opening.length;
  const lines = text.slice(start).split("\n");
  const end = lines.findIndex((line) => !number.test(line));
  return lines.slice(0, end).map((line) => line.replace(number, ""));
}

const totalIn = (/** @type {string} */ text) => {
  const found = /total (\d+) lines/.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
};
