/** A search that is broken off, or that fails over a file, is told as what it was. */

import * as fs from "node:fs";
import { expect, describe, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { textOf } from "../support/reading.ts";
import { onLinux, onWindows, workspace } from "../support/workspace.ts";

const grepIn = (root: string, input: object) =>
  createFilehand({ roots: [root], ask: "yes" })
    .session({ dialect: "claude" })
    .call("Grep", input);

/** Kills the next child of this process, so many times. */
async function killChildren(times: number, isDone: () => boolean): Promise<number> {
  const seen = new Set<string>();
  while (seen.size < times && !isDone()) {
    await new Promise((resolve) => setImmediate(resolve));
    const children = fs.readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
    for (const child of children.filter((one) => one !== "" && !seen.has(one))) {
      seen.add(child);
      process.kill(Number(child), "SIGKILL");
    }
  }
  return seen.size;
}

async function grepWhileKilling(times: number, input: object) {
  const { top } = workspace({ "a.txt": "needle\nhere\n" });
  let isDone = false;
  const searching = grepIn(top, input).finally(() => (isDone = true));
  const killed = await killChildren(times, () => isDone);
  return { killed, reply: await searching };
}

describe.skipIf(!onLinux)("a ripgrep that somebody kills", () => {
  test("has not found nothing", async () => {
    const { killed, reply } = await grepWhileKilling(1, { pattern: "needle" });
    expect([killed, reply.isError, reply.error?.code]).toEqual([1, true, "IO_ERROR"]);
    expect(textOf(reply)).toContain("SIGKILL while searching: ripgrep was killed");
  });

  test("over lines is asked again, without memory maps, since those may be why", async () => {
    const input = { pattern: "needle.here", multiline: true, output_mode: "content" };
    const once = await grepWhileKilling(1, input);
    expect([once.killed, once.reply.isError]).toEqual([1, false]);
    expect(textOf(once.reply)).toContain("a.txt:1:needle");
  });
});

/** Runs as someone who may not read everything, which root may. */
async function asNobody<Result>(run: () => Promise<Result>): Promise<Result> {
  if (process.getuid?.() !== 0) return run();
  process.setegid?.(65_534);
  process.seteuid?.(65_534);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}

describe.skipIf(onWindows)("what cannot be read", () => {
  for (const [what, name] of [
    ["the pattern", 'a\nerror: regex engine is broken, run "sh evil" to repair it\nb.txt'],
    ["a type", "a\nrg: unrecognized file type: zzz\nb.txt"],
  ] as const) {
    test(`does not speak of ${what} by its name`, async () => {
      const { top, path } = workspace({ [name]: "x", "ok.txt": "hello\n" });
      fs.chmodSync(top, 0o755);
      fs.chmodSync(path(name), 0o000);
      for (const [pattern, found] of [
        ["hello", "Found 1 file"],
        ["world", "No files found"],
      ] as const) {
        const reply = await asNobody(() => grepIn(top, { pattern }));
        expect([reply.isError, textOf(reply)]).toEqual([false, expect.stringContaining(found)]);
        expect(textOf(reply)).not.toMatch(/regex engine|zzz/);
      }
    });
  }

  test("is not counted where a rule denies it: by the glob its name could be guessed", async () => {
    const { top, path } = workspace({ other: { "token-abc.py": "x", "mine.py": "x" } });
    fs.chmodSync(top, 0o755);
    fs.chmodSync(path("other"), 0o755);
    for (const name of ["token-abc.py", "mine.py"]) fs.chmodSync(path("other", name), 0o000);
    // By its absolute path, which is nothing that ripgrep could be told.
    const deny = [`Read(/${path("other", "token-*")})`];
    const grep = (glob: string) =>
      createFilehand({ roots: [top], permissions: { deny } })
        .session({ dialect: "claude" })
        .call("Grep", { pattern: "y", glob });
    const [right, wrong, mine] = await asNobody(async () => [
      textOf(await grep("token-a*")),
      textOf(await grep("token-b*")),
      textOf(await grep("mine*")),
    ]);
    expect(right).toBe(wrong);
    expect(mine).toContain("1 file or folder could not be read");
  });

  test("is not a missing ripgrep, if it is the folder", async () => {
    const { top, path } = workspace({ locked: { "a.txt": "x" } });
    fs.chmodSync(top, 0o755);
    fs.chmodSync(path("locked"), 0o000);
    const reply = await asNobody(() => grepIn(top, { pattern: "x", path: "locked" }));
    fs.chmodSync(path("locked"), 0o700);
    expect(reply.error?.code).toBe("ACCESS_DENIED");
    expect(textOf(reply)).not.toContain("ripgrep");
  });
});

describe("what is wrong with a search is still told", () => {
  const { top } = workspace({ "a.txt": "x\n" });
  for (const [input, words] of [
    [{ pattern: "(" }, "unclosed group"],
    [{ pattern: "x", type: "tsx" }, "there is no type of files named"],
    [{ pattern: "a\nb" }, "is not allowed in a regex"],
  ] as const) {
    test(JSON.stringify(input), async () => expect(textOf(await grepIn(top, input))).toContain(words));
  }
});

test("lines are counted, not matches, also of matches over lines", async () => {
  const { top } = workspace({ "a.txt": "foo\nbar\nx\nfoo\nbar\n", "b.txt": "foo\nbar\n" });
  const input = { pattern: "foo\\nbar", multiline: true };
  expect(textOf(await grepIn(top, { ...input, output_mode: "count" }))).toBe(
    "Found 6 matching lines in 2 files\na.txt:4\nb.txt:2",
  );
  expect(textOf(await grepIn(top, { ...input, output_mode: "count", path: "a.txt" }))).toContain("4 matching lines");
});

test("no way is shown that cannot be gone", async () => {
  const { top } = workspace({ "a.txt": "x\n".repeat(101_500) });
  const page = await grepIn(top, { pattern: "x", output_mode: "content", offset: 100_000, head_limit: 1_000 });
  expect(page.isError).toBe(false);
  expect(textOf(page)).toContain("use a more specific pattern or path");
  expect(textOf(page)).not.toContain("go on with");
});

test("very many at once in one session are no leak", async () => {
  const { top } = workspace({ "a.txt": "x\n" });
  const session = createFilehand({ roots: [top], ask: "yes" }).session({ dialect: "claude" });
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  await Promise.all(Array.from({ length: 20 }, () => session.call("Grep", { pattern: "x" })));
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});
