/** An entry in a TOML text: where it goes, what is refused, and that nothing else changes. */

import * as fc from "fast-check";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { type Entry, type EntryWish, tomlOf, tomlTables, withTomlEntry } from "./client-file.ts";

const entry: Entry = {
  under: "mcp_servers",
  name: "filehand",
  value: { command: "npx", args: ["-y", "filehand", "mcp"] },
};
const table = '[mcp_servers.filehand]\ncommand = "npx"\nargs = ["-y", "filehand", "mcp"]\n';
const textOf = (before: string, wish: EntryWish = "put"): unknown => {
  const merged = withTomlEntry(before, entry, wish);
  return merged.merged === "text" ? merged.text : merged;
};

describe("put", () => {
  for (const [name, before, after] of [
    ["nothing", "", table],
    ["keys", 'model = "x"\n', `model = "x"\n\n${table}`],
    ["no newline at the end", "a = 1", `a = 1\n\n${table}`],
    ["Windows line ends", "a = 1\r\n", `a = 1\r\n\r\n${table.replaceAll("\n", "\r\n")}`],
    [
      "other servers and comments",
      "# mine\n[mcp_servers.a] # x\ncommand = 'y'\n# end\n",
      `# mine\n[mcp_servers.a] # x\ncommand = 'y'\n# end\n\n${table}`,
    ],
    ["a parent with a header", "[mcp_servers]\n[z]\nb = 1\n", `[mcp_servers]\n[z]\nb = 1\n\n${table}`],
    ["whole numbers that JavaScript cannot hold", "n = 9223372036854775807\n", `n = 9223372036854775807\n\n${table}`],
  ] as const) {
    test(name, () => expect(textOf(before)).toBe(after));
  }

  test("a command with quotes, backslashes and a delete character is written so that it is read back", () => {
    const value = { command: 'C:\\a "b"\x7f\n', args: ["ü", "'"], enabled: true };
    expect(parse(tomlOf({ ...entry, value }))).toEqual({ mcp_servers: { filehand: value } });
  });
});

describe("there already", () => {
  for (const [name, text] of [
    ["as a table", table],
    ["with a quoted name", table.replace("filehand]", '"filehand"]')],
    ["in one line", 'mcp_servers.filehand = { command = "npx", args = ["-y", "filehand", "mcp"] }\n'],
    ["as a key of its parent", '[mcp_servers]\nfilehand = { args = ["-y", "filehand", "mcp"], command = "npx" }\n'],
  ] as const) {
    test(name, () => expect(textOf(text)).toEqual({ merged: "same" }));
  }

  test("another entry of that name is replaced only on request; its parts go with it", () => {
    const other =
      "a = 1\n\n[mcp_servers.filehand]\ncommand = 'mine'\n\n[mcp_servers.filehand.env]\nA = '1'\n\n# z\n[z]\n";
    expect(textOf(other)).toEqual({ merged: "other" });
    expect(textOf(other, "replace")).toBe(`a = 1\n\n${table}\n# z\n[z]\n`);
    expect(textOf(other, "remove")).toBe("a = 1\n\n# z\n[z]\n");
  });

  test("nothing to remove", () => expect(textOf("[mcp_servers.a]\n", "remove")).toEqual({ merged: "same" }));
});

describe("refused", () => {
  const byHand = "it is written in a way that cannot be changed safely, change it by hand";
  for (const [name, text, wish, why] of [
    ["half a file", "a = 1\nb = [", "put", "it is not valid TOML (line 2), mend it first"],
    ["JSON", '{"a": 1}', "put", "it is not valid TOML (line 1), mend it first"],
    ["servers that are text", "mcp_servers = 'x'\n", "put", '"mcp_servers" in it is no table'],
    ["servers that are a list", "[[mcp_servers]]\na = 1\n", "put", '"mcp_servers" in it is no table'],
    ["servers in one line", "mcp_servers = { a = { command = 'x' } }\n", "put", byHand],
    [
      "removing what is no table",
      "[mcp_servers]\nfilehand = { command = 'x' }\n",
      "remove",
      '"mcp_servers.filehand" in it is no table of its own, change it by hand',
    ],
  ] as const) {
    test(name, () => expect(textOf(text, wish)).toEqual({ merged: "refused", why }));
  }
});

describe("where tables are", () => {
  test("headers inside strings and lists are none", () => {
    const text =
      "a = \"\"\"\n[x]\n\"\"\"\nb = [\n[1],\n# ]\n]\n[c.\"d e\".'f']  # [g]\nh = '''\n[i]''''\n# tail\n\n[[j]]\n";
    const starts = tomlTables(text).map(({ path, start, end }) => [path, text.slice(start, end)]);
    expect(starts).toEqual([
      [[], 'a = """\n[x]\n"""\nb = [\n[1],\n# ]\n]\n'],
      [["c", "d e", "f"], "[c.\"d e\".'f']  # [g]\nh = '''\n[i]''''\n"],
      [["j"], "[[j]]\n"],
    ]);
  });
});

/** Files as people write them. */
const filler = fc.constantFrom("", "\n", "# [mcp_servers.filehand]\n", "  # c\n", "\n\n");
const keyValue = fc.constantFrom(
  "k = 1\n",
  "k = '[mcp_servers.filehand]'\n",
  'k = """\n[mcp_servers.filehand]\ncommand = "x"\n"""\n',
  "k = [\n  'a', # ]\n  'b',\n]\n",
  "k = { a = 1, b = '}' } # x\n",
  "k.l = 2020-01-01\n",
);
const header = fc.constantFrom(
  "[a]\n",
  "[mcp_servers.b]\n",
  '[mcp_servers."c d"] # x\n',
  "[mcp_servers.e.env]\n",
  "[[f]]\n",
);
const section = fc.tuple(header, filler, fc.option(keyValue, { nil: "" }), filler).map((parts) => parts.join(""));
const file = fc
  .record({
    top: fc.option(keyValue, { nil: "" }),
    sections: fc.uniqueArray(section, { selector: (text) => text.split("\n", 1)[0], maxLength: 5 }),
    last: filler,
    isWindows: fc.boolean(),
  })
  .map(({ top, sections, last, isWindows }) => {
    const text = top + sections.join("") + last;
    return isWindows ? text.replaceAll("\n", "\r\n") : text;
  });

describe("whatever the file", () => {
  test("the old text stays to the byte before the new table, and removing the table restores it", () => {
    fc.assert(
      fc.property(file, (before) => {
        const put = withTomlEntry(before, entry, "put");
        if (put.merged !== "text") throw new Error(JSON.stringify(put));
        expect(put.text.startsWith(before)).toBe(true);
        expect(withTomlEntry(put.text, entry, "put")).toEqual({ merged: "same" });
        expect(withTomlEntry(put.text, entry, "remove")).toEqual({ merged: "text", text: before });
      }),
      { numRuns: 500 },
    );
  });

  test("removing the table leaves the rest, wherever the table is", () => {
    fc.assert(
      fc.property(file, fc.array(section, { maxLength: 1 }), (before, [after = ""]) => {
        const tail = after.replace("[a]", "[z]").replace("mcp_servers", "others").replace("[[f]]", "[[g]]");
        const taken = withTomlEntry(`${before}${table}${tail}`, entry, "remove");
        if (taken.merged !== "text") throw new Error(JSON.stringify(taken));
        expect([before + tail, before.replace(/(^|\n)[ \t]*\r?\n$/, "$1") + tail]).toContain(taken.text);
      }),
      { numRuns: 500 },
    );
  });
});
