/** The tour of the architecture: every step names a function and the file that defines it, and Edit stays short. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { project } from "./run.ts";

const pageOf = (path: string): string => readFileSync(join(project, path), "utf8");

const tour = pageOf("docs/architecture-tour.md");
const sections = new Map(tour.split(/^## /m).map((part) => [part.slice(0, part.indexOf("\n")), part]));

const filesIn = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(/`((?:src|scripts|test)\/[^`\s<>*]*\.\w+)`/g)].map(([, file]) => file ?? "")),
];

const steps = [...tour.matchAll(/`(\w+)` in\s+`(src\/[^`]+)`/g)].map(([, name = "", file = ""]) => ({ name, file }));

/** A function, a constant, or a method of an object or an interface. */
const defines = (text: string, name: string): boolean =>
  new RegExp(`(?:function\\*?|const) ${name}\\b|^\\s+(?:readonly |async )?${name}[(:]`, "m").test(text);

for (const page of ["docs/architecture-tour.md", "ARCHITECTURE.md", "GLOSSARY.md"]) {
  test(`every file that ${page} names exists`, () => {
    const files = filesIn(pageOf(page));
    expect(files.length).toBeGreaterThan(9);
    expect(files.filter((file) => !existsSync(join(project, file)))).toEqual([]);
  });
}

test("every step of the tour names a function that its file defines", () => {
  expect(steps.length).toBeGreaterThan(20);
  expect(steps.filter(({ name, file }) => !defines(pageOf(file), name))).toEqual([]);
});

test("every numbered step of the tour names a function and its file", () => {
  const numbered = tour.split(/^(?=\d+\. )/m).slice(1);
  expect(numbered.filter((step) => !/^\d+\. `\w+` in `src\//.test(step))).toEqual([]);
});

test("Edit can be understood from 12 files", () => {
  const edit = sections.get("Edit") ?? "";
  expect(filesIn(edit).length).toBeGreaterThan(5);
  expect(filesIn(edit).length).toBeLessThanOrEqual(12);
});

test("every type or function that the glossary names is in the file it names", () => {
  const entries = [...pageOf("GLOSSARY.md").matchAll(/`(\w+)`(?: and `(\w+)`)? in\s+`(src\/[^`]+)`/g)];
  expect(entries.length).toBeGreaterThan(15);
  const missing = entries.flatMap(([, first, second, file = ""]) =>
    [first, second].filter(
      (name) => name !== undefined && !new RegExp(`(?:interface|type|class|function) ${name}\\b`).test(pageOf(file)),
    ),
  );
  expect(missing).toEqual([]);
});
