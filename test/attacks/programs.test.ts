/** No program that lies below a root is run, whatever links lead there: whoever works in the root could have put it there. */

import { deepEqual, equal } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { delimiter, join } from "node:path";
import { describe, test } from "vitest";
import { copyMetadata } from "../../src/disk/write/metadata.ts";
import { programOnPath, programsOnPath, trustedPath } from "../../src/disk/programs.ts";
import { nodeSystem } from "../../src/disk/system.ts";
import { serverFinder } from "../../src/filehand.ts";
import { ripgrep } from "../../src/search/ripgrep.ts";
import { openInBrowser } from "../../src/surfaces/cli/commands/serve.ts";
import type { Host } from "../../src/surfaces/cli/command.ts";
import { onWindows, type Workspace, workspace } from "../support/workspace.ts";

const { platform } = process;

/** Programs in a root, and ways to them on a PATH; each leaves a mark if it is run. */
function bed(name: string): Workspace & { readonly wasRun: () => boolean; readonly ways: readonly string[] } {
  const place = workspace({
    ws: { bin: {}, node_modules: { ".bin": {} } },
    "root-link": { link: "ws" },
    "folder-link": { link: "ws/bin" },
    "file-link": { [name]: { link: "../ws/bin/" + name } },
    "two-links": { [name]: { link: "../file-link/" + name } },
  });
  const { path: at } = place;
  for (const folder of ["ws/bin", "ws/node_modules/.bin"]) {
    fs.writeFileSync(at(folder, name), `#!/bin/sh\n/bin/echo ripgrep 14.1.0\n/usr/bin/env > ${at("RUN")}\n`);
    fs.chmodSync(at(folder, name), 0o755);
  }
  const ways = ["ws/bin", "ws/node_modules/.bin", "root-link/bin", "folder-link", "file-link", "two-links"];
  return { ...place, wasRun: () => fs.existsSync(at("RUN")), ways: ways.map((way) => at(way)) };
}

describe.skipIf(onWindows)("a program below a root", () => {
  for (const root of ["ws", "root-link"]) {
    test(`is found by no way that leads there, the root given as ${root}; another one later in PATH is`, () => {
      const { path: at, ways } = bed("tool");
      fs.mkdirSync(at("good"));
      fs.copyFileSync("/bin/true", at("good/tool"));
      for (const way of ways) {
        const where = { path: [way, at("good")].join(delimiter), platform, notBeneath: [at(root)] };
        equal(programOnPath("tool", where), at("good/tool"), way);
        deepEqual([...programsOnPath("tool", { ...where, path: way })], [], way);
      }
      equal(programOnPath("tool", { path: at("ws/bin"), platform, notBeneath: [] }), at("ws/bin/tool"));
    });

    test(`is not taken for ripgrep, nor for a language server, the root given as ${root}`, async () => {
      const { path: at, ways, wasRun } = bed("rg");
      for (const path of ways) {
        equal(await ripgrep({ path, notBeneath: [at(root)], kinds: ["path"] }), undefined, path);
        const find = serverFinder({ roots: [at("ws")], trusted: [], path, platform });
        equal(find("rg", at("ws")), undefined, path);
      }
      equal(wasRun(), false);
      const find = serverFinder({ roots: [at("ws")], trusted: [at("ws")], path: at("ws/bin"), platform });
      equal(find("rg", at("ws")), at("ws/node_modules/.bin/rg"), "a project that the operator trusts");
    });
  }

  test("is not on the PATH that language servers get", () => {
    const { path: at, ways } = bed("go");
    const path = [...ways, "/usr/bin", "relative"].join(delimiter);
    // What lies in the last two folders are links to single programs, and a folder is taken or left as a whole.
    const left = [at("file-link"), at("two-links"), "/usr/bin"];
    equal(trustedPath({ path, platform, notBeneath: [at("ws")] }), left.join(delimiter));
  });

  test("does not open the browser", () => {
    const { path: at, ways, wasRun } = bed("xdg-open");
    for (const path of ways) {
      const host = { platform: "linux", env: { PATH: path, DISPLAY: ":0" } } as unknown as Host;
      openInBrowser("http://127.0.0.1:1/", host, [at("ws")]);
    }
    execFileSync("/bin/sleep", ["0.5"]);
    equal(wasRun(), false);
  });
});

test.skipIf(platform !== "linux")(
  "attributes are copied by the system's own cp, which gets no variable of ours",
  async () => {
    const { path: at, wasRun } = bed("cp");
    fs.writeFileSync(at("ws/old.txt"), "x");
    fs.chmodSync(at("ws/old.txt"), 0o640);
    fs.writeFileSync(at("ws/new.txt"), "y");
    const before = process.env["PATH"];
    process.env["PATH"] = [at("ws/node_modules/.bin"), before].join(delimiter);
    const fd = fs.openSync(at("ws/new.txt"), "r+");
    try {
      const system = { ...nodeSystem, attributes: async () => undefined };
      const stat = (path: string) => fs.statSync(path, { bigint: true });
      const [fresh, old] = [stat(at("ws/new.txt")), stat(at("ws/old.txt"))];
      deepEqual(await copyMetadata(fd, fresh, old, join(at("ws"), "old.txt"), system), []);
    } finally {
      fs.closeSync(fd);
      process.env["PATH"] = before;
    }
    equal(wasRun(), false);
    equal(fs.statSync(at("ws/new.txt")).mode & 0o777, 0o640);
  },
);
