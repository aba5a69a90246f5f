import { deepEqual, match, ok } from "node:assert/strict";
import { describe, test } from "vitest";
import { type ToolChoice, toolNames } from "../contract/offered-tools.ts";
import { dialectNames, dialects } from "./index.ts";
import { choicesOfOlder, joinedChoices, offeredSpecs, toolChoice } from "./offered-tools.ts";

const namesWith = (choices: readonly ToolChoice[] | undefined): readonly string[] =>
  offeredSpecs(dialects.claude.specs, choices).map(({ name }) => name);

const usual = ["Read", "Outline", "Grep", "Glob", "LS", "Edit", "MultiEdit", "Write", "NotebookEdit", "Delete", "Move"];

describe("the list of tools", () => {
  for (const [name, choices, expected] of [
    ["is the default without choices", undefined, usual],
    ["is empty if the list is", [], []],
    ["has exactly the named ones, in the dialect's order", ["Grep", "Read"], ["Read", "Grep"]],
    ["adds to the default", ["+History", "+Rewind"], [...usual, "History", "Rewind"]],
    ["takes from the default", ["-Outline", "-Delete"], usual.filter((one) => !/Outline|Delete/.test(one))],
    ["adds to named ones", ["Read", "+Patch"], ["Read", "Patch"]],
    ["takes the last word about a tool", ["+Copy", "-Copy", "-Read", "+Read"], usual],
  ] as const) {
    test(name, () => deepEqual(namesWith(choices), expected));
  }

  test("EditFiles has edits by line only beside EditLines", () => {
    const propertiesWith = (choices: readonly ToolChoice[]): readonly string[] => {
      const found = offeredSpecs(dialects.claude.specs, choices).filter(({ tool }) => tool === "EditFiles");
      return found.map(({ inputSchema }) => JSON.stringify(inputSchema));
    };
    const [[plain = "", ...others], [byLine = "", ...more]] = [
      propertiesWith(["EditFiles"]),
      propertiesWith(["EditFiles", "EditLines"]),
    ];
    deepEqual([others, more], [[], []]);
    ok(!plain.includes('"lines"') && byLine.includes('"lines"'));
  });

  test("every tool of every dialect can be chosen, by its own name or by the common one", () => {
    for (const dialect of dialectNames) {
      for (const { name, tool } of dialects[dialect].specs) {
        deepEqual([toolChoice(name), toolChoice(`+${tool}`)], [tool, `+${tool}`]);
      }
    }
    const all = offeredSpecs(dialects.claude.specs, toolNames).map(({ tool }) => tool);
    deepEqual(new Set(all), new Set(toolNames));
  });

  for (const [text, expected] of [
    ["read", "Read"],
    [" -make-folder ", "-MakeFolder"],
    ["list", "LS"],
    ["+multiedit", "+MultiEdit"],
  ] as const) {
    test(`${JSON.stringify(text)} is ${expected}`, () => deepEqual(toolChoice(text), expected));
  }

  for (const [text, fault] of [
    ["Outlin", /no tool "Outlin", did you mean Outline$/],
    ["", /no tool "", use one of Read, /],
    ["++Read", /no tool "\+Read"/],
    ["x".repeat(9_999), /no tool "x{40}"/],
  ] as const) {
    test(`${JSON.stringify(text.slice(0, 9))} is a fault`, () => {
      const choice = toolChoice(text);
      match(typeof choice === "string" ? choice : choice.fault, fault);
    });
  }
});

test("a later list replaces an earlier one only if it names tools without a sign", () => {
  deepEqual(joinedChoices(["Read", "+Lsp"], ["+Patch"]), ["Read", "+Lsp", "+Patch"]);
  deepEqual(joinedChoices(["Read", "+Lsp"], ["Grep", "+Patch"]), ["Grep", "+Patch"]);
});

test("the options of earlier versions are entries of the list", () => {
  deepEqual(choicesOfOlder({}), []);
  deepEqual(choicesOfOlder({ historyTools: false, patchTool: false, languageTools: false }), []);
  deepEqual(
    choicesOfOlder({
      historyTools: true,
      languageTools: "rename",
      lineEdits: true,
      editFiles: true,
      patchTool: true,
      outlineTool: false,
      fileTools: ["copy", "move"],
    }),
    "+History +Rewind +Lsp +Rename +EditLines +EditFiles +Patch -Outline -Delete +Move +Copy -MakeFolder".split(" "),
  );
  deepEqual(choicesOfOlder({ languageTools: true, outlineTool: true }), ["+Lsp", "+Outline"]);
});
