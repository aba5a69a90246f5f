/**
 * Another process that swaps what two names stand for, as fast as it can, until it is killed.
 * `node swapper.js folder|leaf <workspace>`; says "ready" once it runs. Plain JavaScript: no compiler, no loader.
 */

import * as fs from "node:fs";
import * as path from "node:path";

const [kind, workspace] = process.argv.slice(2);
if (workspace === undefined) throw new Error("Cannot swap without a workspace");
const here = (/** @type {string} */ name) => path.join(workspace, name);

/** A real folder and a link to an outside one take turns as `dir`. For a moment there is neither. */
function swapFolder() {
  fs.renameSync(here("dir"), here("dir-real"));
  fs.renameSync(here("dir-evil"), here("dir"));
  fs.renameSync(here("dir"), here("dir-evil"));
  fs.renameSync(here("dir-real"), here("dir"));
}

/** `leaf` is a file, then a link to an outside file, then a file again, without a gap: rename replaces. */
function swapLeaf() {
  fs.linkSync(here("leaf-real"), here("leaf-next"));
  fs.renameSync(here("leaf-next"), here("leaf"));
  fs.symlinkSync("../out/leaf", here("leaf-next"));
  fs.renameSync(here("leaf-next"), here("leaf"));
}

/** `way` is a link to an inside folder, then one to an outside folder, without a gap. */
function swapLink() {
  for (const text of ["inside", "../out"]) {
    fs.symlinkSync(text, here("way-next"));
    fs.renameSync(here("way-next"), here("way"));
  }
}

const swap = kind === "folder" ? swapFolder : kind === "leaf" ? swapLeaf : swapLink;
process.on("disconnect", () => process.exit(0)); // never outlive the test
process.send?.("ready");

function turn() {
  for (let times = 0; times < 200; times += 1) swap();
  setImmediate(turn);
}
turn();
