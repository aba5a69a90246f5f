/** Undo, redo and rewind over several sessions that work in the same files, compared with a plain model. */

import * as fs from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { workspace } from "../support/workspace.ts";
import { type Desk, openWorkspace } from "./desk.ts";

const { path: place } = workspace({});
const ids = ["one", "two", "three"] as const;
type Id = (typeof ids)[number];
type Tree = Readonly<Record<string, string>>;

interface Scene {
  readonly desks: Readonly<Record<Id, Desk>>;
  /** A person who looks at these sessions, in a process of its own as each command is. */
  readonly person: (...sessions: readonly Id[]) => Desk["session"];
  readonly tree: () => Tree;
}

let scenes = 0;
function scene(): Scene {
  scenes += 1;
  const top = place(`scene-${scenes}`);
  const desks = Object.fromEntries(ids.map((id) => [id, openWorkspace(top, { id })])) as Scene["desks"]; // one for each
  const person: Scene["person"] = (...sessions) =>
    openWorkspace(top, {}).filehand.session({ dialect: "opencode", id: "person", over: { sessions } });
  const tree = (): Tree =>
    Object.fromEntries(fs.readdirSync(`${top}/work`).map((name) => [name, desks.one.read(name).trim()]));
  return { desks, person, tree };
}

const isEmpty = (error: unknown): boolean => (error as { readonly code?: unknown }).code === "NO_TURN";

describe("over all sessions, as if one had made the changes", () => {
  type Step =
    | { readonly does: "write"; readonly id: Id; readonly name: string }
    | { readonly does: "undo" }
    | { readonly does: "redo" }
    | { readonly does: "rewind"; readonly back: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        does: fc.constant("write" as const),
        id: fc.constantFrom(...ids),
        name: fc.constantFrom("a", "b", "c"),
      }),
    },
    { weight: 4, arbitrary: fc.constantFrom<Step>({ does: "undo" }, { does: "redo" }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("rewind" as const), back: fc.nat(4) }) },
  );

  test("random changes, undos, redos and rewinds", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
        const { desks, person, tree } = scene();
        interface Taken {
          readonly tree: Tree;
          readonly done: readonly Change[];
        }
        interface Change {
          readonly turn: string;
          readonly before: Tree;
        }
        let done: readonly Change[] = [];
        let redo: readonly Taken[] = [];
        for (const [at, one] of steps.entries()) {
          const before = tree();
          switch (one.does) {
            case "write": {
              await desks[one.id].write(one.name, `${at}\n`);
              const turns = await person(...ids).history();
              done = [...done, { turn: turns?.snapshots().at(-1)?.messageId ?? "", before }];
              redo = [];
              expect(tree()).toEqual({ ...before, [one.name]: String(at) });
              break;
            }
            case "undo":
            case "rewind": {
              const to = done.at(one.does === "undo" ? -1 : -1 - (one.back % Math.max(1, done.length)));
              const session = person(...ids);
              if (to === undefined) {
                await expect(session.undo()).rejects.toSatisfy(isEmpty);
                break;
              }
              const { files } = await (one.does === "undo" ? session.undo() : session.rewind(to.turn));
              expect(files.map(({ came }) => came)).not.toContain("left");
              redo = [...redo, { tree: before, done }];
              done = done.slice(0, done.indexOf(to));
              expect(tree()).toEqual(to.before);
              break;
            }
            case "redo": {
              const last = redo.at(-1);
              if (last === undefined) {
                await expect(person(...ids).redo()).rejects.toSatisfy(isEmpty);
                break;
              }
              await person(...ids).redo();
              redo = redo.slice(0, -1);
              done = last.done;
              expect(tree()).toEqual(last.tree);
              break;
            }
          }
          const targets = (await person(...ids).history())?.undoTargets();
          expect(targets?.undo).toEqual(done.map(({ turn }) => turn).toReversed());
          expect(targets?.redo).toHaveLength(redo.length);
        }
        // Back to the beginning, and to the end again.
        const [end, count] = [tree(), done.length];
        for (let n = 0; n < count; n += 1) await person(...ids).undo();
        expect(tree()).toEqual({});
        for (let n = 0; n < count; n += 1) await person(...ids).redo();
        expect(tree()).toEqual(end);
      }),
      { numRuns: 40 },
    );
  });
});

describe("over some sessions, each with its own files", () => {
  const some = fc.subarray([...ids], { minLength: 1 });
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ does: fc.constant("write" as const), id: fc.constantFrom(...ids) }) },
    { weight: 3, arbitrary: fc.record({ does: fc.constantFrom("undo" as const, "redo" as const), some }) },
  );

  test("random changes, and undos and redos of any of them", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
        const { desks, person, tree } = scene();
        /** For each session: the values of its file from the beginning, and those that were undone, the last undone at the end. */
        const done = new Map<Id, { readonly at: number; readonly before: string | undefined }[]>();
        const undone = new Map<Id, { readonly at: number; readonly value: string }[]>();
        const changedAt = new Map<Id, number>();
        const now: Record<string, string | undefined> = {};
        const newestOf = <One extends { readonly at: number }>(list: readonly (readonly [Id, One])[]) =>
          list.toSorted(([, a], [, b]) => b.at - a.at)[0];
        const writtenAt = new Map<Id, number[]>();
        for (const [at, one] of steps.entries()) {
          if (one.does === "write") {
            const { id } = one;
            await desks[id].write(id, `${at}\n`);
            done.set(id, [...(done.get(id) ?? []), { at, before: now[id] }]);
            writtenAt.set(id, [...(writtenAt.get(id) ?? []), at]);
            undone.set(id, []);
            changedAt.set(id, at);
            now[id] = String(at);
          } else if (one.does === "undo") {
            const newest = newestOf(one.some.flatMap((id) => (done.get(id) ?? []).map((turn) => [id, turn] as const)));
            if (newest === undefined) await expect(person(...one.some).undo()).rejects.toSatisfy(isEmpty);
            else {
              await person(...one.some).undo();
              const [id, turn] = newest;
              done.set(id, (done.get(id) ?? []).slice(0, -1));
              undone.set(id, [...(undone.get(id) ?? []), { at, value: now[id] ?? "" }]);
              now[id] = turn.before;
            }
          } else {
            const since = Math.max(-1, ...one.some.map((id) => changedAt.get(id) ?? -1));
            const newest = newestOf(
              one.some.flatMap((id) => (undone.get(id) ?? []).slice(-1).map((turn) => [id, turn] as const)),
            );
            if (newest === undefined || newest[1].at < since)
              await expect(person(...one.some).redo()).rejects.toSatisfy(isEmpty);
            else {
              await person(...one.some).redo();
              const [id, { value }] = newest;
              undone.set(id, (undone.get(id) ?? []).slice(0, -1));
              const written = writtenAt.get(id) ?? [];
              done.set(id, [
                ...(done.get(id) ?? []),
                { at: written[(done.get(id) ?? []).length] ?? -1, before: now[id] },
              ]);
              now[id] = value;
            }
          }
          expect(tree()).toEqual(Object.fromEntries(Object.entries(now).filter(([, value]) => value !== undefined)));
        }
      }),
      { numRuns: 40 },
    );
  });
});
