/** Stored contents as open files, so that whoever restores one can copy from it as from any other file. */

import type { OpenFile } from "../disk/open-file.ts";
import type { StoredFile } from "../disk/store-folder.ts";

export function asOpenFile(file: StoredFile): OpenFile {
  const { device, inode, sizeBytes, mtimeNs, ctimeMs } = file;
  return {
    ...facts,
    identity: { device, inode, sizeBytes, mtimeNs, ctimeNs: BigInt(ctimeMs) * 1_000_000n },
    sizeBytes,
    mtimeMs: Number(mtimeNs / 1_000_000n),
    read: (into, at) => file.read(into, at),
    descriptor: file.descriptor,
    close: () => file.close(),
  };
}

export const openBytes = (bytes: Uint8Array): OpenFile => ({
  ...facts,
  identity: { device: 0n, inode: 0n, sizeBytes: bytes.length, mtimeNs: 0n, ctimeNs: 0n },
  sizeBytes: bytes.length,
  mtimeMs: 0,
  read(into, at) {
    const part = bytes.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  },
  descriptor: undefined,
  close: () => undefined,
});

const facts = {
  mode: 0o600,
  links: 1,
  // It was compared with its hash a moment ago, and whoever writes it elsewhere compares again.
  changed: () => "no" as const,
};
