/** What recorded calls are made again with: Filehand in this process, or the tools of another MCP server. */

import { createHash } from "node:crypto";
import * as nodePath from "node:path";
import { isRecord } from "../../contract/common.ts";
import type { Reply } from "../../contract/call.ts";
import type { LineSpan } from "../../contract/problem.ts";
import { type DialectName, dialectNames } from "../../dialects/dialects.ts";
import { createFilehand } from "../../filehand.ts";
import type { FilehandOptions, Session } from "../../options.ts";
import type { Scratch } from "../../state/state.ts";
import { textOfParts } from "./conversation.ts";
import { type MappedCall, mapTools, missingIn, type OfferedTool, type ToolMapping } from "./mapping.ts";

export interface Answer {
  readonly text: string;
  readonly failed: boolean;
  /** Of a failure, where the server gives one. */
  readonly code: string;
  /** The answer only says that the content is known. */
  readonly isStub: boolean;
}

/** One conversation with a set of file tools. */
export interface Contender {
  readonly name: string;
  readonly tools: readonly OfferedTool[];
  readonly map: ToolMapping;
  /** The folder of its files, inside the scratch folder. */
  readonly folder: string;
  call(call: MappedCall): Promise<Answer>;
  /** Makes calls that shall leave no trace in what the session knows. The caller puts the files back. */
  trial(): Pick<Contender, "call">;
  /** After a trial changed a file and the caller put it back: a server that has only one session must see it again. */
  putBack(path: string): Promise<void>;
  /** The conversation no longer has what it was shown. */
  forget(): void;
  /** The model knows this file as it is now, or these lines of it. */
  shown(path: string, text: string, lines?: readonly LineSpan[]): Promise<void>;
  close(): Promise<void>;
}

const textOf = ({ content }: Reply): string =>
  content.map((part) => (part.type === "text" ? part.text : `[${part.mimeType}]`)).join("\n");

export interface OwnOptions {
  readonly dialect: DialectName;
  readonly options: Partial<FilehandOptions>;
}

/** A session of Filehand in the scratch folder, one more of each dialect on the same files, for reads, and new ones for edits by line. */
export function openFilehand(folder: string, cwd: string, { dialect, options }: OwnOptions) {
  const open = (more: Partial<FilehandOptions>) =>
    createFilehand({
      ...options,
      roots: [folder],
      cwd,
      dialect,
      ask: "yes",
      secrets: "allow",
      history: false,
      ...more,
    });
  const [filehand, byLine] = [open({}), open({ tools: ["+EditLines"] })];
  const close = async (): Promise<void> => void (await Promise.all([filehand.close(), byLine.close()]));
  const main = contenderOf(filehand.session({ dialect }), folder, close, (readState) =>
    filehand.session({ dialect, readState }),
  );
  const formats = dialectNames.map(
    (name) => [name, contenderOf(filehand.session({ dialect: name }), folder, close)] as const,
  );
  return { main, formats, byLine: () => contenderOf(byLine.session({ dialect }), folder, close) };
}

function contenderOf(
  session: Session,
  folder: string,
  close: () => Promise<void>,
  again: (readState: unknown) => Session = () => session,
): Contender {
  const tools = session.definitions();
  const callIn =
    (one: Session) =>
    async ({ tool, input }: MappedCall): Promise<Answer> => {
      const saved = one.stats().tokensSaved;
      const reply = await one.call(tool, input);
      const isStub = one.stats().tokensSaved > saved;
      return { text: textOf(reply), failed: reply.isError, code: reply.error?.code ?? "", isStub };
    };
  return {
    name: "Filehand",
    tools,
    map: mapTools(tools),
    folder,
    call: callIn(session),
    trial: () => ({ call: callIn(again(session.readState())) }),
    putBack: async () => undefined,
    forget: () => session.forget(),
    shown: (path, text, lines) =>
      session.markRead(path, { sha256: createHash("sha256").update(text).digest("hex"), ...(lines && { lines }) }),
    close,
  };
}

// Other servers.

/** Why a server cannot be used, as words to follow `Cannot replay against "x": `. */
export interface ServerFault {
  readonly why: string;
}

/** A call that takes longer counts as refused. */
const callMsMax = 60_000;
/** `npx` may have to load the package first. */
const startMsMax = 120_000;

/** The place in the command that the folder of the files is put at. */
const folderMark = "{folder}";

export async function startServer(
  command: string,
  scratch: Scratch,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Contender | ServerFault> {
  const folder = nodePath.join(scratch.make("server/files"));
  const home = scratch.make("server/home");
  putSettings(scratch, folder);
  const [program, ...args] = wordsOf(command).map((word) => word.replaceAll(folderMark, folder));
  if (program === undefined) return { why: "it is empty, give the command that starts the server" };
  const [{ Client }, { StdioClientTransport }] = await Promise.all([
    import("@modelcontextprotocol/client"),
    import("@modelcontextprotocol/client/stdio"),
  ]);
  const client = new Client({ name: "filehand-replay", version: "1" }, { capabilities: { roots: {} } });
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: `file://${folder}`, name: "files" }] }));
  const transport = new StdioClientTransport({
    command: program,
    args,
    cwd: folder,
    env: environment(env, home),
    stderr: "ignore",
  });
  try {
    await client.connect(transport, { timeout: startMsMax });
  } catch (error) {
    await client.close().catch(() => undefined);
    return { why: `it does not start as an MCP server (${messageOf(error)}), try the command by itself` };
  }
  const { tools } = await client.listTools();
  const map = mapTools(tools);
  if (map.used.length === 0) {
    await client.close();
    const some = tools.slice(0, 10).map(({ name }) => name);
    return {
      why: `none of its tools (${some.join(", ")}) reads, edits or writes files by a name that is known, see docs/explanation/benchmark.md`,
    };
  }
  const call = async ({ tool, input }: MappedCall): Promise<Answer> => {
    const missing = missingIn(tools, { tool, input });
    if (missing.length > 0) return { text: "", failed: true, code: `needs ${missing.join(", ")}`, isStub: false };
    try {
      const result = await client.callTool({ name: tool, arguments: input }, { timeout: callMsMax });
      return { text: textOfParts(result.content), failed: result.isError === true, code: "refused", isStub: false };
    } catch (error) {
      return { text: messageOf(error), failed: true, code: "protocol error", isStub: false };
    }
  };
  const lookAgain = async (path: string): Promise<void> => {
    const read = map.read(path, undefined, undefined);
    if (read !== undefined) await call(read);
  };
  return {
    name: client.getServerVersion()?.name ?? program,
    tools,
    map,
    folder,
    call,
    trial: () => ({ call }),
    putBack: lookAgain,
    forget: () => undefined,
    shown: lookAgain,
    close: () => client.close(),
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 200);

/** Home is in the scratch folder, so that the server finds and leaves nothing of the user's; npm may use its own cache. */
function environment(env: Readonly<Record<string, string | undefined>>, home: string): Record<string, string> {
  const real = env["HOME"];
  const npm =
    real === undefined
      ? {}
      : { npm_config_cache: nodePath.join(real, ".npm"), npm_config_userconfig: nodePath.join(real, ".npmrc") };
  const kept = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return {
    ...Object.fromEntries(kept),
    ...npm,
    HOME: home,
    USERPROFILE: home,
    XDG_CONFIG_HOME: nodePath.join(home, ".config"),
  };
}

/** DesktopCommander takes its folder from a file, and reports its use unless that file says no. */
function putSettings(scratch: Scratch, folder: string): void {
  const settings = { allowedDirectories: [folder], telemetryEnabled: false };
  scratch.put("server/home/.claude-server-commander/config.json", JSON.stringify(settings));
}

/** Words of a command, with quotes taken off. No shell reads it. */
export function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g)].map(
    ([word, double, single]) => double ?? single ?? word,
  );
}

export const isFault = (value: unknown): value is ServerFault => isRecord(value) && typeof value["why"] === "string";
