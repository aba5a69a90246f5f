/** `filehand call`: one call as a model writes it. */

import { type Command, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { printReply } from "../print.ts";

export const call: Command = {
  name: "call",
  summary: "Make one tool call as a model writes it",
  parameters: ["<tool>", "<json>"],
  options: {},
  details: "The tool's name and parameters are those of the dialect; `filehand tools` lists them.",
  examples: [
    `filehand call Read '{"file_path": "src/index.ts", "limit": 20}'`,
    `filehand call read '{"filePath": "src"}' --dialect opencode --json`,
  ],
  async run(given, host) {
    const [tool = "", json = ""] = given.parameters;
    const input = parsed(json);
    const { session, record } = await openSession(given, host, "models");
    const reply = await session.call(tool, input, { signal: host.signal });
    record();
    return printReply(reply, given, host);
  },
};

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UsageError(`The input is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
