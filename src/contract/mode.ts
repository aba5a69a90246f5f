/** Modes: what a session may do at all, before any rule is looked at. */

/** From the strictest to the most generous. */
export const modes = ["read-only", "plan", "default", "accept-edits"] as const;

export type Mode = (typeof modes)[number];

/** The modes in which nothing is written, whatever rules say. */
export type NoWriteMode = "read-only" | "plan";

/** What the operator has fixed: no project, no session and no command line can make it more generous. */
export type Lock = "mode" | "rules";

export const isNoWrite = (mode: Mode): mode is NoWriteMode => mode === "read-only" || mode === "plan";

/** Does `mode` let a session do more than `than` does? */
export const isWider = (mode: Mode, than: Mode): boolean => modes.indexOf(mode) > modes.indexOf(than);
