/** What the answer to a change says of its errors, with a server that does as the test wants. */

import * as fs from "node:fs";
import { expect, test } from "vitest";
import type { Reply } from "../../src/index.ts";
import { bed, patience, words } from "./support.ts";

const kinds = ["push", "unversioned", "pull", "register"] as const;

test.each(kinds)("errors come with the answer, new ones first (%s)", async (diagnostics) => {
  const { write, edit } = bed({ files: {}, fake: { diagnostics } });
  expect(words(await write("a.fake", "one\nerror:old\n"))).toBe(
    'Created "a.fake" (+2 -0).\n1 error in "a.fake":\nnew: 2:1 old is wrong (fake 7)',
  );
  expect(words(await edit("a.fake", "one", "zero\n  error:fresh"))).toBe(
    [
      'Edited "a.fake": 1 replacement at line 1 (+2 -1).',
      '2 errors, 1 of them new, in "a.fake":',
      "new: 2:3 fresh is wrong (fake 7)",
      "known before: 3:1 old is wrong (fake 7)",
    ].join("\n"),
  );
  expect(words(await write("a.fake", "fine\n"))).toBe('Wrote "a.fake" (+1 -3).');
});

test("of a file that no server had seen nobody knows what is new; of one that was read it is known", async () => {
  const files = { "a.fake": "error:old\nx\n", "b.fake": "error:old\nx\n" };
  const { read, edit, session } = bed({ files, fake: {} });
  expect(words(await edit("a.fake", "x", "error:fresh"))).toContain(
    '2 errors in "a.fake":\n1:1 old is wrong (fake 7)\n2:1 fresh is wrong (fake 7)',
  );
  await read("b.fake");
  await session.diagnostics("b.fake", { waitMsMax: patience });
  expect(words(await edit("b.fake", "x", "error:fresh"))).toContain(
    "new: 2:1 fresh is wrong (fake 7)\nknown before: 1:1 old is wrong (fake 7)",
  );
});

test("an error that is said again of another line is new, the one that moved is known", async () => {
  const { write } = bed({ files: {}, fake: { message: "same words" } });
  await write("a.fake", "x error:a\n");
  expect(words(await write("a.fake", "y error:b\n\nx error:a\n"))).toContain(
    "new: 1:3 same words (fake 7)\nknown before: 3:3 same words (fake 7)",
  );
});

/** With versions the old ones come alone for longer than any silence is waited for; without, only an order can be relied on. */
test.each([
  ["push", 400],
  ["unversioned", 30],
] as const)("Y1: what was said of an old text is not shown (%s)", async (diagnostics, delayMs) => {
  const { write } = bed({ files: {}, fake: { diagnostics, staleFirst: true, delayMs } });
  await write("a.fake", "state 0 error:a\n");
  for (const state of [1, 2, 3]) {
    const said = words(await write("a.fake", `state ${state} error:a\n`));
    expect(said).toContain(`a is wrong in state ${state}`);
    expect(said).not.toContain(`state ${state - 1}`);
  }
  expect(words(await write("a.fake", "state 9\n"))).toBe('Wrote "a.fake" (+1 -1).');
});

test.each([
  ["push", patience],
  ["pull", patience],
  ["push", 5],
  ["pull", 5],
] as const)("Y1: of 200 fast edits none is answered with old diagnostics (%s, %i ms)", async (how, waitMsMax) => {
  const fake = { diagnostics: how, staleFirst: true, delayMs: 3 };
  const { write, session } = bed({ files: {}, fake, languages: { waitMsMax } });
  let checked = 0;
  for (let state = 1; state <= 200; state += 1) {
    const text = words(await write("a.fake", `state ${state}x error:a\n`));
    const states = [...text.matchAll(/in state (\d+)x/g)].map(([, one]) => Number(one));
    expect(states.filter((one) => one !== state)).toEqual([]);
    expect(states.length === 1 || text.includes("is not checked yet")).toBe(true);
    checked += states.length;
  }
  if (waitMsMax === patience) expect(checked).toBe(200);
  const last = await session.diagnostics("a.fake", { waitMsMax: patience });
  expect(last?.knownErrors.map(({ message }) => message)).toEqual(["a is wrong in state 200x"]);
});

test.each([
  ["says nothing", { silent: true }],
  ["reads nothing", { deaf: true }],
] as const)("Y2: of a server that %s the answer says that nothing is known yet", async (_, fake) => {
  const { write, text } = bed({ files: {}, fake, languages: { waitMsMax: 30 } });
  const reply = await write("a.fake", "error:a\n");
  expect(reply.isError).toBe(false);
  expect(words(reply)).toBe(
    'Created "a.fake" (+1 -0).\n"a.fake" is not checked yet; what its language server finds comes with a later answer.',
  );
  expect(reply.structured).toMatchObject({ diagnostics: [{ pending: true, errors: [] }] });
  expect(text("a.fake")).toBe("error:a\n");
});

test("Y2: what comes too late comes with a later answer, once", async () => {
  const late = bed({ files: { "b.fake": "x\n" }, fake: { delayMs: 200 }, languages: { waitMsMax: 1 } });
  expect(words(await late.write("a.fake", "error:a\n"))).toContain("not checked yet");
  const answers: Reply[] = [];
  const told = async (): Promise<boolean> => {
    answers.push(await late.read("b.fake"));
    return answers.at(-1)?.late !== undefined;
  };
  await expect.poll(told, { timeout: patience }).toBe(true);
  const answer = answers.at(-1) ?? (await late.read("b.fake"));
  expect(words(answer)).toContain(`1 error in "${late.root}/a.fake":\nnew: 1:1 a is wrong (fake 7)`);
  expect(answer.late).toMatchObject([{ path: `${late.root}/a.fake`, pending: false }]);
  expect((await late.read("b.fake")).late).toBeUndefined();
});

test("Y2: what came too late is not told once somebody else has changed the file", async () => {
  const { root, write, read, session, sent } = bed({
    files: { "b.fake": "x\n" },
    fake: { delayMs: 100 },
    languages: { waitMsMax: 1 },
  });
  await write("a.fake", "state 1 error:a\n");
  fs.writeFileSync(`${root}/a.fake`, "state 2\n");
  await session.diagnostics("b.fake");
  const answers = [await read("b.fake"), await read("b.fake")];
  expect(answers.map(words).join("\n")).not.toContain("state 1");
  expect(sent("textDocument/didOpen").length).toBeGreaterThan(0);
});

test("Y2: a server that crashes leaves the edit alone, is started again, and given up in the end", async () => {
  const { write, log, text } = bed({ files: {}, fake: { crash: "at start" } });
  const first = await write("a.fake", "1\n");
  expect(first.isError).toBe(false);
  expect(words(first)).toContain('The language server "fake" did not check "a.fake": it ended (status 3)');
  const starts = (): number => log().filter(({ started }) => started !== undefined).length;
  await expect
    .poll(
      async () => {
        await write("a.fake", `${Math.random()}\n`);
        return starts();
      },
      { timeout: patience },
    )
    .toBe(2);
  for (const state of [3, 4, 5]) expect((await write("a.fake", `${state}\n`)).isError).toBe(false);
  expect(starts()).toBe(2);
  expect(text("a.fake")).toBe("5\n");
});

test("Y2: one that crashes while it is waited for does not hold up the answer", async () => {
  const { write } = bed({ files: {}, fake: { silent: true, crash: 4 } });
  const reply = await write("a.fake", "1\n");
  expect(reply.isError).toBe(false);
  expect(words(reply)).toContain("did not check");
});

test("Y3: texts are sent with growing versions, then saved; a file that is only read is opened", async () => {
  const { write, edit, read, sent } = bed({ files: { "b.fake": "b\n" }, fake: {} });
  await read("b.fake");
  await write("a.fake", "one\n");
  await edit("a.fake", "one", "two");
  await edit("a.fake", "two", "three");
  await expect.poll(() => sent("textDocument/didOpen").length, { timeout: patience }).toBe(2);
  const changes = sent("textDocument/didChange");
  expect(changes.map(({ params }) => params.contentChanges)).toEqual([[{ text: "two\n" }], [{ text: "three\n" }]]);
  const opened = sent("textDocument/didOpen").find(({ params }) => params.textDocument.uri.endsWith("a.fake"));
  const versions = [opened, ...changes].map((one) => one?.params.textDocument.version ?? 0);
  expect(versions).toEqual([...versions].sort((one, other) => one - other));
  expect(new Set(versions).size).toBe(3);
  const saved = sent("textDocument/didSave").filter(({ params }) => params.textDocument.uri.endsWith("a.fake"));
  expect(saved.length).toBe(3);
});

test("Y3: a server hears of changes that it asked to hear of, also by others", async () => {
  const { root, write, edit, session, sent } = bed({
    files: { "x.conf": "1\n" },
    fake: { watches: "**/*.{conf,fake}" },
  });
  await session.observe();
  await write("a.fake", "one\n");
  await edit("a.fake", "one", "two");
  fs.writeFileSync(`${root}/x.conf`, "2 2\n");
  fs.writeFileSync(`${root}/y.conf`, "new\n");
  fs.writeFileSync(`${root}/z.other`, "nobody cares\n");
  await session.observe();
  fs.rmSync(`${root}/y.conf`);
  await session.observe();
  const told = (): readonly string[] =>
    sent("workspace/didChangeWatchedFiles").flatMap(({ params }) =>
      params.changes.map(({ uri, type }) => `${uri.split("/").at(-1)} ${type}`),
    );
  await expect.poll(told, { timeout: patience }).toContain("y.conf 3");
  expect(told()).toEqual(expect.arrayContaining(["a.fake 2", "x.conf 2", "y.conf 1"]));
  expect(told().some((one) => one.startsWith("z.other"))).toBe(false);
});

test("Y3: a file that a server has open is shown to it anew when somebody else changed it", async () => {
  const { root, write, sent } = bed({ files: {}, fake: {} });
  await write("a.fake", "one\n");
  fs.writeFileSync(`${root}/a.fake`, "by hand\n");
  await write("b.fake", "b\n");
  expect(sent("textDocument/didChange").map(({ params }) => params.contentChanges[0]?.text)).toEqual(["by hand\n"]);
});

test.each([undefined, "utf-8"] as const)("Y4: names and columns of any kind are right (%s)", async (encoding) => {
  const { write, sent } = bed({ files: {}, fake: encoding === undefined ? {} : { encoding } });
  for (const name of ["a b.fake", "50%.fake", "c#.fake", "q?.fake", "späß 日本.fake", "😀.fake", "%41.fake"]) {
    const said = words(await write(name, "ä😀 error:here\n"));
    expect(said).toContain(`1 error in "${name}":\nnew: 1:5 here is wrong (fake 7)`);
  }
  const uris = sent("textDocument/didOpen").map(({ params }) => String(params.textDocument.uri));
  expect(uris.every((uri) => /^file:\/\/\/[!-~]+$/.test(uri) && !/[ #?]/.test(uri))).toBe(true);
  expect(uris.some((uri) => uri.endsWith("/50%25.fake"))).toBe(true);
  expect(uris.some((uri) => uri.endsWith("/c%23.fake"))).toBe(true);
});

test("Y5: of very many diagnostics a few are told, errors before warnings, new before known", async () => {
  const { write, session } = bed({ files: {}, fake: { flood: 5_000 }, languages: { warnings: true } });
  const reply = await write("a.fake", `error:last\n${"error:x\n".repeat(40)}`);
  const lines = words(reply).split("\n");
  expect(lines.filter((line) => line.includes("is wrong"))).toHaveLength(20);
  expect(lines).toContain("and 21 more errors");
  expect(lines.filter((line) => line.includes("flood"))).toHaveLength(10);
  expect(lines).toContain('5000 warnings in "a.fake":');
  const again = words(await write("a.fake", `error:last\n${"error:x\n".repeat(40)}error:fresh\n`)).split("\n");
  expect(again.find((line) => line.includes("is wrong"))).toContain("new: 42:1 fresh is wrong");
  expect(JSON.stringify(session.readState())).not.toContain("flood");
});

test("Y5: malformed diagnostics are left out, the others are told in their place", async () => {
  const { write } = bed({ files: {}, fake: { malformed: true } });
  expect(words(await write("a.fake", "one\ntwo\n"))).toBe(
    ['Created "a.fake" (+2 -0).', '2 errors in "a.fake":', "new: 1:1 **marked up**", "new: 3:1 far away"].join("\n"),
  );
});

test("warnings are told to those who want them", async () => {
  const quiet = bed({ files: {}, fake: {} });
  expect(words(await quiet.write("a.fake", "warn:a\n"))).toBe('Created "a.fake" (+1 -0).');
  const loud = bed({ files: {}, fake: {}, languages: { warnings: true } });
  expect(words(await loud.write("a.fake", "warn:a\n"))).toContain('1 warning in "a.fake":\n1:1 a is wrong (fake 7)');
});

test("a server that is too busy to answer is asked again", async () => {
  const { write, sent } = bed({ files: {}, fake: { diagnostics: "pull", retries: 2 } });
  expect(words(await write("a.fake", "error:a\n"))).toContain("1:1 a is wrong");
  expect(sent("textDocument/diagnostic")).toHaveLength(3);
});

test("edits that come together wait together, for one file and for several", async () => {
  // The server says nothing until all of them are there: waits one after the other would have no end.
  const all = bed({ files: {}, fake: { onlyWhen: "file 9" } });
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, at) => all.write(`${at}.fake`, `file ${at} error:a\n`)),
  );
  for (const reply of replies) expect(words(reply)).toContain("a is wrong");

  const pulled = bed({ files: {}, fake: { diagnostics: "pull", onlyWhen: "file 9" } });
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, at) => pulled.write(`${at}.fake`, `file ${at} error:a\n`)),
  );
  for (const answer of answers) expect(words(answer)).toContain("a is wrong");

  const one = bed({
    files: { "a.fake": Array.from({ length: 10 }, (_, at) => `old${at}x\n`).join("") },
    fake: { onlyWhen: "error:9" },
  });
  const edits = await Promise.all(
    Array.from({ length: 10 }, (_, at) => one.edit("a.fake", `old${at}x`, `error:${at}`)),
  );
  expect(edits.map(({ isError }) => isError)).toEqual(edits.map(() => false));
  for (const edit of edits) expect(words(edit)).toContain("10 errors");
});

test("a patch of several files has one wait, and each file its own report", async () => {
  const { session, root } = bed({
    files: { "a.fake": "a\n", "b.fake": "b\n", "c.fake": "c\n" },
    fake: {},
    options: { dialect: "opencode" },
  });
  const patchText = [
    "*** Begin Patch",
    "*** Update File: a.fake",
    "@@",
    "-a",
    "+error:one",
    "*** Add File: new.fake",
    "+error:two",
    "*** Delete File: c.fake",
    "*** End Patch",
  ].join("\n");
  const reply = await session.call("patch", { patchText });
  expect(words(reply)).toContain(
    `1 error in this file, please fix:\n<diagnostics file="${root}/a.fake">\nERROR [1:1] one is wrong (fake 7)\n</diagnostics>`,
  );
  expect(reply.structured).toMatchObject({
    metadata: {
      diagnostics: {
        [`${root}/new.fake`]: [
          { range: { start: { line: 0, character: 0 }, end: { line: 0, character: 9 } }, severity: 1, code: "7" },
        ],
      },
    },
  });
});

test("a rewind is told to servers, and what they say of it is in the answer", async () => {
  const { write, session, sent } = bed({ files: {}, fake: {} });
  await write("a.fake", "error:a\n");
  await write("a.fake", "fine\n");
  const undone = await session.undo();
  expect(undone.diagnostics).toMatchObject([{ knownErrors: [], newErrors: [{ message: "a is wrong" }] }]);
  expect(sent("textDocument/didChange").at(-1)?.params.contentChanges).toEqual([{ text: "error:a\n" }]);
});

test("a dry run tells servers nothing", async () => {
  const { session, log } = bed({ files: { "a.fake": "one\n" }, fake: {} });
  await session.call("Edit", { file_path: "a.fake", old_string: "one", new_string: "two" }, { dryRun: true });
  expect(log()).toEqual([]);
});

test("the host hears of every change, and cannot spoil it", async () => {
  const heard: unknown[] = [];
  const { write, session, root } = bed({
    files: {},
    fake: {},
    options: {
      onChanged: (change) => {
        heard.push(change);
        throw new Error("an editor that is gone");
      },
    },
  });
  expect((await write("a.fake", "error:a\n")).isError).toBe(false);
  await session.call("Write", { file_path: "plain.txt", content: "x" });
  expect(heard).toMatchObject([
    { path: `${root}/a.fake`, did: "created", diagnostics: { newErrors: [{ message: "a is wrong" }] } },
    { path: `${root}/plain.txt`, did: "created" },
  ]);
});
