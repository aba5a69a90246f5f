/** Answers that end with what others changed in files that the session was shown: which, when, how often, in which words. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createFilehand, type DialectName, type FilehandOptions, type Reply, type Session } from "../src/index.ts";

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-outside-changes-"));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const put = (name: string, text: string): void => fs.writeFileSync(path.join(root, name), text);

beforeEach(() => {
  for (const name of ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]) put(name, "one\ntwo\nthree\n");
});

/** A session whose clock goes on by a second at each look, so that every call comes after a pause. */
function session(options: Partial<FilehandOptions> = {}, dialect: DialectName = "claude"): Session {
  let now = 0;
  const clock = { nowMs: () => (now += 1_000) };
  return createFilehand({ roots: [root], ask: "yes", reminder: false, clock, ...options }).session({ dialect });
}
const read = (reader: Session, name: string): Promise<Reply> => reader.call("Read", { file_path: name });
/** The notice at the end of an answer; undefined if there is none. */
const notice = ({ content }: Reply): string | undefined => {
  const last = content.length > 1 ? content.at(-1) : undefined;
  return last?.type === "text" ? last.text : undefined;
};

test("a change of a few lines is shown once, with the answer to another call", async () => {
  const reader = session();
  await read(reader, "a.txt");
  expect(notice(await read(reader, "b.txt"))).toBeUndefined();
  put("a.txt", "one\n2\nthree\n");
  const words = 'Somebody else changed "a.txt" since it was shown: line 2 (+1 -1).\n2: 2';
  expect(notice(await read(reader, "c.txt"))).toBe(words);
  expect(notice(await read(reader, "d.txt"))).toBeUndefined();
  put("a.txt", "one\nII\nthree\n");
  expect(notice(await reader.call("Read", { file_path: "none.txt" }))).toContain("2: II");
});

test.each(["claude", "envelope", "opencode", "opencode-legacy"] as const)(
  "in the dialect %s as well",
  async (dialect) => {
    const name = dialect === "envelope" ? "path" : dialect === "claude" ? "file_path" : "filePath";
    const tool = dialect.startsWith("opencode") ? "read" : "Read";
    const reader = session({}, dialect);
    await reader.call(tool, { [name]: path.join(root, "a.txt") });
    put("a.txt", "zero\none\ntwo\nthree\n");
    const reply = await reader.call(tool, { [name]: path.join(root, "b.txt") });
    expect(notice(reply)).toMatch(
      /^Somebody else changed ".*a\.txt" since it was shown: line 1 \(\+1 -0\)\.\n1: zero$/,
    );
  },
);

test("three lines at most, whatever was changed", async () => {
  const reader = session();
  for (const name of ["a.txt", "b.txt", "c.txt", "d.txt"]) await read(reader, name);
  for (const name of ["a.txt", "b.txt", "c.txt"]) put(name, `${"new\n".repeat(50)}one\n`);
  fs.rmSync(path.join(root, "d.txt"));
  const words = notice(await read(reader, "e.txt"))?.split("\n") ?? [];
  expect(words).toEqual([
    'Somebody else deleted "d.txt" since it was shown.',
    expect.stringContaining('Somebody else changed "c.txt" since it was shown: lines 1 to 50'),
    "Somebody else changed 2 more files that were shown.",
  ]);
});

test("nothing is said of own changes, of a touch, and of the file that the answer is about", async () => {
  const reader = session();
  await read(reader, "a.txt");
  await read(reader, "b.txt");
  await reader.call("Edit", { file_path: "a.txt", old_string: "two", new_string: "2" });
  fs.utimesSync(path.join(root, "b.txt"), new Date(), new Date(Date.now() + 60_000));
  expect(notice(await read(reader, "c.txt"))).toBeUndefined();
  put("a.txt", "other\n2\nthree\n");
  const refused = await reader.call("Edit", { file_path: "a.txt", old_string: "other", new_string: "x" });
  expect(refused.error?.code).toBe("STALE");
  expect(notice(refused)).toBeUndefined();
  expect(notice(await read(reader, "d.txt"))).toBeUndefined();
});

test("nothing is said without a pause since the last call, nor where it is switched off", async () => {
  const still = session({ clock: { nowMs: () => 0 } });
  const off = session({ changeNotices: false });
  for (const reader of [still, off]) {
    await read(reader, "a.txt");
    await read(reader, "b.txt");
  }
  put("a.txt", "one\n2\nthree\n");
  for (const reader of [still, off]) expect(notice(await read(reader, "c.txt"))).toBeUndefined();
});
