/** The version of this build; the bundler puts it in. */

declare const FILEHAND_VERSION: string | undefined;

export const version: string = typeof FILEHAND_VERSION === "undefined" ? "unbuilt" : FILEHAND_VERSION;
