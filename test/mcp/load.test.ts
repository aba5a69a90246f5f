/**
 * Many calls and a heap that stays as it is. In `npm test` a few thousand; `npm run test:clients` makes 100,000 over each
 * transport, and then 50 callers for a minute beside the bare server of the SDK.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandLine, project, temporaryFolder } from "../ends/run.ts";
import { type Call, callers, type Loaded, overHttp, overStdio } from "./load.ts";

const callsTotal = Number(process.env["FILEHAND_CLIENT_CALLS"] ?? 5_000);
const seconds = Number(process.env["FILEHAND_CLIENT_SECONDS"] ?? 0);
const megabyte = 1_048_576;
/** What a heap may gain without a leak: code that was compiled late, tables that grew once. */
const gainMax = 2 * megabyte;

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
beforeAll(() => {
  mkdirSync(join(workspace.path, "folder"));
  for (let index = 0; index < 20; index += 1) {
    writeFileSync(join(workspace.path, "folder", `${index}.txt`), `one of ${index}\ntwo\nthree\n`);
  }
});

/** Mostly reads; some that fail, some lists, some bad arguments. */
function callNumber(index: number): Call {
  switch (index % 10) {
    case 0:
      return { name: "Read", arguments: { file_path: `folder/missing-${index % 7}.txt` } };
    case 1:
      return { name: "LS", arguments: { path: join(workspace.path, "folder") } };
    case 2:
      return { name: "Read", arguments: { path: "x" } };
    default:
      return { name: "Read", arguments: { file_path: `folder/${index % 20}.txt` } };
  }
}

const watched = [commandLine, "serve", "--port", "0", "--insecure-no-token"];
const http = [...watched, "--no-inspector"];
/** The inspector keeps the last 10,000 calls: only who makes many more can see that it keeps no others. */
const fillsTimeline = callsTotal >= 100_000;
const shown = (bytes: number): string => `${(bytes / megabyte).toFixed(2)} MB`;

for (const [wire, open] of [
  ["stdio", async (): Promise<Loaded> => overStdio([commandLine, "mcp"], workspace.path)],
  ["HTTP", () => overHttp(http, workspace.path)],
  ...(fillsTimeline ? ([["HTTP with the inspector", () => overHttp(watched, workspace.path)]] as const) : []),
] as const) {
  test(`${callsTotal} calls over ${wire} leave the heap as it was`, { timeout: 3_600_000 }, async () => {
    const server = await open();
    let next = 0;
    let strange = 0;
    const heaps: number[] = [];
    const startedMs = performance.now();
    // The first part warms up: what is compiled and kept once is there when it is over.
    for (const part of [0.25, 0.5, 0.75, 1]) {
      const until = callsTotal * part;
      await callers(
        8,
        () => next < until,
        async () => {
          next += 1;
          const answer = await server.call(callNumber(next));
          if (!answer.includes('"resultType":"complete"')) strange += 1;
        },
      );
      heaps.push((await server.memory()).heapUsed);
    }
    const perSecond = Math.round((next / (performance.now() - startedMs)) * 1_000);
    process.stdout.write(`${wire}: heap after each quarter ${heaps.map(shown).join(", ")}; ${perSecond} calls/s\n`);
    expect(strange).toBe(0);
    // The smaller of the last two: what is on its way at one moment is no leak.
    expect(Math.min(...heaps.slice(2)) - (heaps[0] ?? 0)).toBeLessThan(gainMax);
    await server.close();
  });
}

test.skipIf(seconds === 0)(`50 callers for ${seconds} s: no error, no growth`, { timeout: 3_600_000 }, async () => {
  const echo = await overHttp([join(project, "bench", "mcp", "echo.js"), "http"], workspace.path);
  const ours = await overHttp(http, workspace.path);
  const echoed: Call = { name: "echo", arguments: { text: "one\ntwo\nthree\n" } };
  const counts = { echo: 0, ours: 0 };
  const faults: string[] = [];
  const turn = async (who: "echo" | "ours", ms: number): Promise<void> => {
    // Node ends connections that have rested for five seconds, perhaps just when they are used again.
    echo.rest();
    ours.rest();
    const endMs = performance.now() + ms;
    await callers(
      50,
      () => performance.now() < endMs,
      async () => {
        counts[who] += 1;
        const call = who === "echo" ? echoed : callNumber(counts.ours * 10 + 3 + (counts.ours % 7));
        const answer = await (who === "echo" ? echo : ours).call(call);
        if (!answer.includes("three") && !answer.includes("unchanged") && !answer.includes("has not changed")) {
          faults.push(answer.slice(0, 300));
        }
      },
    );
  };
  for (const who of ["echo", "ours"] as const) await turn(who, 5_000);
  counts.echo = 0;
  counts.ours = 0;
  // By turns, so that both have the same machine.
  const turns = Math.max(2, Math.round(seconds / 5));
  const memory = [await ours.memory()];
  for (let round = 1; round <= turns; round += 1) {
    await turn("echo", 5_000);
    await turn("ours", 5_000);
    if (round === Math.ceil(turns / 2) || round === turns) memory.push(await ours.memory());
  }
  const [, middle = { heapUsed: 0 }, after = { heapUsed: 0 }] = memory;
  process.stdout.write(
    `HTTP, 50 callers: ${Math.round(counts.ours / turns / 5)} calls/s, bare SDK ${Math.round(counts.echo / turns / 5)}, ` +
      `ratio ${(counts.ours / counts.echo).toFixed(2)}; at the beginning, in the middle and at the end: ` +
      `heap ${memory.map(({ heapUsed }) => shown(heapUsed)).join(", ")}, ` +
      `resident ${memory.map(({ rss }) => shown(rss)).join(", ")}\n`,
  );
  expect(faults.slice(0, 3)).toEqual([]);
  // The first half fills what is kept (pages, compiled code); the second finds it full.
  expect(after.heapUsed - middle.heapUsed).toBeLessThan(gainMax);
  await Promise.all([echo.close(), ours.close()]);
});
