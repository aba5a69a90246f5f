/** Work that comes to a path outside the roots may be let in there; then it is done again from its beginning. */

import { Problem } from "./contract/problem.ts";
import type { Bench } from "./tools/tool.ts";

/** `widen` is told of a folder that the session was let into for good. */
export async function withFolders<Result>(
  bench: Bench,
  work: (bench: Bench) => Promise<Result>,
  widen: (wider: Pick<Bench, "disk" | "guard">) => void,
): Promise<Result> {
  try {
    return await work(bench);
  } catch (error) {
    const isOutside =
      error instanceof Problem && error.data.code === "ACCESS_DENIED" && error.data.reason === "outside";
    const wider = isOutside ? await bench.guard.admit(error.data.place, bench.signal) : undefined;
    if (wider === undefined) throw error;
    const { disk, guard, holds } = wider;
    if (holds === "always") widen({ disk, guard });
    // Each time one folder more, and there is an end to those.
    return withFolders({ ...bench, disk, guard }, work, widen);
  }
}
