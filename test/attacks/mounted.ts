/**
 * A small program for `mounts.test.ts`, which runs it in a mount namespace of its own: tries every verb on the paths it
 * is given and prints what came of each.
 *
 *   node mounted.mjs <options as JSON> <path>…
 */

import { createFilehand, type FilehandOptions } from "../../src/index.ts";
import { everyAttempt } from "../support/changing.ts";

const [, , given = "{}", ...paths] = process.argv;
const options = JSON.parse(given) as FilehandOptions; // written by the test itself
const session = createFilehand({ ask: "yes", readFirst: false, dedup: false, ...options }).session({
  dialect: "claude",
});
const attempts = everyAttempt(session, "spare.txt");
const came: Record<string, Record<string, string>> = {};
for (const path of paths) {
  came[path] = {};
  for (const verb of ["read", "ls", "edit", "write", "patch that moves to"]) {
    const reply = await attempts[verb]?.(path);
    const text = reply?.content.map((part) => (part.type === "text" ? part.text : "")).join("\n") ?? "";
    came[path][verb] = reply?.error === undefined ? `done: ${text}` : reply.error.code;
  }
}
process.stdout.write(`${JSON.stringify(came)}\n`);
