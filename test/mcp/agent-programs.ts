/** Real agent programs, as `npm run test:clients` installs them: where they are and how they are run. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { serverEnvironment } from "./server.ts";

/** Undefined: they are not installed. */
export const clientsFolder = process.env["FILEHAND_CLIENTS"];
/** Node for programs that need a newer one than the tests run with. */
const newerNode = process.env["FILEHAND_CLIENTS_NODE"] ?? process.execPath;

export interface Place {
  readonly workspace: string;
  readonly home: string;
  /** Of the scripted model. */
  readonly url: string;
  /** How our server is started. */
  readonly server: { readonly command: string; readonly args: readonly string[] };
}

export interface Program {
  /** Its folder below `FILEHAND_CLIENTS`. */
  readonly package: string;
  /** Below `node_modules/.bin`. */
  readonly bin: string;
  readonly node?: "newer";
  /** Writes its configuration, and says how it is run. */
  prepare(place: Place): Prepared;
}

export interface Prepared {
  /** Calls of the program that come first. */
  readonly before?: readonly (readonly string[])[];
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export function write(path: string, content: string | object): void {
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

/** Cline leaves a daemon that later runs would use; its arguments name the workspace, which is this test's own. */
export function endDaemons(workspace: string): void {
  if (process.platform !== "linux") return;
  for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    try {
      if (fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(workspace))
        process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}
/** Its file, and the program that runs it if it is a script. */
export function startOfProgram(program: Pick<Program, "package" | "bin" | "node">): readonly [string, ...string[]] {
  const bin = join(clientsFolder ?? "", program.package, "node_modules/.bin", program.bin);
  const isScript = fs.readFileSync(fs.realpathSync(bin)).subarray(0, 2).toString() === "#!";
  return isScript ? [program.node === "newer" ? newerNode : process.execPath, fs.realpathSync(bin)] : [bin];
}

/** Gives what it printed; a program that does not end by itself is killed. */
export async function runProgram(
  program: Pick<Program, "package" | "bin" | "node">,
  { args, env = {} }: Pick<Prepared, "args" | "env">,
  { workspace, home }: { readonly workspace: string; readonly home: string },
): Promise<string> {
  const [command, ...first] = startOfProgram(program);
  const child = spawn(command, [...first, ...args], {
    cwd: workspace,
    env: { ...serverEnvironment({ path: home, remove: () => undefined }), NO_PROXY: "127.0.0.1", CI: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const pipe of [child.stdout, child.stderr]) {
    pipe.setEncoding("utf8").on("data", (part: string) => (output += part));
  }
  const killing = setTimeout(() => {
    output += "\n(killed: it did not end in time)";
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }, 150_000);
  await once(child, "close");
  clearTimeout(killing);
  return output.slice(-3_000);
}
