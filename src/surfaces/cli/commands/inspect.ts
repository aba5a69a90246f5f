/** `filehand inspect`: one page on which a person watches and steers what agents do with the files of this workspace. */

import type { Command } from "../command.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { runServer } from "../run-server.ts";
import { structuredOption } from "./mcp.ts";
import { serverOptions } from "./serve.ts";

export const inspect: Command = {
  name: "inspect",
  summary: "Watch, approve and undo what agents do, on a page in the browser",
  parameters: ["[folder...]"],
  options: {
    ...serverOptions,
    port: { ...serverOptions.port, words: "Port to listen on (default: any that is free)" },
    structured: structuredOption,
    "no-open": { type: "flag", words: "Only print the address; on a terminal the browser is opened otherwise" },
  },
  details: [
    "Agents that run filehand mcp in this folder or below are seen from now on, and so are commands: they find the page by",
    "themselves, if they use the same state folder. It is also a server like filehand serve: clients connect to /mcp, with the",
    "token that is shown. What was changed before is under History. Ctrl-C ends it.",
    "The key in the address works once; a new address is printed after each use.",
  ].join("\n"),
  examples: ["filehand inspect", "filehand inspect ~/project --port 3323 --no-open"],
  run: (given, host) =>
    runServer(given, host, {
      port: 0,
      inspector: true,
      onAddress: (url, roots) => {
        if (host.stdout.isTTY === true && !given.flag("no-open")) openInBrowser(url, host, roots);
      },
    }),
};
