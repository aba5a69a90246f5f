/**
 * A name for a process that no later process shares. Lock files and temporary file names carry it, so that any process can
 * tell whether their creator still runs. A process id alone cannot: ids are reused, and in another container the same id is
 * another process.
 */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { hostname } from "node:os";
import { attempt, errnoName } from "../errno.ts";

/** `elsewhere`: from before the last boot, another container or machine, or unreadable. Judge it by age. */
export type Life = "alive" | "dead" | "elsewhere";

interface ProcessIdentity {
  readonly pid: number;
  /** In clock ticks after boot; 0 where the system does not say. */
  readonly start: number;
  /** Hash of everything that two processes must share for their ids to mean the same. */
  readonly realm: string;
}

const shape = /^(\d{1,10})-(\d{1,20})-([0-9a-f]{12})$/u;

/** `<pid>-<start time>-<realm>`: digits, lowercase letters and hyphens, fit for a file name. */
export function processIdentity(): string {
  const { pid, start, realm } = self();
  return `${pid}-${start}-${realm}`;
}

export function lifeOf(owner: string): Life {
  const { realm, start: ownStart } = self();
  const found = parse(owner);
  if (found === undefined || found.realm !== realm) return "elsewhere";
  if (!exists(found.pid)) return "dead";
  // If /proc does not fit our own process, it cannot be trusted for others.
  const now = ownStart === 0 || found.start === 0 ? undefined : procStat(String(found.pid));
  if (now === undefined) return "alive";
  return now.start === found.start && !now.ended ? "alive" : "dead";
}

/** False only if the process has certainly ended. */
export const isAlive = (owner: string): boolean => lifeOf(owner) !== "dead";

export const pidOf = (owner: string): number | undefined => parse(owner)?.pid;

function parse(owner: string): ProcessIdentity | undefined {
  const [, pid, start, realm] = shape.exec(owner) ?? [];
  return realm === undefined ? undefined : { pid: Number(pid), start: Number(start), realm };
}

let own: ProcessIdentity | undefined;

function self(): ProcessIdentity {
  if (own !== undefined) return own;
  const stat = procStat("self");
  // A /proc of another pid namespace (bind-mounted into a container) numbers processes differently.
  const isOurs = stat?.pid === process.pid;
  const places = [
    attempt(() => fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ?? hostname(),
    attempt(() => fs.readlinkSync("/proc/self/ns/pid")) ?? "",
    attempt(() => fs.readlinkSync("/proc/self/ns/time")) ?? "", // another time namespace shifts start times
  ];
  const realm = createHash("sha256").update(places.join("\n")).digest("hex").slice(0, 12);
  own = { pid: process.pid, start: isOurs ? stat.start : 0, realm };
  return own;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoName(error) !== "ESRCH"; // EPERM: the process belongs to another user
  }
}

interface ProcStat {
  readonly pid: number;
  readonly start: number;
  /** A zombie: its parent has not reaped it, so the id is still taken. */
  readonly ended: boolean;
}

/** Undefined except on Linux, and for processes that /proc hides. */
function procStat(pid: string): ProcStat | undefined {
  const text = attempt(() => fs.readFileSync(`/proc/${pid}/stat`, "latin1"));
  if (text === undefined) return undefined;
  // "pid (name) state …": the name may contain spaces and brackets, so count from the last bracket. Start is field 22.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const start = Number(fields[19]);
  if (!Number.isSafeInteger(start) || start <= 0) return undefined;
  return { pid: Number.parseInt(text, 10), start, ended: fields[0] === "Z" || fields[0] === "X" };
}
