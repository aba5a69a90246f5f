/** A file's own content, for programs: no line numbers, no pages, and nothing that a model would be told. */

import { isUtf8 } from "node:buffer";
import * as nodePath from "node:path";
import { Problem } from "../contract/problem.ts";
import { ReadFailed } from "../disk/open-file.ts";
import { FileCut } from "../disk/scan.ts";
import { wholeFile } from "../disk/whole-file.ts";
import { refusal } from "../guard/guard.ts";
import { compareCodePoints } from "../text/order.ts";
import { locate } from "./locate.ts";
import type { Bench } from "./tool.ts";
import { entriesOf } from "./workspace-walk.ts";

export type Content =
  | { readonly is: "text"; readonly path: string; readonly text: string }
  | { readonly is: "bytes"; readonly path: string; readonly base64: string }
  /** The paths in a folder, those of folders with a slash behind them. */
  | { readonly is: "folder"; readonly path: string; readonly paths: readonly string[] }
  | { readonly is: "too large"; readonly path: string; readonly sizeBytes: number };

export async function contentOf(path: string, bytesMax: number, bench: Bench): Promise<Content> {
  const { target, found } = await locate(path, "file", bench);
  try {
    await bench.guard.permit("read", target, bench.signal);
    if (found.kind === "directory") return await folderContent(target.real, bench);
    if (found.kind !== "file") throw new Problem({ code: "SPECIAL_FILE", place: target, special: found.kind });
    const file = bench.disk.open(found);
    if ("errno" in file) throw refusal(target, file.errno, "opening it");
    try {
      const bytes = await wholeFile(file, bytesMax);
      if (bytes === undefined) return { is: "too large", path: target.real, sizeBytes: file.sizeBytes };
      return isText(bytes)
        ? { is: "text", path: target.real, text: bytes.toString("utf8") }
        : { is: "bytes", path: target.real, base64: bytes.toString("base64") };
    } catch (error) {
      if (error instanceof FileCut) throw new Problem({ code: "CHANGED", place: target });
      if (error instanceof ReadFailed) throw refusal(target, error.errno, "reading it");
      throw error;
    } finally {
      file.close();
    }
  } finally {
    found.held.close();
  }
}

/** Whatever else it may be, it goes as bytes, and every one of them stays. */
const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

async function folderContent(folder: string, bench: Bench): Promise<Content> {
  const paths = ((await entriesOf(folder, bench)) ?? [])
    .filter(({ kind }) => kind === "file" || kind === "directory")
    .map(({ name, kind }) => ({ path: nodePath.join(folder, name), is: kind === "file" ? "file" : "folder" }) as const)
    .filter(({ path, is }) => bench.guard.denied("read", [path], is) === undefined)
    .map(({ path, is }) => (is === "folder" ? `${path}/` : path));
  return { is: "folder", path: folder, paths: paths.sort(compareCodePoints) };
}
