/** Gemini CLI's ReadFileTool: start_line and end_line, files up to 20 MB. Its EditTool, without a model's repairs; its GrepTool, GlobTool and LSTool. */

import { load } from "./index.js";

/**
 * @param {import("../worker.js").Setting} setting
 * @returns {Promise<import("../worker.js").Reader<string>>}
 */
export async function open({ folder }) {
  const { Config, EditTool, GlobTool, GrepTool, LSTool, ReadFileTool } = await load(
    "@google/gemini-cli-core/dist/index.js",
  );
  const config = new Config({
    sessionId: "bench",
    targetDir: folder,
    cwd: folder,
    debugMode: false,
    model: "none",
    usageStatisticsEnabled: false,
    telemetry: { enabled: false },
    disableLLMCorrection: true,
  });
  await config.storage.initialize();
  const tool = new ReadFileTool(config, config.getMessageBus());
  const editTool = new EditTool(config, config.getMessageBus());
  const grepTool = new GrepTool(config, config.getMessageBus());
  const globTool = new GlobTool(config, config.getMessageBus());
  const lsTool = new LSTool(config, config.getMessageBus());
  const { signal } = new AbortController();
  /** @param {{ execute(options: object): Promise<{ llmContent: string, error?: { message: string } }> }} call */
  const textOf = async (call) => {
    const { llmContent, error } = await call.execute({ abortSignal: signal, signal });
    if (error !== undefined) throw new Error(error.message);
    return llmContent;
  };
  return {
    read: (path, { from, count }) =>
      textOf(tool.build({ file_path: path, start_line: from, end_line: from + count - 1 })),
    lines: (text) =>
      text
        .replace(/^[^]*--- FILE CONTENT \(truncated\) ---\n/, "")
        .replace(/\n$/, "")
        .split("\n"),
    total: (text) => {
      const total = /of (\d+) total lines/.exec(text)?.[1];
      return total === undefined ? undefined : Number(total);
    },
    grep: (pattern) => textOf(grepTool.build({ pattern, total_max_matches: 1_000_000 })),
    grepLines: (text) => text.match(/^L\d+: /gm)?.length ?? 0,
    glob: (pattern) => textOf(globTool.build({ pattern })),
    list: (path) => textOf(lsTool.build({ dir_path: path })),
    globPaths: (text) => text.split("\n").slice(1),
    listNames: (text) =>
      text
        .replace(/\n\n\(\d+ ignored\)$/, "")
        .split("\n")
        .slice(1)
        .map((/** @type {string} */ line) => line.replace(/^\[DIR\] | \(\d+ bytes\)$/g, "")),
    editor: {
      edit: async (path, { old, new: fresh }) => {
        const input = { file_path: path, old_string: old, new_string: fresh, instruction: "bench" };
        const { error } = await editTool.build(input).execute({ abortSignal: signal, signal });
        if (error !== undefined) throw new Error(error.message);
      },
    },
  };
}
