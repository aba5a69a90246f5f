/**
 * Extended attributes of files, which hold ACLs, security labels and what users put there. Node has no call for them;
 * `koffi`, an optional package, reaches those of the C library. It takes 20 ms to load, so it is loaded only when an
 * existing file is replaced.
 */

import { constants } from "node:os";
import { lazilyIfThere } from "./loading.ts";

/** Each call throws an error with `errno`, as Node's own do. */
export interface AttributeCalls {
  /** Names of a file's attributes. Follows links, so give it a handle's path. */
  list(path: string): readonly string[];
  listOf(fd: number): readonly string[];
  get(path: string, name: string): Uint8Array;
  set(fd: number, name: string, value: Uint8Array): void;
  remove(fd: number, name: string): void;
}

const loaded = lazilyIfThere(load);

/** Undefined off Linux (other systems have other calls) and where `koffi` is not installed. */
export const loadAttributeCalls = async (): Promise<AttributeCalls | undefined> =>
  process.platform === "linux" ? loaded() : undefined;

/** The kernel's limits: 64 KiB for one value and for the list of names. */
const valueBytesMax = 65_536;

async function load(): Promise<AttributeCalls> {
  const { load: open, errno } = await import("koffi");
  const library = open(null); // the C library that Node itself is linked with
  const listNames = library.func("long listxattr(const char *path, _Out_ uint8_t *names, size_t size)");
  const listNamesOf = library.func("long flistxattr(int fd, _Out_ uint8_t *names, size_t size)");
  const getValue = library.func("long getxattr(const char *path, const char *name, _Out_ uint8_t *value, size_t size)");
  const setValue = library.func(
    "int fsetxattr(int fd, const char *name, const uint8_t *value, size_t size, int flags)",
  );
  const removeValue = library.func("int fremovexattr(int fd, const char *name)");

  /** Every call answers with a number, -1 for a failure. */
  const checked = (call: string, answer: unknown): number => {
    const result = Number(answer);
    if (result >= 0) return result;
    const number = errno();
    throw Object.assign(new Error(`${call} failed with errno ${number}`), { errno: -number, syscall: call });
  };
  const space = Buffer.allocUnsafeSlow(valueBytesMax);
  const names = (call: () => unknown): readonly string[] => {
    let length: number;
    try {
      length = checked("listxattr", call());
    } catch (error) {
      // A file system without attributes has none to lose.
      if (error instanceof Error && "errno" in error && error.errno === -constants.errno.ENOTSUP) return [];
      throw error;
    }
    return length === 0 ? [] : space.toString("utf8", 0, length).split("\0").filter(Boolean);
  };
  return {
    list: (path) => names(() => listNames(path, space, space.length)),
    listOf: (fd) => names(() => listNamesOf(fd, space, space.length)),
    get: (path, name) =>
      Uint8Array.from(space.subarray(0, checked("getxattr", getValue(path, name, space, space.length)))),
    set: (fd, name, value) => void checked("fsetxattr", setValue(fd, name, value, value.length, 0)),
    remove: (fd, name) => void checked("fremovexattr", removeValue(fd, name)),
  };
}
