/** A folder of the workspace by its real path, if it still is one under this very name. The caller closes it. */

import type { WalkFolder } from "../disk/walk.ts";
import type { Bench } from "./tool.ts";

export function folderAgain(
  real: string,
  { disk }: Bench,
  onRefused: (errno: string) => void = () => {},
): WalkFolder | undefined {
  const look = disk.look(real);
  if (look.seen === "refused") onRefused(look.errno);
  if (look.seen !== "node") return undefined;
  if (look.kind === "directory" && look.real === real) {
    return disk.walk(look, () => look.held.close());
  }
  look.held.close();
  return undefined;
}
