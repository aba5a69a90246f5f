/** The files of this program, for a machine that has none of them. */

import * as fs from "node:fs";
import * as nodePath from "node:path";

/** Packages that are pure JavaScript and WebAssembly, so they run everywhere. Others have parts for one system. */
const portable = ["ripgrep"];

/** By their paths beside the program, in base64; undefined if this is not the built program. */
export function programFiles(program: string): Readonly<Record<string, string>> | undefined {
  const folder = nodePath.dirname(fs.realpathSync(program));
  if (!fs.existsSync(nodePath.join(folder, "filehand.cjs"))) return undefined;
  const packages = portable.flatMap((name) => {
    const place = packageFolders(folder, name).find((one) => fs.existsSync(one));
    return place === undefined ? [] : filesBelow(place).map((file) => [`node_modules/${name}/${file}`, place, file]);
  });
  const own = ["filehand.cjs", ...filesBelow(nodePath.join(folder, "cli")).map((name) => `cli/${name}`)];
  return Object.fromEntries(
    [...own.map((file) => [file, folder, file]), ...packages].map(([name = "", place = "", file = ""]) => [
      name,
      fs.readFileSync(nodePath.join(place, file)).toString("base64"),
    ]),
  );
}

/** Where Node would look for a package, from the program up. */
function packageFolders(folder: string, name: string): readonly string[] {
  const above = nodePath.dirname(folder);
  return [nodePath.join(folder, "node_modules", name), ...(above === folder ? [] : packageFolders(above, name))];
}

const filesBelow = (folder: string): readonly string[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => nodePath.relative(folder, nodePath.join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .toSorted();
