/**
 * `npm run docs`: builds the documentation as a site, into `docs/.vitepress/dist`. The generator is a package of `docs/` and is installed there
 * first. `--serve` shows the result on this machine. The site itself needs no network.
 */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const folder = "docs";
const mark = `${folder}/node_modules/.installed`;
const lock = createHash("sha256")
  .update(readFileSync(`${folder}/package-lock.json`))
  .digest("hex");

if (!existsSync(mark) || readFileSync(mark, "utf8") !== lock) {
  process.stdout.write(`Installing the npm packages of ${folder}, for the site\n`);
  run("npm", "ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error");
  writeFileSync(mark, lock);
}
run(process.execPath, `${folder}/node_modules/vitepress/bin/vitepress.js`, "build", folder);
if (process.argv.includes("--serve")) {
  run(process.execPath, `${folder}/node_modules/vitepress/bin/vitepress.js`, "preview", folder);
}

/** @param {string} program @param {readonly string[]} args */
function run(program, ...args) {
  const { status } = spawnSync(program, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
