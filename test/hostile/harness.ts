/** Hands cases to child processes and judges what they measured. */

import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { textFiles } from "../../scripts/text-files.js";

/** A known sample by its name, or what the seed makes. */
export interface Asked {
  readonly input: string;
  readonly known?: string;
  readonly seed: number;
}

export interface Measured {
  readonly label: string;
  /** The beginning of the hostile content; the seed makes all of it. */
  readonly exact: string;
  readonly exactLength: number;
  readonly cpuMs: number;
  readonly bytes: number;
  readonly pauseMs: number;
  readonly answer: string;
}

export interface Limits {
  readonly cpuMs: number;
  readonly bytes: number;
  readonly pauseMs: number;
}

/** What a call may take: of the processor, of memory beyond the idle process, of the event loop at a time. */
export const nominal: Limits = { cpuMs: 5_000, bytes: 300_000_000, pauseMs: 50 };

export interface Result {
  readonly asked: Asked;
  readonly measured: Partial<Measured>;
  /** How often it was measured. */
  readonly tries: number;
  /** What is wrong; undefined for a case within the limits. */
  readonly fault: string | undefined;
}

const project = fileURLToPath(new URL("../..", import.meta.url));
const waitMsMax = 90_000;
/** A case counts as over a limit if it is so each of so many times. */
const triesMax = 3;

export interface Harness {
  /** Two at a time, in any order. */
  run(cases: Iterable<Asked>, limits: Limits, until?: number): Promise<readonly Result[]>;
  remove(): void;
}

export async function buildHarness(): Promise<Harness> {
  // Among the packages, so that it finds the optional ones.
  const folder = fs.mkdtempSync(`${project}node_modules/.filehand-hostile-`);
  const path = `${folder}/child.mjs`;
  const { optionalDependencies, devDependencies } = JSON.parse(fs.readFileSync(`${project}package.json`, "utf8")) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  await build({
    input: `${project}test/hostile/child.ts`,
    platform: "node",
    transform: { target: "node20" },
    plugins: [textFiles()],
    resolve: { mainFields: ["module", "main"] },
    external: [...Object.keys(optionalDependencies), ...Object.keys(devDependencies)].map(
      (name) => new RegExp(`^${name}(/|$)`),
    ),
    output: { file: path, format: "es", codeSplitting: false },
    logLevel: "warn",
  });
  const places = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), "filehand-hostile-"));
  const children = new Set<Child>();
  return {
    async run(cases, limits, until = Number.POSITIVE_INFINITY) {
      const results: Result[] = [];
      const queue = cases[Symbol.iterator]();
      const lane = async (): Promise<void> => {
        let child: Child | undefined;
        for (let next = queue.next(); next.done !== true && Date.now() < until; next = queue.next()) {
          if (child === undefined) children.add((child = await start(path, places)));
          let measured = await child.ask(next.value);
          let tries = 1;
          // The collector's work and a busy machine add to a turn now and then; what the input causes comes every time.
          while (faultOf(measured, limits) !== undefined && !child.isOver() && tries < triesMax) {
            const again = await child.ask(next.value);
            tries += 1;
            if (again.ended !== undefined || faultOf(again, limits) === undefined) measured = again;
          }
          results.push({ asked: next.value, measured, tries, fault: faultOf(measured, limits) });
          if (child.isOver()) {
            children.delete(child);
            child = undefined;
          }
        }
        child?.end();
      };
      await Promise.all([lane(), lane()]);
      return results;
    },
    remove() {
      for (const child of children) child.end();
      for (const made of [folder, places]) fs.rmSync(made, { recursive: true, force: true });
    },
  };
}

type Answered = Partial<Measured> & { readonly ended?: string; readonly failed?: string };

interface Child {
  ask(asked: Asked): Promise<Answered>;
  isOver(): boolean;
  end(): void;
}

async function start(path: string, places: string): Promise<Child> {
  const folder = fs.mkdtempSync(`${places}/child-`);
  const args = ["--expose-gc", "--max-old-space-size=2048", path, folder];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder },
  });
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors = `${errors}${text}`.slice(-4_000)));
  child.stdin?.on("error", () => undefined);
  if (child.stdout === null) throw new Error("the child has a pipe");
  const lines: Interface = createInterface({ input: child.stdout });
  const answers = lines[Symbol.asyncIterator]();
  const next = async (): Promise<Answered> => {
    const timer = setTimeout(() => child.kill("SIGKILL"), waitMsMax);
    const { value, done } = await answers.next();
    clearTimeout(timer);
    if (done === true) return { ended: `the process ended: ${errors.trim().split("\n")[0] ?? ""}` };
    return JSON.parse(String(value)) as Answered; // written by the child
  };
  const ready = await next();
  if (ready.ended !== undefined) throw new Error(errors);
  let isOver = false;
  return {
    async ask(asked) {
      child.stdin?.write(`${JSON.stringify(asked)}\n`);
      const begun = await next();
      const answer = begun.label === undefined ? begun : { ...begun, ...(await next()) };
      if (answer.ended !== undefined) isOver = true;
      return answer;
    },
    isOver: () => isOver,
    end: () => void child.kill("SIGKILL"),
  };
}

function faultOf(measured: Answered, limits: Limits): string | undefined {
  if (measured.failed !== undefined) return `the case could not be made: ${measured.failed}`;
  const { ended, cpuMs = 0, bytes = 0, pauseMs = 0, answer = "" } = measured;
  const faults = [
    ...(ended === undefined ? [] : [`ended by its watcher (${ended})`]),
    ...(cpuMs > limits.cpuMs ? [`${Math.round(cpuMs)} ms of processor time`] : []),
    ...(bytes > limits.bytes ? [`${Math.round(bytes / 1e6)} MB`] : []),
    ...(pauseMs > limits.pauseMs ? [`the event loop stood for ${Math.round(pauseMs)} ms`] : []),
    ...(answer.startsWith("THROWN") ? [answer] : []),
  ];
  return faults.length === 0 ? undefined : faults.join(", ");
}

/** How to see one case again, with the same limits. */
const again = ({ input, known, seed }: Asked): string =>
  `npm run test:hostile -- --input ${input} ${known === undefined ? `--seed ${seed} --cases 1` : `--known ${JSON.stringify(known)}`}`;

/** Counts and the worst case of each input, then every finding with its input. */
export function report(results: readonly Result[]): string {
  const inputs = [...new Set(results.map(({ asked }) => asked.input))];
  const worst = (of: readonly Result[], key: keyof Limits): number =>
    Math.max(0, ...of.map(({ measured }) => measured[key] ?? 0));
  const rows = inputs.map((input) => {
    const of = results.filter(({ asked }) => asked.input === input);
    const slowest = of.toSorted((one, other) => (other.measured.pauseMs ?? 0) - (one.measured.pauseMs ?? 0))[0];
    const failed = of.filter(({ fault }) => fault !== undefined).length;
    const name = slowest?.asked.known ?? `seed ${slowest?.asked.seed}`;
    const again = of.filter(({ tries }) => tries > 1).length;
    return `${input}: ${of.length} cases, ${failed} over a limit${again === 0 ? "" : ` (${again} measured again)`}; at most ${Math.round(worst(of, "cpuMs"))} ms of processor time, ${Math.round(worst(of, "bytes") / 1e6)} MB, a pause of ${Math.round(worst(of, "pauseMs"))} ms (${name})`;
  });
  const findings = results.flatMap(({ asked, measured, fault }) =>
    fault === undefined
      ? []
      : [
          `${asked.input}, ${asked.known ?? measured.label ?? `seed ${asked.seed}`}: ${fault}`,
          `  again: ${again(asked)}`,
          `  input: ${JSON.stringify((measured.exact ?? "").slice(0, 300))}${(measured.exactLength ?? 0) > 300 ? ` and so on, ${measured.exactLength} in all` : ""}`,
        ],
  );
  return [...rows, ...findings].join("\n");
}
