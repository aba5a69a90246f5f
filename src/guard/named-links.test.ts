/** Rules that name one path, and what is behind it if it is a link. */

import { equal } from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, test } from "vitest";
import { createFilehand } from "../filehand.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "filehand-named-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
writeFileSync(join(root, "x.txt"), "x\n");

test.skipIf(process.platform === "win32")("a rule that is reported to match nothing denies nothing", () => {
  const above = dirname(root);
  const rule = `Read(/${above}/../${basename(above)}/${basename(root)}/x.txt)`;
  const { ruleFaults, permissions } = createFilehand({
    roots: [root],
    permissions: { deny: [rule] },
    unclearRules: "report",
  });
  equal(ruleFaults.length, 1);
  equal(permissions.explain("Read", "x.txt").verdict, "allow");
});
