/**
 * Copying from file to file within the kernel, in another thread. Node has it for whole files only. It takes a fifth of the
 * processor's time that reading and writing take, and the event loop is free meanwhile. `koffi`, an optional package,
 * reaches the calls of the C library.
 */

import { lazilyIfThere } from "./loading.ts";

export interface CopyCalls {
  /** How many bytes were copied: fewer than asked for, 0 at the end of the old file. Undefined: not possible, or failed. */
  copy(from: number, fromAt: number, to: number, toAt: number, bytes: number): Promise<number | undefined>;
  /** Begins to send a part of a file to the disk, so that a later sync has less to wait for. What fails is told by that sync. */
  startWriting(fd: number, at: number, bytes: number): Promise<void>;
}

const loaded = lazilyIfThere(load);

/** Undefined off Linux (other systems have other calls) and where `koffi` is not installed. */
export const loadCopyCalls = async (): Promise<CopyCalls | undefined> =>
  process.platform === "linux" ? loaded().catch(() => undefined) : undefined;

/** SYNC_FILE_RANGE_WRITE: begin to write, wait for nothing. */
const beginOnly = 2;

async function load(): Promise<CopyCalls> {
  const { load: open } = await import("koffi");
  const library = open(null); // the C library that Node itself is linked with
  const copyRange = library.func(
    "int64_t copy_file_range(int from, _Inout_ int64_t *fromAt, int to, _Inout_ int64_t *toAt, size_t bytes, unsigned int flags)",
  );
  const syncRange = library.func("int sync_file_range(int fd, int64_t at, int64_t bytes, unsigned int flags)");
  const inThread = (call: typeof copyRange, ...given: readonly unknown[]): Promise<number> =>
    new Promise((resolve, reject) => {
      call.async(...given, (error: Error | null, answer: unknown) => {
        if (error === null) resolve(Number(answer));
        else reject(error);
      });
    });
  return {
    copy: async (from, fromAt, to, toAt, bytes) => {
      const copied = await inThread(copyRange, from, [fromAt], to, [toAt], bytes, 0);
      return copied < 0 ? undefined : copied;
    },
    startWriting: async (fd, at, bytes) => void (await inThread(syncRange, fd, at, bytes, beginOnly)),
  };
}
