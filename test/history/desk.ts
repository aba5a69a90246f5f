/** A workspace and a state folder beside it, worked on through the library as a host does. */

import nodeFs, * as fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import type { RewindOptions } from "../../src/options.ts";
import type { RewindOutcome } from "../../src/contract/history.ts";
import { createFilehand, type Filehand, type FilehandOptions, type Session } from "../../src/index.ts";
import { treeOf } from "./bed.ts";

export interface Desk {
  /** For another desk on the same folders. */
  readonly top: string;
  readonly filehand: Filehand;
  readonly session: Session<"opencode">;
  readonly at: (name: string) => string;
  readonly stateDir: string;
  /** The calls of a model; they throw where the call failed. Answers with what the model is told. */
  readonly write: (name: string, content: string) => Promise<string>;
  readonly edit: (name: string, oldString: string, newString: string) => Promise<string>;
  readonly patch: (...lines: readonly string[]) => Promise<string>;
  /** Somebody else's hand. */
  readonly stranger: (name: string, content: string) => void;
  readonly read: (name: string) => string;
  /** Text and mode by name. */
  readonly tree: () => Record<string, string>;
}

export type DeskOptions = Partial<FilehandOptions> & { readonly id?: string };

/** On a folder that may hold files already, so that a second desk goes on where the first was left. */
export function openWorkspace(top: string, { id = "one", ...options }: DeskOptions = {}): Desk {
  const root = `${top}/work`;
  const stateDir = `${top}/state`;
  fs.mkdirSync(root, { recursive: true });
  const filehand = createFilehand({ roots: [root], stateDir, ask: "yes", readFirst: false, ...options });
  const session = filehand.session({ dialect: "opencode", id });
  const at = (name: string): string => `${root}/${name}`;
  const said = async (tool: string, input: unknown): Promise<string> => {
    const reply = await session.call(tool, input);
    if (reply.error !== undefined) throw new Error(`${reply.error.code}: ${reply.error.message}`);
    return reply.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  };
  return {
    top,
    filehand,
    session,
    at,
    stateDir,
    write: (name, content) => said("write", { filePath: name, content }),
    edit: (name, oldString, newString) => said("edit", { filePath: name, oldString, newString }),
    patch: (...lines) => said("patch", { patchText: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") }),
    stranger: (name, content) => fs.writeFileSync(at(name), content),
    read: (name) => fs.readFileSync(at(name), "utf8"),
    tree: () => treeOf(root),
  };
}

/** What a rewind says about each file, by name: the step, what came of it. */
export const told = ({ files }: RewindOutcome): Record<string, string> =>
  Object.fromEntries(
    files.map(({ relative, step, came }) => {
      const why = "why" in step ? ` (${step.why})` : "";
      return [relative, `${step.does}${why}: ${typeof came === "string" ? came : came.problem.code}`];
    }),
  );

/** A rewind, and the dry run right before it, which must have told the same. */
export async function rewindTwice(
  { session }: Desk,
  to: string,
  options: RewindOptions = {},
): Promise<{ readonly dry: Record<string, string>; readonly real: Record<string, string> }> {
  const dry = told(await session.rewind(to, { ...options, dryRun: true }));
  const real = told(await session.rewind(to, options));
  const asPlanned = Object.entries(dry).map(([name, words]) => [name, words.replace("planned", "done")]);
  return { dry: Object.fromEntries(asPlanned), real };
}

/** The bytes of everything below a folder, as one. */
export const bytesBelow = (folder: string): Buffer =>
  fs.existsSync(folder)
    ? Buffer.concat(
        fs
          .readdirSync(folder, { recursive: true, encoding: "utf8" })
          .map((name) => `${folder}/${name}`)
          .filter((path) => fs.lstatSync(path).isFile())
          .map((path) => fs.readFileSync(path)),
      )
    : Buffer.alloc(0);

/** While `work` runs, writing to files below `folder` fails as it does on a full disk. */
export async function whileFull<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const { writeSync } = nodeFs;
  const full = (fd: number, ...rest: never[]): number => {
    if (fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder)) {
      throw Object.assign(new Error("ENOSPC: made up, write"), { code: "ENOSPC", errno: -28 });
    }
    return Reflect.apply(writeSync, undefined, [fd, ...rest]);
  };
  Object.assign(nodeFs, { writeSync: full });
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Object.assign(nodeFs, { writeSync });
    syncBuiltinESMExports();
  }
}

/** The files below `folder` that were read while `work` ran. */
export async function readDuring(folder: string, work: () => Promise<unknown>): Promise<ReadonlySet<string>> {
  const { readSync } = nodeFs;
  const top = fs.realpathSync(folder);
  const read = new Set<string>();
  const noting = (fd: number, ...rest: never[]): number => {
    const path = fs.readlinkSync(`/proc/self/fd/${fd}`);
    if (path.startsWith(`${top}/`)) read.add(path);
    return Reflect.apply(readSync, undefined, [fd, ...rest]);
  };
  Object.assign(nodeFs, { readSync: noting });
  syncBuiltinESMExports();
  try {
    await work();
    return read;
  } finally {
    Object.assign(nodeFs, { readSync });
    syncBuiltinESMExports();
  }
}
