/** Tables of TOML, and the keys before the first table. */

import type { Steps } from "../steps.ts";
import { eachLine, type ItemCollector } from "./items.ts";

/** A header is searched for its name up to here. */
const headCharsMax = 1_000;

export function* scanToml(text: string, items: ItemCollector): Steps<number | undefined> {
  /** The names of the open tables, each part after a NUL: `a.b` is inside `a`. */
  const tables: string[] = [];
  let lastFilled = 0;
  let isKeyOpen = false;
  let fault: number | undefined;
  const value = new TomlValue();

  const closeKey = (): void => {
    if (isKeyOpen) items.close(lastFilled);
    isKeyOpen = false;
  };
  const visit = (line: string, number: number): void => {
    if (value.isOpen) {
      value.scan(line, 0);
      lastFilled = number;
      return;
    }
    const start = line.search(/\S/);
    if (start === -1 || line[start] === "#") return;
    closeKey();
    if (line[start] === "[") {
      const [, bracket = "", name] = /^(\[\[?)([^\]]*)\]/.exec(line.slice(start, start + headCharsMax)) ?? [];
      if (name === undefined) {
        fault ??= number;
        return;
      }
      const path = pathOf(name);
      while (tables.length > 0 && !path.startsWith(`${tables.at(-1)}\0`)) {
        tables.pop();
        items.close(lastFilled);
      }
      tables.push(path);
      items.open("table", number, () => `${bracket}${name.trim()}${bracket === "[[" ? "]]" : "]"}`);
    } else {
      const equals = line.indexOf("=", start);
      if (equals === -1) fault ??= number;
      else {
        if (tables.length === 0) {
          isKeyOpen = true;
          items.open("key", number, () => line.slice(start, Math.min(equals, start + headCharsMax)));
        }
        value.scan(line, equals + 1);
      }
    }
    lastFilled = number;
  };
  yield* eachLine(text, visit);
  closeKey();
  for (const _ of tables) items.close(lastFilled);
  return fault;
}

const pathOf = (name: string): string =>
  name
    .split(".")
    .map((part) => `\0${part.trim()}`)
    .join("");

/** A value that may go on over lines: an array, or a text between three quotes. */
class TomlValue {
  #depth = 0;
  /** `"""` or `'''`. Other quotes end with their line. */
  #quote = "";

  get isOpen(): boolean {
    return this.#depth > 0 || this.#quote !== "";
  }

  scan(line: string, from: number): void {
    let quote = this.#quote;
    for (let at = from; at < line.length; at += 1) {
      const char = line[at] ?? "";
      if (quote !== "") {
        if (char === "\\" && quote.startsWith('"')) at += 1;
        else if (char === quote[0] && line.startsWith(quote, at)) {
          at += quote.length - 1;
          quote = "";
        }
      } else if (char === '"' || char === "'") {
        const three = char.repeat(3);
        quote = line.startsWith(three, at) ? three : char;
        at += quote.length - 1;
      } else if (char === "#") break;
      else if (char === "[" || char === "{") this.#depth += 1;
      else if (char === "]" || char === "}") this.#depth = Math.max(0, this.#depth - 1);
    }
    this.#quote = quote.length === 3 ? quote : "";
  }
}
