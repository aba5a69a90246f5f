/** The page itself: files that the build put beside the program. A name is looked up only if it can be one of them. */

import * as nodePath from "node:path";
import { fileURLToPath } from "node:url";
import { readNamedFile } from "../../settings/named-file.ts";

export interface StaticFile {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** Its name holds a hash of its content. */
  readonly isFixed: boolean;
}

/**
 * Where the build put it, as seen from `dist/cli/inspector.cjs`: the bundler puts the address of the bundle for `import.meta.url`. What
 * was started may be a link to the program, as npm makes them, and would not tell.
 */
export const builtPage = (): string => fileURLToPath(new URL("../web", import.meta.url));

export type StaticFiles = (path: string) => StaticFile | undefined;

const fileBytesMax = 8_388_608;
/** Without dots but between letters, so that no name leads elsewhere. */
const namePattern = /^\/(?:assets\/)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.(js|css|html|svg|png|ico|woff2|webmanifest)$/;

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  woff2: "font/woff2",
  webmanifest: "application/manifest+json",
};

/** For a build without the page: it says so, and what to do. */
const placeholder = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Filehand</title></head>
<body><h1>Filehand</h1><p>The inspector's page is not part of this build. Run <code>npm run build</code>, then start again.</p></body></html>
`;

export function staticFiles(folder: string | undefined): StaticFiles {
  const known = new Map<string, StaticFile | undefined>();
  const load = (path: string): StaticFile | undefined => {
    const name = path === "/" ? "/index.html" : path;
    const extension = namePattern.exec(name)?.[1];
    if (extension === undefined) return undefined;
    const read = folder === undefined ? undefined : readNamedFile(nodePath.join(folder, name), fileBytesMax);
    const bytes = read === undefined || "why" in read ? undefined : read;
    if (bytes === undefined && name !== "/index.html") return undefined;
    const type = types[extension] ?? "application/octet-stream";
    return { bytes: bytes ?? Buffer.from(placeholder), type, isFixed: name.startsWith("/assets/") };
  };
  return (path) => {
    // Only what exists is remembered: names that do not are without number.
    const found = known.get(path) ?? load(path);
    if (found !== undefined) known.set(path, found);
    return found;
  };
}
