/** The token of the HTTP server, in a file of the operator's: read, or made where there is none. */

import { privateFile } from "../disk/private-file.ts";

const tokenBytesMax = 4_096;

/** Throws an Error in words. */
export function tokenFrom(path: string, make: () => string): string {
  const token = privateFile(path, make, tokenBytesMax).trim();
  if (token.length < 16) throw new Error(`Cannot use "${path}": a token has at least 16 characters`);
  return token;
}
