/**
 * The doors of the rooms of src/: `<room>/<room>.ts` is all that other rooms may import of a room. A door repeats names of other files of its
 * room (`export { … } from`), so following it would load the whole room; the bundler therefore resolves each name to the file that defines it.
 */

import { existsSync, readFileSync } from "node:fs";
import { posix, relative, sep } from "node:path";

/** Parts of a room that are loaded when they are used, so they are imported by path: `import()` of them, and their types through the door. */
export const loadedWhenUsed = {
  "checkup.ts": "only `filehand doctor` and the inspector look at the machine",
  "history/history.ts": "a session without a state folder needs no history",
  "kinds/notebook.ts": "only for notebooks",
  "kinds/image/size.ts": "only for images",
  "kinds/image/image.ts": "only for images",
  "kinds/pdf/pdf.ts": "only for PDFs",
  "kinds/worker/worker.ts": "runs in a worker thread, as a program of its own",
  "lsp/servers.ts": "only where language servers are asked for",
  "lsp/languages.ts": "only where language servers are asked for",
  "state/folder/folder-state.ts": "only where an operator looks at the state",
  "state/postgres/postgres.ts": "only where the state is in a database",
  "settings/client-file.ts": "only for `filehand init`",
  "settings/keep-rule.ts": "only when a person keeps a rule",
  "text/notebook/notebook.ts": "only for notebooks",
  "tools/changes.ts": "a session that only reads needs no code that writes",
  "tools/grep/grep.ts": "only for Grep",
  "tools/glob/glob.ts": "only for Glob",
  "tools/outline/outline.ts": "only for Outline",
  "tools/observe/observe.ts": "only where a host asks what changed",
  "tools/outside-changes.ts": "only after a pause, in a session that was shown several files",
};

/** The room of a path below src/; `.` for the files beside the rooms. */
export function roomOf(/** @type {string} */ path) {
  const [first, rest] = path.split("/", 2);
  return rest === undefined ? "." : (first ?? ".");
}

export const doorOf = (/** @type {string} */ room) => `${room}/${room}.ts`;

const fromPattern = /(?:^|\n)(import|export)\s+(type\s+)?\{([^}]*)\}\s+from\s+"(\.[^"]*)";/g;

/**
 * The values that a door repeats, with the file that defines each.
 * @returns {ReadonlyMap<string, { readonly file: string, readonly name: string }>}
 */
function namesBehind(/** @type {string} */ root, /** @type {string} */ room) {
  /** @type {Map<string, { readonly file: string, readonly name: string }>} */
  const names = new Map();
  const door = `${root}/${doorOf(room)}`;
  if (!existsSync(door)) return names;
  for (const [, word, , list = "", from = ""] of readFileSync(door, "utf8").matchAll(fromPattern)) {
    if (word !== "export") continue;
    for (const { inner, outer } of valuesIn(list)) names.set(outer, { file: posix.join(room, from), name: inner });
  }
  return names;
}

/** The names of an import or export list that are no types. */
function valuesIn(/** @type {string} */ list) {
  return list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "" && !item.startsWith("type "))
    .map((item) => {
      const [inner = "", outer = inner] = item.split(/\s+as\s+/);
      return { inner, outer };
    });
}

/** For the bundler: an import through a door becomes one of the file that defines the name. */
export function throughDoors(root = "src") {
  /** @type {Map<string, ReturnType<typeof namesBehind>>} */
  const doors = new Map();
  const behind = (/** @type {string} */ room) => {
    const known = doors.get(room) ?? namesBehind(root, room);
    doors.set(room, known);
    return known;
  };
  /** A door may repeat a name of another room's door. @returns {{ readonly file: string, readonly name: string }} */
  const origin = (/** @type {string} */ file, /** @type {string} */ name) => {
    const next = file === doorOf(roomOf(file)) ? behind(roomOf(file)).get(name) : undefined;
    return next === undefined ? { file, name } : origin(next.file, next.name);
  };
  return {
    name: "through-doors",
    transform(/** @type {string} */ code, /** @type {string} */ id) {
      const file = relative(root, id).split(sep).join("/");
      if (file.startsWith("..") || !file.endsWith(".ts")) return null;
      const own = roomOf(file);
      const resolved = code.replace(fromPattern, (all, word, type, list, from) => {
        if (file === doorOf(own) && word === "export") return "";
        const target = posix.join(posix.dirname(file), from);
        const room = roomOf(target);
        if (type !== undefined || room === own || target !== doorOf(room)) return all;
        return valuesIn(list)
          .map(({ inner, outer }) => {
            const { file: defining, name } = origin(target, inner);
            const path = posix.relative(posix.dirname(file), defining);
            const names = name === outer ? name : `${name} as ${outer}`;
            return `\n${word} { ${names} } from "${path.startsWith(".") ? path : `./${path}`}";`;
          })
          .join("");
      });
      return resolved === code ? null : { code: resolved, map: null };
    },
  };
}
