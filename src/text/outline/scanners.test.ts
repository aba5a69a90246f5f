/** What all scanners have in common: hostile texts of any shape cost time in proportion to their length, and no order of items breaks. */

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import { finish } from "../steps.ts";
import { scanHtml } from "./html.ts";
import { ItemCollector, type OutlineScanner, type WholeItem } from "./items.ts";
import { scanJson } from "./json.ts";
import { scanMarkdown } from "./markdown.ts";
import { scanSql } from "./sql.ts";
import { scanToml } from "./toml.ts";
import { scanYaml } from "./yaml.ts";

const limits = { itemsMax: 1_000, depthMax: 20, nameCharsMax: 120 };
const scanners: Readonly<Record<string, OutlineScanner>> = {
  markdown: scanMarkdown,
  json: scanJson,
  yaml: scanYaml,
  toml: scanToml,
  sql: scanSql,
  html: scanHtml,
};

function scan(scanner: OutlineScanner, text: string) {
  const items = new ItemCollector(limits);
  const fault = finish(scanner(text, items));
  return { items: items.items, total: items.total, fault };
}

/** Items are in file order, each inside the one above it, and none is outside of the text. */
function checkItems(items: readonly WholeItem[], total: number, text: string): void {
  const lines = Math.max(1, text.split("\n").length - (text.endsWith("\n") ? 1 : 0));
  const outer: WholeItem[] = [];
  let counted = 0;
  for (const item of items) {
    expect(item.from).toBeGreaterThanOrEqual(1);
    expect(item.to).toBeGreaterThanOrEqual(item.from);
    expect(item.to).toBeLessThanOrEqual(lines);
    expect(item.depth).toBeLessThanOrEqual(outer.length);
    outer.length = item.depth;
    const parent = outer.at(-1);
    if (parent !== undefined) {
      expect(item.from).toBeGreaterThanOrEqual(parent.from);
      expect(item.to).toBeLessThanOrEqual(parent.to);
    }
    outer.push(item);
    counted += 1 + (item.hidden ?? 0);
  }
  expect(items.length).toBeLessThanOrEqual(limits.itemsMax);
  expect(counted).toBeLessThanOrEqual(total);
  if (items.length < limits.itemsMax) expect(counted).toBe(total);
}

/** Repeated up to the length of the text. */
const shapes: readonly string[] = [
  "#",
  "# \n",
  "[",
  "{",
  "[\n",
  '{"a":\n',
  "- ",
  "-\n",
  "a:\n",
  "a: '",
  '"',
  "'",
  "\\",
  "`",
  "```\n",
  "$",
  "$a",
  "$$",
  "/*",
  "--",
  "-- \n",
  "<",
  "<a ",
  '<a ="',
  "<a =\"<b ='",
  "<h1>",
  "<section>\n",
  "<div id=x>",
  "</div>",
  "<section></main>",
  "<script>",
  "<!--",
  "[a]\n",
  "[a.a.a]\n[a]\n",
  'a = """\n',
  "begin ",
  "create table ",
  "create function f begin case ;\n",
  "delimiter ;;\n",
  "create view\ngo\n",
  "\n",
  " ",
  "\t",
  "\r\n",
  "a",
  "\ud800",
  "=\n",
  "a\n---\n",
  "!a &b ",
];

describe("a scanner is linear", () => {
  for (const [language, scanner] of Object.entries(scanners)) {
    test(`${language}: a mark again and again`, async () => {
      const make = (size: number) => shapes.map((shape) => shape.repeat(Math.ceil(size / shape.length)));
      for (const text of make(20_000)) checkItems(...fromScan(scanner, text));
      await growsLikeItsInput(16_384, make, (texts) => {
        for (const text of texts) scan(scanner, text);
      });
    });
    test(`${language}: lists that begin ever deeper`, () => {
      const deep = Array.from({ length: 1_500 }, (_, at) => `${" ".repeat(at)}a:\n`).join("");
      checkItems(...fromScan(scanner, deep));
      const nested = `${'{"a":[\n'.repeat(5_000)}${"]}\n".repeat(5_000)}`;
      checkItems(...fromScan(scanner, nested));
    });
  }
});

const fromScan = (scanner: OutlineScanner, text: string): Parameters<typeof checkItems> => {
  const { items, total } = scan(scanner, text);
  return [items, total, text];
};

describe("any mixture of marks gives items in order", () => {
  for (const [language, scanner] of Object.entries(scanners)) {
    test(language, () => {
      const mixture = fc.array(fc.constantFrom(...shapes, "\n", "  ", ":", ",", "}", "]", "x", "end;", "</h1>"), {
        maxLength: 60,
      });
      fc.assert(
        fc.property(mixture, (parts) => checkItems(...fromScan(scanner, parts.join("")))),
        { numRuns: 500 },
      );
    });
  }
});

test("if there are too many items, the deepest levels are counted and the first one is complete", () => {
  const part = (n: number): string => `"k${n}": {\n"a": {\n"x": 1\n},\n"b": {\n"y": 1\n}\n}`;
  const text = `{\n${Array.from({ length: 600 }, (_, n) => part(n)).join(",\n")}\n}\n`;
  const { items, total } = scan(scanJson, text);
  expect(total).toBe(1_800);
  expect(items).toHaveLength(600);
  expect(items.at(-1)).toEqual({ name: "k599", kind: "key", from: 4_794, to: 4_801, depth: 0, hidden: 2 });
});
