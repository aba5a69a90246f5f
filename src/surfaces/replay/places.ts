/** Where a recorded path is in a scratch folder: always inside of it, whatever the transcript says. Pure. */

import { createHash } from "node:crypto";
import * as nodePath from "node:path";

/** Of a name and of a whole path: what every file system takes. Deeper and longer paths get a short name of their own. */
const nameCharsMax = 80;
const pathCharsMax = 700; // the scratch folder comes before it, and Linux takes 4,096 bytes
const depthMax = 40; // each folder is made one by one

/** Relative, with `/`, without `.` and `..`; empty for the top. Paths of Windows keep their drive as a folder. */
export function placeOf(path: string, cwd: string): string {
  const resolved = nodePath.posix.resolve("/", plain(cwd), plain(path));
  const names = resolved.split("/").filter((name) => name !== "");
  // Control characters and signs that Windows does not allow in names.
  const safe = names.map((name) => shortened(name.replace(/[\0-\x1f<>:"|?*]/g, "_")));
  const place = safe.join("/");
  if (place.length <= pathCharsMax && safe.length <= depthMax) return place;
  return `long/${digest(resolved)}/${safe.at(-1) ?? ""}`;
}

/** A path as a command in `folder` means it; relative if both are. */
export function pathIn(folder: string | undefined, path: string): string {
  const [start, end] = [plain(folder ?? ""), plain(path)];
  return start === "" || nodePath.posix.isAbsolute(end) ? path : nodePath.posix.join(start, end);
}

function plain(path: string): string {
  const isWindows = /^[A-Za-z]:[\\/]|^\\\\/.test(path);
  return isWindows ? `/${path.replaceAll("\\", "/").replace(":", "")}` : path;
}

/** A long name keeps its end, which has the extension. */
function shortened(name: string): string {
  return name.length <= nameCharsMax ? name : `${digest(name)}${name.slice(-20).replace(/^[\udc00-\udfff]/, "")}`;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
