import { deepEqual, equal, match, ok } from "node:assert/strict";
import * as fs from "node:fs";
import * as fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, test } from "vitest";
import { onWindows, workspace } from "../../test/support/workspace.ts";
import { keepRule, withRule } from "./keep-rule.ts";

const rule = "Edit(/src/**)";

describe("adding a rule leaves the rest of the text unchanged", () => {
  for (const [name, before, after] of [
    ["no file", "", '{\n  "permissions": {\n    "allow": [\n      "Edit(/src/**)"\n    ]\n  }\n}\n'],
    ["an empty object", "{}", '{"permissions": { "allow": ["Edit(/src/**)"] }}'],
    ["one line", '{"model": "m"}', '{"model": "m", "permissions": { "allow": ["Edit(/src/**)"] }}'],
    [
      "a list on one line",
      '{"permissions": {"allow": ["Read(a)"]}}',
      '{"permissions": {"allow": ["Read(a)", "Edit(/src/**)"]}}',
    ],
    ["an empty list", '{"permissions": {"allow": []}}', '{"permissions": {"allow": ["Edit(/src/**)"]}}'],
    [
      "a final comma on one line",
      '{"permissions": {"allow": ["a",]}}',
      '{"permissions": {"allow": ["a", "Edit(/src/**)",]}}',
    ],
    [
      "comments keep their lines",
      '{ // mine\n  "permissions": {\n    "allow": [\n      "Read(a)", // because\n      "Read(b)" // of this\n    ]\n  }\n}\n',
      '{ // mine\n  "permissions": {\n    "allow": [\n      "Read(a)", // because\n      "Read(b)", // of this\n      "Edit(/src/**)"\n    ]\n  }\n}\n',
    ],
    [
      "final commas stay the style",
      '{\n\t"model": "m", /* x\n y */ // z\n}\n',
      '{\n\t"model": "m", /* x\n y */ // z\n\t"permissions": { "allow": ["Edit(/src/**)"] },\n}\n',
    ],
    [
      "deny rules and line ends stay",
      '{\r\n  "permissions": {\r\n    "deny": ["Read(x)"]\r\n  }\r\n}\r\n',
      '{\r\n  "permissions": {\r\n    "deny": ["Read(x)"],\r\n    "allow": ["Edit(/src/**)"]\r\n  }\r\n}\r\n',
    ],
    [
      "a comment alone",
      "{\n  // nothing yet\n}",
      '{\n  // nothing yet\n\n"permissions": { "allow": ["Edit(/src/**)"] }\n}',
    ],
    ["a byte order mark stays", "\ufeff{}", '\ufeff{"permissions": { "allow": ["Edit(/src/**)"] }}'],
    [
      "it is there already",
      '{"permissions": {"allow": ["Edit(/src/**)"]}} // x',
      '{"permissions": {"allow": ["Edit(/src/**)"]}} // x',
    ],
  ] as const) {
    test(name, () => equal(withRule(before, rule), after));
  }

  for (const text of ["[]", "{", '{"permissions": 1}', '{"permissions": {"allow": "x"}}', "// x", '"a"', "{} {}"]) {
    test(`${JSON.stringify(text)} is not touched`, () => ok(typeof withRule(text, rule) === "object"));
  }

  test("for any settings file", () => {
    const value = fc.record(
      {
        model: fc.string(),
        permissions: fc.record(
          {
            allow: fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }),
            deny: fc.array(fc.string(), { maxLength: 2 }),
          },
          { requiredKeys: [] },
        ),
        roots: fc.array(fc.string(), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    );
    const blank = fc.constantFrom("", " ", "\n", "\n  ", " // c\n", "/* c */", "\r\n");
    fc.assert(
      fc.property(
        value,
        fc.constantFrom(0, 2, "\t"),
        fc.array(blank, { minLength: 1 }),
        (given, indent, whitespace) => {
          let at = 0;
          // Blanks and comments between any two tokens of the text.
          const text = JSON.stringify(given, undefined, indent).replace(
            /"(?:[^"\\]|\\.)*"|[{}[\],:]/g,
            (token) => token + (whitespace[at++ % whitespace.length] ?? ""),
          );
          const after = withRule(text, rule);
          ok(typeof after === "string");
          const allow = [...new Set(given.permissions?.allow)];
          const errors: never[] = [];
          const read = parse(after, errors, { allowTrailingComma: true }) as typeof given;
          deepEqual(errors, []);
          ok(read.permissions?.allow?.includes(rule));
          const without = read.permissions?.allow?.filter((one) => one !== rule) ?? [];
          deepEqual(
            [...new Set(without)],
            allow.filter((one) => one !== rule),
          );
          deepEqual(
            { ...read, permissions: read.permissions?.deny },
            { ...given, permissions: given.permissions?.deny },
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe.skipIf(onWindows)("on the disk", () => {
  const { path: at } = workspace({
    "mine.jsonc": '{"model": "m"}\n',
    elsewhere: { "real.jsonc": "{}\n" },
    "link.jsonc": { link: "elsewhere/real.jsonc" },
    "broken.jsonc": "{",
    folder: {},
  });

  test("the file keeps its permissions, nothing is left beside it, and folders are made", () => {
    fs.chmodSync(at("mine.jsonc"), 0o640);
    equal(keepRule(at("mine.jsonc"), rule, "refuse"), undefined);
    equal(fs.statSync(at("mine.jsonc")).mode & 0o777, 0o640);
    match(fs.readFileSync(at("mine.jsonc"), "utf8"), /"model": "m", "permissions"/);
    equal(keepRule(at("new/deep/filehand.jsonc"), rule, "follow"), undefined);
    deepEqual(fs.readdirSync(at("new/deep")), ["filehand.jsonc"]);
    ok(!fs.readdirSync(at()).some((name) => name.endsWith(".tmp")));
  });

  test("a link is followed for the user's own file and refused in a project", () => {
    deepEqual(keepRule(at("link.jsonc"), rule, "refuse"), { why: "it is a link" });
    equal(fs.readFileSync(at("elsewhere/real.jsonc"), "utf8"), "{}\n");
    equal(keepRule(at("link.jsonc"), rule, "follow"), undefined);
    ok(fs.lstatSync(at("link.jsonc")).isSymbolicLink());
    ok(fs.readFileSync(at("elsewhere/real.jsonc"), "utf8").includes(rule));
  });

  test("a file that cannot be parsed or written is reported and left unchanged", () => {
    ok(keepRule(at("broken.jsonc"), rule, "follow")?.why.includes("valid JSON"));
    equal(fs.readFileSync(at("broken.jsonc"), "utf8"), "{");
    ok(keepRule(at("folder"), rule, "follow") !== undefined);
    ok(keepRule(at("mine.jsonc/x.jsonc"), rule, "follow") !== undefined);
  });
});
