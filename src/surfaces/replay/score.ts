/** Counting: what was recorded, and what each contender did with it. No files, no calls. */

import type { ComparedTool, Counts, RecordedTool, ReplayResult, ReplayScore } from "../../contract/replay.ts";
import type { Contender } from "./contender.ts";
import { type ClientName, type FailureKind, failureKinds, type RecordedCall } from "./conversation.ts";
import type { ShellChange } from "./shell.ts";

interface Cost {
  readonly written: number;
  readonly answered: number;
}

/** Different names that are counted, of tools and codes: a transcript may have any number. The rest is one entry. */
const namesMax = 200;
const otherNames = "(others)";

type Tally = Map<string, number>;
const add = (tally: Tally, name: string, by = 1): void => {
  const key = tally.has(name) || tally.size < namesMax ? name : otherNames;
  tally.set(key, (tally.get(key) ?? 0) + by);
};
const countsOf = (tally: Tally): Counts => Object.fromEntries([...tally].toSorted(([, a], [, b]) => b - a));

function rowsByName<Row extends object>(empty: () => Row) {
  const rows = new Map<string, Row>();
  return {
    row(name: string): Row {
      const key = rows.has(name) || rows.size < namesMax ? name : otherNames;
      const row = rows.get(key) ?? empty();
      rows.set(key, row);
      return row;
    },
    list: (): readonly (Row & { readonly tool: string })[] => [...rows].map(([tool, row]) => ({ tool, ...row })),
  };
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

export type Scoring = ReturnType<typeof scoring>;

/** The score of one contender over all conversations. */
export function scoring(name: string) {
  const tools = rowsByName<Mutable<Omit<ComparedTool, "tool">>>(() => ({
    calls: 0,
    recordedWritten: 0,
    recordedAnswered: 0,
    tokensWritten: 0,
    tokensAnswered: 0,
  }));
  const reads = { calls: 0, sameLines: 0, fewerLines: 0, unchanged: 0, refused: 0 };
  const changes = { calls: 0, sameBytes: 0, byTheLetter: 0, wrongBytes: 0, refused: 0, noTool: 0 };
  const failures = new Map<FailureKind, { applied: number; confirmed: number; refused: number }>();
  const searches = { calls: 0, refused: 0 };
  const codes = {
    reads: new Map<string, number>(),
    changes: new Map<string, number>(),
    searches: new Map<string, number>(),
  };
  let extraTokens = 0;
  let offered: Pick<Contender, "tools" | "map"> | undefined;
  const failureRow = (kind: FailureKind) => {
    const row = failures.get(kind) ?? { applied: 0, confirmed: 0, refused: 0 };
    failures.set(kind, row);
    return row;
  };
  return {
    uses: (contender: Contender): void => void (offered ??= contender),
    read(verdict: "sameLines" | "fewerLines" | "unchanged" | "refused", code: string): void {
      reads.calls += 1;
      reads[verdict] += 1;
      if (verdict === "refused") add(codes.reads, code);
    },
    change(verdict: "sameBytes" | "byTheLetter" | "wrongBytes" | "refused" | "noTool", code: string): void {
      changes.calls += 1;
      changes[verdict] += 1;
      if (verdict === "refused") add(codes.changes, code);
    },
    failure: (kind: FailureKind, verdict: "applied" | "refused"): void => void (failureRow(kind)[verdict] += 1),
    confirmed: (kind: FailureKind): void => void (failureRow(kind).confirmed += 1),
    /** Undefined: it was answered. */
    search(code: string | undefined): void {
      searches.calls += 1;
      if (code === undefined) return;
      searches.refused += 1;
      add(codes.searches, code);
    },
    extra: (tokens: number): void => void (extraTokens += tokens),
    compared(tool: string, recorded: Cost, made: Cost): void {
      const row = tools.row(tool);
      row.calls += 1;
      row.recordedWritten += recorded.written;
      row.recordedAnswered += recorded.answered;
      row.tokensWritten += made.written;
      row.tokensAnswered += made.answered;
    },
    /** `tokensOf`: of a text. */
    async result(tokensOf: (text: string) => Promise<number>): Promise<ReplayScore> {
      const list = (offered?.tools ?? []).map(({ name: tool, description, inputSchema }) => ({
        name: tool,
        description,
        inputSchema,
      }));
      return {
        name,
        toolsUsed: offered?.map.used ?? [],
        toolListTokens: list.length === 0 ? 0 : await tokensOf(JSON.stringify(list)),
        tools: tools.list().toSorted((a, b) => b.recordedAnswered - a.recordedAnswered),
        reads: { ...reads, refusals: countsOf(codes.reads) },
        changes: { ...changes, refusals: countsOf(codes.changes) },
        failures: failureKinds.flatMap((kind) => {
          const row = failures.get(kind);
          return row === undefined ? [] : [{ kind, calls: row.applied + row.refused, ...row }];
        }),
        searches: { ...searches, refusals: countsOf(codes.searches) },
        extraTokens,
      };
    },
  };
}

/** What was recorded, and how much of it could be replayed. */
export function countCalls() {
  const transcripts = { files: 0, skipped: 0, bytes: 0, linesSkipped: 0 };
  const clients = new Map<ClientName, { conversations: number; calls: number }>();
  const tools = rowsByName<Mutable<Omit<RecordedTool, "tool">>>(() => ({
    calls: 0,
    failed: 0,
    tokensWritten: 0,
    tokensAnswered: 0,
  }));
  const [failures, notReplayed, kinds] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  const calls = { total: 0, replayed: 0 };
  const shell = { commands: 0, changing: 0, undoable: 0 };
  const lineEdits = {
    calls: 0,
    recordedWritten: 0,
    recordedAnswered: 0,
    tokensWritten: 0,
    tokensAnswered: 0,
    wrongBytes: 0,
    refused: 0,
  };
  const formats = { reads: 0, recordedAnswered: 0, dialects: new Map<string, number>() };
  let compactions = 0;
  let client: ClientName = "neutral";
  return {
    started(name: ClientName): void {
      client = name;
      const row = clients.get(name) ?? { conversations: 0, calls: 0 };
      row.conversations += 1;
      clients.set(name, row);
    },
    file(bytes: number): void {
      transcripts.files += 1;
      transcripts.bytes += bytes;
    },
    files: (): number => transcripts.files,
    fileSkipped: (): void => void (transcripts.skipped += 1),
    lineSkipped: (): void => void (transcripts.linesSkipped += 1),
    compacted: (): void => void (compactions += 1),
    call({ tool, failed }: RecordedCall, { written, answered }: Cost): void {
      calls.total += 1;
      const own = clients.get(client);
      if (own !== undefined) own.calls += 1;
      const row = tools.row(tool);
      row.calls += 1;
      row.tokensWritten += written;
      row.tokensAnswered += answered;
      if (failed === undefined) return;
      row.failed += 1;
      add(failures, failed);
    },
    /** Undefined: the call was made again. */
    played(why: string | undefined): void {
      if (why === undefined) calls.replayed += 1;
      else add(notReplayed, why);
    },
    shell(changes: readonly ShellChange[], isUndoable: boolean): void {
      shell.commands += 1;
      if (changes.length > 0) shell.changing += 1;
      if (isUndoable) shell.undoable += 1;
      for (const kind of changes) add(kinds, kind);
    },
    lineEdit(verdict: "sameBytes" | "wrongBytes" | "refused", recorded: Cost, made: Cost): void {
      if (verdict !== "sameBytes") {
        lineEdits[verdict] += 1;
        return;
      }
      lineEdits.calls += 1;
      lineEdits.recordedWritten += recorded.written;
      lineEdits.recordedAnswered += recorded.answered;
      lineEdits.tokensWritten += made.written;
      lineEdits.tokensAnswered += made.answered;
    },
    format(recordedAnswered: number, costs: ReadonlyMap<string, number>): void {
      formats.reads += 1;
      formats.recordedAnswered += recordedAnswered;
      for (const [dialect, cost] of costs) add(formats.dialects, dialect, cost);
    },
    result: (filehand: string, tokenizer: ReplayResult["tokenizer"], scores: readonly ReplayScore[]): ReplayResult => ({
      replay: 1,
      filehand,
      tokenizer,
      transcripts,
      clients: [...clients].map(([name, row]) => ({ client: name, ...row })),
      compactions,
      calls: { ...calls, notReplayed: countsOf(notReplayed) },
      recorded: {
        tools: tools.list().toSorted((a, b) => b.tokensAnswered - a.tokensAnswered),
        failures: countsOf(failures),
      },
      shell: { ...shell, kinds: countsOf(kinds) },
      scores,
      lineEdits,
      formats: {
        reads: formats.reads,
        recordedAnswered: formats.recordedAnswered,
        dialects: [...formats.dialects].map(([dialect, tokensAnswered]) => ({ dialect, tokensAnswered })),
      },
    }),
  };
}
