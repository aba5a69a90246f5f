/** Faults that the system itself makes: full disks, mounts, limits, other users. Each in a namespace of its own. */

import { deepEqual, equal } from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { afterAll, beforeAll, describe, test } from "vitest";
import { workspace } from "../support/workspace.ts";
import { newText, oldText } from "./changes.ts";
import { buildProgram, inNamespace, missing, missingOverlay, type Program, reason } from "./program.ts";

const { path: at, top } = workspace({});
let program: Program;
beforeAll(async () => {
  program = await buildProgram();
  // Another user must get to the folders and to the program.
  fs.chmodSync(top, 0o755);
  fs.chmodSync(program.path.slice(0, program.path.lastIndexOf("/")), 0o755);
});
afterAll(() => program.remove());

let folders = 0;
/** A folder with the old text in it, and a state folder beside it. */
function prepared(): string {
  folders += 1;
  const folder = at(`f${folders}`);
  fs.mkdirSync(folder);
  fs.mkdirSync(`${folder}.state`);
  fs.writeFileSync(`${folder}/a.txt`, oldText);
  return folder;
}

interface Seen {
  readonly outcome: { readonly did: string; readonly errno?: string; readonly during?: string; readonly how?: string };
  readonly text: string;
  readonly names: readonly string[];
}

/** Shell: makes the change with `$prefix` before the program, then prints the text and the names of the folder. */
const runAndShow = `$prefix "$node" "$program" "$change" "$folder"; base64 -w0 "$folder/a.txt"; echo; ls -A "$folder" | tr '\\n' ' '`;

/** `setup` is shell that runs in a mount namespace; `$folder` is the workspace. */
function seen(folder: string, setup: string, prefix = "", change = "a replace"): Seen {
  const variables = `node=$1 program=$2 folder=$3 change=$4 prefix=$5\n`;
  const script = `${variables}${setup}\n${runAndShow}`;
  const run = prefix === "" ? program.path : program.openPath;
  const [outcome, text, names] = inNamespace(script, process.execPath, run, folder, change, prefix).split("\n");
  return {
    outcome: (JSON.parse(outcome ?? "") as { readonly outcome: Seen["outcome"] }).outcome,
    text: Buffer.from(text ?? "", "base64").toString("utf8"),
    names: (names ?? "").trim().split(" "),
  };
}

/** Refused with this errno, the old text whole, nothing beside it. */
function refusedAs({ outcome, text, names }: Seen, errno: string, others: readonly string[] = []): void {
  equal(`${outcome.did} ${outcome.errno}`, `nothing ${errno}`);
  equal(text, oldText);
  deepEqual(names, [...others, "a.txt"].toSorted());
}

function replacedAs({ outcome, text, names }: Seen, how: string): void {
  equal(`${outcome.did} ${outcome.how}`, `replaced ${how}`, JSON.stringify(outcome));
  equal(text, newText);
  deepEqual(names, ["a.txt"]);
}

const noMount = missing("unshare", "mount");

describe.skipIf(noMount !== undefined)(`mounts${reason(noMount)}`, () => {
  const tmpfs = (options: string): string =>
    `mount -t tmpfs -o ${options} none "$folder"; printf %s "$old" > "$folder/a.txt"`;
  const old = `old='${oldText.trimEnd()}
'`;

  test("a full disk: ENOSPC, old bytes, no temporary file", () => {
    const full = `${old}\n${tmpfs("size=64k")}; head -c 100000 /dev/zero > "$folder/fill" 2>/dev/null || true`;
    refusedAs(seen(prepared(), full), "ENOSPC", ["fill"]);
  });

  test("a full disk and a file that is written in place: ENOSPC, old bytes", () => {
    const full = `${old}\n${tmpfs("size=64k")}; ln "$folder/a.txt" "$folder/twin"; head -c 100000 /dev/zero > "$folder/fill" 2>/dev/null || true`;
    refusedAs(seen(prepared(), full, "", "a write in place"), "ENOSPC", ["fill", "twin"]);
  });

  test("no inodes left: ENOSPC, old bytes", () => {
    refusedAs(seen(prepared(), `${old}\n${tmpfs("nr_inodes=2")}`), "ENOSPC");
  });

  test("a read-only mount: EROFS, old bytes", () => {
    const readOnly = `mount --bind "$folder" "$folder"; mount -o remount,bind,ro "$folder"`;
    refusedAs(seen(prepared(), readOnly), "EROFS");
  });

  test("a file that is a mount point is written in place, and so is what is mounted there", () => {
    const folder = prepared();
    fs.writeFileSync(`${folder}.outer`, oldText);
    replacedAs(seen(folder, `mount --bind "$folder.outer" "$folder/a.txt"`), "in place");
    equal(fs.readFileSync(`${folder}.outer`, "utf8"), newText);
    equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), oldText);
  });

  const noOverlay = missingOverlay(top);
  test.skipIf(noOverlay !== undefined)(`an overlay: a file of the lower layer is replaced${reason(noOverlay)}`, () => {
    const folder = prepared();
    const overlay = `mkdir "$folder.u"; mount -t tmpfs none "$folder.u"; mkdir "$folder.u/u" "$folder.u/w"
      mount -t overlay o -o "lowerdir=$folder,upperdir=$folder.u/u,workdir=$folder.u/w" "$folder"`;
    replacedAs(seen(folder, overlay), "renamed");
    equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), oldText);
  });
});

const noLimit = missing("unshare", "prlimit");
test.skipIf(noLimit !== undefined)(`a limit on the size of files: EFBIG, old bytes${reason(noLimit)}`, () => {
  refusedAs(seen(prepared(), "", "prlimit --fsize=20"), "EFBIG");
});

const noChattr = (() => {
  const why = missing("unshare", "chattr");
  if (why !== undefined) return why;
  fs.writeFileSync(at("probe"), "");
  const { status } = spawnSync("chattr", ["+i", at("probe")]);
  if (status === 0) execFileSync("chattr", ["-i", at("probe")]);
  return status === 0 ? undefined : "the file system has no such flag";
})();

describe.skipIf(noChattr !== undefined)(`flags of the file system${reason(noChattr)}`, () => {
  for (const flag of ["i", "a"]) {
    test(`chattr +${flag} on the file: EPERM, old bytes`, () => {
      const folder = prepared();
      execFileSync("chattr", [`+${flag}`, `${folder}/a.txt`]);
      try {
        refusedAs(seen(folder, ""), "EPERM");
      } finally {
        execFileSync("chattr", [`-${flag}`, `${folder}/a.txt`]);
      }
    });
  }

  test("chattr +i on the folder: the file is written in place, its journal is in the state folder", () => {
    const folder = prepared();
    execFileSync("chattr", ["+i", folder]);
    try {
      replacedAs(seen(folder, ""), "in place");
      deepEqual(fs.readdirSync(`${folder}.state/undo`), []);
    } finally {
      execFileSync("chattr", ["-i", folder]);
    }
  });
});

const nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups";
const noUser = (() => {
  const why = missing("unshare", "setpriv");
  if (why !== undefined) return why;
  fs.chmodSync(top, 0o755);
  const { status } = spawnSync("sh", ["-c", `${nobody} "$0" -e 0 && ${nobody} ls "$1"`, process.execPath, top]);
  return status === 0 ? undefined : "another user cannot run Node here, or not get to temporary files";
})();

describe.skipIf(noUser !== undefined)(`another user${reason(noUser)}`, () => {
  /** Owners and modes of the folder, the file and the state folder, which is the other user's. */
  function owned(folder: { mode: number; uid?: number }, file: { mode: number; uid?: number }): string {
    const path = prepared();
    fs.chownSync(path, folder.uid ?? 0, 0);
    fs.chmodSync(path, folder.mode);
    fs.chownSync(`${path}/a.txt`, file.uid ?? 0, 0);
    fs.chmodSync(`${path}/a.txt`, file.mode);
    fs.chownSync(`${path}.state`, 65_534, 65_534);
    return path;
  }
  const modeAndOwner = (folder: string): string => {
    const { mode, uid, gid } = fs.statSync(`${folder}/a.txt`);
    return `${(mode & 0o7777).toString(8)} ${uid}:${gid}`;
  };

  test("a file that they may not write: EACCES, although a rename would work", () => {
    const folder = owned({ mode: 0o777 }, { mode: 0o644 });
    refusedAs(seen(folder, "", nobody), "EACCES");
    equal(modeAndOwner(folder), "644 0:0");
  });

  test("a file of another owner that they may write is written in place and stays the owner's", () => {
    const folder = owned({ mode: 0o777 }, { mode: 0o666 });
    replacedAs(seen(folder, "", nobody), "in place");
    equal(modeAndOwner(folder), "666 0:0");
  });

  test("a folder with the sticky bit", () => {
    const folder = owned({ mode: 0o1777 }, { mode: 0o666 });
    replacedAs(seen(folder, "", nobody), "in place");
  });

  test("a folder where no file can be created: the file is written in place, its journal is in the state folder", () => {
    const folder = owned({ mode: 0o755 }, { mode: 0o644, uid: 65_534 });
    replacedAs(seen(folder, "", nobody), "in place");
    deepEqual(fs.readdirSync(`${folder}.state/undo`), []);
    equal(fs.statSync(`${folder}.state/undo`).mode & 0o777, 0o700);
  });

  test("the same without a state folder that can be written: refused, old bytes", () => {
    const folder = owned({ mode: 0o755 }, { mode: 0o644, uid: 65_534 });
    fs.chownSync(`${folder}.state`, 0, 0);
    refusedAs(seen(folder, "", nobody), "EACCES");
  });
});
