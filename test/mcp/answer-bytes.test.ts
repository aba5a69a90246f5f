/** Over MCP an answer is no longer than its client shows, by the client's name; the operator's own number goes first. */

import * as fs from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { answerBytesFor, clientLimits } from "../../src/surfaces/mcp/client-limits.ts";
import { temporaryFolder } from "../ends/run.ts";
import { ask, serve } from "./http-server.ts";
import { initialize, modernMeta, type RawMessage, type RawServer, startRaw } from "./server.ts";

/** What the model got of a longer answer in each client, in characters or bytes: no answer may reach it. */
const measured = {
  "claude-code": 500_001,
  "codex-mcp-client": 12_000,
  "gemini-cli-mcp-client": 40_000,
  "gemini-cli-mcp-client-files": 40_000,
  opencode: 50_100,
  kilo: 50_100,
  "qwen-cli-mcp-client-files": 25_249,
  "copilot-cli": 16_800,
  "kimi-code": 50_000,
  "@cline/core": 8_000,
  "a client that nobody has measured": 8_000,
  "goose-cli": Number.POSITIVE_INFINITY,
  "continue-cli-client": Number.POSITIVE_INFINITY,
} as const;

let folder = "";
let file = "";
const text = Array.from(
  { length: 1_500 },
  (_, index) => `${index + 1} is the number of a line of some length, as in code`,
);

beforeEach(() => {
  const made = temporaryFolder();
  onTestFinished(() => made.remove());
  folder = made.path;
  file = join(folder, "long.txt");
  fs.writeFileSync(file, `${text.join("\n")}\n`);
});

const textIn = ({ result }: RawMessage): string => result?.content?.[0]?.text ?? "";

type Call = (id: number, tool: string, input: object) => Promise<RawMessage>;

async function legacy(name: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Call> {
  const server: RawServer = startRaw(folder, ["--allow", "Edit", ...args], env);
  await server.call(0, "initialize", { ...initialize, clientInfo: { name, version: "1" } });
  server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return (id, tool, input) => server.call(id, "tools/call", { name: tool, arguments: input });
}

function modern(name: string): Call {
  const server = startRaw(folder, ["--allow", "Edit"]);
  const _meta = { ...modernMeta(), "io.modelcontextprotocol/clientInfo": { name, version: "1" } };
  return (id, tool, input) => server.call(id, "tools/call", { name: tool, arguments: input, _meta });
}

describe.each(Object.entries(measured))("the client %s", (name, limit) => {
  for (const era of ["legacy", "modern"] as const) {
    test(`gets no answer of ${limit} bytes, in the ${era} era, and all of the file page by page`, async () => {
      const call = era === "legacy" ? await legacy(name) : modern(name);
      const shown: string[] = [];
      const write = (id: number) => call(id, "Write", { file_path: file, content: "overwritten\n" });
      for (let id = 1; ; id += 1) {
        const answer = await call(id, "Read", { file_path: file, ...(id === 1 ? {} : { offset: shown.length + 1 }) });
        expect(Buffer.byteLength(JSON.stringify(answer.result))).toBeLessThan(limit);
        shown.push(...[...textIn(answer).matchAll(/^\d+\t(.*)$/gm)].map(([, line]) => line ?? ""));
        if (!textIn(answer).includes(`go on with offset ${shown.length + 1}`)) break;
        if (id === 1) expect((await write(1_000)).result?.["isError"]).toBe(true);
      }
      expect(shown).toEqual(text);
      expect((await write(1_001)).result?.["isError"]).toBeUndefined();
      expect(fs.readFileSync(file, "utf8")).toBe("overwritten\n");
    });
  }
});

test("every client of the table has a measured number here, and none has less than the unknown one", () => {
  const names = Object.keys(measured);
  for (const { name, bytesMax } of clientLimits) {
    expect(names.some((one) => (name.endsWith("*") ? one.startsWith(name.slice(0, -1)) : one === name))).toBe(true);
    expect(answerBytesFor({ name: "unheard of", version: "1" })).toBeLessThanOrEqual(bytesMax);
  }
  for (const nothing of [undefined, null, {}, { name: 7 }, "claude-code"]) {
    expect(answerBytesFor(nothing)).toBe(answerBytesFor({ name: "unheard of" }));
  }
});

describe("the operator's own number", () => {
  const lengthOf = async (call: Call): Promise<number> =>
    Buffer.byteLength(JSON.stringify((await call(1, "Read", { file_path: file })).result));

  test("of the settings goes before the client's, and the option before both", async () => {
    const config = temporaryFolder();
    onTestFinished(() => config.remove());
    fs.mkdirSync(join(config.path, "filehand"));
    fs.writeFileSync(join(config.path, "filehand", "filehand.jsonc"), '{"answerBytesMax": 30000}');
    const env = { XDG_CONFIG_HOME: config.path };
    for (const client of ["claude-code", "unheard of"]) {
      const bySettings = await lengthOf(await legacy(client, [], env));
      expect(bySettings).toBeLessThanOrEqual(30_000);
      expect(bySettings).toBeGreaterThan(25_000);
      const byOption = await lengthOf(await legacy(client, ["--answer-bytes", "20000"], env));
      expect(byOption).toBeLessThanOrEqual(20_000);
      expect(byOption).toBeGreaterThan(16_000);
    }
  });

  test("of a project does not count: it could make a client cut its answers", async () => {
    fs.writeFileSync(join(folder, "filehand.jsonc"), '{"answerBytesMax": 400000}');
    expect(await lengthOf(await legacy("unheard of"))).toBeLessThan(8_000);
  });

  test("below 1000 is a wrong usage", async () => {
    const server = startRaw(folder, ["--answer-bytes", "999"]);
    expect(await server.ended).toBe(2);
    expect(server.log()).toContain("--answer-bytes must be at least 1000");
  });
});

test("Grep, LS, Glob and History stay within the limit as well, and so does what --structured adds", async () => {
  for (let number = 0; number < 600; number += 1) fs.writeFileSync(join(folder, `file-${number}.txt`), "needle\n");
  const call = await legacy("unheard of", ["--history-tools", "--structured"]);
  for (const [id, [tool, input]] of [
    ["Read", { file_path: file }],
    ["Grep", { pattern: "needle|number", output_mode: "content" }],
    ["Grep", { pattern: "needle", output_mode: "files_with_matches" }],
    ["LS", { path: folder }],
    ["Glob", { pattern: "**/*" }],
    ["Write", { file_path: join(folder, "new.txt"), content: text.join("\n") }],
    ["History", {}],
  ].entries() as Iterable<[number, [string, object]]>) {
    const { result } = await call(id + 1, tool, input);
    expect(result?.["isError"]).toBeUndefined();
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(8_000);
    if (tool === "LS" || tool === "Grep") expect(JSON.stringify(result)).toMatch(/go on with offset \d+/);
  }
});

test("over HTTP each request is answered by the limit of the client that it names", async () => {
  const served = await serve(folder);
  const lengthFor = async (name: string): Promise<number> => {
    const _meta = { ...modernMeta(), "io.modelcontextprotocol/clientInfo": { name, version: "1" } };
    const params = { name: "Read", arguments: { file_path: file }, _meta };
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "Read" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const { text: answer } = await ask(served, { headers, body });
    return Buffer.byteLength(answer);
  };
  // Twice each: the second one does not go through the SDK.
  for (const name of ["copilot-cli", "unheard of", "copilot-cli", "unheard of"]) {
    expect(await lengthFor(name)).toBeLessThan(name === "copilot-cli" ? 16_800 : 8_000);
  }
  expect(await lengthFor("copilot-cli")).toBeGreaterThan(12_000);
});

test("a single line that is longer than an answer is read in parts, and then the file may be overwritten", async () => {
  const line = "0123456789abcde ".repeat(18_750);
  fs.writeFileSync(file, line);
  const call = await legacy("@cline/core");
  let shown = "";
  let answer = textIn(await call(1, "Read", { file_path: file }));
  for (let id = 2; ; id += 2) {
    expect(Buffer.byteLength(answer)).toBeLessThan(measured["@cline/core"]);
    shown += (/^1\t(.*)$/m.exec(answer)?.[1] ?? "").replace(/\.\.\.$/, "");
    const column = Number(/see the rest with column (\d+) and offset 1/.exec(answer)?.[1]);
    if (Number.isNaN(column)) break;
    expect((await call(id, "Write", { file_path: file, content: "new" })).result?.isError).toBe(true);
    answer = textIn(await call(id + 1, "Read", { file_path: file, offset: 1, column }));
  }
  expect(shown === line).toBe(true);
  expect((await call(999, "Write", { file_path: file, content: "new" })).result?.isError).not.toBe(true);
  expect(fs.readFileSync(file, "utf8")).toBe("new");
}, 60_000);
