/** Findings of `filehand doctor` in words: what is installed, what is missing, and how to get it. Pure. */

import type { Checkup } from "../../contract/checkup.ts";
import type { Confined, Unconfined } from "../../contract/confinement.ts";
import type { PermissionList } from "../../contract/permission.ts";

/** `wrong`: Filehand does not work as it was set up. `note`: something is missing that can be done without. */
export interface Finding {
  readonly about: string;
  readonly grade: "ok" | "note" | "wrong";
  readonly words: string;
  readonly next?: string;
}

const finding = (about: string, grade: Finding["grade"], words: string, next?: string): Finding => ({
  about,
  grade,
  words,
  ...(next === undefined ? {} : { next }),
});

/** What each optional package is for, and what there is without it. */
const partWords = {
  sharp: "pictures are shown smaller where they are too large; without it only small ones are shown",
  "libheif-js": "HEIC pictures",
  "@embedpdf/pdfium": "PDFs: their text and their pages as pictures",
  koffi: "locks that reach other users and containers, extended attributes and ACLs of files that are replaced",
} as const satisfies Record<Parameters<Checkup["parts"]["get"]>[0], string>;

const ripgrepWords = {
  package: "of @vscode/ripgrep",
  path: "of the PATH",
  wasm: "in WebAssembly that Filehand brings along, slower than a binary (npm install @vscode/ripgrep)",
};

export function machineFindings(checkup: Checkup): readonly Finding[] {
  const { node, ripgrep, parts, git, languageServers } = checkup;
  return [
    node.enough
      ? finding("node", "ok", node.version)
      : finding("node", "wrong", `${node.version} is too old`, `install ${node.needed} or later from nodejs.org`),
    ripgrep === undefined
      ? finding("ripgrep", "wrong", "there is none, so Grep cannot work", "npm install @vscode/ripgrep, or install rg")
      : finding("ripgrep", "ok", `the one ${ripgrepWords[ripgrep.kind]}: ${ripgrep.command}`),
    ...[...parts].map(([name, state]) =>
      state === "there"
        ? finding(name, "ok", partWords[name])
        : finding(
            name,
            "note",
            `${state === "missing" ? "not installed" : "installed, but cannot be loaded"}: ${partWords[name]}`,
            `npm install --include=optional ${name}${state === "broken" ? ", on this very system" : ""}`,
          ),
    ),
    git === undefined ? finding("git", "note", "not on the PATH; nothing here needs it") : finding("git", "ok", git),
    ...serverFindings(languageServers),
  ];
}

/** Installed servers, and for each language without one how to get the first. */
function serverFindings(servers: Checkup["languageServers"]): readonly Finding[] {
  const there = servers.filter(({ program }) => program !== undefined);
  const served = new Set(there.map(({ group }) => group));
  const missing = servers.filter(({ group }) => !served.has(group));
  const firsts = missing.filter(({ group }, at) => missing.findIndex((one) => one.group === group) === at);
  return [
    ...there.map(({ name, program = "", extensions, lacks }) =>
      lacks === undefined
        ? finding("language server", "ok", `${name} for ${extensions.join(" ")}: ${program}`)
        : finding(
            "language server",
            "note",
            `${name} without ${lacks.program}, so no diagnostics for ${extensions.join(" ")}: ${program}`,
            lacks.install,
          ),
    ),
    ...firsts.map(({ name, command, extensions, install }) =>
      finding(
        "language server",
        "note",
        `no ${command}, so no diagnostics for ${extensions.join(" ")}`,
        install ?? `install the program of the server "${name}" in your settings`,
      ),
    ),
  ];
}

export function folderFindings({ stateDir, locks, roots }: Checkup): readonly Finding[] {
  return [...roots.map(rootFinding), stateFinding(stateDir), ...roots.flatMap(reachFinding), ...locks.map(lockFinding)];
}

/** Which locks protect the files of a root, and against which processes. */
function reachFinding({ path, there, isLocal, writable, locks }: Checkup["roots"][number]): readonly Finding[] {
  if (there !== "folder" || locks === undefined) return [];
  switch (locks) {
    case "kernel": {
      const words = "lock files and locks of the kernel on folders, which hold between all processes on this machine";
      return [finding("locks", "ok", `${path}: ${words}, other users and containers too`)];
    }
    case "beside": {
      if (!writable) {
        const words = `${path}: lock files, which hold between processes of one user that share the lock folder`;
        return [finding("locks", "note", words, "allow writing to the folder if others change files there")];
      }
      const words = `${path}: lock files, and a lock beside each file while it is changed`;
      if (isLocal === false) {
        const reach = "which hold between all processes and machines that share the folder";
        return [finding("locks", "ok", `${words}, ${reach} and may write to it`)];
      }
      const reach = "which hold between all processes on this machine that take them";
      const next = "install koffi (npm install koffi) if others there have it: they take locks of the kernel instead";
      return [finding("locks", "note", `${words}, ${reach}`, next)];
    }
    case "lock files": {
      const words = `${path}: lock files, which hold between processes of one user that share the lock folder`;
      const next = "install koffi (npm install koffi) if other users or containers change files there at the same time";
      return [finding("locks", "note", words, next)];
    }
  }
}

function rootFinding(root: Checkup["roots"][number]): Finding {
  if (root.there !== "folder")
    return finding("root", "wrong", `${root.path} is no folder`, "name another one with --root");
  const { fileSystem, foldsCase, isLocal } = root;
  const facts = [
    fileSystem?.name ?? "a file system of an unknown kind",
    isLocal === false ? "not local, so reads go through threads" : "",
    foldsCase === undefined ? "" : foldsCase ? "a and A are one name" : "a and A are two names",
    ...(fileSystem === undefined
      ? []
      : [
          fileSystem.hardLinks ? "hard links" : "no hard links",
          fileSystem.attributes ? "extended attributes" : "no extended attributes",
          { true: "copies share blocks", false: "copies share no blocks", perhaps: "copies perhaps share blocks" }[
            `${fileSystem.clones}`
          ],
        ]),
  ].filter((fact) => fact !== "");
  const words = `${root.path} (${facts.join(", ")})`;
  return root.writable
    ? finding("root", "ok", words)
    : finding(
        "root",
        "note",
        `${words} may not be written to`,
        "change its permissions if files in it shall be changed",
      );
}

function stateFinding(folder: Checkup["stateDir"]): Finding {
  if (folder === undefined) {
    return finding("state folder", "note", "there is none, so nothing can be undone", "name one with --state-dir");
  }
  const { path, there, writable, openToOthers, ownedByAnother } = folder;
  if (there === "something else") return finding("state folder", "wrong", `${path} is no folder`, "move it away");
  if (!writable) {
    return finding(
      "state folder",
      "wrong",
      `${path} may not be written to`,
      "change its permissions, or use --state-dir",
    );
  }
  if (there === "nothing") return finding("state folder", "ok", `${path} (made when it is needed)`);
  if (ownedByAnother) {
    return finding("state folder", "note", `${path} belongs to another user`, "use --state-dir for one of your own");
  }
  return openToOthers
    ? finding(
        "state folder",
        "note",
        `${path} is open to other users; what Filehand keeps there is not`,
        `chmod 700 ${path}`,
      )
    : finding("state folder", "ok", path);
}

function lockFinding({ path, fault, leftAlone, there, writable }: Checkup["locks"][number]): Finding {
  if (leftAlone) {
    const next = "nothing needs to be done, locks are taken in the next one; an administrator may remove it";
    return finding("lock folder", "note", `${path} ${fault ?? "is not ours"}, so it is left alone`, next);
  }
  if (fault !== undefined) return finding("lock folder", "wrong", `${path} ${fault}`, "remove it, it is made anew");
  if (!writable)
    return finding("lock folder", "wrong", `${path} may not be written to`, "change the permissions above it");
  return finding("lock folder", "ok", there === "nothing" ? `${path} (made when it is needed)` : path);
}

/** Existing settings files, their faults, and rules without effect. */
export function settingsFindings(
  files: readonly string[],
  faults: readonly { readonly file: string; readonly line: number; readonly message: string }[],
  rules: PermissionList | undefined,
): readonly Finding[] {
  const idle = (rules?.rules ?? []).flatMap(({ verdict, text, source, fault }) => {
    if (fault === undefined) return [];
    const isRefused =
      rules?.faults.some((one) => one.text === text && one.source === source && one.why === fault) === true;
    const words = `the rule ${verdict} ${text} (${source}) ${isRefused ? "is not in force" : "never decides"}: ${fault}`;
    return [finding("rules", isRefused ? "wrong" : "note", words, "filehand permissions list shows all of them")];
  });
  return [
    ...(files.length === 0 ? [finding("settings", "ok", "no settings file; all is as it comes")] : []),
    ...files
      .filter((file) => faults.every((fault) => fault.file !== file))
      .map((file) => finding("settings", "ok", file)),
    ...faults.map(({ file, line, message }) =>
      finding("settings", "wrong", `${file}:${line}: ${message}`, "mend it, see docs/behaviour/settings.md"),
    ),
    ...idle,
  ];
}

/** Whether `filehand mcp` and `serve` are confined when they are started here. `refused`: what the settings say. */
export function confinementFinding(checkup: Checkup["confinement"], refused?: Unconfined): Finding {
  if (refused !== undefined) return finding("confinement", "note", confinementWords(refused));
  if (checkup.is === "off") return finding("confinement", "note", `mcp and serve are ${confinementWords(checkup)}`);
  const ports = checkup.abi >= 4 ? "and TCP connections" : "but not TCP connections, which needs Linux 6.7";
  const words = `Landlock ${checkup.abi}: the kernel refuses mcp and serve all files outside the workspace`;
  return finding("confinement", "ok", `${words}, ${ports}`);
}

/** What holds, for the log of a server and for `filehand doctor`. */
export function confinementWords(state: Confined | Unconfined): string {
  if (state.is === "on") {
    const ports = state.network === "open" ? "TCP is not closed" : "no TCP connections";
    return `the kernel refuses this process and its children all files outside the workspace (Landlock ${state.abi}, ${ports})`;
  }
  switch (state.why) {
    case "option":
      return "not confined, as --no-confine says";
    case "settings":
      return "not confined, as the setting confinement says";
    case "system":
      return "not confined: only Linux is supported";
    case "runtime":
      return "not confined: only the built program on Node is supported";
    case "koffi":
      return "not confined: the package koffi is missing (npm install koffi)";
    case "kernel":
      return "not confined: this kernel has no Landlock of version 3 or later (Linux 6.2, security=landlock)";
    case "processor":
      return "not confined: this processor needs Landlock of version 8, which reaches all threads";
  }
}
