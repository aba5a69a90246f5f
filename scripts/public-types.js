/**
 * The public types of an entry point as one text: every exported name and every declaration that it needs, sorted by name, without
 * comments. It is the same wherever the declarations lie, so that moving code does not change it.
 *
 * `node scripts/public-types.js` prints the types of `dist/types/index.d.ts`. It reads what `tsc` emits, and nothing else.
 */

import { readFileSync } from "node:fs";
import { posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** @typedef {{ readonly file: string, readonly name: string }} Binding */
/**
 * @typedef {object} Module
 * @property {ReadonlyMap<string, string>} declarations  the text of each declaration, overloads joined
 * @property {ReadonlyMap<string, Binding>} imports  local name to where it comes from
 * @property {ReadonlyMap<string, Binding>} exports  exported name to what it is
 */

/** @param {string} entry a file of dist/types */
export function publicTypes(entry) {
  /** @type {Map<string, Module>} */
  const modules = new Map();
  /** @type {Map<string, string>} printed name by "file#name" */
  const printed = new Map();
  /** @type {Map<string, string>} text by printed name */
  const texts = new Map();

  const moduleAt = (/** @type {string} */ file) => {
    let found = modules.get(file);
    if (found === undefined) modules.set(file, (found = parse(file)));
    return found;
  };

  /** Follows re-exports and imports to the declaration. @param {Binding} binding @returns {Binding} */
  const origin = ({ file, name }) => {
    if (!file.startsWith("dist/")) return { file, name };
    const { declarations, imports, exports } = moduleAt(file);
    if (declarations.has(name)) return { file, name };
    const next = imports.get(name) ?? exports.get(name);
    return next === undefined ? { file, name } : origin(next);
  };

  /** @param {Binding} binding */
  const nameOf = (binding) => {
    const { file, name } = origin(binding);
    if (!file.startsWith("dist/")) return name;
    const key = `${file}#${name}`;
    const known = printed.get(key);
    if (known !== undefined) return known;
    // The roll-up numbers equal names in the order of its files.
    const plain = name.replace(/\$\d+$/, "");
    let free = plain;
    for (let count = 2; texts.has(free); count += 1) free = `${plain}_${count}`;
    printed.set(key, free);
    texts.set(free, "");
    const { declarations, imports } = moduleAt(file);
    const inScope = (/** @type {string} */ word) =>
      declarations.has(word) ? { file, name: word } : (imports.get(word) ?? undefined);
    texts.set(
      free,
      rewritten(declarations.get(name) ?? "", (word) => {
        if (word === name) return free;
        const found = inScope(word);
        return found === undefined ? word : nameOf(found);
      }),
    );
    return free;
  };

  // Sorted first, so that which of two equal names gets a number does not depend on where they lie.
  const entries = [...moduleAt(entry).exports].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = entries.map(([exported, binding]) => {
    const local = nameOf(binding);
    return local === exported ? exported : `${local} as ${exported}`;
  });
  const sorted = [...texts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `export { ${names.toSorted().join(", ")} };\n\n${sorted.map(([, text]) => text).join("\n")}\n`;
}

/** @param {string} file @returns {Module} */
function parse(file) {
  /** @type {Map<string, string>} */
  const declarations = new Map();
  /** @type {Map<string, Binding>} */
  const imports = new Map();
  /** @type {Map<string, Binding>} */
  const exports = new Map();
  for (const text of statements(withoutComments(readFileSync(file, "utf8")))) {
    const [, verb = "", list = "", from] =
      /^(import|export)(?: type)?\s*(?:\w+,\s*)?\{([^}]*)\}(?:\s*from\s*"([^"]+)")?;$/.exec(text) ?? [];
    if (verb !== "") {
      for (const item of list.split(",").map((one) => one.trim().replace(/^type /, ""))) {
        if (item === "") continue;
        const [source = "", alias = source] = item.split(/ as /);
        const binding = from === undefined ? { file, name: source } : { file: target(file, from), name: source };
        (verb === "import" ? imports : exports).set(alias, binding);
      }
      continue;
    }
    const [, isExported, name] =
      /^(export )?(?:declare )?(?:abstract )?(?:const|let|function|class|interface|type|enum) ([\w$]+)/.exec(text) ??
      [];
    if (name === undefined) continue;
    const body = text.replace(/^export /, "").replace(/^declare /, "");
    declarations.set(name, declarations.has(name) ? `${declarations.get(name)}\n${body}` : body);
    if (isExported !== undefined) exports.set(name, { file, name });
  }
  return { declarations, imports, exports };
}

/** Of a module of ours its file, of another its name. */
const target = (/** @type {string} */ file, /** @type {string} */ from) =>
  from.startsWith(".") ? posix.join(posix.dirname(file), from.replace(/\.js$/, ".d.ts")) : from;

function withoutComments(/** @type {string} */ text) {
  return text.replace(
    /("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (_, quoted) => quoted ?? "",
  );
}

/** Top-level statements, each on one line of single spaces. @returns {string[]} */
function statements(/** @type {string} */ text) {
  const found = [];
  let depth = 0;
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|=>|[{}()[\];]/g)) {
    if ("{([".includes(mark)) depth += 1;
    else if ("})]".includes(mark)) depth -= 1;
    else if (mark !== ";") continue;
    const soFar = text.slice(start, index + 1).trim();
    const endsBlock =
      mark === "}" && /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|enum|namespace|module) /.test(soFar);
    if (depth > 0 || (mark !== ";" && !endsBlock)) continue;
    found.push(soFar.replace(/\s+/g, " "));
    start = index + 1;
  }
  return found;
}

/**
 * Puts other names in, but not for members: what follows a dot or precedes a colon at the start of a member names itself.
 * @param {string} text
 * @param {(word: string) => string} name
 */
function rewritten(text, name) {
  const imported = /import\("([^"]+)"\)\.([\w$]+)/g;
  const plain = text.replace(imported, (_, _from, word) => word);
  return plain.replace(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<![\w$.])[A-Za-z_$][\w$]*(?!\??:(?!:)|[\w$])/g, (word) =>
    /^["`]/.test(word) ? word : name(word),
  );
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.stdout.write(publicTypes(process.argv[2] ?? "dist/types/index.d.ts"));
}
