/** `filehand batch`: calls as JSON lines in, replies as JSON lines out, in the order of the input, in one session. */

import { once } from "node:events";
import { isRecord } from "../../../contract/common.ts";
import { limits } from "../../../contract/limits.ts";
import { FilehandError, isFailure } from "../../../contract/problem.ts";
import type { CallOptions, Session } from "../../../options.ts";
import { escapeName } from "../../../text/text.ts";
import { Lines, type WireLine } from "../../mcp/stdio-wire.ts";
import { nameFrom } from "../change.ts";
import { type Command, type Host, option, UsageError } from "../command.ts";
import { jsonValue, sayWaiting } from "../input.ts";
import { openSession, startUpkeep } from "../open-session.ts";
import { offeredTools, shared } from "../parse.ts";
import { failedReply, internalError, jsonLine } from "../print.ts";

// `--observe`: records changes by other programs between calls, so that they can be undone as well.

/** Names of one look on stderr. */
const namesMax = 10;

/** Takes the first snapshot; its failure must be reported at once. The result takes the next ones, not while calls run. */
async function startWatch(session: Session, host: Host): Promise<() => Promise<void>> {
  let isReported = false;
  const look = async (): Promise<void> => {
    const { notCovered, complete } = await session.observe({ signal: host.signal });
    if (notCovered.length > 0) host.stderr.write(`filehand: ${notCoveredText(notCovered, host)}\n`);
    if (!complete && !isReported) host.stderr.write("filehand: there are too many files to look at all of them\n");
    isReported ||= !complete;
  };
  await look();
  return () =>
    look().catch((error: unknown) => {
      // The calls go on, but these changes cannot be undone.
      if (!(error instanceof FilehandError)) throw error;
      if (!host.signal.aborted) host.stderr.write(`filehand: ${error.message}\n`);
    });
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
    parallel: option.integer("Up to N calls at once (default: 1); replies keep their order", { min: 1, max: 256 }),
    ...shared(
      "dry-run",
      "no-read-first",
      "no-change-notices",
      "line-numbers",
      "answer-bytes",
      "session",
      "language-servers",
    ),
    observe: option.flag(
      "Look at the workspace before each call, so that what others changed in between can be undone as well",
    ),
    ...shared(...offeredTools),
  },
  details: [
    'Each line: {"id": 1, "tool": "Read", "input": {"file_path": "a.txt"}}',
    'Each answer: {"id": 1, "reply": {"content": [...], "structured": {...}, "isError": false}}',
    'A host that showed a file by other means says so in a line of its own, and gets {"id": 2, "marked": true}:',
    '{"id": 2, "markRead": {"path": "a.txt", "sha256": "<hex, of all bytes>", "lines": [{"from": 1, "to": 20}]}}',
  ].join("\n"),
  examples: [
    `echo '{"id":1,"tool":"Read","input":{"file_path":"README.md"}}' | filehand batch`,
    "filehand batch --observe --session my-agent < calls.jsonl",
    "filehand batch --parallel 8 --root /srv/project < calls.jsonl > replies.jsonl",
  ],
  async run(given, host) {
    const parallel = given.integer("parallel") ?? 1;
    if (given.flag("observe") && parallel > 1)
      throw new UsageError("--observe needs calls one by one: leave out --parallel");
    if (given.flag("observe") && given.flag("dry-run")) {
      throw new UsageError("--observe keeps what others changed, and --dry-run keeps nothing: give one of them");
    }
    sayWaiting("calls on stdin, one JSON object per line", host);
    const opened = await openSession(given, host, "models", { stdin: "used", client: "filehand batch" });
    const { session, record } = opened;
    const look = given.flag("observe") ? await startWatch(session, host) : undefined;
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
        await look?.();
        start(line);
        if (underWay.length >= parallel) await underWay.shift();
      }
    } catch (error) {
      // An interrupted stream ends here; the calls under way were cancelled and still get their answers.
      if (!host.signal.aborted) throw error;
    }
    await printed;
    if (!host.signal.aborted) await look?.();
    record();
    await opened.filehand.close();
    if (!given.flag("dry-run")) await startUpkeep(opened, host);
    return host.signal.aborted ? 1 : 0;
  },
};

type Line = { readonly text: string } | { readonly why: string };

async function answer(line: Line, session: Session, options: CallOptions, host: Host): Promise<string> {
  const call = parseCall(line);
  if ("fault" in call) return jsonLine({ id: call.id, reply: failedReply("INVALID_PARAM", call.fault) });
  if ("markRead" in call) return jsonLine({ id: call.id, ...(await marked(call.markRead, session)) });
  const reply = await session
    .call(call.tool, call.input, options)
    .catch((error: unknown) => internalError(error, host));
  return jsonLine({ id: call.id, reply });
}

/** What the host showed by other means counts as read. */
async function marked(shown: Readonly<Record<string, unknown>>, session: Session): Promise<object> {
  const { path, ...rest } = shown;
  try {
    // `markRead` checks the rest itself, whatever it is.
    await session.markRead(String(path), rest as unknown as Parameters<Session["markRead"]>[1]);
    return { marked: true };
  } catch (error) {
    if (isFailure(error)) return { reply: failedReply(error.code, error.message) };
    throw error;
  }
}

type Call = { readonly id: unknown } & (
  | { readonly tool: string; readonly input: unknown }
  | { readonly markRead: Readonly<Record<string, unknown>> }
  | { readonly fault: string }
);

function parseCall(line: Line): Call {
  const parsed = "text" in line ? jsonValue(line.text) : line;
  if ("why" in parsed) return { id: null, fault: `Cannot understand this line: ${parsed.why}` };
  const { value } = parsed;
  if (!isRecord(value)) {
    return { id: null, fault: 'Cannot understand this line: it is no object, send {"id", "tool", "input"}' };
  }
  const { id = null, tool, input = {}, markRead } = value;
  if (markRead !== undefined) {
    if (isRecord(markRead) && typeof markRead["path"] === "string") return { id, markRead };
    return { id, fault: 'Cannot mark this as read: "markRead" must be {"path", "sha256", "lines"}' };
  }
  if (typeof tool !== "string") return { id, fault: 'Cannot make this call: "tool" must be the name of a tool' };
  return { id, tool, input };
}

/** Splits at byte 10 only: Node's readline also splits at U+2028, which JSON may hold. Empty lines are left out. */
async function* jsonLines(host: Host): AsyncGenerator<Line> {
  const lines = new Lines(limits.batchLineBytesMax);
  const toLine = (line: WireLine): Line => {
    if ("tooLong" in line) return { why: `it has more than ${limits.batchLineBytesMax} bytes, send less at once` };
    return "notUtf8" in line ? { why: "it is not text in UTF-8, send it as that" } : line;
  };
  for await (const chunk of host.stdin) {
    const buffer = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Buffer); // no encoding is set
    for (const line of lines.feed(buffer)) yield toLine(line);
  }
  const last = lines.finish();
  if (last !== undefined) yield toLine(last);
}
