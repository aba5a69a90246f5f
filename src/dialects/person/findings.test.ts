/** What is said about a machine that lacks something. */

import { describe, expect, test } from "vitest";
import type { Checkup, FoundServer } from "../../contract/checkup.ts";
import { folderFindings, machineFindings } from "./findings.ts";

const folder = {
  there: "folder",
  writable: true,
  openToOthers: false,
  ownedByAnother: false,
  foldsCase: false,
  fileSystem: { name: "btrfs", hardLinks: true, attributes: true, clones: true },
  isLocal: true,
} as const;
const server = (change: Partial<FoundServer>): FoundServer => ({
  name: "pyright",
  group: "pyright",
  command: "pyright-langserver",
  program: "/bin/pyright-langserver",
  extensions: [".py"],
  install: "npm install --global pyright",
  ...change,
});
const well: Checkup = {
  node: { version: "22.1.0", needed: "20.19.0", enough: true },
  ripgrep: { kind: "path", command: "/usr/bin/rg" },
  parts: new Map([["sharp", "there"]]),
  stateDir: { path: "/state", ...folder },
  locks: [{ path: "/locks", fault: undefined, leftAlone: false, ...folder }],
  roots: [{ path: "/ws", ...folder, locks: "kernel" }],
  git: "/usr/bin/git",
  languageServers: [],
  confinement: { is: "possible", abi: 7 },
};
const saidOf = (change: Partial<Checkup>, about: string): readonly (string | undefined)[] => {
  const all = [...machineFindings({ ...well, ...change }), ...folderFindings({ ...well, ...change })];
  const { grade, words, next } = all.find((one) => one.about === about) ?? {};
  return [grade, words, next];
};

test("a machine that has everything", () => {
  expect([...machineFindings(well), ...folderFindings(well)].filter(({ grade }) => grade !== "ok")).toEqual([]);
  expect(saidOf({}, "root")[1]).toBe(
    "/ws (btrfs, a and A are two names, hard links, extended attributes, copies share blocks)",
  );
  expect(saidOf({}, "locks")[1]).toContain(
    "hold between all processes on this machine, other users and containers too",
  );
  const mounted = { roots: [{ path: "/ws", ...folder, locks: "beside", isLocal: false }] } as const;
  expect(saidOf(mounted, "locks")[1]).toContain("hold between all processes and machines that share the folder");
});

test("of servers that stand in for each other one is enough", () => {
  const [tsc, other] = ["typescript", "typescript-language-server"].map((name) =>
    server({ name, group: "typescript", command: name, program: undefined }),
  );
  const said = (...servers: readonly (FoundServer | undefined)[]) =>
    machineFindings({ ...well, languageServers: servers.flatMap((one) => one ?? []) })
      .filter(({ about }) => about === "language server")
      .map(({ grade, words }) => [grade, words]);
  expect(said(tsc, other)).toEqual([["note", "no typescript, so no diagnostics for .py"]]);
  expect(said(tsc, other && { ...other, program: "/bin/tls" })).toEqual([
    ["ok", "typescript-language-server for .py: /bin/tls"],
  ]);
});

describe("what is missing", () => {
  for (const [name, change, about, grade, words, next] of [
    [
      "an old Node",
      { node: { version: "18.0.0", needed: "20.19.0", enough: false } },
      "node",
      "wrong",
      "18.0.0",
      "20.19.0",
    ],
    ["no ripgrep", { ripgrep: undefined }, "ripgrep", "wrong", "Grep cannot work", "npm install @vscode/ripgrep"],
    ["no sharp", { parts: new Map([["sharp", "missing"]]) }, "sharp", "note", "not installed", "npm install"],
    [
      "sharp of another system",
      { parts: new Map([["sharp", "broken"]]) },
      "sharp",
      "note",
      "cannot be loaded",
      "this very system",
    ],
    ["no state folder", { stateDir: undefined }, "state folder", "note", "nothing can be undone", "--state-dir"],
    [
      "a state folder of another",
      { stateDir: { path: "/s", ...folder, ownedByAnother: true } },
      "state folder",
      "note",
      "another user",
      "--state-dir",
    ],
    [
      "an open state folder",
      { stateDir: { path: "/s", ...folder, openToOthers: true } },
      "state folder",
      "note",
      "open to other users",
      "chmod 700 /s",
    ],
    [
      "a closed state folder",
      { stateDir: { path: "/s", ...folder, writable: false } },
      "state folder",
      "wrong",
      "may not be written",
      "permissions",
    ],
    [
      "locks of another",
      { locks: [{ path: "/l", ...folder, leftAlone: false, fault: "belongs to another user" }] },
      "lock folder",
      "wrong",
      "/l belongs to another user",
      "remove it",
    ],
    [
      "locks of another, and a second folder for ours",
      { locks: [{ path: "/l", ...folder, leftAlone: true, fault: "belongs to another user" }] },
      "lock folder",
      "note",
      "/l belongs to another user, so it is left alone",
      "locks are taken in the next one",
    ],
    [
      "no server for a language",
      { languageServers: [server({ name: "pyright", program: undefined })] },
      "language server",
      "note",
      "no pyright-langserver, so no diagnostics for .py",
      "npm install --global pyright",
    ],
    [
      "a server that lacks what it checks with",
      {
        languageServers: [
          server({ name: "bash", lacks: { program: "shellcheck", install: "apt install shellcheck" } }),
        ],
      },
      "language server",
      "note",
      "bash without shellcheck, so no diagnostics for .py",
      "apt install shellcheck",
    ],
    [
      "no program for a server of one's own",
      { languageServers: [server({ name: "zls", program: undefined, install: undefined })] },
      "language server",
      "note",
      "no pyright-langserver",
      'the server "zls" in your settings',
    ],
    [
      "locks that reach no other user or container",
      { roots: [{ path: "/ws", ...folder, locks: "lock files" }] },
      "locks",
      "note",
      "/ws: lock files, which hold between processes of one user",
      "npm install koffi",
    ],
    [
      "locks beside files, which processes with koffi do not see",
      { roots: [{ path: "/ws", ...folder, locks: "beside", isLocal: true }] },
      "locks",
      "note",
      "a lock beside each file while it is changed, which hold between all processes on this machine",
      "npm install koffi",
    ],
    [
      "no place for locks beside files",
      { roots: [{ path: "/ws", ...folder, locks: "beside", writable: false }] },
      "locks",
      "note",
      "/ws: lock files, which hold between processes of one user",
      "allow writing",
    ],
    [
      "a read-only root",
      { roots: [{ path: "/ws", ...folder, locks: "kernel", writable: false }] },
      "root",
      "note",
      "may not be written to",
      "permissions",
    ],
  ] as const satisfies readonly (readonly [string, Partial<Checkup>, ...string[]])[]) {
    test(name, () => {
      const [actual, said, advice] = saidOf(change, about);
      expect([actual, said, advice]).toEqual([grade, expect.stringContaining(words), expect.stringContaining(next)]);
    });
  }
});
