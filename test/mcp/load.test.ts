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
/**
 * What the heap may gain in the second half of a run: 10 bytes a call of 100,000, or 400 of 5,000. Code that is compiled late and tables
 * that double now and then stay below; one kept argument, answer, session or connection a call does not.
 */
const gainMax = megabyte;
/** How often the heap is looked at. */
const looks = 16;

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
    for (let look = 1; look <= looks; look += 1) {
      const until = (callsTotal * look) / looks;
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
    process.stdout.write(`${wire}: ${perSecond} calls/s; ${told(heaps)}\n`);
    expect(strange).toBe(0);
    expect(gainOf(heaps)).toBeLessThan(gainMax);
    await server.close();
  });
}

const busy = `50 callers for ${seconds} s: no error, no growth, at least 0.8 times the calls of the bare SDK`;

test.skipIf(seconds === 0)(busy, { timeout: 3_600_000 }, async () => {
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
  const heaps: number[] = [];
  const ratios: number[] = [];
  const sums = { echo: 0, ours: 0 };
  for (let round = 1; round <= turns; round += 1) {
    for (const who of ["echo", "ours"] as const) {
      const before = counts[who];
      await turn(who, 5_000);
      sums[who] = counts[who] - before;
    }
    ratios.push(sums.ours / sums.echo);
    ours.rest();
    heaps.push((await ours.memory()).heapUsed);
  }
  const ratio = middleOf(ratios);
  process.stdout.write(
    `HTTP, 50 callers: ${Math.round(counts.ours / turns / 5)} calls/s, bare SDK ${Math.round(counts.echo / turns / 5)}, ` +
      `ratio ${ratio.toFixed(2)} (of the rounds: ${ratios.map((one) => one.toFixed(2)).join(" ")}); ${told(heaps)}\n`,
  );
  expect(faults.slice(0, 3)).toEqual([]);
  expect.soft(gainOf(heaps)).toBeLessThan(gainMax);
  expect.soft(ratio).toBeGreaterThanOrEqual(0.8);
  await Promise.all([echo.close(), ours.close()]);
});

/** What a straight line through the second half of the looks gains from its first to its last: no single look decides. */
function gainOf(heaps: readonly number[]): number {
  const half = heaps.slice(Math.floor(heaps.length / 2));
  const center = (half.length - 1) / 2;
  const mean = half.reduce((sum, heap) => sum + heap, 0) / half.length;
  const covariance = half.reduce((sum, heap, at) => sum + (at - center) * (heap - mean), 0);
  const variance = half.reduce((sum, _, at) => sum + (at - center) ** 2, 0);
  return variance === 0 ? 0 : (covariance / variance) * (half.length - 1);
}

const middleOf = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const told = (heaps: readonly number[]): string =>
  `heap ${heaps.map((heap) => (heap / megabyte).toFixed(2)).join(" ")} MB, ` +
  `gain of the second half ${(gainOf(heaps) / megabyte).toFixed(2)} MB`;
