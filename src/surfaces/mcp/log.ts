/** The server's log: one JSON object a line, on stderr, since stdout may be the protocol's. */

import type { Writable } from "node:stream";
import { limits } from "../../contract/limits.ts";
import type { Log } from "./desk.ts";

/** Who holds the other end of the pipe and does not read it must not fill our memory. */
export function logTo(stderr: Writable): Log {
  let leftOut = 0;
  return (level, what, fields = {}) => {
    if (stderr.writableLength > limits.logBytesMax) {
      leftOut += 1;
      return;
    }
    const told = { time: new Date().toISOString(), level, event: what, ...fields };
    stderr.write(`${JSON.stringify(leftOut === 0 ? told : { ...told, leftOut })}\n`);
    leftOut = 0;
  };
}
