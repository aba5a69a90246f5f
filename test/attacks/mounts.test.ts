/** A50: mounts inside the root, with and without `sameDevice`. Each test in a mount namespace of its own; needs root. */

import { equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { afterAll, beforeAll, describe, test } from "vitest";
import { textFiles } from "../../scripts/text-files.js";
import type { FilehandOptions } from "../../src/index.ts";
import { inNamespace, missing, missingOverlay, reason } from "../faults/program.ts";
import { type Tree, workspace } from "../support/workspace.ts";

const noMount = missing("unshare", "mount");
const project = fileURLToPath(new URL("../..", import.meta.url));

describe.skipIf(noMount !== undefined)(`A50 mounts inside the root${reason(noMount)}`, () => {
  let program: string;
  beforeAll(async () => {
    // Among the packages, so that it finds them.
    program = fs.mkdtempSync(`${project}node_modules/.filehand-attacks-`);
    await build({
      input: `${project}test/attacks/mounted.ts`,
      platform: "node",
      transform: { target: "node20" },
      plugins: [textFiles()],
      // The helper of a lowered `using` is part of the bundle.
      external: [/^(?!@oxc-project\/)[@a-z]/u],
      output: { dir: program, format: "es", entryFileNames: "mounted.mjs", chunkFileNames: "[name].mjs" },
      logLevel: "warn",
    });
  });
  afterAll(() => fs.rmSync(program, { recursive: true }));

  const tree = (): Tree => ({
    ws: { "spare.txt": "content\n", m: { "hidden.txt": "content\n" }, "f.txt": "content\n" },
    out: { "a.txt": "content outside\n", d: {} },
    more: {},
  });

  /** `setup` is shell; `$top` holds the tree. */
  function tried(
    setup: string,
    options: Partial<FilehandOptions> & { readonly mountLater?: readonly string[] },
    ...paths: readonly string[]
  ) {
    const { path: at, top } = workspace(tree());
    const script = `top=$1 node=$2 program=$3 options=$4; shift 4\n${setup}\n"$node" "$program" "$options" "$@"`;
    const given = JSON.stringify({ roots: [at("ws")], ...options });
    const told = inNamespace(script, top, process.execPath, `${program}/mounted.mjs`, given, ...paths);
    const came = JSON.parse(told) as Record<string, Record<string, string>>; // as mounted.ts prints it
    return { at, came: (path: string, verb: string): string => came[path]?.[verb] ?? "" };
  }

  const bind = 'mount --bind "$top/out" "$top/ws/m"';
  const tmpfs = 'mount -t tmpfs none "$top/ws/m"; echo content > "$top/ws/m/a.txt"';
  // The upper layer on a tmpfs: it cannot be on an overlay, as a container's own file system often is.
  const overlay =
    'mount -t tmpfs none "$top/more"; mkdir "$top/more/u" "$top/more/w"; mount -t overlay o -o "lowerdir=$top/out,upperdir=$top/more/u,workdir=$top/more/w" "$top/ws/m"';

  const noOverlay = missingOverlay(workspace({}).top);
  for (const [what, setup, not] of [
    ["a bind mount of an outside folder", bind, undefined],
    ["a tmpfs", tmpfs, undefined],
    [`an overlay${reason(noOverlay)}`, overlay, noOverlay],
  ] as const) {
    test.skipIf(not !== undefined)(`${what} counts as inside: the mount was made on purpose`, () => {
      const { came } = tried(setup, {}, "m/a.txt");
      for (const verb of ["read", "edit", "write"]) ok(came("m/a.txt", verb).startsWith("done"), came("m/a.txt", verb));
    });

    test.skipIf(not !== undefined)(`${what} is refused with sameDevice, in every verb, and not changed`, () => {
      const { at, came } = tried(
        setup,
        { sameDevice: true },
        "m/a.txt",
        "m",
        "m/new.txt",
        "m/d/e/new.txt",
        "spare.txt",
      );
      for (const path of ["m/a.txt", "m", "m/new.txt", "m/d/e/new.txt"]) {
        for (const verb of ["read", "ls", "edit", "write", "patch that moves to"]) {
          equal(came(path, verb), "ACCESS_DENIED", `${verb} ${path}`);
        }
      }
      ok(came("spare.txt", "read").startsWith("done"));
      equal(fs.readFileSync(at("out/a.txt"), "utf8"), "content outside\n");
      equal(fs.existsSync(at("out/new.txt")) || fs.existsSync(at("out/d/e")), false);
    });
  }

  test("a bind mount of one outside file is inside, and refused with sameDevice", () => {
    const setup = 'mount --bind "$top/out/a.txt" "$top/ws/f.txt"';
    ok(tried(setup, {}, "f.txt").came("f.txt", "read").includes("content outside"));
    const { at, came } = tried(setup, { sameDevice: true }, "f.txt");
    for (const verb of ["read", "ls", "edit", "write", "patch that moves to"])
      equal(came("f.txt", verb), "ACCESS_DENIED");
    equal(fs.readFileSync(at("out/a.txt"), "utf8"), "content outside\n");
  });

  test("A45 A46 kernel file systems inside the root are refused, folders and all", () => {
    for (const type of ["proc", "sysfs"]) {
      const setup = `mount -t ${type} none "$top/ws/m"`;
      const inside =
        type === "proc" ? ["m/self/environ", "m/1/environ", "m/self/root/etc/passwd"] : ["m/kernel/profiling"];
      const { came } = tried(setup, {}, "m", "m/new/x", ...inside);
      for (const path of ["m", ...inside]) {
        for (const verb of ["read", "edit", "write", "patch that moves to"]) {
          ok(["SPECIAL_FILE", "NOT_FOUND"].includes(came(path, verb)), `${verb} ${path}: ${came(path, verb)}`);
        }
      }
      for (const verb of ["write", "patch that moves to"]) ok(!came("m/new/x", verb).startsWith("done"));
    }
  });

  test("a root that is a mount from the start is the workspace, also with sameDevice", () => {
    const { came } = tried('mount --bind "$top/out" "$top/ws"', { sameDevice: true }, "a.txt");
    ok(came("a.txt", "read").includes("content outside"));
  });

  for (const [what, mount] of [
    ["a bind mount of an outside folder", ["--bind", "out", "ws"]],
    ["a tmpfs", ["-t", "tmpfs", "none", "ws"]],
  ] as const) {
    test(`A39 ${what} that is put over the root while it runs: everything is refused`, () => {
      const { at, came } = tried("", { mountLater: mount }, "a.txt", "spare.txt", "new.txt", "m", ".");
      for (const path of ["a.txt", "spare.txt", "new.txt", "m", "."]) {
        for (const verb of ["read", "ls", "edit", "write", "patch that moves to"]) {
          // A patch that moves the file onto itself is refused as such.
          const code = verb.startsWith("patch") && path === "spare.txt" ? "INVALID_PARAM" : "ACCESS_DENIED";
          equal(came(path, verb), code, `${verb} ${path}`);
        }
      }
      equal(fs.readFileSync(at("out/a.txt"), "utf8"), "content outside\n");
      equal(fs.existsSync(at("out/new.txt")), false);
      equal(fs.readFileSync(at("ws/spare.txt"), "utf8"), "content\n");
    });
  }
});
