/**
 * `npm run bundle`: filehand.mcpb, a zip that desktop programs install with a click. It holds the built command line and
 * those optional packages that run everywhere; the others have binaries for one system each.
 */

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { posix } from "node:path";
import { zipSync } from "fflate";

/** Without it there would be no PDFs. */
const packages = ["@embedpdf/pdfium"];
const out = process.argv[2] ?? "filehand.mcpb";

const { name, version, license, type } = JSON.parse(readFileSync("package.json", "utf8"));
const paths = [
  "LICENSE",
  "dist/filehand.cjs",
  "dist/main.cjs",
  "dist/node-version.cjs",
  "dist/THIRD-PARTY.txt",
  ...filesIn("dist/cli"),
  ...filesIn("dist/parts"),
  ...packages.flatMap((one) => filesIn(`node_modules/${one}`)),
].filter((path) => !/\.(?:map|d\.[cm]?ts)$/.test(path));

/** @type {import("fflate").Zippable} */
const files = {
  "manifest.json": readFileSync("scripts/mcpb-manifest.json"),
  "package.json": Buffer.from(`${JSON.stringify({ name, version, license, type, private: true }, null, 2)}\n`),
};
for (const path of paths)
  files[path] = [readFileSync(path), { os: 3, attrs: (path.endsWith("filehand.cjs") ? 0o755 : 0o644) << 16 }];

// The same files make the same bundle, whenever it is made.
const zip = zipSync(files, { level: 9, mtime: new Date(1980, 0, 1) });
writeFileSync(out, zip);
process.stdout.write(`wrote ${out}: ${Object.keys(files).length} files, ${zip.length} bytes\n`);

/** @returns {string[]} */
function filesIn(/** @type {string} */ folder) {
  return readdirSync(folder)
    .toSorted()
    .flatMap((entry) => {
      const path = posix.join(folder, entry);
      return statSync(path).isDirectory() ? filesIn(path) : [path];
    });
}
