/** The audit in a state folder: every change is entered, and every way to alter the chain is found. */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { auditIn } from "../../src/filehand.ts";
import { type AuditFault, checkAudit } from "../../src/state/audit-chain.ts";
import { workspace } from "../support/workspace.ts";

const { path: place } = workspace({ root: { "a.txt": "1\n" } });
const stateDir = place("state");

test("who changed what is entered, and flipped, missing, reordered and cut off entries are found", async () => {
  const filehand = createFilehand({ roots: [place("root")], stateDir, audit: true, permissions: { allow: ["Edit"] } });
  const session = filehand.session({ dialect: "claude", id: "s", principal: "ci" });
  await session.call("Read", { file_path: place("root", "a.txt") });
  for (const n of [1, 2, 3, 4]) {
    const input = { file_path: place("root", "a.txt"), old_string: `${n}`, new_string: `${n + 1}` };
    equal((await session.call("Edit", input)).isError, false);
  }
  await filehand.close();
  const audit = auditIn(stateDir, filehand.roots);
  ok(audit !== undefined);
  const whole = await checkAudit(audit);
  deepEqual([whole.entries, whole.faults], [4, []]);
  const bodies: {
    readonly principal: string;
    readonly allowedBy: string;
    readonly before: string;
    readonly after: string;
  }[] = [];
  for await (const { body } of audit.records()) bodies.push(JSON.parse(body));
  deepEqual([bodies[0]?.principal, bodies[0]?.allowedBy], ["ci", "rule Edit (options)"]);
  equal(bodies[1]?.before, bodies[0]?.after, "the hashes join");

  const folder = fs.readdirSync(place("state", "audit")).find((name) => name !== "drafts") ?? "";
  const file = place("state", "audit", folder, "entries.jsonl");
  const text = fs.readFileSync(file, "utf8");
  const lines = text.split("\n").filter((line) => line !== "");
  const [one = "", two = "", three = "", four = ""] = lines;
  const faultsOf = async (
    changed: readonly string[],
    anchor?: { seq: number; hash: string },
  ): Promise<readonly AuditFault[]> => {
    fs.writeFileSync(file, `${changed.join("\n")}\n`);
    return (await checkAudit(audit, { anchor })).faults;
  };
  deepEqual(await faultsOf([one, two.replace("ci", "me"), three, four]), [{ fault: "changed", seq: 2 }]);
  deepEqual(await faultsOf([one, three, four]), [{ fault: "missing", seq: 2 }]);
  ok((await faultsOf([one, three, two, four])).length > 0);
  deepEqual(await faultsOf([one, two, three]), [{ fault: "end is missing", seq: 4 }]);
  // Every single bit of an entry counts.
  for (let at = 0; at < two.length; at += 7) {
    const bytes = Buffer.from(two);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    const flipped = bytes.toString("utf8");
    const isSame = ((): boolean => {
      try {
        return JSON.stringify(JSON.parse(flipped)) === JSON.stringify(JSON.parse(two));
      } catch {
        return false;
      }
    })();
    if (!isSame) ok((await faultsOf([one, flipped, three, four])).length > 0, `byte ${at}`);
  }
  // A chain that was made anew as a whole is found by a hash that was noted elsewhere.
  deepEqual(await faultsOf(lines, { seq: 4, hash: "0".repeat(64) }), [{ fault: "changed", seq: 4 }]);
  deepEqual(await faultsOf(lines, { seq: 4, hash: whole.hash }), []);
});
