/** `filehand show`: a file as it was before a turn, or after it, to the byte. */

import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { escapeName } from "../../../text/escape.ts";
import { type Command, type Given, type Host, UsageError } from "../command.ts";
import { FilehandError } from "../../../contract/failure.ts";
import { orJsonFailure } from "../json-failure.ts";
import { type Named, namedTurn, noTurn, openPast, type Past, pathAmong, sessionToLookAt } from "../past.ts";
import { openVersion } from "../versions.ts";
import { printJson } from "../print.ts";

const pieceBytes = 1_048_576;
/** More cannot be one string of JSON. */
const jsonBytesMax = 134_217_728;

export const show: Command = {
  name: "show",
  summary: "Print a file as it was before a turn",
  parameters: ["<turn>:<path>"],
  options: {
    after: { type: "flag", words: "As it was after the turn" },
    session: sessionToLookAt,
  },
  details: [
    "A turn is named by the beginning of its id, or counted from the newest: -1, -2.",
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
      const file = await openVersion(version, turns);
      if ("why" in file) throw noTurn(`${cannot}: ${file.why}`);
      try {
        if (!given.flag("json")) {
          for await (const piece of piecesOf(file)) if (!host.stdout.write(piece)) await once(host.stdout, "drain");
          return 0;
        }
        if (file.sizeBytes > jsonBytesMax) throw noTurn(`${cannot}: ${file.sizeBytes} bytes are too many for JSON`);
        const pieces: Uint8Array[] = [];
        for await (const piece of piecesOf(file)) pieces.push(piece);
        const bytes = Buffer.concat(pieces);
        const content = isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
        const { sizeBytes } = file;
        printJson({ session: turns.id, turn, path, when, sizeBytes, ...content }, host);
        return 0;
      } finally {
        file.close();
      }
    }),
};

/** `<turn>:<path>`. Both may hold colons; of the splits that name a turn the first is taken. */
async function placeOf(text: string, past: Past, given: Given, host: Host) {
  const colons = [...text.matchAll(/:/g)].map(({ index }) => index);
  if (colons.length === 0) throw new UsageError(`"${text}" must be <turn>:<path>, such as -1:src/index.ts`);
  let fault: unknown;
  for (const at of colons) {
    const asked = text.slice(at + 1);
    try {
      const named = await namedTurn(text.slice(0, at), past, given);
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

interface Readable {
  readonly sizeBytes: number;
  read(into: Uint8Array, at: number): number | Promise<number>;
}

async function* piecesOf(file: Readable): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.sizeBytes; ) {
    const piece = Buffer.alloc(Math.min(pieceBytes, file.sizeBytes - at));
    const count = await file.read(piece, at);
    if (count === 0) return;
    at += count;
    yield piece.subarray(0, count);
  }
}
