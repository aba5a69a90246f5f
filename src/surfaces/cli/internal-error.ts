/** A bug stays a bug: the caller gets `INTERNAL`, the stack goes to the log, and the process lives on. */

import type { Reply } from "../../contract/call.ts";
import type { Host } from "./command.ts";

export function internalError(error: unknown, host: Host): Reply {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  host.stderr.write(`filehand: internal error, this is a bug in Filehand:\n${stack}\n`);
  const message = "Filehand failed by a fault of its own, the details are in its log";
  return {
    content: [{ type: "text", text: message }],
    structured: null,
    isError: true,
    error: { code: "INTERNAL", message },
  };
}
