/**
 * What `filehand init` added to the settings of clients, besides the server itself: a person may have had some of it before, and
 * only what was added is taken out again. One small file in the state folder, by settings file and name of the server.
 */

import { join } from "node:path";
import { isRecord } from "../contract/common.ts";
import { readSmallFile, writeSmallFile } from "../disk/disk.ts";

/** Room for many clients; a larger file is not ours. */
const notesBytesMax = 1_048_576;
/** Another program may write at the same time. */
const triesMax = 5;

const fileOf = (stateDir: string): string => join(stateDir, "client-settings.json");

/** Empty if nothing was noted, or if the notes cannot be read. */
export function readClientNotes(stateDir: string, settingsFile: string, server: string): readonly unknown[] {
  const noted = valueOf(textAt(fileOf(stateDir)))[settingsFile];
  const ofServer = isRecord(noted) ? noted[server] : undefined;
  return Array.isArray(ofServer) ? ofServer : [];
}

/** Replaces the notes of a file and server; an empty list removes them. Gives the reason if it could not. */
export function writeClientNotes(
  stateDir: string,
  settingsFile: string,
  server: string,
  notes: readonly object[],
): string | undefined {
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const before = textAt(fileOf(stateDir));
    const value = valueOf(before);
    const ofFile = { ...(isRecord(value[settingsFile]) ? value[settingsFile] : {}) };
    if (notes.length === 0) delete ofFile[server];
    else ofFile[server] = notes;
    const { [settingsFile]: _old, ...others } = value;
    const after = Object.keys(ofFile).length === 0 ? others : { ...others, [settingsFile]: ofFile };
    const text = `${JSON.stringify(after, null, 2)}\n`;
    const path = fileOf(stateDir);
    const wrote = writeSmallFile({ path, before, text, bytesMax: notesBytesMax, links: "refuse", mark: "kept" });
    if (wrote !== "changed") return wrote?.why;
  }
  return "others keep changing it";
}

function textAt(path: string): string | undefined {
  try {
    return readSmallFile(path, notesBytesMax, "kept");
  } catch {
    return undefined;
  }
}

function valueOf(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
