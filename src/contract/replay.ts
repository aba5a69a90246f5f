/** The result of `filehand replay`: what recorded calls cost, and what the same calls cost and did when they were made again. */

/** A number for each name; names come from transcripts and servers. */
export type Counts = Readonly<Record<string, number>>;

/** Calls of one tool, as recorded. Tokens: of the input that the model wrote, and of the answer that it got. */
export interface RecordedTool {
  readonly tool: string;
  readonly calls: number;
  readonly failed: number;
  readonly tokensWritten: number;
  readonly tokensAnswered: number;
}

/** The calls of one tool that were made again with success, with the tokens of both. */
export interface ComparedTool {
  readonly tool: string;
  readonly calls: number;
  readonly recordedWritten: number;
  readonly recordedAnswered: number;
  readonly tokensWritten: number;
  readonly tokensAnswered: number;
}

/** What Filehand, or another server, did with the calls. */
export interface ReplayScore {
  readonly name: string;
  /** Its tools that were called. */
  readonly toolsUsed: readonly string[];
  /** Tokens of the list of its tools, as JSON. */
  readonly toolListTokens: number;
  readonly tools: readonly ComparedTool[];
  readonly reads: {
    readonly calls: number;
    /** The answer has every recorded line, in order. */
    readonly sameLines: number;
    readonly fewerLines: number;
    /** The answer says that the content is in the conversation already. */
    readonly unchanged: number;
    readonly refused: number;
    readonly refusals: Counts;
  };
  readonly changes: {
    readonly calls: number;
    /** The file has the bytes that the record has. */
    readonly sameBytes: number;
    /** The bytes are what the call says, where the recorded client did something else. */
    readonly byTheLetter: number;
    readonly wrongBytes: number;
    readonly refused: number;
    readonly noTool: number;
    readonly refusals: Counts;
  };
  /** Recorded failures of changes, by their reason. */
  readonly failures: readonly {
    readonly kind: string;
    readonly calls: number;
    /** Applied now; `confirmed`: and the conversation made the same change later. */
    readonly applied: number;
    readonly confirmed: number;
    readonly refused: number;
  }[];
  readonly searches: { readonly calls: number; readonly refused: number; readonly refusals: Counts };
  /** What the refusals of recorded changes cost: the refusal, one more read, and the repeated call. */
  readonly extraTokens: number;
}

export interface ReplayResult {
  /** The version of this form. */
  readonly replay: 1;
  readonly filehand: string;
  readonly tokenizer: "o200k" | "estimate";
  readonly transcripts: {
    readonly files: number;
    /** Files of a named folder that are no transcripts. */
    readonly skipped: number;
    readonly bytes: number;
    /** Lines that are too long, or no JSON. */
    readonly linesSkipped: number;
  };
  readonly clients: readonly { readonly client: string; readonly conversations: number; readonly calls: number }[];
  readonly compactions: number;
  readonly calls: { readonly total: number; readonly replayed: number; readonly notReplayed: Counts };
  readonly recorded: { readonly tools: readonly RecordedTool[]; readonly failures: Counts };
  /** Commands by what they change; none of them was run. */
  readonly shell: {
    readonly commands: number;
    readonly changing: number;
    /** Changing commands that a watched workspace could have taken back. */
    readonly undoable: number;
    readonly kinds: Counts;
  };
  /** Filehand first. */
  readonly scores: readonly ReplayScore[];
  /** Recorded edits made by line with `EditLines`, with the tokens of both; those that it cannot make are only counted. */
  readonly lineEdits: Omit<ComparedTool, "tool"> & { readonly wrongBytes: number; readonly refused: number };
  /** The reads that every dialect answered in full. */
  readonly formats: {
    readonly reads: number;
    readonly recordedAnswered: number;
    readonly dialects: readonly { readonly dialect: string; readonly tokensAnswered: number }[];
  };
}
