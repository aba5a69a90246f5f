/** The child program as one file that plain Node can run. It lies among the packages, so that it finds the optional ones. */

import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const project = fileURLToPath(new URL("../..", import.meta.url));

export interface Program {
  readonly path: string;
  /** A copy that every user of the machine can read, wherever the project lies. It finds no packages. */
  readonly openPath: string;
  remove(): void;
}

export async function buildProgram(): Promise<Program> {
  const folder = fs.mkdtempSync(`${project}node_modules/.filehand-faults-`);
  const path = `${folder}/child.mjs`;
  await build({
    input: `${project}test/faults/child.ts`,
    platform: "node",
    transform: { target: "node20" },
    external: ["koffi"],
    output: { file: path, format: "es", codeSplitting: false },
    logLevel: "warn",
  });
  const open = fs.mkdtempSync(nodePath.join(fs.realpathSync(tmpdir()), "filehand-faults-"));
  fs.chmodSync(open, 0o755);
  const openPath = `${open}/child.mjs`;
  fs.copyFileSync(path, openPath);
  fs.chmodSync(openPath, 0o644);
  const remove = (): void => {
    for (const made of [folder, open]) fs.rmSync(made, { recursive: true });
  };
  return { path, openPath, remove };
}

/** Why a test that needs the system's own faults cannot run; undefined if it can. */
export function missing(...programs: readonly string[]): string | undefined {
  if (process.platform !== "linux") return "it needs Linux";
  if (process.getuid?.() !== 0) return "it needs root";
  for (const program of programs) {
    if (spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0) return `there is no ${program}`;
  }
  if (programs.includes("unshare") && spawnSync("unshare", ["-m", "true"]).status !== 0) {
    return "it may not make a mount namespace";
  }
  if (programs.includes("mount") && spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/tmp"]).status !== 0) {
    return "it may not mount";
  }
  return undefined;
}

/** Why no overlay can be mounted, made from a folder below `top`; undefined if one can. */
export function missingOverlay(top: string): string | undefined {
  const why = missing("unshare", "mount");
  if (why !== undefined) return why;
  const script = `mkdir -p "$1/l" "$1/u" "$1/m"; mount -t tmpfs none "$1/u"; mkdir "$1/u/u" "$1/u/w"; mount -t overlay o -o "lowerdir=$1/l,upperdir=$1/u/u,workdir=$1/u/w" "$1/m"`;
  const { status } = spawnSync("unshare", ["-m", "sh", "-euc", script, "sh", `${top}/overlay`]);
  return status === 0 ? undefined : "overlay cannot be mounted here";
}

export const reason = (why: string | undefined): string => (why === undefined ? "" : ` (skipped: ${why})`);

/** Runs a shell script in a mount namespace of its own, so that no mount outlives it; its standard output. */
export const inNamespace = (script: string, ...args: readonly string[]): string =>
  execFileSync("unshare", ["-m", "sh", "-euc", script, "sh", ...args], { encoding: "utf8" });
