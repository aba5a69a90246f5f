/** `filehand history`, `rewind`, `undo`, `redo`, `diff` and `show`. */

import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import * as nodePath from "node:path";
import { beginning, type FileVersion, type VersionIs } from "../../../contract/history.ts";
import { FilehandError } from "../../../contract/problem.ts";
import { escapeName, modesOf } from "../../../text/text.ts";
import { nameFrom } from "../change.ts";
import { type Command, type ExitCode, type Given, type Host, option, UsageError } from "../command.ts";
import { paintVersions } from "../diff.ts";
import { collectStore, showHistory, showUsage, verifyStore } from "../history-list.ts";
import {
  chosenTurns,
  diffOfSides,
  findTurn,
  type Kept,
  type Looked,
  type Named,
  namedTurn,
  openPast,
  openVersion,
  type Past,
  patchOfSides,
  pathAmong,
  rangeOf,
  type Side,
  sideOf,
  stopIfInterrupted,
  type VersionDiff,
} from "../past.ts";
import { noTurn, whoseOptions } from "../whose.ts";
import { orJsonFailure, print, printJson, shownText } from "../print.ts";
import { progressBar } from "../progress.ts";
import { rewindOptions, runRewind } from "../rewound.ts";

const everySession = [
  "Turns are those of all sessions of the workspace, also of agents, merged by time. From a subfolder the workspace is",
  "found: the nearest folder above that a program worked in, or the top of the git checkout; or else give --root.",
];

const file = option.list("PATH", "Only this file; may be given several times");
const words = { verify: verifyStore, usage: showUsage, gc: collectStore } as const;

const isWord = (given: string): given is keyof typeof words => Object.hasOwn(words, given);

export const history: Command = {
  name: "history",
  summary: "List what was changed in this workspace, by whom; check what is kept",
  parameters: ["[verify|usage|gc]"],
  options: {
    ...whoseOptions,
    all: option.flag("Also sessions of other workspaces"),
    "if-due": option.flag("gc: only if none was made within a day; changes start that by themselves"),
    limit: option.integer("How many turns and sessions, newest first (default: 20)", { min: 1 }),
  },
  details: [
    ...everySession,
    "verify: compares all that is kept with its checksums; exit code 1 if something is damaged.",
    "usage: how much is kept, and when the oldest session in it began.",
    "gc: removes what is over the limits or no longer needed.",
  ].join("\n"),
  examples: ["filehand history", 'filehand history --agent "Claude Code" --json', "filehand history verify"],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const [word] = given.parameters;
      if (word !== undefined && !isWord(word)) {
        throw new UsageError(`There is no "${word}" of history, use verify, usage or gc, or nothing`);
      }
      refuseInVain(word, given);
      const limit = given.integer("limit") ?? 20;
      const past = await openPast(given, host, word === undefined ? "workspace" : "store");
      return word === undefined ? showHistory(past, limit, given, host) : words[word](past, given, host);
    }),
};

/** Refuses options that this form of the command would ignore. */
function refuseInVain(word: keyof typeof words | undefined, given: Given): void {
  if (word !== "gc" && given.flag("if-due")) throw new UsageError("--if-due is of use only with gc");
  const ofLists = ["session", "mine", "agent", "all", "limit"].find((name) => word !== undefined && given.flag(name));
  if (ofLists !== undefined)
    throw new UsageError(`--${ofLists} is of no use with ${word}, which is about all that is kept`);
}

export const rewind: Command = {
  name: "rewind",
  summary: "Make files what they were before a turn",
  parameters: ["<turn>"],
  options: {
    ...rewindOptions,
    file,
    ...whoseOptions,
  },
  details: [
    "A turn is named by the beginning of its id, or counted from the newest: -1, -2; start is before the first.",
    ...everySession,
    "What somebody else changed since is left as it is, unless --force is given. A rewind is a turn itself.",
    "At a terminal it shows what would change and asks, unless --yes is given; elsewhere it needs --yes or a rule.",
  ].join("\n"),
  examples: [
    "filehand rewind -1 --dry-run",
    "filehand rewind 1f0c2a9b --file src/index.ts",
    "filehand rewind -3 --yes",
  ],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const past = await openPast(given, host);
      const asked = given.parameters[0] ?? "";
      const named: Named =
        asked === beginning
          ? { ...(await chosenTurns(past, given)), turn: beginning }
          : await namedTurn(asked, past, given);
      const files = filesOf(named, given, past, host);
      return runRewind("rewind", named, given, host, (options) =>
        named.session.rewind(named.turn, { ...options, ...(files.length === 0 ? {} : { files }) }),
      );
    }),
};

function filesOf({ turns, turn, ids }: Named, given: Given, past: Past, host: Host): readonly string[] {
  const asked = given.list("file");
  if (asked.length === 0) return [];
  const since = turns.snapshots().slice(Math.max(0, ids.indexOf(turn)));
  const changed = [...new Set(since.flatMap(({ trackedFileBackups }) => Object.keys(trackedFileBackups)))];
  return asked.map((name) => {
    const path = pathAmong(name, changed, past, host);
    if (path === undefined) throw noTurn(`Cannot bring back "${escapeName(name)}": it was not changed since that turn`);
    return path;
  });
}

const oneTurn = (way: "undo" | "redo", words: Pick<Command, "summary" | "details" | "examples">): Command => ({
  name: way,
  parameters: [],
  options: { ...rewindOptions, ...whoseOptions },
  ...words,
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const looked = await chosenTurns(await openPast(given, host), given);
      return runRewind(way, looked, given, host, (options) => looked.session[way](options));
    }),
});

export const undo = oneTurn("undo", {
  summary: "Take back what was changed last in this workspace, whoever did it",
  details: [
    "Shows who did it, how and when, and asks, unless --yes is given; without a terminal it needs --yes or a rule. Again: the turn before.",
    ...everySession,
    "What somebody else changed since is left as it is, unless --force is given.",
  ].join("\n"),
  examples: ["filehand undo", "filehand undo --mine", 'filehand undo --agent "Claude Code" --dry-run'],
});

export const redo = oneTurn("redo", {
  summary: "Take back the last undo or rewind",
  details: [
    "Again: the undo before that one. After a new change, of any session, there is nothing to redo.",
    ...everySession,
  ].join("\n"),
  examples: ["filehand redo", "filehand redo --dry-run"],
});

export const diff: Command = {
  name: "diff",
  summary: "Show what a turn changed, or several turns together",
  parameters: ["<turn>[..<turn>]"],
  options: {
    file,
    patch: option.flag("As a patch for git apply and patch -p1, also on a terminal"),
    ...whoseOptions,
  },
  details: [
    "A turn is named by the beginning of its id, or counted from the newest: -1, -2.",
    ...everySession,
    "Of two turns it shows all from before the first to after the second.",
    "Where the output is no terminal it is a patch, with paths relative to the root of the workspace.",
  ].join("\n"),
  examples: [
    "filehand diff -1",
    "filehand diff -3..-1 --file src/index.ts",
    "filehand diff -1 > last.patch",
    "filehand diff 1f0c2a9b --json",
  ],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const past = await openPast(given, host);
      const { from, to, looked } = await turnsOf(given.parameters[0] ?? "", past, given);
      const chosen = chosenChanges(looked, from, to, given, past, host);
      const isPatch = given.flag("patch") || host.stdout.isTTY !== true;
      if (isPatch && !given.flag("json")) return printPatch(looked, chosen, given, host);
      const files = await changedFiles(looked, chosen, given, host);
      if (given.flag("json")) return printJson({ from, to, files }, host);
      return print(files.map((one) => paintVersions(titleOf(one, host), withMode(one), host)).join("\n\n"), host);
    }),
};

async function turnsOf(asked: string, past: Past, given: Given) {
  const { ids } = await chosenTurns(past, given);
  const [first, second] = rangeOf(asked, (name) => ids.includes(name));
  const looked = await namedTurn(first, past, given);
  const to = first === second ? looked.turn : findTurn(second, looked.ids);
  if (typeof to !== "string") {
    throw noTurn(`Cannot find the turn "${escapeName(second)}", see filehand history`);
  }
  if (looked.ids.indexOf(looked.turn) > looked.ids.indexOf(to)) {
    throw noTurn(`Cannot show "${escapeName(asked)}": the first turn is the newer one, name the older one first`);
  }
  return { from: looked.turn, to, looked };
}

interface ChangedFile extends VersionDiff {
  readonly path: string;
  readonly modes: readonly [string, string] | null;
  readonly movedFrom: string | null;
  readonly movedTo: string | null;
}

type Change = ReturnType<Looked["turns"]["changes"]>[number];

function chosenChanges(
  { turns }: Looked,
  from: string,
  to: string,
  given: Given,
  past: Past,
  host: Host,
): readonly Change[] {
  const changed = turns.changes(from, to);
  const all = changed.map(({ path }) => path);
  const wanted = given.list("file").map((asked) => {
    const path = pathAmong(asked, all, past, host);
    if (path === undefined) throw noTurn(`Cannot show "${escapeName(asked)}": it was not changed then`);
    return path;
  });
  return wanted.length === 0 ? changed : changed.filter(({ path }) => wanted.includes(path));
}

/** Both sides of a change, or why they are not shown. */
async function sidesOf(
  { session, turns }: Looked,
  path: string,
  before: FileVersion,
  after: FileVersion,
): Promise<readonly [Side, Side]> {
  const refused = await session.readRefusal(path);
  if (refused !== undefined) return [{ why: refused }, { why: refused }];
  return [await sideOf(before, turns), await sideOf(after, turns)];
}

/** Changes as a patch, one file at a time. Content that is not in it is named on stderr, and the exit code is 1. */
async function printPatch(looked: Looked, chosen: readonly Change[], given: Given, host: Host): Promise<ExitCode> {
  const byPath = new Map(chosen.map((change) => [change.path, change]));
  /** The other half of a rename, if the file is gone there and new here. */
  const sourceOf = ({ path, before, movedFrom }: Change): Change | undefined => {
    const from = movedFrom === undefined || before.kind !== "absent" ? undefined : byPath.get(movedFrom);
    return from?.movedTo === path && from.after.kind === "absent" && from.before.kind === "file" ? from : undefined;
  };
  const sources = new Set(chosen.map((change) => sourceOf(change)?.path));
  const bar = progressBar("Comparing", given, host, "files");
  let isComplete = true;
  try {
    for (const [at, change] of chosen.entries()) {
      stopIfInterrupted(host);
      bar.show(at, chosen.length);
      if (sources.has(change.path)) continue;
      const source = sourceOf(change);
      const { path, relative, after } = change;
      const { before } = source ?? change;
      const other = kindOutsidePatch(before, after);
      if (other !== undefined) {
        // A folder comes with its files; only an empty one, and a link, is missing from the patch.
        if (other === "folder" && chosen.some((one) => one.path.startsWith(path + nodePath.sep))) continue;
        isComplete = false;
        host.stderr.write(`filehand: "${escapeName(relative)}" is not in the patch: it is a ${other}\n`);
        continue;
      }
      const refused = source === undefined ? undefined : await looked.session.readRefusal(source.path);
      const sides =
        refused === undefined
          ? await sidesOf(looked, path, before, after)
          : ([{ why: refused }, { why: refused }] as const);
      const { bytes, lacks } = patchOfSides(relative, source?.relative, sides, gitModes(before, after));
      if (bytes !== undefined) {
        bar.clear();
        const isShown = host.stdout.isTTY === true;
        const text = isShown ? shownText(Buffer.from(bytes).toString("utf8"), host, "stdout") : bytes;
        if (!host.stdout.write(text)) await once(host.stdout, "drain");
      }
      if (lacks === undefined) continue;
      isComplete = false;
      host.stderr.write(
        `filehand: the content of "${escapeName(relative)}" is not in the patch: ${escapeName(lacks)}\n`,
      );
    }
  } finally {
    bar.clear();
  }
  return isComplete ? 0 : 1;
}

/** What a patch of text files cannot express. */
const kindOutsidePatch = (...versions: readonly FileVersion[]): VersionIs | undefined =>
  versions.flatMap((version) => (version.kind === "absent" ? [] : (version.is ?? [])))[0];

/** Undefined if there is nothing that git says of a mode. */
function gitModes(before: FileVersion, after: FileVersion) {
  const modeOf = (version: FileVersion): number => (version.kind === "absent" ? undefined : version.mode) ?? 0o644;
  const modes = { before: modeOf(before), after: modeOf(after) };
  const isSame = (modes.before & 0o100) === (modes.after & 0o100);
  return before.kind === "file" && after.kind === "file" && isSame ? undefined : modes;
}

async function changedFiles(
  looked: Looked,
  chosen: readonly Change[],
  given: Given,
  host: Host,
): Promise<readonly ChangedFile[]> {
  const files: ChangedFile[] = [];
  const bar = progressBar("Comparing", given, host, "files");
  try {
    for (const [at, { path, before, after, movedFrom = null, movedTo = null }] of chosen.entries()) {
      stopIfInterrupted(host);
      bar.show(at, chosen.length);
      const [a, b] = await sidesOf(looked, path, before, after);
      files.push({ path, modes: octalModes(before, after), movedFrom, movedTo, ...diffOfSides(a, b) });
    }
  } finally {
    bar.clear();
  }
  return files;
}

function titleOf({ path, movedFrom, movedTo }: ChangedFile, { cwd }: Host): string {
  const name = nameFrom(cwd, path);
  if (movedFrom !== null) return `${name}, moved from ${nameFrom(cwd, movedFrom)}`;
  return movedTo === null ? name : `${name}, moved to ${nameFrom(cwd, movedTo)}`;
}

function octalModes(before: FileVersion, after: FileVersion): readonly [string, string] | null {
  const modes = modesOf(before, after);
  return modes === undefined ? null : [modes[0].toString(8), modes[1].toString(8)];
}

/** A file with unchanged content may have another mode. */
const withMode = ({ modes, ...diff }: ChangedFile): VersionDiff =>
  modes === null || diff.note === null ? diff : { ...diff, note: `mode ${modes[0]} before, ${modes[1]} after` };

const pieceBytes = 1_048_576;
/** A JSON string cannot be longer. */
const jsonBytesMax = 134_217_728;

export const show: Command = {
  name: "show",
  summary: "Print a file as it was before a turn",
  parameters: ["<turn>:<path>"],
  options: {
    after: option.flag("As it was after the turn"),
    ...whoseOptions,
  },
  details: [
    "A turn is named by the beginning of its id, or counted from the newest: -1, -2.",
    ...everySession,
    "The bytes are printed as they were, so they can be sent to a file.",
  ].join("\n"),
  examples: ["filehand show -1:src/index.ts", "filehand show 1f0c2a9b:logo.png --after > logo.png"],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const past = await openPast(given, host);
      const { named, path, asked } = await placeOf(given.parameters[0] ?? "", past, given, host);
      const { turns, turn, session } = named;
      const when = given.flag("after") ? "after" : "before";
      const version = turns.versionOf(turn, path, when);
      const cannot = `Cannot show "${escapeName(asked)}" as it was ${when} that turn`;
      if (version === undefined || version.kind === "absent") throw noTurn(`${cannot}: it did not exist`);
      const refused = await session.readRefusal(path);
      if (refused !== undefined) throw new FilehandError("ACCESS_DENIED", refused);
      const opened = await openVersion(version, turns);
      if ("why" in opened) throw noTurn(`${cannot}: ${opened.why}`);
      using file = opened;
      if (!given.flag("json")) {
        for await (const piece of piecesOf(file)) if (!host.stdout.write(piece)) await once(host.stdout, "drain");
        return 0;
      }
      if (file.sizeBytes > jsonBytesMax) throw noTurn(`${cannot}: ${file.sizeBytes} bytes are too many for JSON`);
      const pieces: Uint8Array[] = [];
      for await (const piece of piecesOf(file)) pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      const content = isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
      return printJson({ turn, path, when, sizeBytes: file.sizeBytes, ...content }, host);
    }),
};

/** `<turn>:<path>`. Both may contain colons; the first split whose left part names a turn counts. */
async function placeOf(place: string, past: Past, given: Given, host: Host) {
  const colons = [...place.matchAll(/:/g)].map(({ index }) => index);
  if (colons.length === 0) throw new UsageError(`"${place}" must be <turn>:<path>, such as -1:src/index.ts`);
  let fault: unknown;
  for (const at of colons) {
    const asked = place.slice(at + 1);
    try {
      const named = await namedTurn(place.slice(0, at), past, given);
      return { named, asked, path: changedPath(asked, named, past, host) };
    } catch (error) {
      if (!(error instanceof FilehandError)) throw error;
      fault ??= error;
    }
  }
  throw fault;
}

function changedPath(asked: string, { turns, turn }: Named, past: Past, host: Host): string {
  const snapshot = turns.snapshots().find(({ messageId }) => messageId === turn);
  const path = pathAmong(asked, Object.keys(snapshot?.trackedFileBackups ?? {}), past, host);
  if (path !== undefined) return path;
  throw noTurn(`Cannot show "${escapeName(asked)}": that turn did not change it, filehand diff shows what it changed`);
}

async function* piecesOf(file: Kept): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.sizeBytes; ) {
    const piece = Buffer.alloc(Math.min(pieceBytes, file.sizeBytes - at));
    const count = await file.read(piece, at);
    if (count === 0) return;
    at += count;
    yield piece.subarray(0, count);
  }
}
