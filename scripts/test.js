/**
 * `npm test`: sees to git, builds what the end-to-end tests run, installs what some tests alone need, then runs every test.
 * Arguments go to the test runner.
 */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

// Searches are compared with what git finds. Debian's slim images have none; where it cannot be had, those tests are skipped.
const has = (/** @type {string} */ program) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
if (!has("git") && process.getuid?.() === 0 && has("apt-get")) {
  for (const args of [["update"], ["install", "--yes", "--no-install-recommends", "git"]]) {
    spawnSync("apt-get", ["-qq", ...args], { stdio: ["ignore", "ignore", "inherit"] });
  }
}

run(process.execPath, "scripts/build.js");
install("test/mcp/conformance");
install("test/lsp/servers");
install("test/mcp/clients");
run("node_modules/.bin/vitest", "run", ...process.argv.slice(2));

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
