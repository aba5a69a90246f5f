/** Delete: a file, or a folder with all that is in it. All files or none, as in a patch; then the folders, which are empty. */

import * as nodePath from "node:path";
import type { MatchedBy, PatchOutcome } from "../contract/edit.ts";
import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { Target } from "../contract/target.ts";
import { changeSeveral, type Part } from "./change-several.ts";
import { folderFiles } from "./folder-files.ts";
import { locatePermitted } from "./locate.ts";
import { planOfBytes } from "./plan-of-bytes.ts";
import { refuseLink } from "./refuse-link.ts";
import type { Bench, Tool } from "./tool.ts";

export const remove: Tool<"delete"> = async ({ path, profile }, bench) => {
  const { target, found } = await locatePermitted(path, "anything", bench);
  found.held.close();
  await refuseLink(target, "be deleted", bench);
  return found.kind === "directory"
    ? removeFolder(target, profile, bench)
    : changeSeveral([partOf(path, profile)], profile, bench);
};

const partOf = (path: string, profile: Profile): Part => ({
  path,
  does: "delete",
  plan: planOfBytes("delete", profile),
  moveTo: undefined,
});

async function removeFolder(target: Target, profile: Profile, bench: Bench): Promise<PatchOutcome> {
  const { files, folders, links } = await folderFiles(target, bench);
  // A link is no file: nobody could bring it back.
  if (links.length > 0) throw new Problem({ code: "INVALID_PARAM", reason: "folder", place: target, fault: "links" });
  const [first, ...others] = files.map((file) => partOf(nodePath.join(target.asked, file), profile));
  const { dryRun, signal } = bench;
  if (first === undefined) await bench.guard.permit("edit", target, signal, { dryRun });
  const exact: MatchedBy = "exact";
  const nothing = { kind: "patch", files: [], matchedBy: exact, dryRun } as const;
  // The folders themselves are removed at the end, so the call keeps its place in the call queue until then.
  const staying: Bench = { ...bench, leaveQueue: () => undefined };
  const outcome = first === undefined ? nothing : await changeSeveral([first, ...others], profile, staying);
  const foldersLeft: string[] = [];
  for (const folder of dryRun ? [] : folders) {
    bench.guard.requireWriting(target);
    const real = nodePath.join(target.real, folder);
    const removed = await bench.disk.removeFolder(real);
    if (removed.did === "nothing") foldersLeft.push(nodePath.join(target.asked, folder));
  }
  return { ...outcome, target, foldersLeft };
}
