/** Patch: what the text of a patch says, done to all of its files or to none. */

import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import { type PatchFile, parsePatch } from "../text/patch.ts";
import { changeSeveral, type Part } from "./change-several.ts";
import { planOf } from "./patch-plan.ts";
import type { Bench, Tool } from "./tool.ts";

export const patch: Tool<"patch"> = async ({ patchText, profile }, bench) => {
  const parsed = parsePatch(patchText);
  if ("fault" in parsed) throw new Problem({ code: "INVALID_PARAM", reason: "patch", ...parsed });
  const [first, ...others] = parsed.files;
  const part = (file: PatchFile): Part => partOf(file, profile, bench);
  return changeSeveral([part(first), ...others.map(part)], profile, bench);
};

const partOf = (file: PatchFile, profile: Profile, bench: Bench): Part => ({
  path: file.path,
  does: file.does === "add" && file.replaces ? "update" : file.does,
  plan: planOf(file, profile, bench),
  moveTo: file.does === "update" ? file.moveTo : undefined,
});
