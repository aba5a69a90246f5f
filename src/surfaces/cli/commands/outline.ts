/** `filehand outline`: what a code file declares, and on which lines. */

import { setFlagsFromString } from "node:v8";
import { limits } from "../../../contract/limits.ts";
import { type Command, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { type Paint, printReply } from "../print.ts";
import { styled } from "../style.ts";

export const outline: Command = {
  name: "outline",
  summary: "Show what a code file declares, and on which lines",
  parameters: ["<path>"],
  options: {
    depth: { type: "integer", value: "N", words: "How many levels to show: 1 is what stands by itself" },
    "language-servers": { type: "flag", words: "Ask a language server where there is no grammar" },
  },
  details: [
    "Classes, functions, types and the like, one a line, with their first and last line. As many levels are shown as have room.",
    "Languages: TypeScript, JavaScript, Python, Go, Rust, Java, C, C++, C#, Ruby, PHP, shell scripts, CSS, INI.",
    "Others where a language server is used for them: with --language-servers, or languageServers in the user's settings.",
  ].join("\n"),
  examples: [
    "filehand outline src/index.ts",
    "filehand outline src/index.ts --depth 1",
    "filehand outline main.py --json",
  ],
  async run(given, host) {
    const depth = given.integer("depth") ?? limits.outlineDepthMax;
    if (depth < 1 || depth > limits.outlineDepthMax) {
      throw new UsageError(`--depth must be from 1 to ${limits.outlineDepthMax}`);
    }
    // A process that parses one file and ends would wait at its end for V8 to optimise the parser, for up to two seconds.
    setFlagsFromString("--wasm-tiering-budget=2000000000");
    const { filehand, session, record } = await openSession(given, host, "people", { languages: "if wanted" });
    const path = given.parameters[0] ?? "";
    const reply = await session.run((profile) => ({ verb: "outline", path, depth, profile }), { signal: host.signal });
    record();
    await filehand.close();
    return printReply(reply, given, host, paintedOutline);
  },
};

/** Names stand out; where they are and what they are steps back. */
const paintedOutline: Paint = (text) =>
  text
    .split("\n")
    .map((line) => {
      if (/^(?:<\/?[a-z-]+>.*|\(.*\)|\[.*\])$/.test(line)) return styled("yellow", line);
      const [, space = "", lines = "", kind = "", name = "", more = ""] =
        /^(\s*)(\d+(?:-\d+)?) (\S+) (.*?)( \(\d+ more inside\))?$/.exec(line) ?? [];
      if (lines === "") return line;
      return `${space}${styled("dim", lines)} ${styled("cyan", kind)} ${name}${styled("dim", more)}`;
    })
    .join("\n");
