/** Which servers are in charge of a file, by its extension and the project it lies in. */

import * as nodePath from "node:path";
import type { LanguageOptions, WatchedChange } from "../contract/language.ts";
import { limits } from "../contract/limits.ts";
import { extensionOf } from "./server.ts";
import { type ServerEntry, serversOf } from "./servers.ts";
import { createSlot, type Slot } from "./slot.ts";
import type { World } from "./world.ts";

export interface Choice {
  /** Does any server know this extension? Whether its program is there is another question. */
  serves(path: string): boolean;
  /** One of each group; those that were given up have made way for the next. */
  slotsFor(path: string): readonly Slot[];
  running(): readonly Slot[];
  tellWatchers(changes: readonly WatchedChange[]): void;
  close(): Promise<void>;
}

/** How long a program that is not there is not looked for again. */
const lookAgainMs = 10_000;

export function createChoice(options: LanguageOptions, world: World): Choice {
  const { servers } = serversOf(options);
  const byExtension = new Map<string, ServerEntry[]>();
  for (const entry of servers) {
    for (const extension of Object.keys(entry.extensions)) {
      byExtension.set(extension, [...(byExtension.get(extension) ?? []), entry]);
    }
  }
  const slots = new Map<string, Slot>();
  const missing = new Map<string, number>();
  let isClosed = false;

  const slotOf = (entry: ServerEntry, root: string): Slot | undefined => {
    const key = `${entry.name}\0${root}`;
    const there = slots.get(key);
    if (there !== undefined) return there;
    const nowMs = performance.now();
    if (nowMs < (missing.get(key) ?? 0)) return undefined;
    const program = world.find(entry.command, root);
    if (program === undefined) {
      if (missing.size > 10_000) missing.clear();
      missing.set(key, nowMs + lookAgainMs);
      return undefined;
    }
    const made = createSlot(entry, root, program, world);
    slots.set(key, made);
    makeRoom(made);
    return made;
  };

  const makeRoom = (but: Slot): void => {
    const inUse = [...slots].filter(([, slot]) => slot !== but && slot.running !== undefined);
    if (inUse.length < limits.languageServersMax) return;
    const [oldest] = inUse.toSorted(([, one], [, other]) => one.usedMs - other.usedMs);
    if (oldest === undefined) return;
    slots.delete(oldest[0]);
    void oldest[1].stop();
  };

  /** The nearest folder above with one of the markers, up to the workspace's root. */
  const rootOf = (path: string, { rootMarkers }: ServerEntry): string => {
    const top = world.roots.filter((root) => isBeneath(path, root)).toSorted((one, two) => two.length - one.length)[0];
    const parent = nodePath.dirname(path);
    if (top === undefined) return parent;
    for (let folder = parent; isBeneath(folder, top); folder = nodePath.dirname(folder)) {
      if (rootMarkers.some((name) => world.has(folder, name))) return folder;
      if (folder === nodePath.dirname(folder)) break;
    }
    return top;
  };

  return {
    serves: (path) => byExtension.has(extensionOf(path)),
    slotsFor: (path) => {
      if (isClosed) return [];
      const chosen = new Map<string, Slot>();
      for (const entry of byExtension.get(extensionOf(path)) ?? []) {
        const before = chosen.get(entry.group);
        if (before !== undefined && !before.isGivenUp) continue;
        const slot = slotOf(entry, rootOf(path, entry));
        if (slot !== undefined) chosen.set(entry.group, slot);
      }
      const nowMs = performance.now();
      for (const slot of chosen.values()) slot.usedMs = nowMs;
      return [...chosen.values()];
    },
    running: () => [...slots.values()].filter(({ running }) => running !== undefined),
    tellWatchers: (changes) => {
      for (const { running, root } of slots.values()) {
        const inside = changes.filter(({ path }) => isBeneath(path, root));
        if (inside.length > 0) running?.watched(inside);
      }
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...slots.values()].map((slot) => slot.stop()));
    },
  };
}

function isBeneath(path: string, root: string): boolean {
  const rest = nodePath.relative(root, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest));
}
