/** The files themselves, for programs; what answers is loaded when the first of them asks. */

import type { Workspace } from "./api.ts";
import type { AsData } from "./workspace.ts";

/** Loaded for those who want it: no tool does. */
export function lazyWorkspace(asData: AsData): Workspace {
  let loading: Promise<Workspace> | undefined;
  const loaded = (): Promise<Workspace> =>
    (loading ??= import("./workspace.ts").then(({ createWorkspace }) => createWorkspace(asData)));
  return {
    files: async (...given) => (await loaded()).files(...given),
    paths: async (...given) => (await loaded()).paths(...given),
    content: async (...given) => (await loaded()).content(...given),
    entries: async (...given) => (await loaded()).entries(...given),
    watch: async (...given) => (await loaded()).watch(...given),
  };
}
