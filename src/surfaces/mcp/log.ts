/** The server's log: one JSON object a line, on stderr, since stdout may be the protocol's. */

import type { Writable } from "node:stream";
import type { Log } from "./desk.ts";

export const logTo =
  (stderr: Writable): Log =>
  (level, what, fields = {}) => {
    stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, event: what, ...fields })}\n`);
  };
