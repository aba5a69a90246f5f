/** Searches: no way out of the workspace, nothing of what rules hide, no option out of a pattern, no endless work. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import { createFilehand, type FilehandOptions, type Reply } from "../../src/index.ts";
import { textOf, wholeOf } from "../support/reading.ts";
import { noFifo, onLinux, onWindows, openDescriptors, workspace } from "../support/workspace.ts";

const searcher = (root: string, options: Partial<FilehandOptions> = {}) => {
  const session = createFilehand({ roots: [root], ...options }).session({ dialect: "claude" });
  return (pattern: string, more: object = {}): Promise<Reply> => session.call("Grep", { pattern, ...more });
};

const modes = ["content", "files_with_matches", "count"] as const;

describe("A85: nothing becomes an option of ripgrep", () => {
  test("patterns, globs, types and paths that look like options are what they are", async () => {
    const { path: at } = workspace({ ws: { "a.txt": "plain\n--pre=./run.sh\n", "--pre": "in a file\n" } });
    fs.writeFileSync(at("ws", "run.sh"), `#!/bin/sh\ntouch '${at("ran")}'\ncat "$1"\n`, { mode: 0o755 });
    const search = searcher(at("ws"));
    for (const hostile of ["--pre=./run.sh", "--pre", "-f/etc/passwd", "--hostname-bin=./run.sh", "--files", "-"]) {
      for (const output_mode of modes) {
        await search(hostile, { output_mode });
        await search("plain", { output_mode, glob: hostile });
        await search("plain", { output_mode, type: hostile });
        await search("plain", { output_mode, path: hostile });
      }
    }
    equal(fs.existsSync(at("ran")), false);
    equal(textOf(await search("--pre", { output_mode: "content", glob: "a.txt" })), "a.txt:2:--pre=./run.sh");
    equal(textOf(await search("in", { output_mode: "content", path: "--pre" })), "1:in a file");
  });

  test("neither a configuration nor a program of the workspace is used", async () => {
    const { path: at } = workspace({ ws: { "a.txt": "one\ntwo\n", ".ripgreprc": "--invert-match\n", bin: {} } });
    fs.writeFileSync(at("ws", "bin", "rg"), `#!/bin/sh\ntouch '${at("ran")}'\n`, { mode: 0o755 });
    const before = { path: process.env["PATH"], config: process.env["RIPGREP_CONFIG_PATH"] };
    process.env["PATH"] = `${at("ws", "bin")}:${before.path ?? ""}`;
    process.env["RIPGREP_CONFIG_PATH"] = at("ws", ".ripgreprc");
    try {
      equal(textOf(await searcher(at("ws"))("one", { output_mode: "content", glob: "*.txt" })), "a.txt:1:one");
    } finally {
      process.env["PATH"] = before.path;
      delete process.env["RIPGREP_CONFIG_PATH"];
    }
    equal(fs.existsSync(at("ran")), false);
  });
});

const outside = "outside-content-77ab";

describe.skipIf(onWindows)("A27: links lead nowhere", () => {
  const tree = {
    ws: {
      "a.txt": "inside\n",
      dir: { "b.txt": "inside\n", "to-out": { link: "../../out" }, loop: { link: ".." } },
      "to-file": { link: "../out/secret-name.txt" },
      "to-root": { link: "/" },
    },
    out: { "secret-name.txt": `${outside}\n`, dir: { "c.txt": outside } },
  };

  test("those in a tree are not followed, those that are named are refused if they lead out", async () => {
    const { path: at } = workspace(tree);
    const search = searcher(at("ws"));
    for (const output_mode of modes) {
      for (const more of [{}, { path: "dir" }, { glob: "**/to-out/**" }, { multiline: true }]) {
        const whole = wholeOf(await search("inside|outside-content", { output_mode, ...more }));
        ok(!whole.includes(outside) && !whole.includes("secret-name"), whole);
      }
      for (const path of ["to-file", "to-root", "dir/to-out", "dir/to-out/dir", "..", "dir/../../out", "/"]) {
        const reply = await search("inside|outside-content", { output_mode, path });
        deepEqual([path, reply.error?.code], [path, "ACCESS_DENIED"]);
      }
    }
  });

  test("a folder that is swapped for a link once it was permitted shows nothing of outside", async () => {
    for (const output_mode of modes) {
      const { path: at } = workspace(tree);
      const swap: FilehandOptions["ask"] = async () => {
        fs.renameSync(at("ws", "dir"), at("ws", "moved"));
        fs.symlinkSync("../out", at("ws", "dir"));
        return { reply: "once" };
      };
      const search = searcher(at("ws"), { ask: swap, permissions: { ask: ["Read(dir)"] } });
      const reply = await search(".", { path: "dir", output_mode });
      ok(fs.lstatSync(at("ws", "dir")).isSymbolicLink(), "nobody was asked");
      ok(!wholeOf(reply).includes(outside) && !wholeOf(reply).includes("secret-name"), wholeOf(reply));
    }
  });

  test.skipIf(!onLinux)("nor one that is swapped all the time", { timeout: 180_000 }, async () => {
    const { path: at } = workspace({
      ws: { dir: { "a.txt": "inside" }, "dir-evil": { link: "../out" } },
      out: { "a.txt": outside, "secret-name.txt": outside },
    });
    const racer = fork(fileURLToPath(new URL("swapper.js", import.meta.url)), ["folder", at("ws")], { execArgv: [] });
    await once(racer, "message");
    try {
      const search = searcher(at("ws"));
      for (let round = 0; round < 40; round += 1) {
        for (const output_mode of modes) {
          const whole = wholeOf(await search("inside|outside-content", { output_mode }));
          ok(!whole.includes(outside) && !whole.includes("secret-name"), whole);
        }
      }
      ok(racer.exitCode === null, "the racer died");
    } finally {
      racer.kill();
      await once(racer, "exit");
    }
  });
});

describe.skipIf(!onLinux)("B4: numbers count what is beneath the roots", () => {
  test("none of them counts outside content while a folder is swapped for a symlink", {
    timeout: 180_000,
  }, async () => {
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`f${at}.txt`, "nothing here\n"]));
    const { path: at } = workspace({
      ws: {
        ...Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`d${index}`, many])),
        dir: { "a.txt": "inside\n" },
        "dir-evil": { link: "../out" },
      },
      out: { "secret-name.txt": `${outside}\n` },
    });
    const racer = fork(fileURLToPath(new URL("swapper.js", import.meta.url)), ["folder", at("ws")], { execArgv: [] });
    await once(racer, "message");
    try {
      const search = searcher(at("ws"));
      for (let round = 0; round < 40; round += 1) {
        for (const output_mode of modes) {
          const text = textOf(await search(outside, { output_mode }));
          ok(/^No (?:files|matches) found/.test(text) && !text.includes("ignored"), text);
        }
      }
      ok(racer.exitCode === null, "the racer died");
    } finally {
      racer.kill();
      await once(racer, "exit");
    }
  });
});

describe("A62, A68, A69: what rules hide", () => {
  const hidden = "hidden-content-31";
  const tree = {
    ws: {
      ".env": `KEY=${hidden}\n`,
      deep: { er: { ".ENV.local": `KEY=${hidden}\n`, "server.pem": `${hidden}\n` } },
      private: { "named-so.txt": `${hidden}\n`, sub: { "x.ts": `${hidden}\n` } },
      "asked.ts": `${hidden}\n`,
      "a.ts": "KEY=1\n",
      // Ignore files have the last word on what ripgrep opens, not on what is told.
      ".gitignore": "!.env\n!private/\n!private/**\n!*.pem\n",
    },
  };
  const options = { permissions: { deny: ["Read(private/**)"], ask: ["Read(asked.ts)"] } };

  test("is neither shown nor named, and its number does not depend on the pattern", async () => {
    const { path: at } = workspace(tree);
    const search = searcher(at("ws"), options);
    for (const output_mode of modes) {
      for (const pattern of ["KEY|hidden", `${hidden}$`, "nothing-like-it"]) {
        const whole = wholeOf(await search(pattern, { output_mode, "-C": 3 }));
        ok(!/hidden-content|ENV|pem|named-so|private|asked/.test(whole), whole);
        ok(whole.includes("6 files were not searched"), whole);
      }
    }
  });

  test("is refused by its name as a read of it would be", async () => {
    const { path: at } = workspace(tree);
    const search = searcher(at("ws"), options);
    for (const path of [".env", "private/named-so.txt", "private/missing.txt", "asked.ts", "deep/er/server.pem"]) {
      const reply = await search("KEY", { path });
      deepEqual([path, reply.error?.code], [path, "ACCESS_DENIED"]);
      ok(!wholeOf(reply).includes(hidden));
    }
  });

  test("is searched after approval", async () => {
    const { path: at } = workspace(tree);
    const everything = searcher(at("ws"), { ...options, ask: "yes" });
    ok(textOf(await everything("KEY")).includes(".env"));
    ok(!wholeOf(await everything("hidden")).includes("named-so"));
    const asked = searcher(at("ws"), { ...options, ask: async () => ({ reply: "always" }) });
    await asked("KEY", { path: ".env" });
    const after = textOf(await asked("KEY|hidden"));
    ok(after.includes(".env") && !after.includes("asked.ts"), after);
  });

  test("is searched where a rule allows it, and the rest is still hidden", async () => {
    const { path: at } = workspace(tree);
    const text = textOf(await searcher(at("ws"), { permissions: { allow: ["Read(/.env)"] } })("KEY"));
    ok(text.includes("\n.env") && !text.includes("ENV.local"), text);
  });
});

describe("A78, A80: bounded work", () => {
  test("a pattern that takes other engines for ever takes this one no time", async () => {
    const { path: at } = workspace({ ws: { "a.txt": `${"a".repeat(2_000_000)}b\n` } });
    const reply = await searcher(at("ws"))("^(a+)+$", { output_mode: "count" });
    equal(textOf(reply), "No files found");
  });

  test("a pattern that would become too large is refused by the engine", async () => {
    const { path: at } = workspace({ ws: { "a.txt": "a\n" } });
    const reply = await searcher(at("ws"))("(((a{99}){99}){99}){99}");
    equal(reply.error?.code, "INVALID_PARAM");
    ok(textOf(reply).includes("size limit"), textOf(reply));
  });

  test("a search that reaches its time limit says so and shows what it found", async () => {
    const { path: at } = workspace({ ws: { "a.txt": "x\n".repeat(3_000_000) } });
    const reply = await searcher(at("ws"), { searchMsMax: 1 })("x", { output_mode: "content", head_limit: 1 });
    equal(reply.error, undefined);
    ok(textOf(reply).includes("stopped after 1 ms"), textOf(reply));
    deepEqual(reply.structured, { ...(reply.structured as object), timedOut: true, countIsComplete: false });
  });

  test("a search that is cancelled ends at once and leaves nothing open", async () => {
    const { path: at } = workspace({ ws: { "a.txt": "x\n".repeat(300_000) } });
    const session = createFilehand({ roots: [at("ws")] }).session({ dialect: "claude" });
    await session.call("Grep", { pattern: "y" });
    const before = openDescriptors();
    const abort = new AbortController();
    const reply = await session.call(
      "Grep",
      { pattern: "x", output_mode: "content" },
      { signal: abort.signal, onProgress: () => abort.abort() },
    );
    equal(reply.error?.code, "CANCELLED");
    equal(openDescriptors(), before);
  });

  test.skipIf(noFifo !== undefined)("a pipe in the tree blocks nothing", async () => {
    const { path: at } = workspace({ ws: { pipe: { fifo: true }, "a.txt": "x\n" } });
    equal(textOf(await searcher(at("ws"))("x", { output_mode: "content" })), "a.txt:1:x");
  });
});

describe.skipIf(!onLinux)("names that are not UTF-8", () => {
  test("are counted, since no call could name them", async () => {
    const { path: at } = workspace({ ws: { "a.txt": "x\n" } });
    fs.writeFileSync(Buffer.concat([Buffer.from(`${at("ws")}/b`), Buffer.from([0xff]), Buffer.from(".txt")]), "x\n");
    for (const output_mode of modes) {
      const text = textOf(await searcher(at("ws"))("x", { output_mode }));
      ok(text.includes("a.txt") && text.includes("1 file matches whose name is not UTF-8"), text);
    }
  });
});
