/** The door of lsp/: language servers. Other rooms import from here and from nothing else in this room. */

export { installOf, serversOf } from "./servers.ts";
export type { LanguageEnvironment } from "./supervisor.ts";
