/** The files themselves, for programs; what answers is loaded when the first of them asks. */

import type { Workspace } from "./api.ts";
import { lazily } from "./disk/loading.ts";
import type { AsData } from "./workspace.ts";

/** Loaded for those who want it: no tool does. */
export function lazyWorkspace(asData: AsData): Workspace {
  const loaded = lazily(async (): Promise<Workspace> => (await import("./workspace.ts")).createWorkspace(asData));
  return {
    files: async (...given) => (await loaded()).files(...given),
    paths: async (...given) => (await loaded()).paths(...given),
    content: async (...given) => (await loaded()).content(...given),
    entries: async (...given) => (await loaded()).entries(...given),
    watch: async (...given) => (await loaded()).watch(...given),
  };
}
