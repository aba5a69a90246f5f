/** The ledger: what counts as shown again, and what never does. */

import { expect, test } from "vitest";
import { createLedger, type Stamp } from "./ledger.ts";

const stamp = (sign: string, hash?: string): Stamp => ({
  sign,
  sizeBytes: 1,
  hash: async () => hash,
  fullHash: async () => hash ?? "of a large file",
});

test("the same part of the same state is repeated once, then shown again", async () => {
  const ledger = createLedger();
  expect(await ledger.repeats("/a", "1-", stamp("s"))).toBeUndefined();
  await ledger.shown("/a", "1-", stamp("s"), 500);
  expect(await ledger.repeats("/a", "1-", stamp("s"))).toEqual({ tokens: 500 });
  expect(await ledger.repeats("/a", "1-", stamp("s"))).toBeUndefined();
  await ledger.shown("/a", "1-", stamp("s"), 500);
  expect(await ledger.repeats("/a", "1-", stamp("s"))).toEqual({ tokens: 500 });
});

test("another part, another file, another state is no repetition", async () => {
  const ledger = createLedger();
  await ledger.shown("/a", "1-10", stamp("s", "h"), 1);
  expect(await ledger.repeats("/a", "1-20", stamp("s", "h"))).toBeUndefined();
  expect(await ledger.repeats("/b", "1-10", stamp("s", "h"))).toBeUndefined();
  expect(await ledger.repeats("/a", "1-10", stamp("t", "i"))).toBeUndefined();
});

test("a touched file with the same content is the same, one without a hash is not", async () => {
  const ledger = createLedger();
  await ledger.shown("/a", "1-", stamp("s", "h"), 1);
  expect(await ledger.repeats("/a", "1-", stamp("t", "h"))).toBeDefined();
  await ledger.shown("/b", "1-", stamp("s"), 1);
  expect(await ledger.repeats("/b", "1-", stamp("t"))).toBeUndefined();
});

test("what left the conversation is shown again", async () => {
  const ledger = createLedger();
  await ledger.shown("/a", "1-", stamp("s"), 1);
  await ledger.shown("/b", "1-", stamp("s"), 1);
  ledger.forget("/a");
  expect(await ledger.repeats("/a", "1-", stamp("s"))).toBeUndefined();
  expect(await ledger.repeats("/b", "1-", stamp("s"))).toBeDefined();
  ledger.forget();
  expect(await ledger.repeats("/b", "1-", stamp("s"))).toBeUndefined();
});

test("it is bounded: the oldest files and parts go first", async () => {
  const ledger = createLedger();
  for (let file = 0; file < 2_001; file += 1) await ledger.shown(`/${file}`, "1-", stamp("s"), 1);
  expect(await ledger.repeats("/0", "1-", stamp("s"))).toBeUndefined();
  expect(await ledger.repeats("/1", "1-", stamp("s"))).toBeDefined();
  for (let part = 0; part < 101; part += 1) await ledger.shown("/p", `${part}`, stamp("s"), 1);
  expect(await ledger.repeats("/p", "0", stamp("s"))).toBeUndefined();
  expect(await ledger.repeats("/p", "100", stamp("s"))).toBeDefined();
});

test("what is again as it once was is shown, if the session knows it otherwise by now", async () => {
  const ledger = createLedger();
  const [first, second] = [stamp("s", "h"), stamp("t", "i")];
  await ledger.saw("/a", first, "all");
  await ledger.shown("/a", "1-", first, 1);
  ledger.wrote("/a", { sign: "t", sizeBytes: 1, hash: "i", encoding: undefined }, "all");
  expect(await ledger.repeats("/a", "1-", second)).toBeUndefined();
  // Somebody else has put it back.
  const again = stamp("u", "h");
  expect((await ledger.seen("/a", again, async () => undefined)).state).toBe("changed");
  expect(await ledger.repeats("/a", "1-", again)).toBeUndefined();
  await ledger.saw("/a", again, "all");
  expect((await ledger.seen("/a", again, async () => undefined)).state).toBe("fresh");
  expect(await ledger.repeats("/a", "1-", again)).toBeDefined();
});
