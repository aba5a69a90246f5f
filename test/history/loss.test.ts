/** What cannot be kept is not taken away unless somebody says so, and the answer tells it. */

import { deepEqual, doesNotMatch, equal, match } from "node:assert/strict";
import { describe, test } from "vitest";
import { rewindAnswer } from "../../src/dialects/rewind-text.ts";
import { plainNames } from "../../src/dialects/words.ts";
import type { RewindOutcome } from "../../src/index.ts";
import { onLinux, workspace } from "../support/workspace.ts";
import { type DeskOptions, openWorkspace, rewindTwice, told, whileFull } from "./desk.ts";

const { path: place } = workspace({});
let desks = 0;
const desk = (options: DeskOptions = {}) => openWorkspace(place(`desk-${(desks += 1)}`), options);
const said = (outcome: RewindOutcome): string => rewindAnswer(outcome, ({ code }) => code, plainNames).text;
const large = "0123456789\n".repeat(2_000);

describe.skipIf(!onLinux)("a rewind while the store cannot be written", () => {
  const twice = async () => {
    const d = desk();
    await d.write("a.txt", "one\n");
    await d.write("a.txt", "two\n");
    await d.write("b.txt", "b\n");
    return d;
  };

  test("leaves files that it would overwrite or delete, and is no turn", async () => {
    const d = await twice();
    const outcome = await whileFull(d.stateDir, () => d.session.rewind("start"));
    deepEqual(told(outcome), {
      "a.txt": "conflict (cannot be kept): left",
      "b.txt": "conflict (cannot be kept): left",
    });
    match(
      said(outcome),
      /left as it is: "a\.txt" \(what is there cannot be kept, so it would be lost; force .*: Cannot/,
    );
    equal(outcome.turn, undefined);
    deepEqual([d.read("a.txt"), d.read("b.txt")], ["two\n", "b\n"]);
    deepEqual(told(await d.session.undo()), { "b.txt": "delete: done" });
  });

  test("with force says of each file that it cannot be undone, and names no turn that does not exist", async () => {
    const d = await twice();
    d.stranger("a.txt", "what nobody else has\n");
    const outcome = await whileFull(d.stateDir, () => d.session.rewind("start", { force: true }));
    match(said(outcome), /deleted: "a\.txt" \(what was there cannot be kept, so this cannot be taken back: Cannot/);
    deepEqual([outcome.turn, d.tree()], [undefined, {}]);
  });

  test("restores missing files, since that loses nothing", async () => {
    const d = desk();
    d.stranger("a.txt", "a\n");
    await d.patch("*** Delete File: a.txt");
    const outcome = await whileFull(d.stateDir, () => d.session.undo());
    deepEqual([told(outcome), outcome.turn], [{ "a.txt": "create: done" }, undefined]);
  });

  test("a new file is not said to have had an old content", async () => {
    const d = desk();
    const answer = await whileFull(d.stateDir, () => d.write("new.txt", "new\n"));
    doesNotMatch(answer, /old content/);
    match(answer, /could not be recorded in the history, so undo does not know of it: Cannot store/);
  });
});

describe("a file larger than the history stores", () => {
  const filled = async () => {
    const d = desk({ historyTools: true, history: { bytesMax: 20_000 } });
    d.stranger("a.txt", "small\n");
    await d.session.checkpoint("m1");
    await d.write("a.txt", large);
    return d;
  };

  test("is not overwritten by a rewind, as the dry run says", async () => {
    const d = await filled();
    const { dry, real } = await rewindTwice(d, "m1");
    deepEqual([dry, real], [real, { "a.txt": "conflict (too large to keep): left" }]);
    equal(d.read("a.txt"), large);
  });

  test("is overwritten with force, and the reply offers no way to undo that", async () => {
    const d = await filled();
    const rewound = async (input: object): Promise<string> => {
      const { content } = await d.session.call("rewind", { turn: "m1", ...input });
      return content.map((part) => (part.type === "text" ? part.text : "")).join("");
    };
    match(await rewound({}), /with force it is lost for good, so ask the user/);
    match(await rewound({ force: true, dryRun: true }), /would be restored: "a\.txt" \(what is there is too large/);
    const answer = await rewound({ force: true });
    match(answer, /restored: "a\.txt" \(what was there is too large to be kept, so this cannot be taken back\)/);
    doesNotMatch(answer, /To take this back/);
    equal(d.read("a.txt"), "small\n");
  });

  test("a change of it says that it cannot be undone", async () => {
    const d = await filled();
    match(
      await d.write("a.txt", "x\n"),
      /old content could not be kept, so this change cannot be undone: it is larger/,
    );
  });
});

test("a file that a rule denies by now is not deleted, since it would not be stored", async () => {
  const d = desk();
  await d.session.checkpoint("m1");
  await d.write("a.txt", "one\n");
  const denied = openWorkspace(d.top, { permissions: { deny: ["Read(a.txt)"] } });
  deepEqual(told(await denied.session.rewind("m1")), { "a.txt": "conflict (never stored): left" });
});
