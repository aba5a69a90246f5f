/**
 * A process that says what it is about to do and when it has done it, and is killed in between. From its words follows
 * what every file may be: as before what it was about, or as after it.
 */

import { ok } from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

export type Work = "edit" | "rewind" | "gc";

/** What the child writes, a line each. */
export type Word =
  | { readonly begins: "edit"; readonly turn: string; readonly writes: Readonly<Record<string, Lines>> }
  /** All files shall be what they were before or after a turn. */
  | { readonly begins: "rewind"; readonly as: "before" | "after"; readonly turn: string }
  | { readonly begins: "gc" }
  /** Acknowledged; with the turn that it was, if it was one. */
  | { readonly ended: Work; readonly turn?: string | undefined };

export interface Lines {
  readonly line: string;
  readonly times: number;
}

export type Files = Readonly<Record<string, string>>;

export const textOf = ({ line, times }: Lines): string => `${line}\n`.repeat(times);

/** Half of the kills are meant for rewinds. */
const aims: readonly Work[] = ["rewind", "edit", "rewind", "gc"];

type Running = ChildProcessByStdio<Writable, Readable, null>;

export interface Killer {
  /** Starts the program for the next round, which waits for its turn: it starts while the last round is looked through. */
  prepare(args: readonly string[]): void;
  /** Lets it work, and kills it while it does what is aimed at in this round; what it had said by then. */
  kill(round: number): Promise<readonly Word[]>;
  /** In the middle of what the kills came. */
  readonly fell: Readonly<Record<Work | "between", number>>;
  /** Ends what still waits. */
  close(): void;
}

export function createKiller(program: () => string): Killer {
  let waiting: Running | undefined;
  const fell = { edit: 0, rewind: 0, gc: 0, between: 0 };
  /** How long it last took, so that kills come at any moment of it on any machine. */
  const tookMs: Record<Work, number> = { edit: 5, rewind: 5, gc: 5 };
  return {
    fell,
    prepare(args) {
      waiting = spawn(process.execPath, [program(), ...args], { stdio: ["pipe", "pipe", "inherit"] });
    },
    async kill(round) {
      const child = waiting;
      ok(child !== undefined, "a program was prepared");
      waiting = undefined;
      const aim = aims[round % aims.length] ?? "edit";
      const occurrence = 1 + Math.floor(Math.random() * 2);
      const words = await wordsUntilKilled(child, { aim, occurrence, tookMs });
      const last = words.at(-1);
      fell[last !== undefined && "begins" in last ? last.begins : "between"] += 1;
      return words;
    },
    close: () => void waiting?.kill("SIGKILL"),
  };
}

interface Aim {
  readonly aim: Work;
  readonly occurrence: number;
  readonly tookMs: Record<Work, number>;
}

async function wordsUntilKilled(child: Running, { aim, occurrence, tookMs }: Aim): Promise<readonly Word[]> {
  const words: Word[] = [];
  let unread = "";
  let met = 0;
  let beganMs = 0;
  const hear = (word: Word): void => {
    words.push(word);
    const nowMs = performance.now();
    if ("ended" in word) tookMs[word.ended] = nowMs - beganMs;
    else beganMs = nowMs;
    if ("begins" in word && word.begins === aim && (met += 1) === occurrence) {
      killAfter(child, Math.random() * 1.1 * tookMs[aim]);
    }
  };
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (unread + chunk.toString()).split("\n");
    unread = lines.pop() ?? "";
    for (const line of lines) hear(JSON.parse(line) as Word); // the child wrote it
  });
  child.stdin.end("go\n");
  await once(child, "close");
  return words;
}

/** A timer is too coarse for work that takes a millisecond. */
function killAfter(child: Running, ms: number): void {
  const untilMs = performance.now() + ms;
  const kill = (): void => {
    while (performance.now() < untilMs);
    child.kill("SIGKILL");
  };
  if (ms < 3) kill();
  else setTimeout(kill, ms - 2);
}

export interface Account {
  /** Turns that were acknowledged. */
  readonly turns: readonly string[];
  /** As the last word that was acknowledged left them, and as they are to be if what was begun came to its end. */
  readonly settled: Files;
  readonly begun: Files;
  /** The last edit that was acknowledged, and what was there before it. */
  readonly lastEdit: { readonly turn: string; readonly before: Files } | undefined;
}

/** What the words come to, if the files were `start` when the child began. */
export function accountOf(words: readonly Word[], start: Files): Account {
  const turns: string[] = [];
  const states = new Map<string, Record<"before" | "after", Files>>();
  let settled = start;
  let begun = start;
  let edit: string | undefined;
  let lastEdit: Account["lastEdit"];
  for (const word of words) {
    if ("ended" in word) {
      settled = begun;
      if (word.turn !== undefined) turns.push(word.turn);
      if (word.ended === "edit" && edit !== undefined)
        lastEdit = { turn: edit, before: states.get(edit)?.before ?? {} };
    } else if (word.begins === "edit") {
      const written = Object.entries(word.writes).map(([name, lines]) => [name, textOf(lines)]);
      begun = { ...settled, ...Object.fromEntries(written) };
      states.set(word.turn, { before: settled, after: begun });
      edit = word.turn;
    } else if (word.begins === "rewind") {
      begun = states.get(word.turn)?.[word.as] ?? begun;
    }
  }
  return { turns, settled, begun, lastEdit };
}

/** Every file is what it was, or what it was to become. */
export function checkFiles(files: Files, { settled, begun }: Account, round: string): void {
  for (const name of new Set([...Object.keys(files), ...Object.keys(settled), ...Object.keys(begun)])) {
    const text = files[name];
    ok(text === settled[name] || text === begun[name], `${round}: "${name}" is ${JSON.stringify(text?.slice(0, 80))}`);
  }
}
