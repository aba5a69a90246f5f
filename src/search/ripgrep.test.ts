import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type RipgrepEnd, type RipgrepRun, ripgrep, runRipgrep, type Where } from "./ripgrep.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "filehand-ripgrep-"));
  writeFileSync(join(folder, "a.txt"), "one\ntwo\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const nowhere: Where = { path: undefined, notBeneath: [] };

async function run(
  args: readonly string[],
  given: Partial<RipgrepRun> = {},
): Promise<{ readonly end: RipgrepEnd; readonly out: string }> {
  const chunks: Buffer[] = [];
  const onChunk = (chunk: Buffer) => {
    chunks.push(Buffer.from(chunk));
    return "more" as const;
  };
  const end = await runRipgrep(args, { cwd: folder, signal: new AbortController().signal, onChunk, ...given });
  return { end, out: Buffer.concat(chunks).toString() };
}

async function packageBinary(): Promise<string> {
  const one = await ripgrep({ ...nowhere, kinds: ["package"] });
  if (one === undefined) throw new Error("the package that has ripgrep inside is not installed");
  return one.command;
}

test("the binary of the package comes first", async () => {
  expect((await ripgrep())?.kind).toBe("package");
  const { end, out } = await run(["-e", "tw", "--", "./"]);
  expect(out).toBe("./a.txt:two\n");
  expect(end).toEqual({ ended: "by itself", status: 0, complaints: "", complaintsCut: false });
});

test("the WebAssembly build gives the same answer", async () => {
  const where: Where = { ...nowhere, kinds: ["wasm"] };
  expect((await ripgrep(where))?.kind).toBe("wasm");
  const { end, out } = await run(["-e", "tw", "--", "./"], { where });
  expect(out).toBe("./a.txt:two\n");
  expect(end).toEqual({ ended: "by itself", status: 0, complaints: "", complaintsCut: false });
});

test("on the PATH only a ripgrep counts, in an absolute folder that nobody works in", async () => {
  const folders = ["own", "fake", "workspace", "good"].map((name) => join(folder, name));
  const [own = "", fake = "", workspace = "", good = ""] = folders;
  for (const each of folders) mkdirSync(each);
  writeFileSync(join(fake, "rg"), "#!/bin/sh\necho something else\n");
  chmodSync(join(fake, "rg"), 0o755);
  for (const each of [workspace, good]) copyFileSync(await packageBinary(), join(each, "rg"));
  const where: Where = {
    path: [".", own, fake, workspace, good].join(delimiter),
    notBeneath: [workspace],
    kinds: ["path"],
  };
  expect(await ripgrep(where)).toEqual({ command: join(good, "rg"), before: [], kind: "path" });
  expect(await ripgrep({ ...where, path: workspace })).toBeUndefined();
});

test("one that goes away is looked for anew", async () => {
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  for (const each of [first, second]) {
    mkdirSync(each);
    copyFileSync(await packageBinary(), join(each, "rg"));
  }
  const where: Where = { path: [first, second].join(delimiter), notBeneath: [], kinds: ["path"] };
  expect((await ripgrep(where))?.command).toBe(join(first, "rg"));
  rmSync(join(first, "rg"));
  expect((await run(["-e", "one", "--", "./a.txt"], { where })).out).toBe("one\n");
  expect((await ripgrep(where))?.command).toBe(join(second, "rg"));
  rmSync(join(second, "rg"));
  expect((await run(["-e", "one", "--", "./"], { where })).end).toEqual({ ended: "missing" });
  copyFileSync(await packageBinary(), join(first, "rg"));
  expect((await run(["-e", "one", "--", "./a.txt"], { where })).out).toBe("one\n");
});

test("the status and the complaints of ripgrep are told", async () => {
  expect((await run(["-e", "three", "--", "./"])).end).toMatchObject({ status: 1, complaints: "" });
  const { end } = await run(["-e", "(", "--", "./"]);
  expect(end).toMatchObject({ status: 2, complaints: expect.stringContaining("unclosed group") });
});

test("no variable of ours and no configuration reaches it", async () => {
  const config = join(folder, "config");
  writeFileSync(config, "--invert-match\n");
  process.env["RIPGREP_CONFIG_PATH"] = config;
  try {
    expect((await run(["-e", "one", "--", "./a.txt"])).out).toBe("one\n");
  } finally {
    delete process.env["RIPGREP_CONFIG_PATH"];
  }
});

/** Prints without end, as long as somebody takes it. */
function endless(): readonly string[] {
  writeFileSync(join(folder, "many.txt"), "x\n".repeat(4_000_000));
  return ["-e", "x", "--", "./many.txt"];
}

test("whoever has enough gets no more, and the process is gone", async () => {
  let chunks = 0;
  const onChunk = async () => {
    chunks += 1;
    return chunks === 2 ? ("enough" as const) : ("more" as const);
  };
  expect((await run(endless(), { onChunk })).end.ended).toBe("enough");
  expect(chunks).toBe(2);
});

test("an aborted signal ends it with the signal's reason", async () => {
  const abort = new AbortController();
  const onChunk = () => {
    abort.abort(new Error("no longer wanted"));
    return "more" as const;
  };
  await expect(run(endless(), { onChunk, signal: abort.signal })).rejects.toThrow("no longer wanted");
  await expect(run(["-e", "x"], { signal: abort.signal })).rejects.toThrow("no longer wanted");
});

test("the end of the time is told from the end of the search", async () => {
  // The taker is held until the time is over, whatever the machine does meanwhile.
  const onChunk = () => new Promise<"more">((resolve) => setTimeout(() => resolve("more"), 50));
  expect((await run(endless(), { onChunk, timeMsMax: 1 })).end.ended).toBe("time");
});

test("a taker that throws leaves no process behind", async () => {
  const onChunk = () => {
    throw new Error("taker");
  };
  await expect(run(endless(), { onChunk })).rejects.toThrow("taker");
});
