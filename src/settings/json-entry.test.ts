/** An entry in a JSON text: where it goes, what is refused, and that nothing else changes. */

import * as fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { type Entry, jsonOf, withJsonEntry } from "./client-file.ts";

const entry: Entry = {
  under: "mcpServers",
  name: "filehand",
  value: { command: "npx", args: ["-y", "filehand", "mcp"] },
};
const line = '"filehand": {"command":"npx","args":["-y","filehand","mcp"]}';
const textOf = (before: string, wish: "put" | "replace" | "remove" = "put"): unknown => {
  const merged = withJsonEntry(before, entry, wish);
  return merged.merged === "text" ? merged.text : merged;
};
const spread = (indent: string): string =>
  ['"filehand": {', '  "command": "npx",', '  "args": ["-y", "filehand", "mcp"]', "}"].join(`\n${indent}`);

describe("put", () => {
  for (const [name, before, after] of [
    ["nothing", "", jsonOf(entry)],
    ["blanks only", "\n  \n", jsonOf(entry)],
    ["an empty object", "{}\n", `{\n  "mcpServers": {\n    ${spread("    ")}\n  }\n}\n`],
    ["no servers yet, on one line", '{"a":1}', `{"a":1, "mcpServers": {${line.replace(": {", ":{")}}}`],
    [
      "no servers yet, with tabs",
      '{\n\t"a": 1\n}\n',
      `{\n\t"a": 1,\n\t"mcpServers": {\n\t\t${spread("\t\t").replaceAll("  ", "\t")}\n\t}\n}\n`,
    ],
    ["an empty list of servers", '{\n  "mcpServers": {}\n}', `{\n  "mcpServers": {\n    ${spread("    ")}\n  }\n}`],
    [
      "other servers",
      '{\n  "mcpServers": {\n    "a": { "command": "x" }\n  },\n  "z": [1,2]\n}\n',
      `{\n  "mcpServers": {\n    "a": { "command": "x" },\n    ${spread("    ")}\n  },\n  "z": [1,2]\n}\n`,
    ],
    [
      "comments and a trailing comma",
      '// mine\n{\n  "mcpServers": { // servers\n    "a": {}, // first\n    /* last */\n  },\n}\n',
      `// mine\n{\n  "mcpServers": { // servers\n    "a": {}, // first\n    ${spread("    ")},\n    /* last */\n  },\n}\n`,
    ],
    [
      "Windows line ends",
      '{\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}\r\n',
      `{\r\n  "mcpServers": {\r\n    "a": {},\r\n    ${spread("    ").replaceAll("\n", "\r\n")}\r\n  }\r\n}\r\n`,
    ],
    ["a comment alone", '{"mcpServers": { /* none */ }}', `{"mcpServers": { /* none */ \n${line}\n}}`],
    ["servers on one line", '{"mcpServers": {"a": {}}}', `{"mcpServers": {"a": {}, ${line}}}`],
  ] as const) {
    test(name, () => expect(textOf(before)).toBe(after));
  }
});

describe("there already", () => {
  const there = `{"mcpServers": {${line}}}`;
  test("the same is left alone, whatever its layout", () => {
    expect(textOf(there)).toEqual({ merged: "same" });
    expect(textOf(jsonOf(entry))).toEqual({ merged: "same" });
  });
  test("another entry of that name is replaced only on request", () => {
    const other = '{"mcpServers": {"filehand": {"command": "mine"}, "b": 1}}';
    expect(textOf(other)).toEqual({ merged: "other" });
    expect(textOf(other, "replace")).toBe(`{"mcpServers": {${line}, "b": 1}}`);
  });
  test("nothing to remove", () => {
    for (const text of ["", "{}", '{"mcpServers": {}}']) expect(textOf(text, "remove")).toEqual({ merged: "same" });
  });
});

describe("refused", () => {
  for (const [name, text, why] of [
    ["half a file", '{\n  "a": ', "it is not valid JSON (value expected in line 2), mend it first"],
    ["no JSON", "servers:\n  - a\n", "it is not valid JSON (invalid symbol in line 1), mend it first"],
    ["a list", "[]", "it holds no object"],
    ["servers that are a list", '{"mcpServers": []}', '"mcpServers" in it is no object'],
    ["servers that are null", '{"mcpServers": null}', '"mcpServers" in it is no object'],
    ["servers twice", '{"mcpServers": {}, "mcpServers": {}}', 'it has "mcpServers" twice'],
    ["the entry twice", '{"mcpServers": {"filehand": 1, "filehand": 2}}', 'it has "mcpServers.filehand" twice'],
    ["too deep", "[".repeat(100_000), "it is nested too deeply"],
  ] as const) {
    test(name, () => expect(textOf(text)).toEqual({ merged: "refused", why }));
  }
});

describe("remove", () => {
  for (const [name, before, after] of [
    ["the only one", '{\n  "mcpServers": {\n    "filehand": {}\n  }\n}', '{\n  "mcpServers": {\n  }\n}'],
    ["the first", '{"mcpServers": {"filehand": {}, "a": 1}}', '{"mcpServers": { "a": 1}}'],
    ["the last", '{"mcpServers": {"a": 1, "filehand": {}}}', '{"mcpServers": {"a": 1}}'],
    [
      "between comments, which stay",
      '{"mcpServers": {\n  "a": 1, // a\n  // ours\n  "filehand": {}, // here\n  "b": 2\n}}',
      '{"mcpServers": {\n  "a": 1, // a\n  // ours\n  // here\n  "b": 2\n}}',
    ],
    [
      "the last with a comment behind the comma before it",
      '{"mcpServers": {\n  "a": 1, // a, really\n  "filehand": {}\n}}',
      '{"mcpServers": {\n  "a": 1 // a, really\n}}',
    ],
    [
      "a comma on its own line",
      '{"mcpServers": {"filehand": {}\n/* x */ ,\n"b": 1}}',
      '{"mcpServers": {\n/* x */ \n"b": 1}}',
    ],
  ] as const) {
    test(name, () => expect(textOf(before, "remove")).toBe(after));
  }
});

/** Texts as people write them: any layout, with comments and trailing commas. */
const blank = fc.constantFrom("", " ", "\n  ", "\r\n\t", " // c, } \n", "/* { , */", "\n\n");
const key = fc.constantFrom("a", "b c", "filehand2", "mcp", "x\\ny", "Ünï");
const scalar = fc.constantFrom("1", '"t"', "null", '"}, //"', "[1, 2]", "true");
const objectOf = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .record({
      members: fc.uniqueArray(fc.tuple(key, value, blank, blank, blank), { selector: ([name]) => name, maxLength: 4 }),
      inside: blank,
      isTrailing: fc.boolean(),
    })
    .map(({ members, inside, isTrailing }) => {
      const parts = members.map(([name, text, a, b, c]) => `${a}"${name}":${b}${text}${c}`);
      return `{${parts.join(",")}${isTrailing && parts.length > 0 ? "," : ""}${inside}}`;
    });
const server = objectOf(scalar);
const file = fc
  .record({ rest: objectOf(fc.oneof(scalar, server)), servers: fc.option(objectOf(server)), a: blank, b: blank })
  .map(({ rest, servers, a, b }) =>
    servers === null
      ? `${a}${rest}${b}`
      : `${a}{${b}"mcpServers":${servers}${rest === "{}" ? "" : `,"rest":${rest}`}${a}}${b}`,
  );

/** Are all characters of the one in the other, in their order? */
const isWithin = (part: string, whole: string): boolean => {
  let at = 0;
  for (const character of whole) if (character === part[at]) at += 1;
  return at === part.length;
};

/** Of the longer text only one run of characters is not in the shorter one, but for commas and blanks. */
const others = (text: string): string => text.replace(/[\s,]/g, "");
const value = others(JSON.stringify(entry.value));

describe("whatever the file", () => {
  test("all other characters stay in their order, and the meaning is the old one with the entry", () => {
    fc.assert(
      fc.property(file, (before) => {
        const merged = withJsonEntry(before, entry, "put");
        if (merged.merged !== "text") throw new Error(`${merged.merged}: ${JSON.stringify(merged)}`);
        const old = parse(before) as { mcpServers?: object };
        expect(parse(merged.text)).toEqual({ ...old, mcpServers: { ...old.mcpServers, filehand: entry.value } });
        const [withOurs, without] = [others(merged.text), others(before)];
        const ours = [`"filehand":${value}`, `"mcpServers":{"filehand":${value}}`];
        expect(ours.some((one) => withOurs.split(one).join("") === without)).toBe(true);
        // No byte is lost or moved, but for the blanks of an object that had nothing else in it.
        const kept = (text: string): string => (/\{\s+\}/.test(before) ? text.replace(/\s/g, "") : text);
        expect(isWithin(kept(before), kept(merged.text))).toBe(true);
        expect(withJsonEntry(merged.text, entry, "put")).toEqual({ merged: "same" });
      }),
      { numRuns: 500 },
    );
  });

  test("adding and removing an entry leaves everything but whitespace and the place of a comma", () => {
    fc.assert(
      fc.property(file, (before) => {
        fc.pre(before.includes('"mcpServers":'));
        const put = withJsonEntry(before, entry, "put");
        if (put.merged !== "text") throw new Error(put.merged);
        const back = withJsonEntry(put.text, entry, "remove");
        if (back.merged !== "text") throw new Error(back.merged);
        expect(others(back.text)).toBe(others(before));
      }),
      { numRuns: 500 },
    );
  });
});
