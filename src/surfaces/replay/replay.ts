/**
 * Replays recorded conversations: makes the calls again on rebuilt files, with Filehand and if asked for with another server, and
 * counts what came of them. Nothing of the user's is written, no recorded command is run, and nothing is sent anywhere.
 */

import type { ReplayResult } from "../../contract/replay.ts";
import { countTokens } from "../../filehand.ts";
import { findTranscripts, openScratch, type Scratch, type Transcript } from "../../state/state.ts";
import { linesShownByShell, parsePatch, type PatchFile, type PatchHunk, roughTokens } from "../../text/text.ts";
import { type Answer, type Contender, isFault, openFilehand, type OwnOptions, startServer } from "./contender.ts";
import type { Action, FailureKind, FileFact, RecordedCall, RecordedEdit, Step } from "./conversation.ts";
import { knowFiles, withHunks } from "./known-files.ts";
import { lineEditsOf } from "./line-edits.ts";
import type { MappedCall } from "./mapping.ts";
import { pathIn as fromFolder, placeOf } from "./places.ts";
import { acceptedWords, readTranscript } from "./read-transcript.ts";
import { countCalls, scoring, type Scoring } from "./score.ts";
import { shellChangeKinds, shellChanges } from "./shell.ts";

export interface ReplayOptions extends OwnOptions {
  readonly version: string;
  /** The command of another MCP server; `{folder}` in it is the folder of the files. */
  readonly server: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly onProgress: (bytesDone: number, bytesTotal: number) => void;
}

/** What prevented the replay, as a whole sentence. */
export interface ReplayFault {
  readonly fault: string;
}

export async function replayTranscripts(
  paths: readonly string[],
  options: ReplayOptions,
): Promise<ReplayResult | ReplayFault> {
  const transcripts: Transcript[] = [];
  for (const path of paths) {
    const found = findTranscripts(path);
    if ("why" in found) return { fault: `Cannot read "${path}": ${found.why}` };
    if (found.length === 0)
      return { fault: `Cannot replay "${path}": the folder has no transcripts, ${acceptedWords}` };
    transcripts.push(...found);
  }
  const scratch = openScratch();
  try {
    return await replayAll(transcripts, scratch, options);
  } finally {
    scratch.remove();
  }
}

async function replayAll(
  transcripts: readonly Transcript[],
  scratch: Scratch,
  options: ReplayOptions,
): Promise<ReplayResult | ReplayFault> {
  const { signal, onProgress } = options;
  const server = options.server === undefined ? undefined : await startServer(options.server, scratch, options.env);
  if (isFault(server)) return { fault: `Cannot replay against "${options.server}": ${server.why}` };
  const counts = countCalls();
  const tokens = tokenCounter(signal);
  const sides: Side[] = [
    { name: "Filehand", folder: "filehand/files", score: scoring("Filehand"), disk: new Map() },
    ...(server === undefined
      ? []
      : [{ name: server.name, folder: "server/files", score: scoring(server.name), disk: new Map() }]),
  ];
  const bytesTotal = transcripts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let bytes = 0;
  /** Why the first transcript of a folder cannot be read. */
  let unread: string | undefined;
  let conversation: Conversation | undefined;
  const end = async (): Promise<void> => {
    await conversation?.close();
    conversation = undefined;
  };
  try {
    for (const transcript of transcripts) {
      const events = {
        onStep: async (step: Step): Promise<void> => {
          signal.throwIfAborted();
          if (step.step === "start") {
            await end();
            counts.started(step.client);
            conversation = openConversation(step.cwd, { scratch, options, server, sides, tokens, counts });
          } else if (step.step === "compaction") {
            counts.compacted();
            conversation?.forget();
          } else await conversation?.play(step.call);
        },
        onBytes: (more: number): void => onProgress((bytes += more), bytesTotal),
        onLineSkipped: () => counts.lineSkipped(),
      };
      const read = await readTranscript(transcript, scratch, events);
      await end();
      if (read === "read") counts.file(transcript.sizeBytes);
      else {
        const fault = `Cannot replay "${transcript.path}": ${read === "unknown" ? `it is no transcript in a known format, ${acceptedWords}` : read.why}`;
        if (transcript.is === "file" && transcript.named) return { fault };
        if (read !== "unknown") unread ??= fault;
        counts.fileSkipped();
      }
    }
  } finally {
    await end();
    await server?.close();
  }
  if (counts.files() === 0)
    return {
      fault: unread ?? `Cannot replay these folders: they have no transcripts in a known format, ${acceptedWords}`,
    };
  const scores = await Promise.all(sides.map(({ score }) => score.result((text) => tokens.of(text))));
  return counts.result(options.version, tokens.isExact() ? "o200k" : "estimate", scores);
}

// Tokens.

/** Longer texts are estimated, and so are runs without words, for which the tokenizer needs time that grows with their square. */
const exactCharsMax = 1_000_000;
const longRun = /\s{1000}|\S{4000}/;

export interface TokenCounter {
  of(text: string): Promise<number>;
  isExact(): boolean;
}

function tokenCounter(signal: AbortSignal): TokenCounter {
  let exact = true;
  return {
    async of(text) {
      if (text === "") return 0;
      if (!exact || text.length > exactCharsMax || longRun.test(text)) return Math.round(roughTokens(text));
      const counted = await countTokens(text, signal);
      if (counted === undefined) exact = false;
      return counted ?? Math.round(roughTokens(text));
    },
    isExact: () => exact,
  };
}

// One conversation.

/** Filehand, or the server: where its files are, what is there, and its score. */
interface Side {
  readonly name: string;
  /** Inside the scratch folder. */
  readonly folder: string;
  readonly score: Scoring;
  /** By place, as the replay left it. */
  readonly disk: Map<string, string | null>;
}

interface Player extends Side {
  readonly contender: Contender;
}

interface Surroundings {
  readonly scratch: Scratch;
  readonly options: ReplayOptions;
  readonly server: Contender | undefined;
  readonly sides: readonly Side[];
  readonly tokens: TokenCounter;
  readonly counts: ReturnType<typeof countCalls>;
}

/** A recorded failure that was applied now, and is compared with the changes that come later. */
interface Applied {
  readonly place: string;
  readonly text: string;
  readonly newText: string;
  readonly kind: FailureKind;
  readonly score: Scoring;
  left: number;
}

interface ShellOutput {
  readonly command: string;
  readonly folder: string | undefined;
  readonly text: string;
  /** Places of files whose lines in it were marked as shown. */
  readonly noted: Set<string>;
}

/** Outputs of commands that are kept. */
const printedMax = 300;

/** Later changes of the same file that can confirm it. */
const laterMax = 6;

/** Failures that are tried again: in the others nothing was tried, or a person said no. */
const triedAgain: ReadonlySet<FailureKind> = new Set(["text not found", "several places", "not read", "changed since"]);

type Conversation = ReturnType<typeof openConversation>;

function openConversation(recordedCwd: string, { scratch, options, server, sides, tokens, counts }: Surroundings) {
  const known = knowFiles();
  const cwd = placeOf("", recordedCwd);
  for (const { folder, disk } of sides) {
    scratch.empty(folder);
    scratch.make(`${folder}/${cwd}`);
    disk.clear();
  }
  const root = `${scratch.folder}/filehand/files`;
  const own = openFilehand(root, `${root}/${cwd}`, options);
  const players: readonly Player[] = sides.map((side, at) => ({
    ...side,
    contender: at === 0 || server === undefined ? own.main : server,
  }));
  for (const { score, contender } of players) score.uses(contender);
  let applied: Applied[] = [];
  /** What commands printed, the latest last. */
  let printed: ShellOutput[] = [];

  const at = (path: string): string => placeOf(path, recordedCwd);
  const pathIn = ({ contender }: Player, place: string): string => `${contender.folder}/${place}`;
  const put = ({ folder, disk }: Player, place: string, text: string | null): void => {
    if (disk.has(place) && disk.get(place) === text) return;
    scratch.put(`${folder}/${place}`, text);
    disk.set(place, text);
  };
  const look = ({ folder, disk }: Player, place: string): string | null => {
    const text = scratch.text(`${folder}/${place}`);
    disk.set(place, text);
    return text;
  };
  /** Without the scratch folder a path is as long as it was recorded. */
  const costOf = ({ contender }: Player, text: string): Promise<number> =>
    tokens.of(text.replaceAll(contender.folder, ""));

  const learn = (facts: readonly FileFact[]): void => {
    for (const fact of facts) {
      const place = at(fact.path);
      // A whole text says more than the hunks of a change, which some versions record for display, with other whitespace.
      if (fact.is === "hunks" && known.isWhole(place)) continue;
      known.learn({ ...fact, path: place });
    }
  };

  /** Makes calls one after the other until one fails. */
  const makeCalls = async (
    player: Player,
    calls: readonly MappedCall[],
    by: Pick<Contender, "call"> = player.contender,
  ) => {
    let [written, answered] = [0, 0];
    let last: Answer | undefined;
    for (const call of calls) {
      last = await by.call(call);
      const costs = await Promise.all([costOf(player, JSON.stringify(call.input)), costOf(player, last.text)]);
      written += costs[0];
      answered += costs[1];
      if (last.failed) break;
    }
    return { written, answered, last: last ?? { text: "", failed: true, code: "no call", isStub: false } };
  };

  const playRead = async (
    call: RecordedCall,
    action: Action & { verb: "read" },
    recorded: Cost,
  ): Promise<string | undefined> => {
    const place = at(action.path);
    const text = known.text(place);
    const lines = linesShown(call.facts);
    if (call.failed !== undefined) return "recorded as failed";
    if (lines === undefined || typeof text !== "string") return "content not recorded";
    for (const player of players) {
      put(player, place, text);
      const mapped = player.contender.map.read(pathIn(player, place), action.from, action.linesMax);
      if (mapped === undefined) continue;
      const { written, answered, last } = await makeCalls(player, [mapped]);
      const verdict = last.failed
        ? "refused"
        : last.isStub
          ? "unchanged"
          : showsLines(lines, last.text)
            ? "sameLines"
            : "fewerLines";
      player.score.read(verdict, last.code);
      if (verdict !== "refused") player.score.compared(call.tool, recorded, { written, answered });
    }
    await compareFormats(place, action, lines, recorded);
    return undefined;
  };
  /** The same read in every dialect, each time as if it were the first. */
  const compareFormats = async (
    place: string,
    action: Action & { verb: "read" },
    lines: readonly string[],
    recorded: Cost,
  ): Promise<void> => {
    const [player] = players;
    if (player === undefined) return;
    const costs = new Map<string, number>();
    for (const [name, format] of own.formats) {
      format.forget();
      const mapped = format.map.read(pathIn(player, place), action.from, action.linesMax);
      const answer = mapped === undefined ? undefined : await format.call(mapped);
      if (answer === undefined || answer.failed || !showsLines(lines, answer.text)) return;
      costs.set(name, await costOf(player, answer.text));
    }
    counts.format(recorded.answered, costs);
  };

  /** Undefined where the content is not known. */
  interface Expected {
    readonly place: string;
    readonly before: string | null;
    readonly after: string | null;
    /** False: neither the record nor the call says what the file became. */
    readonly isSure: boolean;
    /** What the call says to the letter; may differ from what the recorded client did. */
    readonly letter: string | null | undefined;
  }
  const expectedOf = (
    place: string,
    facts: readonly FileFact[],
    letter: (before: string | null) => string | null | undefined,
  ): Expected | undefined => {
    const before = known.text(place);
    if (before === undefined) return undefined;
    const own1 = facts.filter((fact) => at(fact.path) === place);
    const says = letter(before);
    const whole = own1.find((fact) => fact.at === "after");
    const hunks = own1.find((fact) => fact.is === "hunks");
    const recordedText =
      whole?.is === "whole"
        ? whole.text
        : whole?.is === "absent"
          ? null
          : hunks?.is === "hunks" && before !== null
            ? withHunks(before, hunks.hunks)
            : undefined;
    const after = recordedText === undefined ? says : recordedText;
    return { place, before, after: after === undefined ? before : after, isSure: after !== undefined, letter: says };
  };

  /** The files of a change with their states, and the calls that make it. */
  interface Change {
    readonly files: readonly Expected[];
    readonly calls: (player: Player) => readonly MappedCall[] | undefined;
    readonly newText: string;
  }
  const changeOf = (action: Action, facts: readonly FileFact[]): Change | string => {
    if (action.verb === "edit") {
      const { edits } = action;
      const place = at(action.path);
      const file = expectedOf(place, facts, (before) => byLetter(before, edits));
      if (file === undefined) return "content not recorded";
      const count = ({ oldText }: RecordedEdit): number => (file.before ?? "").split(oldText).length - 1;
      return {
        files: [file],
        calls: (player) => player.contender.map.edit(pathIn(player, place), edits, count),
        newText: edits.map(({ newText }) => newText).join("\n"),
      };
    }
    if (action.verb === "write") {
      const place = at(action.path);
      const file = expectedOf(place, facts, () => action.content);
      if (file === undefined) return "content not recorded";
      const calls = (player: Player) => {
        const call = player.contender.map.write(pathIn(player, place), action.content);
        return call === undefined ? undefined : [call];
      };
      return { files: [file], calls, newText: action.content };
    }
    if (action.verb !== "patch") return "no change";
    const parsed = parsePatch(action.patchText);
    if ("fault" in parsed) return "patch not understood";
    const files = parsed.files.map((file) => expectedOf(at(file.path), facts, (before) => patchLetter(before, file)));
    const sure = files.filter((file) => file !== undefined);
    if (sure.length < files.length) return "content not recorded";
    return {
      files: sure,
      calls: (player) => patchCalls(player, action.patchText, parsed.files),
      newText: addedBy(parsed.files),
    };
  };
  const patchCalls = (
    player: Player,
    patchText: string,
    files: readonly PatchFile[],
  ): readonly MappedCall[] | undefined => {
    const path = (recordedPath: string): string => pathIn(player, at(recordedPath));
    const { map } = player.contender;
    const whole = map.patch(
      patchText.replace(patchPaths, (_line, head: string, name: string) => `${head}${path(name.trim())}`),
    );
    if (whole !== undefined) return [whole];
    const calls = files.map((file): readonly MappedCall[] | undefined => {
      const target = path(file.path);
      if (file.does === "add") return listOf(map.write(target, file.text));
      if (file.does === "delete") return listOf(map.remove(target));
      if (file.moveTo !== undefined) return undefined;
      return map.edit(target, editsOfHunks(file.hunks), () => 1);
    });
    return calls.every((list) => list !== undefined) ? calls.flat() : undefined;
  };

  const playChange = async (call: RecordedCall, recorded: Cost): Promise<string | undefined> => {
    if (call.failed !== undefined && !triedAgain.has(call.failed)) return "recorded as failed";
    const change = changeOf(call.action, call.facts);
    if (typeof change === "string") return change;
    if (call.failed !== undefined) return tryAgain(call.failed, change);
    if (change.files.some(({ isSure }) => !isSure)) return "content not recorded";
    for (const file of change.files) await noteShell(file);
    await makeByLine(call, change, recorded);
    for (const player of players) await makeChange(player, call, change, recorded);
    for (const { place, after } of change.files) {
      confirm(place, after);
      known.change(place, after);
    }
    return undefined;
  };

  /**
   * The lines of the file that commands have shown, as a hook after the shell tool would mark them. They are looked for when the file
   * is changed, since its content is known then. Other servers have no such hook.
   */
  const noteShell = async ({ place, before }: Expected): Promise<void> => {
    const [player] = players;
    if (player === undefined || before === null) return;
    const name = place.slice(place.lastIndexOf("/") + 1);
    for (const output of printed) {
      if (output.noted.has(place) || !(output.command.includes(name) || output.text.includes(name))) continue;
      const shown = linesShownByShell(output.command, output.text, (path) =>
        at(fromFolder(output.folder, path)) === place ? before : undefined,
      );
      const lines = shown.flatMap((one) => one.lines);
      if (lines.length === 0) continue;
      output.noted.add(place);
      put(player, place, before);
      await player.contender.shown(pathIn(player, place), before, lines).catch(() => undefined);
    }
  };

  /** The same edit by line, in a session that has just read these lines; then the file is as before. */
  const makeByLine = async ({ action }: RecordedCall, { files }: Change, recorded: Cost): Promise<void> => {
    const [player] = players;
    const [file] = files;
    if (player === undefined || file === undefined || action.verb !== "edit") return;
    const { place, before, after } = file;
    const wanted = before === null || after === null ? undefined : lineEditsOf(before, after);
    if (wanted === undefined || wanted.length === 0) return;
    put(player, place, before);
    const byLine = own.byLine();
    const path = pathIn(player, place);
    for (const { from, to } of wanted) {
      const read = byLine.map.read(path, from, to - from + 1);
      if (read !== undefined) await byLine.call(read);
    }
    const call = byLine.map.editLines(path, wanted);
    if (call === undefined) return;
    const { written, answered, last } = await makeCalls(player, [call], byLine);
    const verdict = last.failed ? "refused" : look(player, place) === after ? "sameBytes" : "wrongBytes";
    counts.lineEdit(verdict, recorded, { written, answered });
    put(player, place, before);
  };

  const makeChange = async (player: Player, call: RecordedCall, change: Change, recorded: Cost): Promise<void> => {
    for (const { place, before } of change.files) put(player, place, before);
    const calls = change.calls(player);
    if (calls === undefined) {
      player.score.change("noTool", "");
    } else {
      let made = await makeCalls(player, calls);
      if (made.last.failed) {
        player.score.change("refused", made.last.code);
        const again = await readAndRepeat(player, change, calls);
        player.score.extra(made.answered + again.tokens);
        made = again.made;
      } else {
        const verdicts = change.files.map(({ place, after, letter }) => {
          const text = look(player, place);
          return text === after ? "sameBytes" : text === letter ? "byTheLetter" : "wrongBytes";
        });
        const verdict = (["wrongBytes", "byTheLetter"] as const).find((one) => verdicts.includes(one)) ?? "sameBytes";
        player.score.change(verdict, "");
        player.score.compared(call.tool, recorded, made);
      }
    }
    for (const { place, after } of change.files) {
      if (look(player, place) === after) continue;
      put(player, place, after);
      if (after !== null) await player.contender.shown(pathIn(player, place), after).catch(() => undefined);
    }
  };

  /** As a model would after a refusal: it reads the lines that it wants to change, and makes the call again. */
  const readAndRepeat = async (player: Player, change: Change, calls: readonly MappedCall[]) => {
    let sum = 0;
    for (const { place, before, after } of change.files) {
      if (before === null || before === "") continue;
      const { from, to } = linesChanged(before, after ?? "");
      const mapped = player.contender.map.read(pathIn(player, place), from, to - from + 1);
      if (mapped === undefined) continue;
      const { written, answered } = await makeCalls(player, [mapped]);
      sum += written + answered;
    }
    const made = await makeCalls(player, calls);
    return { made, tokens: sum + made.written + made.answered };
  };

  /** A change that failed when it was recorded, on the same files. Only where they are known in full. */
  const tryAgain = async (kind: FailureKind, { files, calls, newText }: Change): Promise<string | undefined> => {
    if (files.some(({ place, before }) => before === null || !known.isWhole(place))) return "content not recorded";
    for (const player of players) {
      for (const { place, before } of files) put(player, place, before);
      const mapped = calls(player);
      if (mapped === undefined) continue;
      const { last } = await makeCalls(player, mapped, player.contender.trial());
      const [changed] = files.flatMap(({ place, before }) => {
        const text = look(player, place);
        return text === before || text === null ? [] : [{ place, text }];
      });
      player.score.failure(kind, !last.failed && changed !== undefined ? "applied" : "refused");
      if (!last.failed && changed !== undefined)
        applied.push({ ...changed, newText, kind, score: player.score, left: laterMax });
      for (const { place, before } of files) put(player, place, before);
      if (changed !== undefined) await player.contender.putBack(pathIn(player, changed.place));
    }
    return undefined;
  };
  const confirm = (place: string, after: string | null): void => {
    for (const one of applied) {
      if (one.place !== place) continue;
      const isSame = after === one.text || (one.newText.trim().length > 2 && after?.includes(one.newText) === true);
      if (isSame) one.score.confirmed(one.kind);
      one.left = isSame ? 0 : one.left - 1;
    }
    applied = applied.filter(({ left }) => left > 0);
  };

  /** Lines that a search showed are put into the files; the search is made only where the tools have the same. */
  const playSearch = async (call: RecordedCall, action: Action & { verb: "search" }): Promise<string | undefined> => {
    const places = new Set(call.facts.map(({ path }) => at(path)));
    if (call.failed !== undefined || places.size === 0) return "search";
    for (const player of players) {
      for (const place of places) put(player, place, known.text(place) ?? null);
      const mapped = player.contender.map.search(
        call.tool,
        action.input,
        action.path === undefined ? undefined : pathIn(player, at(action.path)),
      );
      if (mapped === undefined) continue;
      const { last } = await makeCalls(player, [mapped]);
      player.score.search(last.failed ? last.code : undefined);
    }
    return undefined;
  };

  return {
    async play(call: RecordedCall): Promise<void> {
      const [written, answered] = await Promise.all([tokens.of(call.written), tokens.of(call.answer)]);
      const recorded = { written, answered };
      counts.call(call, recorded);
      learn(call.facts);
      const why = await playOne(call, recorded);
      counts.played(why);
    },
    forget(): void {
      printed = [];
      for (const { contender } of players) contender.forget();
    },
    close: (): Promise<void> => own.main.close(),
  };

  async function playOne(call: RecordedCall, recorded: Cost): Promise<string | undefined> {
    const { action } = call;
    switch (action.verb) {
      case "read":
        return playRead(call, action, recorded);
      case "edit":
      case "write":
      case "patch":
        return playChange(call, recorded);
      case "search":
        return playSearch(call, action);
      case "shell": {
        const kinds = shellChanges(action.command);
        counts.shell(kinds, kinds.length > 0 && kinds.every((kind) => shellChangeKinds[kind] === "undone"));
        if (call.failed === undefined && call.answer !== "") {
          printed = [...printed, { ...action, text: call.answer, noted: new Set<string>() }].slice(-printedMax);
        }
        return "shell command";
      }
      case "other":
        return "no file tool, or no text";
    }
  }
}

export interface Cost {
  readonly written: number;
  readonly answered: number;
}

/** The lines that a recorded read showed. The whole text may be recorded besides. */
function linesShown(facts: readonly FileFact[]): readonly string[] | undefined {
  const fact = facts.find(({ is }) => is === "lines") ?? facts.find(({ is }) => is === "whole");
  if (fact?.is === "whole") return fact.text.split("\n");
  return fact?.is === "lines" ? fact.lines : undefined;
}

/** Is every line in the answer, in order? Empty lines are not looked for. */
function showsLines(lines: readonly string[], answer: string): boolean {
  let from = 0;
  for (const line of lines) {
    const wanted = line.replace(/\r$/, "");
    if (wanted.trim() === "") continue;
    const found = answer.indexOf(wanted, from);
    if (found === -1) return false;
    from = found + wanted.length;
  }
  return true;
}

/** The text after the edits, each at its exact places; undefined where one of them is not there. */
function byLetter(before: string | null, edits: readonly RecordedEdit[]): string | undefined {
  let text = before ?? "";
  for (const { oldText, newText, all } of edits) {
    if (oldText === "") {
      if (text !== "") return undefined;
      text = newText;
      continue;
    }
    const found = text.indexOf(oldText);
    if (found === -1) return undefined;
    text = all
      ? text.split(oldText).join(newText)
      : text.slice(0, found) + newText + text.slice(found + oldText.length);
  }
  return text;
}

function patchLetter(before: string | null, file: PatchFile): string | null | undefined {
  if (file.does === "add") return file.text;
  if (file.does === "delete") return null;
  return byLetter(before, editsOfHunks(file.hunks));
}

const linesOf = ({ lines }: PatchHunk, mark: "-" | "+"): string =>
  lines
    .filter((line) => line.mark === " " || line.mark === mark)
    .map(({ text }) => `${text}\n`)
    .join("");

const editsOfHunks = (hunks: readonly PatchHunk[]): readonly RecordedEdit[] =>
  hunks.map((hunk) => ({ oldText: linesOf(hunk, "-"), newText: linesOf(hunk, "+"), all: false }));

const addedBy = (files: readonly PatchFile[]): string =>
  files.map((file) => (file.does === "update" ? file.hunks.map((hunk) => linesOf(hunk, "+")).join("") : "")).join("");

const patchPaths = /^(\*\*\* (?:Update File|Add File|Delete File|Move to): )(.*)$/gm;

const listOf = <Item>(item: Item | undefined): readonly Item[] | undefined => (item === undefined ? undefined : [item]);

/** The first and the last line of the old text that a change concerns. */
function linesChanged(before: string, after: string): { readonly from: number; readonly to: number } {
  const [old, made] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < old.length - 1 && old[head] === made[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head - 1 && old[old.length - 1 - tail] === made[made.length - 1 - tail]) tail += 1;
  return { from: head + 1, to: old.length - tail };
}
