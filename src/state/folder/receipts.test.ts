/** Receipts of calls across servers of one bridge. */

import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openReceipts } from "./receipts.ts";

const bridge = "7d1c1b52-6f0e-4ce8-9b3a-0f8f8a4d2f11";

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fh-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("the next server knows which calls were answered, and which changed nothing", async () => {
  const state = stateFolder();
  const first = await openReceipts(state, bridge, () => undefined);
  expect(first.earlier).toEqual([]);
  first.begin(1);
  first.end(1, "the answer");
  first.begin("a");
  first.end("a", undefined);
  await first.close();
  const second = await openReceipts(state, bridge, () => undefined);
  expect(second.earlier.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1))).toEqual([
    { id: 1, state: "answered", answer: "the answer" },
    { id: "a", state: "not applied" },
  ]);
  await second.close();
  expect((await openReceipts(state, "00000000-0000-4000-8000-000000000000", () => undefined)).earlier).toEqual([]);
  const folder = join(state, "bridges");
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

test("of a server that was killed during a call nothing is known", async () => {
  const state = stateFolder();
  await (await openReceipts(state, bridge, () => undefined)).close();
  const file = join(state, "bridges", `${bridge}.jsonl`);
  // No process has this number; the last line was cut short.
  appendFileSync(file, '{"run":"x","pid":2147483646}\n{"begun":7}\n{"begun":8}\n{"ended":8,"answer":"8"}\n{"beg');
  const next = await openReceipts(state, bridge, () => undefined);
  expect(next.earlier).toEqual(
    expect.arrayContaining([
      { id: 7, state: "unknown" },
      { id: 8, state: "answered", answer: "8" },
    ]),
  );
  await next.close();
});

test("a server whose connection is lost without its notice is replaced", async () => {
  const state = stateFolder();
  const replaced = vi.fn();
  const first = await openReceipts(state, bridge, () => {
    replaced();
    void first.close();
    // The change is written while the server ends.
    setTimeout(() => first.end(1, "in time"), 100);
  });
  first.begin(1);
  const second = await openReceipts(state, bridge, () => undefined);
  expect(replaced).toHaveBeenCalledOnce();
  expect(second.earlier).toEqual([{ id: 1, state: "answered", answer: "in time" }]);
  await second.close();
});
