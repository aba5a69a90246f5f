/**
 * A file that the operator names on the command line, such as `--from FILE`. Like a settings file it is read with the
 * operator's rights, not with a session's: it may be outside the roots, and no rule applies.
 */

import { Descriptor, errnoName, nodeSystem } from "../disk/disk.ts";

const readOnly = 0; // O_RDONLY everywhere

const reasons: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "it does not exist"],
  ["ENOTDIR", "it does not exist"],
  ["EACCES", "the system does not permit it"],
  ["EPERM", "the system does not permit it"],
  ["ELOOP", "its links lead in a circle"],
]);

/** All bytes of the file, or why it cannot be read, as words to follow `Cannot read "x": `. */
export function readNamedFile(path: string, bytesMax: number): Uint8Array | { readonly why: string } {
  try {
    // Checked before it is opened: opening a pipe would wait for its writer.
    if (!nodeSystem.statPath(path).isFile()) return { why: "it is not a regular file, send it on standard input" };
    using file = new Descriptor(nodeSystem.open(path, readOnly), nodeSystem);
    const { size } = nodeSystem.stat(file.fd);
    if (size > bytesMax) return { why: `it has ${size} bytes, the most is ${bytesMax}` };
    return readAll(file.fd, Number(size), bytesMax);
  } catch (error) {
    const errno = errnoName(error);
    if (errno === undefined) throw error;
    return { why: reasons.get(errno) ?? `the system says ${errno}` };
  }
}

/** Reads to the end and not up to the size: kernel files report a size of 0. */
function readAll(descriptor: number, size: number, bytesMax: number): Uint8Array | { readonly why: string } {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.max(65_536, size - total));
    const count = nodeSystem.read(descriptor, chunk, 0, chunk.length, total);
    if (count === 0) return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, total);
    total += count;
    if (total > bytesMax) return { why: `it has more than ${bytesMax} bytes` };
    chunks.push(chunk.subarray(0, count));
  }
}
