/** `filehand diff`: what a turn changed, or several turns together. */

import type { FileVersion } from "../../../contract/history.ts";
import { escapeName } from "../../../text/escape.ts";
import { nameFrom } from "../change.ts";
import type { Command, Given, Host } from "../command.ts";
import { orJsonFailure } from "../json-failure.ts";
import { paintVersions } from "../paint-versions.ts";
import {
  chosenSession,
  type Looked,
  type Named,
  namedTurn,
  noTurn,
  openPast,
  type Past,
  pathAmong,
  sessionToLookAt,
  stopIfInterrupted,
} from "../past.ts";
import { progressBar } from "../progress.ts";
import { findTurn, rangeOf } from "../turn-names.ts";
import { diffOfSides, sideOf, type VersionDiff } from "../versions.ts";
import { printJson } from "../print.ts";

export const diff: Command = {
  name: "diff",
  summary: "Show what a turn changed, or several turns together",
  parameters: ["<turn>[..<turn>]"],
  options: {
    file: { type: "list", value: "PATH", words: "Only this file; may be given several times" },
    session: sessionToLookAt,
  },
  details: [
    "A turn is named by the beginning of its id, or counted from the newest: -1, -2.",
    "Of two turns it shows all from before the first to after the second.",
  ].join("\n"),
  examples: ["filehand diff -1", "filehand diff -3..-1 --file src/index.ts", "filehand diff 1f0c2a9b --json"],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const past = await openPast(given, host);
      const { from, to, looked } = await turnsOf(given.parameters[0] ?? "", past, given);
      const files = await changedFiles(looked, from, to, given, past, host);
      if (given.flag("json")) {
        printJson({ session: looked.turns.id, from, to, files }, host);
        return 0;
      }
      const parts = files.map((file) => paintVersions(titleOf(file, host), withMode(file), host));
      host.stdout.write(`${parts.join("\n\n")}\n`);
      return 0;
    }),
};

interface Turns {
  readonly from: string;
  readonly to: string;
  readonly looked: Looked;
}

async function turnsOf(asked: string, past: Past, given: Given): Promise<Turns> {
  const { ids } = await chosenSession(past, given);
  const [first, second] = rangeOf(asked, (name) => ids.includes(name));
  const looked: Named = await namedTurn(first, past, given);
  const to = first === second ? looked.turn : findTurn(second, looked.ids);
  if (typeof to !== "string") {
    throw noTurn(
      `Cannot find the turn "${escapeName(second)}" in the session of "${escapeName(first)}", see filehand history`,
    );
  }
  if (looked.ids.indexOf(looked.turn) > looked.ids.indexOf(to)) {
    throw noTurn(`Cannot show "${escapeName(asked)}": the first turn is the newer one, name the older one first`);
  }
  return { from: looked.turn, to, looked };
}

interface ChangedFile extends VersionDiff {
  readonly path: string;
  readonly modes: readonly [string, string] | null;
  /** The other half of a rename. */
  readonly movedFrom: string | null;
  readonly movedTo: string | null;
}

async function changedFiles(
  looked: Looked,
  from: string,
  to: string,
  given: Given,
  past: Past,
  host: Host,
): Promise<readonly ChangedFile[]> {
  const { session, turns } = looked;
  const changed = turns.changes(from, to);
  const all = changed.map(({ path }) => path);
  const wanted = given.list("file").map((asked) => {
    const path = pathAmong(asked, all, past, host);
    if (path === undefined) throw noTurn(`Cannot show "${escapeName(asked)}": it was not changed then`);
    return path;
  });
  const chosen = wanted.length === 0 ? changed : changed.filter(({ path }) => wanted.includes(path));
  const files: ChangedFile[] = [];
  const bar = progressBar("Comparing", given, host, "files");
  try {
    for (const [at, { path, before, after, movedFrom = null, movedTo = null }] of chosen.entries()) {
      stopIfInterrupted(host);
      bar.show(at, chosen.length);
      const refused = await session.readRefusal(path);
      const sides = refused === undefined ? [await sideOf(before, turns), await sideOf(after, turns)] : undefined;
      const [a = { why: refused ?? "" }, b = { why: refused ?? "" }] = sides ?? [];
      files.push({ path, modes: modesOf(before, after), movedFrom, movedTo, ...diffOfSides(a, b) });
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

function modesOf(before: FileVersion, after: FileVersion): readonly [string, string] | null {
  if (before.kind === "absent" || after.kind === "absent") return null;
  if (before.mode === undefined || after.mode === undefined || before.mode === after.mode) return null;
  return [before.mode.toString(8), after.mode.toString(8)];
}

/** A file whose content stayed may have got other rights. */
const withMode = ({ modes, ...diff }: ChangedFile): VersionDiff =>
  modes === null || diff.note === null ? diff : { ...diff, note: `mode ${modes[0]} before, ${modes[1]} after` };
