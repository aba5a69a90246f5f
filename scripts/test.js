/**
 * `npm test`: sees to git and a browser, builds what the end-to-end tests run, installs what some tests alone need, then runs
 * every test. Arguments go to the test runner.
 */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { chromiumPath } from "./chromium.js";

/**
 * What Debian's slim images lack. Searches are compared with what git finds, the inspector's page is used in a real browser,
 * and the language server for bash finds errors with shellcheck. Where one of them cannot be had, its tests are skipped, and
 * the run says so.
 */
const wanted = [
  ...["git", "shellcheck"].filter((program) => !has(program)),
  ...(chromiumPath() === undefined ? ["chromium"] : []),
];
if (wanted.length > 0 && process.getuid?.() === 0 && has("apt-get")) {
  for (const args of [["update"], ["install", "--yes", "--no-install-recommends", ...wanted]]) {
    spawnSync("apt-get", ["-qq", ...args], { stdio: ["ignore", "ignore", "inherit"] });
  }
}

run(process.execPath, "scripts/build.js");
install("test/mcp/conformance");
install("test/lsp/servers");
install("test/mcp/clients");
run("node_modules/.bin/vitest", "run", ...process.argv.slice(2));
function has(/** @type {string} */ program) {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
}

function run(/** @type {string} */ program, /** @type {string[]} */ ...args) {
  const { status } = spawnSync(program, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/** Packages of their own, so that they shadow nothing; once, until their lock changes. */
function install(/** @type {string} */ folder) {
  const lock = createHash("sha256")
    .update(readFileSync(`${folder}/package-lock.json`))
    .digest("hex");
  const mark = `${folder}/node_modules/.installed`;
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return;
  run("npm", "ci", "--prefix", folder, "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund");
  writeFileSync(mark, lock);
}
