/**
 * The globs that choose files for a search: `*.ts`, `src/**`, `{a,b}`, `[a-z]`, `!` takes away. As in gitignore one
 * without a slash holds at any depth. ripgrep's own `--glob` would bring ignored files back, so a list is compared here,
 * and ripgrep gets only what surely narrows the search. Matching takes time in proportion to the path, whatever the glob.
 */

export interface Globs {
  /** `path` is below the folder that is searched, with forward slashes. */
  matches(path: string): boolean;
  /** Globs of which the last name of every matching path fits one, in plain signs; undefined where there are none such. */
  readonly names: readonly string[] | undefined;
}

export interface GlobFault {
  readonly glob: string;
  readonly message: string;
}

const charsMax = 2_048;
const alternativesMax = 256;

/** `folder`: the folder that is searched; a glob that begins with its path means what lies beneath. */
export function compileGlobs(text: string, folder: string): Globs | GlobFault {
  if (text.length > charsMax) return { glob: text.slice(0, 80), message: `it is longer than ${charsMax} characters` };
  const wanted: Glob[] = [];
  const unwanted: Glob[] = [];
  for (const written of splitList(text)) {
    const negated = written.startsWith("!");
    const plain = composed(beneath(negated ? written.slice(1) : written, folder));
    const message = faultOf(plain);
    if (message !== undefined) return { glob: written, message };
    const alternatives = expand(plain);
    if (alternatives === undefined) return { glob: written, message: `it stands for over ${alternativesMax} globs` };
    for (const one of alternatives) (negated ? unwanted : wanted).push(globOf(one));
  }
  const fits = (globs: readonly Glob[], names: readonly string[]): boolean =>
    globs.some((glob) => matchNames(glob, names));
  return {
    matches: (path) => {
      const names = composed(path).split("/");
      // A folder that is taken away takes all that lies in it along.
      const goes = unwanted.length > 0 && names.some((_, at) => fits(unwanted, names.slice(0, at + 1)));
      return (wanted.length === 0 || fits(wanted, names)) && !goes;
    },
    names: plainNames(wanted),
  };
}

/** An accent may be part of its letter or stand behind it: names of other systems come either way. */
// oxlint-disable-next-line no-control-regex
const composed = (text: string): string => (/[^\0-\x7f]/.test(text) ? text.normalize("NFC") : text);

type Part =
  | { readonly is: "any" }
  | { readonly is: "one" }
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "set"; readonly not: boolean; readonly ranges: readonly (readonly [number, number])[] };

/** A name is a list of parts; `**` is any number of names. */
type Glob = readonly (readonly Part[] | "**")[];

/** Blanks and commas outside of braces and brackets part globs. */
function splitList(text: string): readonly string[] {
  const globs: string[] = [];
  let depth = 0;
  let current = "";
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? "";
    if (sign === "\\") {
      current += sign + (text[at + 1] ?? "");
      at += 1;
      continue;
    }
    const end = sign === "[" ? closing(text, at) : -1;
    if (end > at) {
      current += text.slice(at, end + 1);
      at = end;
      continue;
    }
    if (sign === "{") depth += 1;
    if (sign === "}") depth = Math.max(0, depth - 1);
    if (depth === 0 && /[\s,]/.test(sign)) {
      globs.push(current);
      current = "";
    } else current += sign;
  }
  return [...globs, current].filter((glob) => glob !== "" && glob !== "!");
}

function beneath(glob: string, folder: string): string {
  const start = folder.endsWith("/") ? folder : `${folder}/`;
  const inside = glob.startsWith(start) ? `/${glob.slice(start.length)}` : glob.replace(/^(?:\.\/)+/, "/");
  // A folder means what lies beneath it.
  return inside.endsWith("/") ? `${inside}**` : inside;
}

function faultOf(glob: string): string | undefined {
  const plain = glob.replace(/\\./gs, "");
  if (plain.endsWith("\\")) return "it ends with a backslash that escapes nothing";
  if (glob.includes("\0")) return "it holds a NUL character, which no file name has";
  const bare = withoutSets(glob);
  if (typeof bare !== "string") return bare.fault;
  let depth = 0;
  for (const sign of bare) {
    if (sign === "{") depth += 1;
    if (sign === "}") depth -= 1;
    if (depth < 0) return 'a "}" closes nothing, write \\} for the character itself';
  }
  if (depth > 0) return 'a "{" is not closed, write \\{ for the character itself';
  return /(?:^|\/)\.\.(?:\/|$)/.test(plain)
    ? 'it leads up with "..", use the path to search another folder'
    : undefined;
}

/** The signs of a glob that are neither escaped nor in a set, or what is wrong with a set. It must be closed within its name. */
function withoutSets(glob: string): string | { readonly fault: string } {
  let bare = "";
  for (let at = 0; at < glob.length; at += 1) {
    const sign = glob[at] ?? "";
    if (sign === "\\") at += 1;
    else if (sign === "[") {
      const end = closing(glob, at);
      if (end === -1 || glob.slice(at, end).includes("/")) {
        return { fault: 'a "[" is not closed, write \\[ for the character itself' };
      }
      const backwards = backwardsRange(glob.slice(at + 1, end));
      if (backwards !== undefined) return { fault: `the range ${backwards} goes backwards` };
      at = end;
    } else bare += sign;
  }
  return bare;
}

/** `z-a`, of which no sign can be. */
function backwardsRange(inside: string): string | undefined {
  const set = setOf(inside);
  const wrong = set.is === "set" ? set.ranges.find(([from, to]) => from > to) : undefined;
  return wrong && String.fromCodePoint(wrong[0], 0x2d, wrong[1]);
}

/** `a{b,c}` is `ab` and `ac`; undefined if there are too many. */
function expand(glob: string): readonly string[] | undefined {
  let todo = [glob];
  const done: string[] = [];
  while (todo.length > 0) {
    const next: string[] = [];
    for (const each of todo) {
      const braces = outermost(each);
      if (braces === undefined) done.push(each);
      else for (const choice of braces.choices) next.push(braces.before + choice + braces.behind);
      if (done.length + next.length > alternativesMax) return undefined;
    }
    todo = next;
  }
  return done;
}

function outermost(glob: string) {
  let start = -1;
  let depth = 0;
  let from = 0;
  const choices: string[] = [];
  for (let at = 0; at < glob.length; at += 1) {
    const sign = glob[at];
    if (sign === "\\") at += 1;
    else if (sign === "[") at = Math.max(at, closing(glob, at));
    else if (sign === "{") {
      depth += 1;
      if (depth === 1) {
        start = at;
        from = at + 1;
      }
    } else if (depth > 0 && (sign === "}" || (sign === "," && depth === 1))) {
      if (sign === "}") depth -= 1;
      if (sign === "}" && depth > 0) continue;
      choices.push(glob.slice(from, at));
      from = at + 1;
      if (depth === 0) return { before: glob.slice(0, start), choices, behind: glob.slice(at + 1) };
    }
  }
  return undefined;
}

/** Where the bracket that opens at `open` is closed; `]` as the first sign is meant literally. -1: it is not. */
function closing(glob: string, open: number): number {
  const first = /^[!^]/.test(glob.slice(open + 1)) ? open + 2 : open + 1;
  return glob.indexOf("]", first + 1);
}

function globOf(glob: string): Glob {
  const anchored = glob.includes("/");
  const names = glob.replace(/^\/+/, "").split(/\/+/);
  const parts = names.map((name) => (/^\*\*+$/.test(name) ? ("**" as const) : partsOf(name)));
  return anchored ? parts : ["**", ...parts];
}

function partsOf(name: string): readonly Part[] {
  const parts: Part[] = [];
  let text = "";
  const flush = (): void => {
    if (text !== "") parts.push({ is: "text", text });
    text = "";
  };
  for (let at = 0; at < name.length; at += 1) {
    const sign = name[at] ?? "";
    if (sign === "\\") {
      at += 1;
      text += name[at] ?? "";
    } else if (sign === "*") {
      flush();
      if (parts.at(-1)?.is !== "any") parts.push({ is: "any" });
    } else if (sign === "?") {
      flush();
      parts.push({ is: "one" });
    } else if (sign === "[") {
      flush();
      const end = closing(name, at);
      parts.push(setOf(name.slice(at + 1, end)));
      at = end;
    } else text += sign;
  }
  flush();
  return parts;
}

function setOf(inside: string): Part {
  const not = /^[!^]/.test(inside);
  const signs = Array.from(not ? inside.slice(1) : inside, (sign) => sign.codePointAt(0) ?? 0);
  const ranges: (readonly [number, number])[] = [];
  for (let at = 0; at < signs.length; at += 1) {
    const from = signs[at] ?? 0;
    const to = signs[at + 2];
    if (signs[at + 1] === 0x2d && to !== undefined) {
      ranges.push([from, to]);
      at += 2;
    } else ranges.push([from, from]);
  }
  return { is: "set", not, ranges };
}

/** Both steps go back to the last star only: more than that never finds anything new. */
function matchNames(glob: Glob, names: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let name = 0;
  while (name < names.length) {
    const wanted = glob[at];
    if (wanted === "**") {
      star = at;
      at += 1;
      resume = name;
    } else if (wanted !== undefined && matchName(wanted, names[name] ?? "")) {
      at += 1;
      name += 1;
    } else if (star >= 0) {
      resume += 1;
      name = resume;
      at = star + 1;
    } else return false;
  }
  // `src/**` is what lies beneath, which a path that ends there is not.
  while (glob[at] === "**" && at < glob.length - 1) at += 1;
  return at === glob.length || (glob[at] === "**" && at === glob.length - 1 && glob.length === 1);
}

function matchName(parts: readonly Part[], name: string): boolean {
  let part = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (at < name.length) {
    const step = stepOf(parts[part], name, at);
    if (step > 0) {
      part += 1;
      at += step;
    } else if (parts[part]?.is === "any") {
      star = part;
      part += 1;
      resume = at;
    } else if (star >= 0) {
      resume += 1;
      at = resume;
      part = star + 1;
    } else return false;
  }
  while (parts[part]?.is === "any") part += 1;
  return part === parts.length;
}

/** How many UTF-16 units of the name a part takes; 0 if it does not fit. */
function stepOf(part: Part | undefined, name: string, at: number): number {
  if (part === undefined || part.is === "any") return 0;
  if (part.is === "text") return name.startsWith(part.text, at) ? part.text.length : 0;
  const code = name.codePointAt(at) ?? 0;
  const step = code > 0xffff ? 2 : 1;
  if (part.is === "one") return step;
  return part.ranges.some(([from, to]) => code >= from && code <= to) !== part.not ? step : 0;
}

/** For ripgrep, whose globs differ from these in the finer signs. */
function plainNames(globs: readonly Glob[]): readonly string[] | undefined {
  if (globs.length === 0) return undefined;
  const names = globs.map((glob) => {
    const last = glob.at(-1);
    if (last === undefined || last === "**") return undefined;
    // One character of ours may be two of ripgrep's: a letter and its accent.
    const parts = last.map((part) => (part.is === "text" ? part.text : part.is === "set" ? "\0" : "*"));
    const text = parts.join("").replace(/\*+/g, "*");
    return /^[\w.*?-]+$/.test(text) ? text : undefined;
  });
  return names.every((name) => name !== undefined) ? [...new Set(names)] : undefined;
}
