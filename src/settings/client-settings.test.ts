/** Settings beside the server: items of lists and switches, put in and taken out; what a person had stays. */

import { describe, expect, test } from "vitest";
import {
  type AddedSetting,
  type ClientSetting,
  withJsonSetting,
  withoutJsonSetting,
  withoutTomlKey,
  withTomlKey,
} from "./client-file.ts";

const exclude: ClientSetting = { under: "tools", list: "exclude", items: ["glob", "read_file"] };
const off = { under: "tools", key: "read", value: false } as const;

function both(text: string, setting: ClientSetting): { readonly after: string; readonly back: string } {
  const done = withJsonSetting(text, setting);
  if (!("text" in done)) throw new Error(done.why);
  const back = done.added === undefined ? done : withoutJsonSetting(done.text, done.added);
  if (!("text" in back)) throw new Error(back.why);
  return { after: done.text, back: back.text };
}

describe("JSON", () => {
  for (const [name, before, setting, after] of [
    ["no file", "", exclude, '{\n  "tools": {\n    "exclude": ["glob", "read_file"]\n  }\n}\n'],
    [
      "the object is there",
      '{ "tools": { "a": 1 } }\n',
      exclude,
      '{ "tools": { "a": 1, "exclude": ["glob","read_file"] } }\n',
    ],
    ["one item is there", '{"tools":{"exclude":["glob"]}}', exclude, '{"tools":{"exclude":["glob", "read_file"]}}'],
    [
      "a comment stays",
      '{\n  // mine\n  "tools": {\n    "exclude": [\n      "x" // why\n    ]\n  }\n}\n',
      exclude,
      '{\n  // mine\n  "tools": {\n    "exclude": [\n      "x", // why\n      "glob",\n      "read_file"\n    ]\n  }\n}\n',
    ],
    ["a switch", '{"tools": {"edit": true}}', off, '{"tools": {"edit": true, "read": false}}'],
    ["a switch that was on", '{"tools": {"read": true}}', off, '{"tools": {"read": false}}'],
    ["all is there", '{"tools": {"read": false}}', off, '{"tools": {"read": false}}'],
  ] as const) {
    test(name, () => {
      const done = both(before, setting);
      expect(done.after).toBe(after);
      expect(done.back.replace(/^\{\s*\}\n$/, "")).toBe(before);
    });
  }

  test("what a person added meanwhile stays", () => {
    const added: AddedSetting = { ...exclude, made: "all" };
    expect(withoutJsonSetting('{"tools":{"exclude":["glob","mine","read_file"]}}', added)).toEqual({
      text: '{"tools":{"exclude":["mine"]}}',
    });
    expect(withoutJsonSetting('{"tools":{"read":true}}', { ...off, made: "all" })).toEqual({
      text: '{"tools":{"read":true}}',
    });
    expect(withoutJsonSetting("{}", added)).toEqual({ text: "{}" });
  });

  for (const [name, text, why] of [
    ["no list", '{"tools":{"exclude":"glob"}}', '"tools.exclude" in it is no list'],
    ["no object", '{"tools":[]}', '"tools" in it is no object'],
    ["twice", '{"tools":{},"tools":{}}', 'it has "tools" twice'],
    ["not JSON", "{", "it is not valid JSON"],
  ] as const) {
    test(`refused: ${name}`, () => {
      expect(withJsonSetting(text, exclude)).toEqual({ why: expect.stringContaining(why) });
    });
  }
});

describe("TOML", () => {
  const shell = { under: "features", key: "shell_tool", value: false } as const;
  for (const [name, before, after] of [
    ["no file", "", "[features]\nshell_tool = false\n"],
    ["other tables", "a = 1\n\n[b]\nc = 2\n", "a = 1\n\n[b]\nc = 2\n\n[features]\nshell_tool = false\n"],
    ["the table is there", "[features]\nx = true\n\n[b]\n", "[features]\nx = true\nshell_tool = false\n\n[b]\n"],
    ["no newline at its end", "[features]\nx = true", "[features]\nx = true\nshell_tool = false\n"],
    ["it was on, with a comment", "[features]\nshell_tool = true # why\n", "[features]\nshell_tool = false # why\n"],
    ["it is off", "[features]\nshell_tool = false\n", "[features]\nshell_tool = false\n"],
  ] as const) {
    test(name, () => {
      const done = withTomlKey(before, shell);
      if (!("text" in done)) throw new Error(done.why);
      expect(done.text).toBe(after);
      if (done.added === undefined || !("key" in done.added)) return;
      const back = withoutTomlKey(done.text, done.added);
      // A missing newline at the end is the only thing that does not come back.
      expect("text" in back ? back.text.trimEnd() : back).toBe(before.trimEnd());
    });
  }

  for (const [name, text, why] of [
    ["on one line", "features = { x = true }\n", "change it by hand"],
    ["no switch", '[features]\nshell_tool = "x"\n', '"features.shell_tool" in it is no switch'],
    ["not TOML", "[", "it is not valid TOML"],
  ] as const) {
    test(`refused: ${name}`, () => expect(withTomlKey(text, shell)).toEqual({ why: expect.stringContaining(why) }));
  }
});
