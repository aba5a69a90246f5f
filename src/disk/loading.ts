/**
 * Parts of the program that are loaded when they are first needed. Node remembers for ever that a module could not be read: one moment
 * without free descriptors, and the part would be gone until the process is started anew. So a module is asked for only while
 * there are descriptors for its files, and what failed is tried again by the next who needs it.
 */

import * as fs from "node:fs";
import { devNull } from "node:os";
import { Descriptor, HandleStack } from "./descriptor.ts";
import { errnoName } from "./errno.ts";

/** A part and what it imports are read at the same time. */
const descriptorsNeeded = 24;

/** Throws EMFILE or ENFILE where the module could not be read. */
async function whileRoom<Module>(load: () => Promise<Module>): Promise<Module> {
  requireDescriptors(descriptorsNeeded);
  return load();
}

/** Throws EMFILE or ENFILE unless the system gives so many at once. */
export function requireDescriptors(count: number): void {
  using taken = new HandleStack();
  for (let left = count; left > 0; left -= 1) taken.use(new Descriptor(fs.openSync(devNull, "r")));
}

/** Loaded by the first who asks; a failure is forgotten, so that the next one tries again. */
export function lazily<Module>(load: () => Promise<Module>, room = whileRoom): () => Promise<Module> {
  let loading: Promise<Module> | undefined;
  return () =>
    (loading ??= room(load).catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

/** The same of what may not be installed: undefined then. Throws only where there are no descriptors. */
export function lazilyIfThere<Module>(
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
