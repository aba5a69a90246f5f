/** How large the inspector's page is on its way to a browser; too large fails the build. `node scripts/page-size.js` says it. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const gzipBytesMax = 150_000;

/** Throws if it is too large. @param {string} folder */
export function pageSize(folder) {
  const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + gzipSync(readFileSync(join(entry.parentPath, entry.name)), { level: 9 }).length, 0);
  const words = `the page: ${bytes} bytes with gzip, at most ${gzipBytesMax}`;
  if (bytes > gzipBytesMax) throw new Error(`Cannot build ${words}: take something out of web/`);
  return words;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) process.stdout.write(`${pageSize("dist/web")}\n`);
