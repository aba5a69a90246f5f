/**
 * `filehand batch`: calls as JSON lines in, replies as JSON lines out, in the order of the input, one session for the
 * whole stream. A line that cannot be understood gets an error reply, and the stream goes on.
 */

import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import type { Reply } from "../../../contract/call.ts";
import { limits } from "../../../contract/limits.ts";
import { FilehandError } from "../../../contract/problem.ts";
import type { CallOptions, Session } from "../../../options.ts";
import { escapeName } from "../../../text/text.ts";
import { nameFrom } from "../change.ts";
import { type Command, type Host, UsageError } from "../command.ts";
import { jsonValue } from "../input.ts";
import { openSession, startUpkeep } from "../open-session.ts";
import {
  answerBytes,
  dryRun,
  historyTools,
  languageServers,
  languageTools,
  noReadFirst,
  sessionOption,
} from "../parse.ts";
import { internalError, jsonLine } from "../print.ts";

// `--observe`: records changes by other programs between calls, so that they can be undone as well.

/** Names of one look on stderr. */
const namesMax = 10;

export interface Watch {
  /** Not while calls of the session run. */
  look(): Promise<void>;
}

/** Takes the first snapshot here: later ones are compared with it, and its failure must be reported at once. */
async function startWatch(session: Session, host: Host): Promise<Watch> {
  const options = { signal: host.signal };
  let isTold = false;
  const tell = ({ notCovered, complete }: Awaited<ReturnType<Session["observe"]>>): void => {
    if (notCovered.length > 0) host.stderr.write(`filehand: ${notCoveredText(notCovered, host)}\n`);
    if (!complete && !isTold) host.stderr.write("filehand: there are too many files to look at all of them\n");
    isTold ||= !complete;
  };
  tell(await session.observe(options));
  return {
    async look() {
      try {
        tell(await session.observe(options));
      } catch (error) {
        // The calls go on, but these changes cannot be undone.
        if (!(error instanceof FilehandError)) throw error;
        if (!host.signal.aborted) host.stderr.write(`filehand: ${error.message}\n`);
      }
    },
  };
}

function notCoveredText(paths: readonly string[], host: Host): string {
  const some = paths.slice(0, namesMax).map((path) => escapeName(nameFrom(host.cwd, path)));
  const more = paths.length > namesMax ? ` and ${paths.length - namesMax} more` : "";
  return `changed by others, and cannot be brought back: ${some.join(", ")}${more}`;
}

export const batch: Command = {
  name: "batch",
  summary: "Serve tool calls from standard input, one JSON object a line",
  parameters: [],
  options: {
    parallel: { type: "integer", value: "N", words: "Up to N calls at once (default: 1); replies keep their order" },
    "dry-run": dryRun,
    "no-read-first": noReadFirst,
    "answer-bytes": answerBytes,
    session: sessionOption,
    "language-servers": languageServers,
    observe: {
      type: "flag",
      words: "Look at the workspace before each call, so that what others changed in between can be undone as well",
    },
    "history-tools": historyTools,
    "language-tools": languageTools,
  },
  details: [
    'Each line: {"id": 1, "tool": "Read", "input": {"file_path": "a.txt"}}',
    'Each answer: {"id": 1, "reply": {"content": [...], "structured": {...}, "isError": false}}',
  ].join("\n"),
  examples: [
    `echo '{"id":1,"tool":"Read","input":{"file_path":"README.md"}}' | filehand batch`,
    "filehand batch --observe --session my-agent < calls.jsonl",
    "filehand batch --parallel 8 --root /srv/project < calls.jsonl > replies.jsonl",
  ],
  async run(given, host) {
    const parallel = given.integer("parallel") ?? 1;
    if (parallel < 1 || parallel > 256) throw new UsageError("--parallel must be from 1 to 256");
    if (given.flag("observe") && parallel > 1)
      throw new UsageError("--observe needs calls one by one: leave out --parallel");
    if (given.flag("observe") && given.flag("dry-run")) {
      throw new UsageError("--observe keeps what others changed, and --dry-run keeps nothing: give one of them");
    }
    const opened = await openSession(given, host, "models", { stdin: "used" });
    const { session, record } = opened;
    const watch = given.flag("observe") ? await startWatch(session, host) : undefined;
    const options = { signal: host.signal, dryRun: given.flag("dry-run") };

    /** Calls whose reply is not printed yet, oldest first: each settles when its reply and all before it are printed. */
    const underWay: Promise<void>[] = [];
    let printed = Promise.resolve();
    const start = (line: Line): void => {
      const reply = answer(line, session, options, host);
      const before = printed;
      printed = (async () => {
        const text = await reply;
        await before;
        if (!host.stdout.write(text)) await once(host.stdout, "drain");
      })();
      // The error is reported where the promise is awaited; the loop below may still wait for input.
      printed.catch((error: Error) => host.stdin.destroy(error));
      underWay.push(printed);
    };
    const stop = (): void => void host.stdin.destroy();
    host.signal.addEventListener("abort", stop, { once: true });
    try {
      for await (const line of jsonLines(host)) {
        await watch?.look();
        start(line);
        if (underWay.length >= parallel) await underWay.shift();
      }
    } catch (error) {
      // An interrupted stream ends here; the calls under way were cancelled and still get their answers.
      if (!host.signal.aborted) throw error;
    }
    await printed;
    if (!host.signal.aborted) await watch?.look();
    record();
    await opened.filehand.close();
    if (!given.flag("dry-run")) await startUpkeep(opened, host);
    return host.signal.aborted ? 1 : 0;
  },
};

/** A line of input, or the reason why it cannot be one. */
type Line = { readonly text: string } | { readonly tooLong: number } | { readonly notUtf8: true };

async function answer(line: Line, session: Session, options: CallOptions, host: Host): Promise<string> {
  const call = "text" in line ? parseCall(line.text) : "tooLong" in line ? tooLong(line.tooLong) : notUtf8;
  const reply = "fault" in call ? refused(call.fault) : await replyTo(call, session, options, host);
  return jsonLine({ id: call.id, reply });
}

async function replyTo(call: Call, session: Session, options: CallOptions, host: Host): Promise<Reply> {
  try {
    return await session.call(call.tool, call.input, options);
  } catch (error) {
    return internalError(error, host);
  }
}

interface Call {
  readonly id: unknown;
  readonly tool: string;
  readonly input: unknown;
}

function parseCall(text: string): Call | { readonly id: unknown; readonly fault: string } {
  const parsed = jsonValue(text);
  if ("why" in parsed) return { id: null, fault: `Cannot understand this line: ${parsed.why}` };
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { id: null, fault: 'Cannot understand this line: it is no object, send {"id", "tool", "input"}' };
  }
  const { id = null, tool, input = {} } = value as { id?: unknown; tool?: unknown; input?: unknown };
  if (typeof tool !== "string") return { id, fault: 'Cannot make this call: "tool" must be the name of a tool' };
  return { id, tool, input };
}

const tooLong = (bytes: number): { readonly id: null; readonly fault: string } => ({
  id: null,
  fault: `Cannot understand this line: it has more than ${bytes} bytes, send less at once`,
});

const notUtf8 = { id: null, fault: "Cannot understand this line: it is not text in UTF-8, send it as that" } as const;

const refused = (message: string): Reply => ({
  content: [{ type: "text", text: message }],
  structured: null,
  isError: true,
  error: { code: "INVALID_PARAM", message },
});

/** Splits at byte 10 only: Node's readline also splits at U+2028, which JSON may hold. Empty lines are left out. */
async function* jsonLines(host: Host): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (): Line | undefined => {
    const size = bytes;
    const line = size > limits.batchLineBytesMax ? undefined : Buffer.concat(parts);
    parts = [];
    bytes = 0;
    if (line === undefined) return { tooLong: limits.batchLineBytesMax };
    if (!isUtf8(line)) return { notUtf8: true };
    const text = line.toString("utf8").trim();
    return text === "" ? undefined : { text };
  };
  const keep = (part: Buffer): void => {
    bytes += part.length;
    // Bytes over the limit are counted, not stored.
    if (bytes <= limits.batchLineBytesMax) parts.push(part);
    else parts = [];
  };
  for await (const chunk of host.stdin) {
    const buffer = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Buffer); // no encoding is set
    let from = 0;
    for (let to = buffer.indexOf(10); to !== -1; to = buffer.indexOf(10, from)) {
      keep(buffer.subarray(from, to));
      from = to + 1;
      const line = take();
      if (line !== undefined) yield line;
    }
    if (from < buffer.length) keep(buffer.subarray(from));
  }
  const line = take();
  if (line !== undefined) yield line;
}
