/**
 * Another process that swaps what names stand for, as fast as it can, until it is killed.
 * `node swapper.js <kinds, with commas> <workspace>`; says "ready" once it runs. Plain JavaScript: no compiler, no loader.
 *
 * Two names change places in one call of the kernel if the optional package `koffi` is there, which is what wins most
 * races; else by renames, with a gap in between.
 */

import * as fs from "node:fs";
import * as path from "node:path";

const [kinds, workspace] = process.argv.slice(2);
if (kinds === undefined || workspace === undefined) throw new Error("Cannot swap without kinds and a workspace");
const here = (/** @type {string} */ name) => path.join(workspace, name);

const atOnce = await exchangeCall();

/** @returns {Promise<((a: string, b: string) => void) | undefined>} */
async function exchangeCall() {
  const koffi = await import("koffi").catch(() => undefined);
  if (koffi === undefined || process.platform !== "linux") return undefined;
  try {
    const [currentFolder, exchange] = [-100, 2];
    const call = koffi.load(null).func("int renameat2(int, const char *, int, const char *, unsigned int)");
    const swapNames = (/** @type {string} */ a, /** @type {string} */ b) => {
      if (call(currentFolder, a, currentFolder, b, exchange) !== 0) throw new Error(`Cannot exchange ${a} and ${b}`);
    };
    const [a, b] = [here(".probe-a"), here(".probe-b")];
    for (const name of [a, b]) fs.writeFileSync(name, "");
    try {
      swapNames(a, b);
    } finally {
      for (const name of [a, b]) fs.unlinkSync(name);
    }
    return swapNames;
  } catch {
    return undefined; // an old C library, or a file system without it
  }
}

/** Two names that take turns, there and back. For a moment there may be neither. */
function exchange(/** @type {string} */ a, /** @type {string} */ b) {
  if (atOnce !== undefined) {
    atOnce(a, b);
    atOnce(a, b);
    return;
  }
  const aside = `${a}-aside`;
  for (let times = 0; times < 2; times += 1) {
    fs.renameSync(a, aside);
    fs.renameSync(b, a);
    fs.renameSync(aside, b);
  }
}

const leafBecomes = {
  file: () => {
    fs.linkSync(here("leaf-real"), here("leaf-next"));
    fs.renameSync(here("leaf-next"), here("leaf"));
  },
  link: () => {
    fs.symlinkSync("../out/leaf", here("leaf-next"));
    fs.renameSync(here("leaf-next"), here("leaf"));
  },
};

const swaps = {
  /** A real folder and a link to an outside one. */
  folder: () => exchange(here("dir"), here("dir-evil")),
  /** The same in the middle of a path. */
  middle: () => exchange(here("one/two"), here("one/two-evil")),
  /** The root itself and a link to an outside folder. */
  root: () => exchange(workspace, `${workspace}-evil`),
  /** `leaf` is a file, then a link to an outside file, then a file again, without a gap: rename replaces. */
  leaf: () => {
    leafBecomes.file();
    leafBecomes.link();
  },
  /** `way` is a link to an inside folder, then one to an outside folder, without a gap. */
  link: () => {
    for (const text of ["inside", "../out"]) {
      fs.symlinkSync(text, here("way-next"));
      fs.renameSync(here("way-next"), here("way"));
    }
  },
};

const chosen = kinds.split(",").map((kind) => swaps[/** @type {keyof typeof swaps} */ (kind)]);
process.on("disconnect", () => process.exit(0)); // never outlive the test
/**
 * Heard between two swaps, so that everything is in its place. At "file" and "link" the racer rests, with `leaf` being that.
 * @param {"stop" | "go on" | keyof typeof leafBecomes} order
 */
function obey(order) {
  const rested = state === "resting";
  if (order === "stop") state = "stopped";
  else if (order === "go on") state = "swapping";
  else {
    state = "resting";
    leafBecomes[order]();
    process.send?.("resting");
    return;
  }
  if (rested) turn(); // else the next turn is on its way
}
process.on("message", obey);
/** @type {"swapping" | "resting" | "stopped"} */
let state = "swapping";
process.send?.(atOnce === undefined ? "ready, by renames" : "ready");

function turn() {
  if (state === "resting") return;
  if (state === "stopped") {
    process.send?.("stopped");
    process.disconnect?.();
    return;
  }
  for (let times = 0; times < 200; times += 1) for (const swap of chosen) swap();
  setImmediate(turn);
}
turn();
