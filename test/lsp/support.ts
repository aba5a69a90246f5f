/** A workspace with language servers that behave as a test wants. */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { onTestFinished } from "vitest";
import { createFilehand, type FilehandOptions, type Reply, type Session } from "../../src/index.ts";
import type { LanguageOptions, LanguageServerOptions } from "../../src/contract/lsp.ts";
import { type Tree, workspace } from "../support/workspace.ts";
import type { Options as FakeOptions } from "./fake-server.js";

export type { FakeOptions };

export const fakeServer = (options: FakeOptions, more: LanguageServerOptions = {}): LanguageServerOptions => ({
  command: [process.execPath, nodePath.join(import.meta.dirname, "fake-server.js"), JSON.stringify(options)],
  extensions: { ".fake": "fake" },
  ...more,
});

/** What tests look for in messages; each has a part of it. */
interface Params {
  readonly textDocument: { readonly uri: string; readonly version: number };
  readonly contentChanges: readonly { readonly text: string }[];
  readonly changes: readonly { readonly uri: string; readonly type: number }[];
}

/** What a server was sent, and what it said of itself. */
export interface Logged {
  readonly started?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly received?: {
    readonly id?: unknown;
    readonly method?: string;
    readonly params: Params;
    readonly result?: unknown;
    readonly error?: { readonly code: number };
  };
}

export interface Bed {
  readonly root: string;
  readonly session: Session;
  readonly newSession: () => Session;
  readonly close: () => Promise<void>;
  /** Messages that the server got. */
  readonly log: () => readonly Logged[];
  readonly sent: (method: string) => readonly NonNullable<Logged["received"]>[];
  readonly read: (path: string) => Promise<Reply>;
  readonly edit: (path: string, oldText: string, newText: string) => Promise<Reply>;
  readonly write: (path: string, content: string) => Promise<Reply>;
  readonly text: (path: string) => string;
}

/** Long enough for a busy machine: what is waited for comes before that, or the test fails. */
export const patience = 60_000;

export interface BedOptions {
  readonly files: Tree;
  readonly fake?: FakeOptions;
  readonly languages?: LanguageOptions;
  readonly options?: Partial<FilehandOptions>;
}

export function bed({ files, fake, languages, options = {} }: BedOptions): Bed {
  const made = workspace({ ws: files, state: {}, "log.jsonl": "" });
  const root = made.path("ws");
  const logFile = made.path("log.jsonl");
  const servers = fake === undefined ? {} : { fake: fakeServer({ log: logFile, ...fake }) };
  const filehand = createFilehand({
    roots: [root],
    ask: "yes",
    reminder: false,
    readFirst: false,
    stateDir: made.path("state"),
    languageServers: { waitMsMax: patience, ...languages, servers: { ...servers, ...languages?.servers } },
    ...options,
  });
  onTestFinished(() => filehand.close());
  const session: Session = filehand.session();
  const log = (): readonly Logged[] =>
    fs
      .readFileSync(logFile, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Logged); // the fake server's own lines
  return {
    root,
    session,
    newSession: () => filehand.session(),
    close: () => filehand.close(),
    log,
    sent: (method) => log().flatMap(({ received }) => (received?.method === method ? [received] : [])),
    read: (path) => session.call("Read", { file_path: path }),
    edit: (path, oldText, newText) =>
      session.call("Edit", { file_path: path, old_string: oldText, new_string: newText }),
    write: (path, content) => session.call("Write", { file_path: path, content }),
    text: (path) => fs.readFileSync(nodePath.join(root, path), "utf8"),
  };
}

export const words = ({ content }: Reply): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
