/** Notebooks that are parsed in a worker, and those with more cells than are shown: they are text. */

import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFilehand, type Filehand } from "../src/index.ts";

let top: string;
let filehand: Filehand;
beforeEach(() => {
  top = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), "filehand-notebooks-"));
  filehand = createFilehand({ roots: [top], ask: "yes", ids: { next: () => "fresh" } });
});
afterEach(async () => {
  await filehand.close();
  fs.rmSync(top, { recursive: true, force: true });
});

const cell = (id: number): string => `{"cell_type":"code","id":"c${id}","metadata":{},"source":"x","outputs":[]}`;
const notebook = (cells: readonly string[]): string =>
  `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[\n${cells.join(",\n")}\n]}`;
const put = (cells: number): string => {
  const text = notebook(Array.from({ length: cells }, (_, index) => cell(index)));
  fs.writeFileSync(join(top, "n.ipynb"), text);
  return text;
};
const file = { file_path: "n.ipynb" };
const now = (): string => fs.readFileSync(join(top, "n.ipynb"), "utf8");

test("a cell of a notebook of 700 kB is replaced, inserted and deleted, and every other byte stays", async () => {
  const text = put(9_999);
  const session = filehand.session({ dialect: "claude" });
  await session.call("Read", { ...file, offset: 9_000, limit: 10 });
  const edit = (more: object) => session.call("NotebookEdit", { notebook_path: "n.ipynb", ...more });
  expect((await edit({ cell_id: "c9001", new_source: "y" })).isError).toBe(false);
  const replaced = text.replace(cell(9_001), cell(9_001).replace('"x"', '"y"'));
  expect(now()).toBe(replaced);
  expect((await edit({ cell_id: "c9001", edit_mode: "insert", cell_type: "code", new_source: "z" })).isError).toBe(
    false,
  );
  expect(now()).toContain('"id":"fresh"');
  expect((await edit({ cell_id: "fresh", edit_mode: "delete", new_source: "" })).isError).toBe(false);
  expect(now()).toBe(replaced);
  expect((await edit({ cell_id: "nowhere", new_source: "y" })).error?.code).toBe("NO_CELL");
});

test("a notebook of more than 10,000 cells is read and edited as text, and every refusal says so", async () => {
  const text = put(10_001);
  const session = filehand.session({ dialect: "claude" });
  const said = "it has 10001 cells, more than 10000), read its text with offset 1 and limit 200";
  const whole = await session.call("Read", file);
  expect([whole.error?.code, whole.error?.message]).toEqual(["DAMAGED", expect.stringContaining(said)]);
  const cells = await session.call("NotebookEdit", { notebook_path: "n.ipynb", cell_id: "c0", new_source: "y" });
  expect([cells.error?.code, cells.error?.message]).toEqual(["DAMAGED", expect.stringContaining(said)]);
  expect((await session.call("Read", { ...file, offset: 1, limit: 3 })).isError).toBe(false);
  const edited = await session.call("Edit", { ...file, old_string: '"id":"c1"', new_string: '"id":"d1"' });
  expect(edited.isError).toBe(false);
  expect(now()).toBe(text.replace('"id":"c1"', '"id":"d1"'));
});
