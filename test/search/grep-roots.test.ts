/** Grep in a workspace of several roots: without a path all of them are searched, as by Glob. */

import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import type { GrepResult } from "../../src/dialects/claude/search-render.ts";
import type { DialectName } from "../../src/dialects/index.ts";
import { createFilehand, type FilehandOptions, type Reply } from "../../src/index.ts";
import { textOf } from "../support/reading.ts";
import { workspace } from "../support/workspace.ts";

const made = workspace({
  r1: {
    "a.txt": "needle a\n",
    sub: { "s.txt": "needle s\n" },
    ".gitignore": "log/\n",
    log: { "l.txt": "logged\n" },
    ".env": "needle\n",
  },
  r2: { "b.txt": "needle b1\nneedle b2\n", in: { "c.md": "needle c\n" } },
  r3: { "d.txt": "nothing\n" },
});
const at = (path: string): string => made.path(path);
const roots = [at("r1"), at("r2"), at("r3")];
// Older from file to file, over the borders of the roots.
for (const [index, name] of ["r2/b.txt", "r1/sub/s.txt", "r2/in/c.md", "r1/a.txt"].entries()) {
  fs.utimesSync(at(name), 2_000_000 - index, 2_000_000 - index);
}

const grep = async (input: object, options: Partial<FilehandOptions> = {}): Promise<Reply<GrepResult>> =>
  (await createFilehand({ roots, ...options })
    .session({ dialect: "claude" })
    .call("Grep", { pattern: "needle", ...input })) as Reply<GrepResult>; // what the tool's type says

describe("without a path", () => {
  test("files of all roots come newest first", async () => {
    const { structured } = await grep({});
    expect(structured).toMatchObject({
      filenames: [at("r2/b.txt"), "sub/s.txt", at("r2/in/c.md"), "a.txt"],
      totalFiles: 4,
      countIsComplete: true,
      filesHiddenByRules: 1,
    });
  });

  test("lines come root by root, in the order of paths", async () => {
    const reply = await grep({ output_mode: "content" });
    expect(textOf(reply)).toBe(
      [
        "a.txt:1:needle a",
        "sub/s.txt:1:needle s",
        `${at("r2/b.txt")}:1:needle b1`,
        `${at("r2/b.txt")}:2:needle b2`,
        `${at("r2/in/c.md")}:1:needle c`,
        "[1 file was not searched because a permission rule hides it, read such a file by its path if you need it]",
      ].join("\n"),
    );
    expect(reply.structured).toMatchObject({ totalLines: 5, numMatches: 5, totalFiles: 4 });
  });

  test("counts are summed up over the roots", async () => {
    expect(textOf(await grep({ output_mode: "count" }))).toContain("Found 5 matching lines in 4 files\n");
  });

  for (const mode of ["content", "files_with_matches", "count"] as const) {
    test(`pages go on from root to root: ${mode}`, async () => {
      const whole = await grep({ output_mode: mode });
      const all = mode === "content" ? whole.structured?.content?.split("\n") : whole.structured?.filenames;
      const pages: string[] = [];
      for (let offset = 0; offset < (all?.length ?? 0); offset += 2) {
        const { structured } = await grep({ output_mode: mode, head_limit: 2, offset });
        pages.push(...(mode === "content" ? (structured?.content ?? "").split("\n") : (structured?.filenames ?? [])));
      }
      expect(pages).toEqual(all);
    });
  }

  test("a glob is read from each root on", async () => {
    expect((await grep({ glob: "in/**" })).structured?.filenames).toEqual([at("r2/in/c.md")]);
    expect((await grep({ glob: "*.md" })).structured?.filenames).toEqual([at("r2/in/c.md")]);
  });

  test("ignored files are counted only if nothing matches in any root", async () => {
    expect((await grep({ pattern: "logged" })).structured?.ignoredFiles).toBe(1);
    expect((await grep({ pattern: "logged|needle" })).structured?.ignoredFiles).toBeUndefined();
  });

  test("a root that rules deny is told of, and the others are searched", async () => {
    const permissions = { deny: [`Read(/${at("r2")})`, `Read(/${at("r2")}/**)`] };
    const reply = await grep({}, { permissions });
    expect(reply.structured?.filenames).toEqual(["sub/s.txt", "a.txt"]);
    expect(textOf(reply)).toContain("at least 2 files were not searched because permission rules hide them");
  });

  test("a root that was replaced meanwhile is none that rules hide, for Glob neither", async () => {
    const { path } = workspace({ one: { "a.txt": "needle\n" }, two: { "b.txt": "needle\n" } });
    const session = createFilehand({ roots: [path("one"), path("two")] }).session({ dialect: "claude" });
    fs.renameSync(path("two"), path("three"));
    expect(textOf(await session.call("Grep", { pattern: "needle" }))).toBe(
      "Found 1 file\na.txt\n[1 file or folder could not be read, so there may be more]",
    );
    const { structured } = await session.call("Glob", { pattern: "*.txt" });
    expect(structured).toMatchObject({ filenames: [path("one/a.txt")], unreadableFolders: 1 });
    expect(structured).not.toHaveProperty("foldersHiddenByRules");
  });

  test("a root that a session is not let into is hidden, for Glob too", async () => {
    const session = createFilehand({ roots }).session({ dialect: "claude", within: [at("r1"), at("r3")] });
    const reply = await session.call("Grep", { pattern: "needle" });
    expect(textOf(reply)).toContain("at least 2 files were not searched because permission rules hide them");
    expect((await session.call("Glob", { pattern: "*.txt" })).structured).toMatchObject({ foldersHiddenByRules: 1 });
  });

  test("what is counted is a floor if the time was over before the last root", async () => {
    const reply = await grep({}, { searchMsMax: 1 });
    expect(reply.structured?.timedOut).toBe(true);
    expect(textOf(reply)).toContain("at least 1 file was not searched because a permission rule hides it");
  });

  test("where relative paths start in a folder, that is searched and the other roots", async () => {
    const { structured } = await grep({}, { cwd: at("r1/sub") });
    expect(structured?.filenames).toEqual([at("r2/b.txt"), at("r1/sub/s.txt"), at("r2/in/c.md")]);
  });

  test("a root in another root is searched once", async () => {
    const { structured } = await grep({}, { roots: [at("r2/in"), at("r2")] });
    expect(structured?.filenames).toEqual([at("r2/b.txt"), "c.md"]);
  });

  test("a pattern that is none is an error, once", async () => {
    expect((await grep({ pattern: "(" })).error?.code).toBe("INVALID_PARAM");
  });
});

test("a path is the only place that is searched", async () => {
  expect((await grep({ path: "." })).structured?.filenames).toEqual(["sub/s.txt", "a.txt"]);
  expect((await grep({ path: at("r2/in") })).structured?.filenames).toEqual([at("r2/in/c.md")]);
});

for (const dialect of ["claude", "envelope", "opencode", "opencode-legacy"] as const satisfies readonly DialectName[]) {
  const session = createFilehand({ roots }).session({ dialect });
  const [search, glob, ls] = dialect.startsWith("opencode") ? ["grep", "glob", "list"] : ["Grep", "Glob", "LS"];

  test(`${dialect}: ${search} finds what lies in the second root`, async () => {
    expect(textOf(await session.call(search ?? "", { pattern: "needle b1" }))).toContain(at("r2/b.txt"));
  });

  test(`${dialect}: an empty path is one that was left out, for ${search}, ${glob} and ${ls}`, async () => {
    for (const [tool, input] of [
      [search, { pattern: "needle" }],
      [glob, { pattern: "*.txt" }],
      [ls, {}],
    ] as const) {
      // envelope says how long a call took.
      const untimed = (reply: Reply) => textOf(reply).replaceAll(/\d+/g, "n");
      const [empty, without] = [
        await session.call(tool ?? "", { ...input, path: "" }),
        await session.call(tool ?? "", input),
      ];
      // Where the tool needs a path, both are refused.
      expect(empty.error?.code).toBe(without.error?.code);
      if (empty.error === undefined) expect(untimed(empty)).toBe(untimed(without));
      else expect(empty.error.code).toBe("INVALID_PARAM");
    }
  });
}
