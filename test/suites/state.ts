/** What every form of state must do: files in a folder, and a database. */

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { createHash, generateKeyPairSync } from "node:crypto";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { checkAudit, signerWith } from "../../src/state/audit-chain.ts";
import type { AuditEntry } from "../../src/contract/state.ts";
import type { Tokens, WorkspaceState } from "../../src/state/ports.ts";
import { makeBed } from "../history/bed.ts";

export interface StateForm {
  readonly name: string;
  /** A new, empty state; `again` opens the same one as another process would. */
  readonly open: (signingKey?: string) => Promise<{
    readonly state: Omit<WorkspaceState, "approvals">;
    readonly tokens: Tokens;
    readonly again: () => Promise<{ readonly state: Omit<WorkspaceState, "approvals">; readonly tokens: Tokens }>;
  }>;
  /** A place for files of the test. */
  readonly place: (name: string) => string;
}

let count = 0;
const entry = (path: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  timeMs: 1_000,
  principal: "token-1",
  session: "one",
  tool: "Edit",
  path,
  before: "a".repeat(64),
  after: null,
  allowedBy: "rule Edit(**)",
  ...more,
});

export function stateSuite({ name, open, place }: StateForm): void {
  const bedPlace = (): string => place(`bed-${(count += 1)}`);
  describe(`state in ${name}`, () => {
    test("keeps, lists, prunes, collects and goes back", async () => {
      const { state } = await open();
      const { at, history, session, turn, write, remove, rewind, tree } = makeBed(bedPlace(), {
        store: state.history,
        snapshotsMax: 3,
      });
      fs.writeFileSync(at("a"), "0");
      const before = tree();
      for (const n of [1, 2, 3, 4, 5]) {
        await turn(`m${n}`);
        await write("a", `${n}`.repeat(n));
        await write(`new-${n}`, "x");
      }
      await remove("new-1");
      await session.refresh();
      deepEqual(
        session.snapshots().map(({ messageId }) => messageId),
        ["m3", "m4", "m5"],
      );
      deepEqual(await session.diffStats("m4"), { insertions: 2, deletions: 1, filesChanged: 2, uncounted: 0 });
      const { contents } = await history.usage();
      for (const graceMs of [0, 0]) ok((await history.gc({ graceMs })) !== "not due");
      ok((await history.usage()).contents < contents, "what only pruned turns needed is gone");
      deepEqual((await history.verify()).faults, []);
      await rewind("m4", { id: "r1" });
      equal(tree()["a"], "644 333");
      await rewind("start", { id: "r2" });
      deepEqual(tree(), before);
    });

    test("another process sees the turns, reads the contents and takes them back", async () => {
      const { state, again } = await open();
      const top = bedPlace();
      const first = makeBed(top, { store: state.history });
      fs.writeFileSync(first.at("a"), "old");
      await first.turn("m1");
      await first.write("a", "new");
      await first.write("large", "x".repeat(1_500_000));
      await first.write("large", "y");
      const second = makeBed(top, { store: (await again()).state.history });
      await second.history.refresh();
      deepEqual(
        second.history.sessions().map(({ id, dialect }) => [id, dialect]),
        [["one", "claude"]],
      );
      await second.session.refresh();
      deepEqual(
        second.session.turns().map(({ messageId, files }) => [messageId, files.map(({ relative }) => relative)]),
        [["m1", ["a", "large"]]],
      );
      await second.rewind("m1", { id: "r1" });
      deepEqual(second.tree(), { a: "644 old" });
      await first.session.refresh();
      deepEqual(first.session.undoTargets().redo, ["r1"], "the first process sees that it was taken back");
    });

    test("a journal that another process shortened is read anew", async () => {
      const { state, again } = await open();
      const top = bedPlace();
      const first = makeBed(top, { store: state.history });
      for (const n of [1, 2, 3, 4]) {
        await first.turn(`m${n}`);
        await first.write("a", String(n));
      }
      await first.session.refresh();
      const second = makeBed(top, { store: (await again()).state.history, snapshotsMax: 2 });
      await second.session.tidy();
      await first.session.refresh();
      deepEqual(
        first.session.snapshots().map(({ messageId }) => messageId),
        ["m3", "m4"],
      );
      await first.turn("m5");
      await first.write("a", "5");
      await second.session.refresh();
      equal(second.session.snapshots().at(-1)?.messageId, "m5");
    });

    test("changes of many sessions at once are all recorded, each in its order", async () => {
      const { state, again } = await open();
      const top = bedPlace();
      const beds = Array.from({ length: 8 }, (_, n) => makeBed(top, { store: state.history, sessionId: `s${n}` }));
      await Promise.all(
        beds.map(async ({ turn, write }, n) => {
          for (let at = 0; at < 10; at += 1) {
            await turn(`m${at}`);
            await write(`file-${n}`, `${n} ${at}`);
          }
        }),
      );
      const { history } = (await again()).state;
      for (let n = 0; n < 8; n += 1) {
        await history.refresh?.(`s${n}`);
        const turns = history
          .records(`s${n}`)
          .entries.flatMap(({ record }) => (record.type === "change" ? [record] : []));
        deepEqual(
          turns.map(({ messageId }) => messageId),
          Array.from({ length: 10 }, (_, at) => `m${at}`),
        );
      }
    });

    test("a session goes on elsewhere, and two that save at once notice it", async () => {
      const { state, again } = await open();
      const other = (await again()).state.sessions;
      const { sessions } = state;
      equal(await sessions.load("s", 0), undefined);
      const [a, b] = [place("a"), place("b")];
      equal(await sessions.save("s", { mode: "plan", rules: ["Edit(a)"], files: new Map([[a, { x: 1 }]]) }, 0), 1);
      const { savedMs = 0, ...saved } = (await other.load("s", 0)) ?? {};
      ok(Math.abs(Date.now() - savedMs) < 60_000);
      deepEqual(saved, {
        version: 1,
        mode: "plan",
        rules: ["Edit(a)"],
        files: new Map([[a, { x: 1 }]]),
      });
      equal(await other.save("s", { mode: undefined, rules: [], files: new Map([[b, { y: "\u0000\ud800" }]]) }, 1), 2);
      equal(await sessions.save("s", { mode: "plan", rules: [], files: new Map() }, 1), "conflict");
      const found = await sessions.load("s", 1);
      deepEqual(
        [found?.version, found?.mode, found?.rules, found?.files.get(b)],
        [2, undefined, [], { y: "\u0000\ud800" }],
      );
      equal(await sessions.save("s", { mode: undefined, rules: [], files: new Map([[a, null]]) }, 2), 3);
      deepEqual([...((await other.load("s", 0))?.files.keys() ?? [])], [b], "a dropped entry is gone");
      equal(await other.load("s", 3), undefined);
    });

    test("the audit is a chain over all processes", async () => {
      const { state, again } = await open();
      const other = (await again()).state.audit;
      await state.audit.append([entry("a"), entry("b")]);
      await Promise.all([state.audit.append([entry("c")]), other.append([entry("d"), entry('"\u0000\u2028é')])]);
      const { faults, entries, hash } = await checkAudit(other);
      deepEqual([faults, entries], [[], 5]);
      deepEqual(await other.head(), { seq: 5, hash });
      const paths: string[] = [];
      for await (const { body } of other.records()) paths.push(JSON.parse(body).path);
      deepEqual(paths.slice(0, 2), ["a", "b"]);
    });

    test("an audit that is signed says who wrote it", async () => {
      const own = generateKeyPairSync("ed25519");
      const key = own.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
      const { state } = await open(key);
      await state.audit.append([entry("a"), entry("b")]);
      const publicKey = own.publicKey.export({ type: "spki", format: "pem" }).toString();
      deepEqual((await checkAudit(state.audit, { publicKey })).faults, []);
      const stranger = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" }).toString();
      deepEqual((await checkAudit(state.audit, { publicKey: stranger })).faults, [
        { fault: "signature", seq: 1 },
        { fault: "signature", seq: 2 },
      ]);
      ok(signerWith(key));
    });

    test("tokens are found by their hash until they are revoked", async () => {
      const { tokens, again } = await open();
      const hash = createHash("sha256").update("secret").digest("hex");
      const token = {
        id: "t1",
        principal: "ci",
        scopes: ["filehand:read"],
        workspaces: ["web"],
        createdMs: 1_000_000,
        expiresMs: 2_000_000,
      };
      await tokens.add(hash, token);
      await tokens.add("0".repeat(64), { ...token, id: "t2", workspaces: [], expiresMs: undefined });
      await rejects(tokens.add("1".repeat(64), token), { name: "StateFailed" });
      const other = (await again()).tokens;
      deepEqual(await other.find(hash), token);
      deepEqual(
        (await other.list()).map(({ id, expiresMs }) => [id, expiresMs]),
        [
          ["t1", 2_000_000],
          ["t2", undefined],
        ],
      );
      equal(await other.find("f".repeat(64)), undefined);
      equal(await other.revoke("t1"), true);
      equal(await tokens.revoke("t1"), false);
      equal(await tokens.find(hash), undefined);
    });

    test("usage is summed over processes", async () => {
      const { state, again } = await open();
      const usage = {
        time: "2026-01-01T00:00:00.000Z",
        dialect: "claude",
        calls: 3,
        failures: 1,
        tokensGiven: 7,
        tokensSaved: 0,
      };
      await state.usage.add(usage);
      const other = (await again()).state.usage;
      await other.add({ ...usage, calls: 4 });
      deepEqual(
        (await state.usage.list()).map(({ calls }) => calls),
        [3, 4],
      );
    });
  });
}
