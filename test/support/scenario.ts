/**
 * Scenario folders: a tree, calls, and the replies as text that anyone can read. `test/scenarios/README.md` says what
 * the files are; here they are turned into a workspace, run, and written down.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as nodePath from "node:path";
import type { DialectName, FilehandOptions, Reply } from "../../src/index.ts";

/** What Git cannot hold, step by step. Steps that make content append to what is there. Paths start at the workspace. */
type Step =
  | { readonly file: string; readonly text: string }
  | { readonly bytes: string; readonly hex: string }
  | { readonly lines: string; readonly count: number; readonly text: string }
  | { readonly repeat: string; readonly text: string; readonly times: number }
  | { readonly files: string; readonly count: number; readonly name: string }
  | { readonly folder: string }
  | { readonly link: string; readonly to: string }
  | { readonly fifo: string }
  | { readonly mode: string; readonly bits: string }
  | { readonly mtime: string; readonly ms: number };

/** Where a scenario cannot run, with the reason. `root`: run by a user whom no mode bits stop. */
type Skips = { readonly [where in NodeJS.Platform | "root"]?: string };

interface ScenarioFile {
  readonly shows: string;
  readonly recipe?: readonly Step[];
  /** Given to `createFilehand` beside the root; `<root>` in a text stands for the workspace. */
  readonly options?: Omit<FilehandOptions, "roots" | "clock">;
  readonly skip?: Skips;
}

export interface Call {
  readonly id: string | number;
  readonly tool: string;
  readonly input: unknown;
}

export interface Scenario extends ScenarioFile {
  readonly name: string;
  readonly folder: string;
  /** The dialects it has calls for. */
  readonly dialects: readonly DialectName[];
}

export function scenariosIn(folder: string): readonly Scenario[] {
  const names = fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.map(({ name }) => scenarioAt(nodePath.join(folder, name))).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function scenarioAt(folder: string): Scenario {
  const file = JSON.parse(fs.readFileSync(nodePath.join(folder, "scenario.json"), "utf8")) as ScenarioFile;
  const dialects = fs.readdirSync(folder).flatMap((name) => /^calls\.(.+)\.jsonl$/.exec(name)?.[1] ?? []);
  return { ...file, name: nodePath.basename(folder), folder, dialects: dialects as DialectName[] };
}

export function whySkipped({ skip = {} }: Scenario): string | undefined {
  return skip[process.platform] ?? (process.getuid?.() === 0 ? skip.root : undefined);
}

/** The number in the seed's example. Git keeps no times, so every file has this one unless the recipe says otherwise. */
const mtimeMs = 1_735_212_345_000;

export interface Workspace extends Disposable {
  readonly root: string;
  /** Everything in `value` that names the workspace, in words that do not change from run to run. */
  shown<Value>(value: Value): Value;
  /** The reverse, for calls and options. */
  meant<Value>(value: Value): Value;
}

/** The workspace lies one folder below its temporary folder, so that a recipe can also put things outside of it. */
export function buildWorkspace({ folder, recipe = [] }: Scenario): Workspace {
  const temp = fs.realpathSync(fs.mkdtempSync(nodePath.join(os.tmpdir(), "filehand-scenario-")));
  const root = nodePath.join(temp, "workspace");
  fs.mkdirSync(root);
  const input = nodePath.join(folder, "input");
  if (fs.existsSync(input)) fs.cpSync(input, root, { recursive: true });
  for (const step of recipe) if (!("mode" in step || "mtime" in step)) make(step, root);
  setTimes(root);
  for (const step of recipe) if ("mode" in step || "mtime" in step) make(step, root);
  // Not the beginning of a neighbour's name, such as `workspace-evil`.
  const rootAlone = new RegExp(`${root.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![\\w.-])`, "g");
  return {
    root,
    shown: (value) =>
      mapTexts(value, (text) => withSlashes(timeless(text.replace(rootAlone, "<root>").replaceAll(temp, "<temp>")))),
    meant: (value) =>
      mapTexts(value, (text) =>
        text
          .replaceAll("<root>", root)
          .replaceAll("<temp>", temp)
          .replaceAll("<node>", process.execPath)
          .replaceAll("<tests>", nodePath.dirname(import.meta.dirname)),
      ),
    [Symbol.dispose]: () => fs.rmSync(temp, { recursive: true, force: true }),
  };
}

function make(step: Step, root: string): void {
  const at = (path: string): string => {
    const absolute = nodePath.join(root, path);
    fs.mkdirSync(nodePath.dirname(absolute), { recursive: true });
    return absolute;
  };
  if ("file" in step) fs.appendFileSync(at(step.file), step.text);
  else if ("bytes" in step) fs.appendFileSync(at(step.bytes), Buffer.from(step.hex.replaceAll(" ", ""), "hex"));
  else if ("lines" in step) {
    const numbers = Array.from({ length: step.count }, (_, index) => String(index + 1));
    fs.appendFileSync(at(step.lines), numbers.map((number) => `${step.text.replaceAll("{n}", number)}\n`).join(""));
  } else if ("repeat" in step) fs.appendFileSync(at(step.repeat), step.text.repeat(step.times));
  else if ("files" in step) {
    for (let n = 1; n <= step.count; n += 1) {
      fs.writeFileSync(at(nodePath.join(step.files, step.name.replaceAll("{n}", String(n)))), "");
    }
  } else if ("folder" in step) fs.mkdirSync(at(step.folder), { recursive: true });
  else if ("link" in step) fs.symlinkSync(step.to, at(step.link));
  else if ("fifo" in step) execFileSync("mkfifo", [at(step.fifo)]);
  else if ("mode" in step) fs.chmodSync(at(step.mode), Number.parseInt(step.bits, 8));
  else if ("mtime" in step) fs.utimesSync(at(step.mtime), step.ms / 1_000, step.ms / 1_000);
  else throw new Error(`There is no such step of a recipe: ${JSON.stringify(step)}`);
}

function setTimes(folder: string): void {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = nodePath.join(folder, entry.name);
    if (entry.isDirectory()) setTimes(path);
    if (entry.isFile()) fs.utimesSync(path, mtimeMs / 1_000, mtimeMs / 1_000);
  }
}

function mapTexts<Value>(value: Value, change: (text: string) => string): Value {
  const map = (part: unknown): unknown => {
    if (typeof part === "string") return change(part);
    if (Array.isArray(part)) return part.map(map);
    if (typeof part !== "object" || part === null) return part;
    // Unlike an assignment, this keeps a key named `__proto__`.
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [change(key), map(inner)]));
  };
  return map(value) as Value; // every part keeps its type
}

/** A time of today is that of the run; files of a scenario have older ones. */
const timeless = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (time) =>
    Math.abs(Date.parse(time) - Date.now()) < 86_400_000 ? "<now>" : time,
  );

/** A Windows path behind `<root>` reads like the others. */
function withSlashes(text: string): string {
  if (nodePath.sep === "/") return text;
  return text.replace(/<(?:root|temp)>[^\s"'<]*/g, (path) => path.replaceAll("\\", "/"));
}

export function callsOf(scenario: Scenario, dialect: DialectName): readonly Call[] {
  const text = fs.readFileSync(nodePath.join(scenario.folder, `calls.${dialect}.jsonl`), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Call);
}

export const repliesFile = (scenario: Scenario, dialect: DialectName): string =>
  nodePath.join(scenario.folder, `replies.${dialect}.txt`);

/** One reply as it stands in a replies file. Both come with the workspace's path already replaced. */
export function wordsOf(call: Call, reply: Reply): string {
  const lines = [`=== ${call.id} ${call.tool} ${json(call.input)}`];
  const texts = reply.content.map((part) => (part.type === "text" ? part.text : undefined));
  if (reply.isError) lines.push(`isError ${reply.error?.code}`);
  if (reply.error !== undefined && !texts.includes(reply.error.message)) {
    lines.push(`message ${json(reply.error.message)}`);
  }
  for (const part of reply.content) {
    if (part.type === "text") lines.push("--- content", visible(abbreviate(part.text)));
    else lines.push(`--- content ${part.mimeType}, base64 with the sha256 ${sha256(part.data)}`);
  }
  lines.push("--- structured", json(mapTexts(reply.structured, abbreviate), 2));
  return `${lines.join("\n")}\n`;
}

/** More lines than this, or a line of more characters, are shown by their beginning and end. */
const linesMax = 40;
const charsMax = 400;

function abbreviate(text: string): string {
  const lines = text.split("\n");
  if (lines.length <= linesMax && lines.every((line) => line.length <= charsMax)) return text;
  const short = lines.map(shortened);
  const mark = `[... in all ${lines.length} lines, ${text.length} chars, sha256 ${sha256(text)} ...]`;
  if (lines.length <= linesMax) return [...short, mark].join("\n");
  return [...short.slice(0, 3), mark, ...short.slice(-3)].join("\n");
}

/** Cut between characters, so that a replies file is valid UTF-8. */
function shortened(line: string): string {
  if (line.length <= charsMax) return line;
  const points = Array.from(line);
  return `${points.slice(0, 20).join("")}[... ${line.length} chars ...]${points.slice(-20).join("")}`;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Controls but newline and tab, what has no width or breaks lines, unusual spaces, combining accents, lone surrogates. */
const invisible = /[\0-\x08\x0b-\x1f\x7f-\xa0\u200b-\u200f\u2028-\u202f\ufeff\p{Cs}]|[\u0300-\u036f]/gu;

const hexOf = (character: string): string => character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");

const visible = (text: string): string => text.replace(invisible, (character) => `<U+${hexOf(character)}>`);

const json = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, undefined, indent) ?? "undefined").replace(
    invisible,
    (character) => `\\u${hexOf(character).toLowerCase()}`,
  );
