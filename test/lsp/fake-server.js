/**
 * A language server that misbehaves as it is told: its one argument is JSON. Of a line with `error:NAME` it says that NAME is
 * wrong there, and names the state of the file, which is what stands behind `state` in its text.
 *
 * @typedef {{
 *   log?: string, diagnostics?: "push" | "unversioned" | "pull" | "register", delayMs?: number, staleFirst?: boolean,
 *   silent?: boolean, onlyWhen?: string, crash?: "at start" | number, garbage?: "at start" | number, huge?: "header" | "body" | "parts",
 *   flood?: number, malformed?: boolean, encoding?: "utf-8", asks?: boolean, stays?: boolean, deaf?: boolean, hover?: boolean,
 *   watches?: string, sourceName?: string, message?: string, notices?: number, retries?: number
 * }} Options
 * @typedef {Record<string, any>} Message
 */

import { appendFileSync } from "node:fs";

/** @type {Options} */
const options = JSON.parse(process.argv[2] ?? "{}");
const { diagnostics: how = "push", delayMs = 0 } = options;
/** @type {Map<string, { version: number, text: string }>} */
const documents = new Map();
/** What is held back until it is time. @type {Map<string, () => void>} */
const held = new Map();
let received = 0;
let asked = 0;
let retriesLeft = options.retries ?? 0;

const note = (/** @type {object} */ line) => {
  if (options.log !== undefined) appendFileSync(options.log, `${JSON.stringify(line)}\n`);
};
const send = (/** @type {object} */ message) => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
  process.stdout.write(body);
};
const misbehave = (/** @type {"at start" | number | undefined} */ when, /** @type {() => void} */ act) => {
  if (when === "at start" ? received === 0 : when !== undefined && received === when) act();
};

note({ started: process.pid, env: process.env, cwd: process.cwd() });
misbehave(options.crash, () => process.exit(3));
misbehave(options.garbage, () => process.stdout.write("Listening on nothing...\n"));
if (options.huge === "header") process.stdout.write(`Content-X: ${"x".repeat(100_000)}`);
if (options.huge === "body") process.stdout.write("Content-Length: 99999999999\r\n\r\n");
if (options.huge === "parts") send({ method: "window/logMessage", params: Array.from({ length: 300_000 }, () => []) });
if (options.stays === true) setInterval(() => undefined, 1_000);

let bytes = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  if (options.deaf === true) return process.stdin.pause();
  bytes = Buffer.concat([bytes, chunk]);
  for (;;) {
    const end = bytes.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(bytes.toString("latin1", 0, end))?.[1]);
    if (bytes.length < end + 4 + length) return;
    const message = JSON.parse(bytes.toString("utf8", end + 4, end + 4 + length));
    bytes = bytes.subarray(end + 4 + length);
    received += 1;
    note({ received: message });
    misbehave(options.crash, () => process.exit(3));
    misbehave(options.garbage, () => process.stdout.write("Oops: something happened\n"));
    take(message);
  }
});
process.stdin.on("end", () => {
  note({ ended: true });
  if (options.stays !== true) process.exit(0);
});

function take(/** @type {Message} */ { id, method, params }) {
  switch (method) {
    case "initialize":
      return send({ id, result: { capabilities: capabilities() } });
    case "initialized":
      return begin();
    case "shutdown":
      return options.stays === true ? undefined : send({ id, result: null });
    case "exit":
      return options.stays === true ? undefined : process.exit(0);
    case "textDocument/didOpen":
      return changed(params.textDocument.uri, params.textDocument.version, params.textDocument.text);
    case "textDocument/didChange":
      return changed(params.textDocument.uri, params.textDocument.version, params.contentChanges[0].text);
    case "textDocument/didClose":
      return documents.delete(params.textDocument.uri);
    case "textDocument/diagnostic":
      return answerPull(id, params.textDocument.uri);
    default:
      // A notification, or the answer to something that was asked.
      if (id !== undefined && method !== undefined) send({ id, error: { code: -32601, message: "no such method" } });
  }
}

const capabilities = () => ({
  textDocumentSync: { openClose: true, change: 1, save: { includeText: false } },
  ...(options.encoding === undefined ? {} : { positionEncoding: options.encoding }),
  ...(how === "pull" ? { diagnosticProvider: { interFileDependencies: true, workspaceDiagnostics: false } } : {}),
});

function begin() {
  const register = (/** @type {string} */ method, /** @type {object} */ registerOptions) => {
    asked += 1;
    send({
      id: `s${asked}`,
      method: "client/registerCapability",
      params: { registrations: [{ id: `r${asked}`, method, registerOptions }] },
    });
  };
  if (options.watches !== undefined) {
    register("workspace/didChangeWatchedFiles", { watchers: [{ globPattern: options.watches }] });
  }
  if (how === "register") register("textDocument/diagnostic", { identifier: "fake" });
  if (options.asks === true) {
    const questions = /** @type {const} */ ([
      ["workspace/configuration", { items: [{ section: "fake.deep" }, { section: "none" }, {}] }],
      ["window/workDoneProgress/create", { token: 1 }],
      ["workspace/workspaceFolders", null],
      ["workspace/applyEdit", { edit: { changes: {} } }],
      ["window/showMessageRequest", { type: 1, message: "Shall I?", actions: [{ title: "Yes" }] }],
      ["window/showDocument", { uri: "https://example.org" }],
      ["nobody/knows", {}],
    ]);
    for (const [method, params] of questions) send({ id: method, method, params });
  }
  for (let at = 0; at < (options.notices ?? 0); at += 1) {
    send({ method: "window/logMessage", params: { type: 3, message: "x".repeat(1_000) } });
  }
}

function changed(/** @type {string} */ uri, /** @type {number} */ version, /** @type {string} */ text) {
  const before = documents.get(uri);
  documents.set(uri, { version, text });
  if (isTime()) {
    for (const act of held.values()) act();
    held.clear();
  }
  if (how === "pull" || how === "register" || options.silent === true) return;
  if (options.staleFirst === true && before !== undefined) publish(uri, before);
  later(() => {
    const now = documents.get(uri);
    // One that was changed again meanwhile: an honest server says nothing, this one says what it found in the old text.
    if (now === undefined || (now.version !== version && options.staleFirst !== true)) return;
    publish(uri, { version, text });
  });
}

const later = (/** @type {() => void} */ act) => (delayMs === 0 ? act() : setTimeout(act, delayMs));

function publish(/** @type {string} */ uri, /** @type {{ version: number, text: string }} */ { version, text }) {
  inTime(uri, () => publishNow(uri, version, text));
}

function publishNow(/** @type {string} */ uri, /** @type {number} */ version, /** @type {string} */ text) {
  send({
    method: "textDocument/publishDiagnostics",
    params: { uri, ...(how === "unversioned" ? {} : { version }), diagnostics: found(text) },
  });
}

/** Some say nothing until a text is there that they wait for, in whatever file. */
const isTime = () => [...documents.values()].some(({ text }) => text.includes(options.onlyWhen ?? ""));
const inTime = (/** @type {string} */ key, /** @type {() => void} */ act) =>
  isTime() ? act() : void held.set(key, act);

function answerPull(/** @type {number} */ id, /** @type {string} */ uri) {
  if (options.silent === true) return;
  if (retriesLeft > 0) {
    retriesLeft -= 1;
    return send({ id, error: { code: -32802, message: "busy", data: { retriggerRequest: true } } });
  }
  const then = documents.get(uri);
  later(() => {
    inTime(`pull ${id}`, () => send({ id, result: { kind: "full", items: found(then?.text ?? "") } }));
  });
}

function found(/** @type {string} */ text) {
  if (options.malformed === true) return malformed;
  const state = /state (\w+)/.exec(text)?.[1];
  const list = text.split("\n").flatMap((line, at) =>
    [...line.matchAll(/(error|warn):(\w+)/g)].map((match) => {
      const units = (/** @type {number} */ index) =>
        options.encoding === "utf-8" ? Buffer.byteLength(line.slice(0, index)) : index;
      return {
        range: {
          start: { line: at, character: units(match.index) },
          end: { line: at, character: units(match.index + match[0].length) },
        },
        severity: match[1] === "error" ? 1 : 2,
        source: options.sourceName ?? "fake",
        code: 7,
        message: options.message ?? `${match[2]} is wrong${state === undefined ? "" : ` in state ${state}`}`,
      };
    }),
  );
  for (let at = 0; at < (options.flood ?? 0); at += 1) {
    list.unshift({ ...place, severity: 2, source: "fake", code: at, message: `flood ${at}` });
  }
  return list;
}

const place = { range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } } };
const malformed = [
  null,
  7,
  "text",
  {},
  { message: "no range" },
  { range: null, message: "x" },
  { range: { start: { line: -1, character: 0 }, end: { line: 0, character: 0 } }, message: "before the beginning" },
  { range: { start: { line: "0", character: 0 }, end: { line: 0, character: 0 } }, message: "a text for a number" },
  {
    range: { start: { line: 99_999, character: 99_999 }, end: { line: 99_999, character: 99_999 } },
    message: "far away",
  },
  { ...place, message: { kind: "markdown", value: "**marked up**" }, severity: 99 },
  { ...place, message: 12 },
];
