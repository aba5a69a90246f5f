/**
 * Landlock: a process gives up rights to files and ports for itself and all its children, without being root and for good. The
 * kernel then refuses what is not listed, whatever a bug in this program asks for.
 */

import * as fs from "node:fs";
import { createRequire } from "node:module";
import type * as Koffi from "koffi";
import type { Checkup } from "../contract/checkup.ts";
import type { Confined, Unconfined } from "../contract/confinement.ts";
import { attempt, errnoName, lazilyIfInstalled } from "../disk/disk.ts";
import { addressOf, bindSyscall, hasEveryThread, inEveryThread, type Syscall } from "./every-thread.ts";
import type { Rights } from "./rights.ts";

/** The same on every processor. */
const createRuleset = 444;
const addRule = 445;
const restrictSelf = 446;
const prctl = { x64: 157, arm64: 167 } as const;
const setNoNewPrivileges = 38;

/** Rights to files, by the names of the kernel's header. */
const right = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readDir: 1 << 3,
  removeDir: 1 << 4,
  removeFile: 1 << 5,
  makeChar: 1 << 6,
  makeDir: 1 << 7,
  makeReg: 1 << 8,
  makeSock: 1 << 9,
  makeFifo: 1 << 10,
  makeBlock: 1 << 11,
  makeSym: 1 << 12,
  refer: 1 << 13,
  truncate: 1 << 14,
  ioctlDev: 1 << 15,
} as const;

const bits = (...names: readonly (keyof typeof right)[]): number => names.reduce((sum, name) => sum | right[name], 0);

/** Each includes those before it. Devices are never made, and never controlled. */
const read = bits("readFile", "readDir");
const run = read | right.execute;
const write = read | bits("writeFile", "removeDir", "removeFile", "makeDir", "makeReg", "makeSock", "makeFifo");
const change = write | bits("makeSym", "refer", "truncate");
/** All that a file can have; a folder has the others. */
const ofFiles = bits("execute", "writeFile", "readFile", "truncate", "ioctlDev");

/** What the versions of the kernel's interface can restrict; 3 is Linux 6.2. An older one could not stop `truncate`. */
const abiLeast = 3;
const everyFileRight = (abi: number): number => (abi >= 5 ? 0xffff : 0x7fff);
const tcpSince = 4;
const scopesSince = 6;
/** From this version on, one call reaches all threads. */
const allThreadsSince = 8;
const allThreadsFlag = 1 << 3;
const [bindTcp, connectTcp] = [1, 2];
/** Sockets with names in no folder. Signals stay: whether the holder of a lock still runs is found out by one. */
const scopeAbstractSockets = 1;

const openPathOnly = 0o10000000;

/** By `require`, which takes half the time of the first `import()`. The bundler replaces `import.meta.url` by the URL of the bundle. */
const loadKoffi = lazilyIfInstalled(async (): Promise<typeof Koffi> => createRequire(import.meta.url)("koffi"));

/** The version of the kernel's interface, or why there is none. */
export async function canConfine(): Promise<Checkup["confinement"]> {
  const native = await bind();
  return "why" in native ? native : { is: "possible", abi: native.abi };
}

async function bind(): Promise<
  { readonly koffi: typeof Koffi; readonly syscall: Syscall; readonly abi: number } | Unconfined
> {
  if (process.platform !== "linux") return { is: "off", why: "system" };
  // Bun and Deno have threads and a loader of their own, which are not tested.
  if (process.versions["bun"] !== undefined || process.versions["deno"] !== undefined) {
    return { is: "off", why: "runtime" };
  }
  const koffi = await loadKoffi();
  if (koffi === undefined) return { is: "off", why: "koffi" };
  const syscall = bindSyscall(koffi);
  const abi = syscall(createRuleset, 0, 0, 1);
  if (abi < abiLeast) return { is: "off", why: "kernel" };
  if (!hasEveryThread && (abi < allThreadsSince || process.arch !== "arm64")) return { is: "off", why: "processor" };
  return { koffi, syscall, abi };
}

/** Gives up all rights but these, for all threads and all children. Throws if that succeeded for some threads only. */
export async function confine(rights: Rights): Promise<Confined | Unconfined> {
  const native = await bind();
  if ("why" in native) return native;
  const { koffi, syscall, abi } = native;
  const ruleset = makeRuleset(native, rights);
  try {
    const missing = addRules(native, ruleset, rights);
    if (abi >= allThreadsSince) {
      requireSuccess(syscall(prctl[process.arch === "arm64" ? "arm64" : "x64"], setNoNewPrivileges, 1), "prctl");
      requireSuccess(syscall(restrictSelf, ruleset, allThreadsFlag), "landlock_restrict_self");
    } else {
      for (const result of (await inEveryThread(koffi, syscall, prctl.x64, setNoNewPrivileges, 1)).values()) {
        requireSuccess(result, "prctl");
      }
      for (const result of (await inEveryThread(koffi, syscall, restrictSelf, ruleset, 0)).values()) {
        requireSuccess(result, "landlock_restrict_self");
      }
    }
    if (rights.temporary !== undefined) process.env["TMPDIR"] = rights.temporary;
    const network = rights.network === "open" ? "open" : abi >= tcpSince ? "no TCP" : "open";
    return { is: "on", abi, network, missing };
  } finally {
    fs.closeSync(ruleset);
  }
}

function requireSuccess(result: number, name: string): void {
  if (result !== 0) throw new Error(`${name} failed with errno ${-result}`);
}

type Native = Exclude<Awaited<ReturnType<typeof bind>>, Unconfined>;

function makeRuleset({ koffi, syscall, abi }: Native, { network }: Rights): number {
  const handled = [everyFileRight(abi)];
  if (abi >= tcpSince) handled.push(network === "closed" ? bindTcp | connectTcp : 0);
  if (abi >= scopesSince) handled.push(scopeAbstractSockets);
  const attributes = Buffer.alloc(8 * handled.length);
  for (const [at, value] of handled.entries()) attributes.writeBigUInt64LE(BigInt(value), 8 * at);
  const ruleset = syscall(createRuleset, addressOf(koffi, attributes), attributes.length, 0);
  if (ruleset < 0) throw new Error(`landlock_create_ruleset failed with errno ${-ruleset}`);
  return ruleset;
}

/** Answers with the paths that are not there, and so are not allowed either if they come later. */
function addRules(native: Native, ruleset: number, rights: Rights): readonly string[] {
  const missing: string[] = [];
  for (const [paths, access] of [
    [rights.read, read],
    [rights.run, run],
    [rights.write, change],
  ] as const) {
    for (const path of paths) {
      if (!addRuleFor(native, ruleset, path, access)) missing.push(path);
    }
  }
  return missing;
}

function addRuleFor({ koffi, syscall, abi }: Native, ruleset: number, path: string, access: number): boolean {
  let fd: number;
  try {
    fd = fs.openSync(path, openPathOnly);
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return false;
  }
  try {
    const isFolder = attempt(() => fs.fstatSync(fd).isDirectory()) ?? false;
    const rule = Buffer.alloc(12);
    rule.writeBigUInt64LE(BigInt(access & everyFileRight(abi) & (isFolder ? -1 : ofFiles)), 0);
    rule.writeInt32LE(fd, 8);
    const pathBeneath = 1;
    const added = syscall(addRule, ruleset, pathBeneath, addressOf(koffi, rule), 0);
    // EBADFD: the kernel's own files, such as a pipe in /proc, which need no rule.
    if (added !== 0 && added !== -77) throw new Error(`landlock_add_rule failed with errno ${-added} for ${path}`);
    return true;
  } finally {
    fs.closeSync(fd);
  }
}
