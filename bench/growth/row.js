/** What a row of the suite `growth` is, and what its rows share: a toolkit of the build that is measured, and places for files. */

import { mkdirSync } from "node:fs";
import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { library } from "../filehand.js";

/** @typedef {"linear" | "constant"} Grows  with the size, or not at all */

/**
 * @typedef {object} Row
 * @property {string} name   of the row and of its plot
 * @property {string} title
 * @property {string} unit   what a size counts
 * @property {readonly number[]} sizes  ascending
 * @property {readonly number[]} quick  the sizes of a quick run
 * @property {Grows} grows
 * @property {string} [note]  why the largest size is what it is, or what a reader must know
 * @property {boolean} [onDisk]  its files are too large for a file system in memory
 * @property {(size: number, place: Place) => Work | Promise<Work>} prepare  runs in a process of its own
 */

/**
 * Where a row may put files.
 * @typedef {object} Place
 * @property {string} folder  of this size alone, empty at first
 * @property {string} shared  of all rows, for trees that several of them use
 */

/**
 * @typedef {object} Work
 * @property {(call: number) => Promise<void | Measured>} measure  one call; MUST throw if the answer is wrong
 * @property {"once"} [calls]  one call a round, because a second one would do something else
 * @property {() => Promise<unknown>} [between]  after each round, not measured
 * @property {() => Promise<unknown>} [close]
 */

/**
 * What only the row can measure, because the work is done in another process.
 * @typedef {object} Measured
 * @property {number} [cpuMs]
 * @property {number} [peakMb]
 * @property {number} [pauseMs]
 */

/** @param {Row} row @returns {Row} */
export const row = (row) => row;

/** In memory, where the system has such a place: names change and files sync ten times as fast as on a disk. */
export function inMemory() {
  try {
    accessSync("/dev/shm", constants.W_OK);
    return "/dev/shm";
  } catch {
    return tmpdir();
  }
}

/** A session of the build. @param {string} root @param {Record<string, unknown>} [options] @param {string} [dialect] @returns {Promise<any>} */
export async function openSession(root, options = {}, dialect = "claude") {
  const filehand = await openToolkit(root, options);
  return filehand.session({ dialect });
}

/** @param {string} root @param {Record<string, unknown>} [options] @returns {Promise<any>} */
export async function openToolkit(root, options = {}) {
  const { createFilehand } = await import(pathToFileURL(library).href);
  mkdirSync(root, { recursive: true });
  return createFilehand({ roots: [root], ask: "yes", reminder: false, dedup: false, readFirst: false, ...options });
}

/** @param {any} reply @param {string} [expected] */
export function mustSucceed(reply, expected) {
  const text = textIn(reply);
  if (reply.isError || (expected !== undefined && !text.includes(expected))) {
    throw new Error(`a wrong answer: ${text.slice(0, 300)}`);
  }
}

/** @param {any} reply @param {string} expected */
export function mustFail(reply, expected) {
  const text = textIn(reply);
  if (!reply.isError || !text.includes(expected)) throw new Error(`a wrong answer: ${text.slice(0, 300)}`);
}

/** @param {any} reply @returns {string} */
const textIn = (reply) => reply.content.map((/** @type {any} */ part) => part.text ?? "").join("\n");

/** @param {string} path */
export function withParents(path) {
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

/** Sizes from one power of ten to another. @param {number} from @param {number} to @returns {number[]} */
export const tens = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
