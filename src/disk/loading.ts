/** Modules loaded on first use, while descriptors are free: Node caches for ever that a module could not be read. */

import * as fs from "node:fs";
import { createRequire } from "node:module";
import { devNull } from "node:os";
import { Descriptor, HandleStack } from "./descriptor.ts";
import { errnoName } from "./errno.ts";

/** A module and its imports are read at the same time. */
const descriptorsNeeded = 24;

async function whileRoom<Module>(load: () => Promise<Module>): Promise<Module> {
  requireDescriptors(descriptorsNeeded);
  return load();
}

/** Throws EMFILE or ENFILE unless `count` descriptors can be open at once. */
export function requireDescriptors(count: number): void {
  using taken = new HandleStack();
  for (let left = count; left > 0; left -= 1) taken.use(new Descriptor(fs.openSync(devNull, "r")));
}

/** Loads on the first call and caches the module; a failure is not cached. */
export function lazily<Module>(load: () => Promise<Module>, room = whileRoom): () => Promise<Module> {
  let loading: Promise<Module> | undefined;
  return () =>
    (loading ??= room(load).catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

/** Like `lazily`, for an optional package: undefined if it is not installed. Throws only when descriptors are short. */
export function lazilyIfInstalled<Module>(
  load: () => Promise<Module>,
  room = whileRoom,
): () => Promise<Module | undefined> {
  return lazily(async () => {
    try {
      return await load();
    } catch (error) {
      if (isOutOfDescriptors(error)) throw error;
      return undefined;
    }
  }, room);
}

export const isOutOfDescriptors = (error: unknown): boolean => ["EMFILE", "ENFILE"].includes(errnoName(error) ?? "");

/**
 * The path of a file in `dist/parts`, which the build fills (`scripts/parts.js`); undefined in a program that has no such folder
 * beside its bundle. The bundler replaces `import.meta.url` by the URL of the bundle, which is in `dist` or one folder below.
 */
export function partFile(name: string): string | undefined {
  const { resolve } = createRequire(import.meta.url);
  for (const place of ["./parts", "../parts"]) {
    try {
      return resolve(`${place}/${name}`);
    } catch {
      // not there
    }
  }
  return undefined;
}
