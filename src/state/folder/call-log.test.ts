import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LoggedCall, LogFilter, LogRecord } from "../../contract/call-log.ts";
import type { CallEvent } from "../../contract/event.ts";
import { createCallLog } from "./call-log.ts";
import { backwardLines, decodeLine, encodeBatch } from "./call-log-format.ts";
import { openQuestions, readCallLog } from "./call-log-reader.ts";

let state: string;
beforeEach(() => void (state = fs.mkdtempSync(join(tmpdir(), "filehand-log-"))));
afterEach(() => fs.rmSync(state, { recursive: true, force: true }));

const folder = (): string => join(state, "calls");
const files = (): readonly string[] => fs.readdirSync(folder()).toSorted();

const event = (part: Partial<CallEvent> = {}): CallEvent => ({
  type: "call",
  id: 1,
  session: "s1",
  principal: null,
  client: "Claude Code",
  dialect: "claude",
  tool: "Read",
  verb: "read",
  path: "a.txt",
  real: "/w/a.txt",
  pattern: "never kept",
  range: { of: "lines", from: 1, to: 3, total: 3 },
  outcome: "ok",
  reason: "text",
  startedMs: 1_800_000_000_000,
  elapsedMs: 1.25,
  tokensGiven: 10,
  tokensSaved: 0,
  changes: [],
  changesTotal: 0,
  dryRun: false,
  turn: null,
  ...part,
});

const logged = (part: Partial<LoggedCall> = {}): LoggedCall => ({
  type: "call",
  roots: ["/w"],
  pid: 1,
  session: "s1",
  sessionMs: 1_800_000_000_000,
  principal: null,
  client: null,
  dialect: "claude",
  tool: "Read",
  verb: "read",
  path: "/w/a.txt",
  hidden: false,
  outcome: "ok",
  reason: null,
  range: null,
  startedMs: 1_800_000_000_000,
  elapsedMs: 1,
  tokensGiven: 1,
  tokensSaved: 0,
  changes: [],
  changesTotal: 0,
  dryRun: false,
  turn: null,
  ...part,
});

const open = (options: Partial<Parameters<typeof createCallLog>[0]> = {}) =>
  createCallLog({ stateDir: state, roots: ["/w"], mayName: () => true, ...options });
const all = async (filter: LogFilter = {}): Promise<readonly LoggedCall[]> =>
  (await readCallLog(state, { max: 1_000_000, filter })).calls;

/** All records of these bytes, as a reader finds them from the end. */
function decoded(bytes: Buffer, chunkBytes = 7): readonly ReturnType<typeof decodeLine>[] {
  const lines = backwardLines(bytes.length);
  const found: ReturnType<typeof decodeLine>[] = [];
  for (let at = bytes.length; at > 0; ) {
    const low = Math.max(0, at - chunkBytes);
    for (const { text, to, isLast } of lines.feed(bytes.subarray(low, at), low)) {
      found.push(text === undefined ? "damaged" : decodeLine(text, to, isLast));
    }
    at = low;
  }
  return found;
}

describe("the format", () => {
  const full: readonly LogRecord[] = [
    logged(),
    logged({
      session: "ü\n\u2028\u0000\ud800x",
      principal: "me",
      client: "Claude Code",
      path: '/w/\u001b[31m"\n',
      hidden: true,
      tool: null,
      verb: null,
      outcome: "NOT_FOUND",
      reason: "missing",
      range: { of: "pages", from: 2, to: null, total: 9 },
      changes: [{ path: "/w/b", did: "moved", movedFrom: "/w/c", additions: 3, deletions: 0 }],
      changesTotal: 2,
      dryRun: true,
      turn: "t1",
    }),
    { type: "answer", pid: 4, id: "1-2-3.x.1", timeMs: 5 },
    { type: "gap", pid: 4, count: 7, timeMs: 5 },
    {
      type: "question",
      roots: ["/w", "/v"],
      pid: 4,
      session: "s",
      sessionMs: 9,
      principal: null,
      client: null,
      id: "1-2-3.x.1",
      permission: "edit",
      path: "/w/a",
      hidden: false,
      timeMs: 5,
      untilMs: null,
    },
  ];

  test("what is written is read, from the end, whatever the size of the chunks", () => {
    const bytes = encodeBatch(full);
    for (const chunkBytes of [1, 2, 7, 64, 100_000]) {
      expect(decoded(bytes, chunkBytes)).toEqual(full.toReversed());
    }
  });

  const [one, two] = [encodeBatch([logged({ path: "/w/one" })]), encodeBatch([logged({ path: "/w/two" })])];
  const changed = Buffer.from(two.toString().replace("two", "tvo"));
  for (const [what, bytes, expected] of [
    ["a line that was cut short at the end is skipped", Buffer.concat([one, two.subarray(0, 40)]), ["torn", "/w/one"]],
    ["only its newline is missing, so it counts", Buffer.concat([one, two.subarray(0, -1)]), ["/w/two", "/w/one"]],
    ["one letter of it was changed", Buffer.concat([changed, one]), ["/w/one", "damaged"]],
    [
      "a batch after a line that was cut short is whole",
      Buffer.concat([two.subarray(0, 40), one]),
      ["/w/one", "damaged"],
    ],
    [
      "a line that was cut short at the end of a page was never acknowledged",
      Buffer.concat([Buffer.alloc(4_096 - 40, "\n"), two.subarray(1, 41), one]),
      ["/w/one", "torn"],
    ],
    ["zeros of a power cut are damage", Buffer.concat([one, Buffer.alloc(64), one]), ["/w/one", "damaged", "/w/one"]],
    ["not even text", Buffer.concat([one, Buffer.from([255, 254, 10]), one]), ["/w/one", "damaged", "/w/one"]],
    ["empty lines", Buffer.from("\n\n\n"), []],
    ["a line that is longer than any record", Buffer.concat([Buffer.alloc(70_000, "x"), one]), ["/w/one", "damaged"]],
  ] as const) {
    test(what, () => {
      const found = decoded(bytes, 1_000).map((line) =>
        typeof line === "object" && "path" in line ? line.path : line,
      );
      expect(found).toEqual(expected);
    });
  }

  test("a record of another version is damage, not a wrong record", () => {
    for (const strange of [{ type: "future" }, { type: "call" }, { type: "call", roots: "x" }, 5]) {
      const batch = encodeBatch([strange as unknown as LogRecord]);
      expect(decoded(batch)).toEqual(["damaged"]);
    }
  });

  test("a record stays below its limit, and keeps the number of its changes", () => {
    const changes = Array.from({ length: 50 }, (_, at) => ({
      path: `/w/${"ü".repeat(4_000)}${at}`,
      did: "updated" as const,
      movedFrom: null,
      additions: 1,
      deletions: 1,
    }));
    const bytes = encodeBatch([logged({ changes, changesTotal: 50 })]);
    expect(bytes.length).toBeLessThanOrEqual(65_537);
    expect(decoded(bytes, 4_096)).toMatchObject([{ changesTotal: 50 }]);
  });
});

describe("the files", () => {
  test("a call is found again, without its pattern, and only its owner can read the file", async () => {
    const log = open();
    log.call(event(), "/w/link.txt", 1_799_999_999_000);
    await log.flush();
    const [call] = await all();
    expect(call).toEqual(
      logged({
        pid: process.pid,
        client: "Claude Code",
        sessionMs: 1_799_999_999_000,
        reason: "text",
        range: event().range,
        elapsedMs: 1.3,
        tokensGiven: 10,
      }),
    );
    const [name = ""] = files();
    expect(fs.readFileSync(join(folder(), name), "utf8")).not.toContain("never kept");
    expect(fs.statSync(join(folder(), name)).mode & 0o777).toBe(0o600);
    expect(fs.statSync(folder()).mode & 0o777).toBe(0o700);
  });

  test("names that a rule hides are not written, nor the names of tools that do not exist", async () => {
    const log = open({ mayName: (path) => !path.includes("secret") });
    log.call(event({ outcome: "ACCESS_DENIED", real: null }), "/w/secret.txt", 1);
    log.call(event({ outcome: "ACCESS_DENIED", real: "/w/secret-2.txt" }), "/w/link", 1);
    log.call(event({ outcome: "NOT_FOUND", real: "/w/x" }), "/w/secret-3.txt", 1);
    log.call(event({ verb: null, tool: "secret tool", outcome: "UNKNOWN_TOOL" as CallEvent["outcome"] }), null, 1);
    const change = { did: "moved", additions: 0, deletions: 0 } as const;
    const changes = [
      { ...change, path: "/w/secret-4.txt", relative: "secret-4.txt", movedFrom: null },
      { ...change, path: "/w/fine", relative: "fine", movedFrom: "secret-5.txt" },
      { ...change, path: "/w/good", relative: "good", movedFrom: "better" },
    ];
    log.call(event({ changes, changesTotal: 3, path: null, real: null }), null, 1);
    const about = { always: [], keep: [], metadata: { path: "secret" } };
    log.question(
      { permission: "edit", patterns: ["/w/secret-6"], ...about },
      { session: "s", sessionMs: 1, principal: null, client: null },
    );
    await log.flush();
    const text = files()
      .map((name) => fs.readFileSync(join(folder(), name), "utf8"))
      .join("");
    expect(text).not.toContain("secret");
    expect((await all()).map(({ path, hidden, changes: some }) => [path, hidden, some.map((one) => one.path)])).toEqual(
      [
        [null, true, ["/w/good"]],
        ["/w/a.txt", false, []],
        [null, true, []],
        [null, true, []],
        [null, true, []],
      ],
    );
    expect((await openQuestions(state, ["/w"]))[0]).toMatchObject({ path: null, hidden: true });
  });

  test("old files go when there are too many bytes, or too many days", async () => {
    const bytesMax = 200_000;
    let now = Date.parse("2026-03-01T10:00:00Z");
    const log = open({ bytesMax, ageMsMax: 3 * 86_400_000, nowMs: () => now });
    for (let n = 0; n < 3_000; n += 1) {
      log.call(event({ session: `s${n}`, startedMs: now + n }), null, 1);
      if (n % 100 === 0) await log.flush();
    }
    await log.flush();
    const sizes = files().map((name) => fs.statSync(join(folder(), name)).size);
    const sum = sizes.reduce((a, b) => a + b, 0);
    expect(sum).toBeLessThanOrEqual(bytesMax * 1.5);
    expect(sum).toBeGreaterThan(bytesMax / 2);
    const kept = await all();
    expect(kept[0]?.session).toBe("s2999");
    expect(kept.map(({ session }) => Number(session.slice(1)))).toEqual(
      Array.from({ length: kept.length }, (_, at) => 2_999 - at),
    );
    for (let day = 2; day <= 6; day += 1) {
      now = Date.parse(`2026-03-0${day}T00:00:00Z`);
      log.call(event({ startedMs: now }), null, 1);
      await log.flush();
    }
    expect(files().map((name) => name.slice(0, 10))).toEqual(["2026-03-03", "2026-03-04", "2026-03-05", "2026-03-06"]);
  });

  test("several writers share the files and lose nothing", async () => {
    const logs = Array.from({ length: 5 }, () => open({ bytesMax: 8_000_000 }));
    for (let n = 0; n < 400; n += 1) {
      for (const [at, log] of logs.entries()) log.call(event({ session: `${at}`, tokensGiven: n }), null, 1);
      if (n % 37 === 0) await Promise.all(logs.map((log) => log.flush()));
    }
    await Promise.all(logs.map((log) => log.flush()));
    const calls = await all();
    for (const at of logs.keys()) {
      const own = calls.filter(({ session }) => session === `${at}`).map(({ tokensGiven }) => tokensGiven);
      expect(own).toEqual(Array.from({ length: 400 }, (_, n) => 399 - n));
    }
  });

  test("a state folder that cannot be written costs no call, and the gap is recorded later", async () => {
    let now = 1_800_000_000_000;
    fs.writeFileSync(folder(), "in the way");
    const log = open({ nowMs: () => now });
    log.call(event(), null, 1);
    await log.flush();
    fs.rmSync(folder());
    log.call(event(), null, 1);
    await log.flush(); // too early for another try
    now += 31_000;
    log.call(event({ session: "later" }), null, 1);
    await log.flush();
    const page = await readCallLog(state, { max: 10 });
    expect([page.calls.map(({ session }) => session), page.lost]).toEqual([["later"], 2]);
  });

  test("a folder that was removed is made again", async () => {
    const log = open();
    log.call(event(), null, 1);
    await log.flush();
    fs.rmSync(folder(), { recursive: true });
    log.call(event(), null, 1);
    await log.flush();
    log.call(event(), null, 1);
    await log.flush();
    expect((await all()).length).toBe(2);
  });

  test("without a log there is nothing, and a log of other things is no error", async () => {
    const nothing = { calls: [], next: null, end: null, damaged: 0, lost: 0 };
    expect(await readCallLog(state, { max: 10 })).toEqual(nothing);
    fs.mkdirSync(join(folder(), "2026-01-01.0001.jsonl"), { recursive: true });
    fs.symlinkSync("/etc/passwd", join(folder(), "2026-01-02.0001.jsonl"));
    fs.writeFileSync(join(folder(), "notes.txt"), "x");
    expect(await readCallLog(state, { max: 10 })).toMatchObject({ calls: [], damaged: 0, next: null });
  });
});

describe("pages", () => {
  test("a random log, read in random pages, is the list of its calls", async () => {
    let seed = 42;
    const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
    for (let round = 0; round < 12; round += 1) {
      fs.rmSync(folder(), { recursive: true, force: true });
      fs.mkdirSync(folder());
      const model: LoggedCall[] = [];
      let damage = 0;
      for (let file = 1; file <= 1 + random(4); file += 1) {
        const parts: Buffer[] = [];
        for (let batch = 0; batch < random(30); batch += 1) {
          const some = Array.from({ length: random(40) }, (_, n) =>
            logged({
              session: `s${random(3)}`,
              client: ["Claude Code", "Codex", null][random(3)] ?? null,
              path: `/w/${"d/".repeat(random(3))}${random(4)}-${"n".repeat(random(600))}`,
              outcome: random(3) === 0 ? "NOT_FOUND" : "ok",
              startedMs: 1_800_000_000_000 + model.length + n,
            }),
          );
          model.push(...some);
          parts.push(encodeBatch(some));
          if (random(10) !== 0) continue;
          parts.push(Buffer.from("\nthis is damaged\n"));
          damage += 1;
        }
        fs.writeFileSync(join(folder(), `2026-01-0${file}.0001.jsonl`), Buffer.concat(parts));
      }
      for (const filter of [
        {},
        { session: "s1" },
        { failed: true },
        { client: "claude" },
        { path: "/w/d" },
        { pathPart: "-NNN" },
        { sinceMs: 1_800_000_000_000 + random(model.length + 1) },
        { roots: ["/elsewhere"] },
        { roots: ["/w/d"] },
      ] satisfies LogFilter[]) {
        const expected = model.filter((call) => matchesModel(call, filter)).toReversed();
        const found: LoggedCall[] = [];
        let [before, damaged]: [string | undefined, number] = [undefined, 0];
        for (let pages = 0; pages < 10_000; pages += 1) {
          const page = await readCallLog(state, { filter, before, max: 1 + random(50), bytesMax: 1 + random(200_000) });
          found.push(...page.calls);
          damaged += page.damaged;
          if (page.next === null) break;
          before = page.next;
        }
        expect(found).toEqual(expected);
        if (filter.sinceMs === undefined) expect(damaged).toBeGreaterThanOrEqual(damage);
      }
    }
  });

  function matchesModel(call: LoggedCall, filter: LogFilter): boolean {
    return (
      (filter.session === undefined || call.session === filter.session) &&
      (filter.failed !== true || call.outcome !== "ok") &&
      (filter.client === undefined || call.client === "Claude Code") &&
      (filter.path === undefined || call.path?.startsWith(`${filter.path}/`) === true) &&
      (filter.pathPart === undefined || call.path?.includes(filter.pathPart.toLowerCase()) === true) &&
      (filter.sinceMs === undefined || call.startedMs >= filter.sinceMs) &&
      filter.roots?.[0] !== "/elsewhere"
    );
  }

  test("what came after a place is found, once", async () => {
    const log = open({ bytesMax: 1_000_000 });
    const seen: number[] = [];
    let after: string | undefined;
    for (let n = 0; n < 1_500; n += 1) {
      log.call(event({ tokensGiven: n }), null, 1);
      if (n % 250 !== 0) continue;
      await log.flush();
      const page = await readCallLog(state, { max: 10_000, after });
      seen.push(...page.calls.map(({ tokensGiven }) => tokensGiven).toReversed());
      after = page.end ?? undefined;
    }
    expect(seen).toEqual(Array.from({ length: 1_251 }, (_, n) => n));
  });

  test("places that do not exist find nothing more, and never fail", async () => {
    const log = open();
    log.call(event(), null, 1);
    await log.flush();
    for (const before of ["2020-01-01.0001.jsonl:5", "../x:1", "", "2020-01-01.0001.jsonl:999999999999999"]) {
      expect((await readCallLog(state, { max: 1, before })).calls).toEqual([]);
    }
    const [name = ""] = files();
    expect((await readCallLog(state, { max: 1, before: `${name}:999999999999999` })).calls.length).toBe(1);
  });
});

describe("questions", () => {
  const question = { permission: "edit", patterns: ["/w/a"], always: [], keep: [], metadata: {} } as const;
  const from = { session: "s", sessionMs: 1, principal: null, client: "Codex" };

  test("a question is open until it is answered", async () => {
    const log = open();
    const asked = log.question(question, from);
    await log.flush();
    expect(await openQuestions(state, ["/w"])).toMatchObject([{ path: "/w/a", client: "Codex", permission: "edit" }]);
    expect(await openQuestions(state, ["/other"])).toEqual([]);
    asked.answered();
    await log.flush();
    expect(await openQuestions(state, ["/w"])).toEqual([]);
  });

  test("one that is answered at once is not written", async () => {
    const log = open();
    log.question(question, from).answered();
    await log.flush();
    expect(fs.existsSync(folder())).toBe(false);
  });

  test("one whose call left is open until the call comes back, or its time is over", async () => {
    const log = open();
    log.question(question, from).left(2_000_000_000_000);
    await log.flush();
    expect((await openQuestions(state, ["/w"], 1_999_999_999_999)).length).toBe(1);
    expect((await openQuestions(state, ["/w"], 2_000_000_000_001)).length).toBe(0);
    log.question(question, from).answered();
    await log.flush();
    expect(await openQuestions(state, ["/w"], 1_999_999_999_999)).toEqual([]);
  });

  test("one of a process that is gone is not open", async () => {
    const log = open();
    log.question(question, from);
    await log.flush();
    const [name = ""] = files();
    const path = join(folder(), name);
    const [, json = ""] = /^[0-9a-f]{8} (.*)$/m.exec(fs.readFileSync(path, "utf8")) ?? [];
    const record = JSON.parse(json) as { readonly id: string };
    const dead = { ...record, hidden: false, untilMs: null, id: record.id.replace(/^\d+-\d+/, "4194303-1") };
    fs.writeFileSync(path, encodeBatch([dead as unknown as LogRecord]));
    expect(await openQuestions(state, ["/w"])).toEqual([]);
  });
});
