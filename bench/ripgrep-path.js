/** The ripgrep that Filehand uses: the binary that its own dependency brings. */

import { createRequire } from "node:module";

export function ripgrepPath() {
  const theirs = createRequire(createRequire(import.meta.url).resolve("@vscode/ripgrep"));
  const name = process.platform === "win32" ? "rg.exe" : "rg";
  return theirs.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/${name}`);
}
