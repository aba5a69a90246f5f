/** What the operator's options mean for a session: its tools, its profile, its modes, how careful its changes are. */

import type { FilehandOptions } from "./api.ts";
import { FilehandError } from "./contract/failure.ts";
import { limits } from "./contract/limits.ts";
import { isWider, modes, type Mode } from "./contract/mode.ts";
import type { Profile } from "./contract/profile.ts";
import type { OptIn } from "./dialects/dialect.ts";
import type { Bench } from "./tools/tool.ts";

/** Tools that are not for everybody. */
export function isOffered(optIn: OptIn | undefined, { historyTools, languageTools = false }: FilehandOptions): boolean {
  switch (optIn) {
    case undefined:
      return true;
    case "history":
      return historyTools === true;
    case "lsp":
      return languageTools !== false;
    case "rename":
      return languageTools === "rename";
  }
}

/** How careful changes are: as careful as can be, unless the operator wants it otherwise. */
export const changeRules = (options: FilehandOptions): Bench["changes"] => ({
  readFirst: options.readFirst ?? true,
  staleness: options.staleness ?? "refuse",
  hardLinks: options.hardLinks ?? "separate",
  writeEol: options.writeEol ?? "as sent",
  editBytesMax: options.editBytesMax ?? limits.editBytesMax,
});

/** What the operator may change in a profile. */
export function tuned(profile: Profile, options: FilehandOptions): Profile {
  const { pageTokensMax, lineCharsMax, longCode } = options;
  return {
    ...profile,
    ...(profile.pageTokensMax !== undefined && pageTokensMax !== undefined ? { pageTokensMax } : {}),
    ...(lineCharsMax === undefined ? {} : { lineCharsMax }),
    ...(longCode === undefined ? {} : { longCode }),
  };
}

export function refuseMode(mode: Mode, { mode: fixed = "default", locked = [] }: FilehandOptions): void {
  if (!modes.includes(mode)) {
    throw new FilehandError("INVALID_PARAM", `Cannot switch to the mode "${mode}": use one of ${modes.join(", ")}`);
  }
  if (locked.includes("mode") && isWider(mode, fixed)) {
    throw new FilehandError(
      "ACCESS_DENIED",
      `Cannot switch to the mode "${mode}": the operator has locked it at "${fixed}"`,
    );
  }
}
