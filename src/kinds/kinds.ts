/** The door of kinds/: what an open file is, and how each kind is read. Other rooms import from here and from nothing else in this room. */

export { decideEncoding } from "./charset.ts";
export { readDirectory } from "./directory.ts";
export { countTokens } from "./exact-tokens.ts";
export { mediaOf, recognise, type Recognition } from "./kind.ts";
export { linesAt } from "./lines-at.ts";
export { optionalParts } from "./optional-parts.ts";
export { type OutlineLanguage, outlineLanguageOf } from "./outline/languages.ts";
export { beginningOf, outlineOf } from "./outline/outline.ts";
export { createPageCache, type PageCache } from "./page-cache.ts";
export { readMedia } from "./read-media.ts";
export { compileRestricted, type Restricted, restrictedFiles } from "./restricted.ts";
export { startDecoding, type TextFile } from "./text-file.ts";
export { measureText, readText } from "./text.ts";
export { startUtf8Watch } from "./utf8-watch.ts";
