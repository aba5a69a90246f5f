/** Modules that are loaded late: once, and again after a failure. */

import { equal, rejects } from "node:assert/strict";
import { test } from "vitest";
import { lazily, lazilyIfInstalled } from "./loading.ts";

const noDescriptors = Object.assign(new Error("EMFILE: made up"), { code: "EMFILE", errno: -24 });

test("a module is loaded once, for all callers", async () => {
  let loads = 0;
  const part = lazily(async () => (loads += 1));
  equal((await Promise.all([part(), part()])).join(), "1,1");
  equal(await part(), 1);
});

test("a failed load is tried again by the next caller", async () => {
  let loads = 0;
  const part = lazily(async () => {
    loads += 1;
    if (loads === 1) throw noDescriptors;
    return loads;
  });
  await rejects(part(), { code: "EMFILE" });
  equal(await part(), 2);
});

test("without descriptors nothing is asked for, since Node would remember that it failed", async () => {
  let loads = 0;
  let isFull = true;
  const part = lazily(
    async () => (loads += 1),
    async (load) => {
      if (isFull) throw noDescriptors;
      return load();
    },
  );
  await rejects(part(), { code: "EMFILE" });
  equal(loads, 0);
  isFull = false;
  equal(await part(), 1);
});

test("a missing package is looked for once; a load without descriptors is repeated", async () => {
  let loads = 0;
  const missing = lazilyIfInstalled(async () => {
    loads += 1;
    throw Object.assign(new Error("no such package"), { code: "ERR_MODULE_NOT_FOUND" });
  });
  equal(await missing(), undefined);
  equal(await missing(), undefined);
  equal(loads, 1);
  const late = lazilyIfInstalled(async () => {
    loads += 1;
    if (loads === 2) throw noDescriptors;
    return "there";
  });
  await rejects(late(), { code: "EMFILE" });
  equal(await late(), "there");
});
