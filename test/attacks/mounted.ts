/**
 * A small program for `mounts.test.ts`, which runs it in a mount namespace of its own: tries every verb on the paths it
 * is given and prints what came of each.
 *
 *   node mounted.mjs <options as JSON> <path>…
 *
 * The option `mountLater` holds arguments for `mount` that is called once the session runs; names in it are those beside
 * the root.
 */

import { execFileSync } from "node:child_process";
import * as nodePath from "node:path";
import { createFilehand, type FilehandOptions } from "../../src/index.ts";
import { everyAttempt } from "../support/changing.ts";

const [, , given = "{}", ...paths] = process.argv;
// Written by the test itself.
const { mountLater, ...options } = JSON.parse(given) as FilehandOptions & { readonly mountLater?: readonly string[] };
const session = createFilehand({ ask: "yes", readFirst: false, dedup: false, ...options }).session({
  dialect: "claude",
});
const attempts = everyAttempt(session, "spare.txt");
if (mountLater !== undefined) {
  // So that the session has seen the root as it was.
  await attempts["read"]?.("spare.txt");
  const [root = ""] = options.roots;
  const beside = (name: string): string =>
    ["out", "ws"].includes(name) ? nodePath.join(nodePath.dirname(root), name) : name;
  execFileSync("mount", mountLater.map(beside));
}
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
