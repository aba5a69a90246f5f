/** The keys of a settings file: one table for the published JSON Schema, the check and the type of the values. */

import { fileTools } from "../contract/edit.ts";
import { toolNames } from "../contract/offered-tools.ts";
import type { JsonSchema } from "../contract/call.ts";
import { limits } from "../contract/limits.ts";
import { modes } from "../contract/permission.ts";
import { lineNumberForms } from "../contract/profile.ts";

/** Objects with arbitrary keys. */
const textsByName = { type: "object", additionalProperties: { type: "string" } } as const;
const anything = { type: "object", additionalProperties: true } as const;

const languageServer = {
  type: "object",
  additionalProperties: false,
  properties: {
    command: {
      type: "array",
      items: { type: "string" },
      description: "The program and its arguments; a bare name is looked for on the PATH",
    },
    extensions: {
      ...textsByName,
      description: 'Extensions and what the protocol calls the language, such as {".ts": "typescript"}',
    },
    rootMarkers: {
      type: "array",
      items: { type: "string", minLength: 1 },
      description: "Names of files that mark the root of a project",
    },
    initializationOptions: { ...anything, description: "Handed to the server when it starts" },
    settings: { ...anything, description: "What the server gets when it asks for its configuration" },
    env: { ...textsByName, description: "Variables of its environment, besides the few that every program gets" },
    enabled: { type: "boolean", description: "false: this one is not used" },
  },
} as const;

const texts = { type: "array", items: { type: "string", minLength: 1 } } as const;

export const schema = {
  type: "object",
  description: "Settings of Filehand: filehand.jsonc in a workspace root or in the user's configuration folder",
  additionalProperties: false,
  properties: {
    $schema: { type: "string", description: "Where editors find the description of this file" },
    dialect: {
      type: "string",
      enum: ["claude", "opencode", "opencode-legacy", "envelope"],
      description: "Whose names and wording the tools use (user settings only)",
    },
    model: { type: "string", minLength: 1, description: "The model the replies are meant for (user settings only)" },
    permissions: {
      type: "object",
      description:
        "Rules of the form Tool(pattern), such as Read(.env) or Edit(/src/**); deny is stronger than ask, ask than allow",
      additionalProperties: false,
      properties: {
        allow: { ...texts, description: "Rules for what is done without asking" },
        ask: { ...texts, description: "Rules for what is asked about first" },
        deny: { ...texts, description: "Rules for what is never done" },
      },
    },
    mode: {
      type: "string",
      enum: modes,
      description:
        "What sessions may do at all: read-only and plan write nothing, accept-edits changes files without asking; a project may only set read-only or plan",
    },
    locked: {
      type: "array",
      items: { type: "string", enum: ["mode", "rules"] },
      description: "What nothing but these settings can make more generous: the mode, the rules (user settings only)",
    },
    trustedProjects: {
      ...texts,
      description:
        "Folders of projects whose own allow rules count; a relative path starts at this file, ~/ at home (user settings only)",
    },
    externalDirectories: {
      type: "string",
      enum: ["refuse", "ask"],
      description:
        "What is done about folders outside the roots that no rule external_directory(...) speaks of (user settings only)",
    },
    confinement: {
      description:
        "Whether the kernel limits filehand mcp and serve to the workspace (Linux, true by default), and which paths they may reach besides; a relative path starts at this file, ~/ at home (user settings only)",
      anyOf: [
        { type: "boolean" },
        {
          type: "object",
          additionalProperties: false,
          properties: {
            read: { ...texts, description: "Files and folders outside the roots that may be read" },
            write: { ...texts, description: "Files and folders outside the roots that may be read and changed" },
            network: { type: "boolean", description: "true: TCP connections are not closed" },
          },
        },
      ],
    },
    restricted: {
      type: "object",
      description: "Files that are refused as not being text, by extension (.bin) or by name (thumbs.db)",
      additionalProperties: false,
      properties: {
        add: { ...texts, description: "Extensions and names to refuse as well" },
        remove: { ...texts, description: "Extensions and names to refuse no longer" },
      },
    },
    reminder: {
      type: "boolean",
      description: "Whether the model is reminded of what to heed after a file's content (user settings only)",
    },
    reminderExemptModels: {
      ...texts,
      description:
        "Models that get no reminder, by the name of the model alone, whatever provider, date or variant is around it (user settings only)",
    },
    dedup: {
      type: "boolean",
      description:
        "Whether a repeated read of an unchanged file is answered with a stub instead of its content; over MCP only in a conversation that the client names",
    },
    instructions: {
      type: "boolean",
      description: "Whether instruction files (AGENTS.md, CLAUDE.md) are named when a file below them is first read",
    },
    longCode: {
      type: "string",
      enum: ["first page", "outline"],
      description:
        "What a read that names no lines shows of a code file with more than one page: its first page, or what it declares and where",
    },
    tools: {
      type: "array",
      items: { type: "string", enum: toolNames.flatMap((name) => [name, `+${name}` as const, `-${name}` as const]) },
      description:
        'The tools that models get: ["Read", "Grep"] for no others, ["+History", "+Rewind", "-Delete"] to add to the default and take from it (user settings only)',
    },
    outlineTool: {
      type: "boolean",
      description: 'Earlier form of "tools": ["-Outline"], if false',
    },
    lineNumbers: {
      type: "string",
      enum: lineNumberForms,
      description:
        "How lines are numbered in the claude dialect: number and tab (the default) or arrow, numbers on every fifth or tenth line only, or none; other dialects have a fixed form",
    },
    pageTokensMax: { type: "integer", minimum: 1, description: "Tokens of one page in the claude dialect" },
    answerBytesMax: {
      type: "integer",
      minimum: limits.answerBytesMin,
      description:
        "Bytes of one answer to a model, as JSON; over MCP each client has a limit of its own by default (user settings only)",
    },
    readFirst: {
      description:
        'What a model must have been shown in its session before it changes a file: with "file" (the default) some lines of it, with "lines" every line that changes, with false nothing (user settings only)',
      anyOf: [{ type: "boolean" }, { type: "string", enum: ["file", "lines"] }],
    },
    changeNotices: {
      type: "boolean",
      description: "Whether an answer says that others changed files that the model was shown; true by default",
    },
    staleness: {
      type: "string",
      enum: ["refuse", "content-match"],
      description:
        "What happens with an edit of a file that others changed since it was read; content-match applies it if its text still occurs exactly once (user settings only)",
    },
    hardLinks: {
      type: "string",
      enum: ["separate", "keep"],
      description:
        "Whether a file with several names is separated from the others when it is changed, or changed under all of them (user settings only)",
    },
    sameDevice: {
      type: "boolean",
      description: "Whether a file system mounted below a root counts as outside (user settings only)",
    },
    denyHardlinks: {
      type: "boolean",
      description:
        "Whether files with several names are refused, since one of them may lie outside (user settings only)",
    },
    writeEol: {
      type: "string",
      enum: ["as sent", "keep"],
      description: "Line ends of a file that is written anew: those of the content, or those that the file had",
    },
    editBytesMax: {
      type: "integer",
      minimum: 1,
      description: "Bytes of a file that can be edited (user settings only)",
    },
    searchMsMax: {
      type: "integer",
      minimum: limits.searchMsLeast,
      maximum: limits.searchMsMost,
      description: "Milliseconds after which a search ends with what it has found (user settings only)",
    },
    roots: {
      ...texts,
      description:
        "Folders that are workspace roots as well; a relative path starts at this file, ~/ at home (user settings only)",
    },
    stateDir: {
      type: "string",
      minLength: 1,
      description:
        "Folder for what is kept between runs; a relative path starts at this file, ~/ at home (user settings only)",
    },
    state: {
      type: "string",
      minLength: 1,
      description:
        "Database for what several machines share, postgres://…, for filehand mcp and serve (user settings only)",
    },
    history: {
      description:
        "How much of the past of changed files is kept, or false if nothing is; the defaults are 100 turns of a session, 2 GiB and 30 days (user settings only)",
      anyOf: [
        { type: "boolean", enum: [false] },
        {
          type: "object",
          additionalProperties: false,
          properties: {
            snapshotsMax: { type: "integer", minimum: 1, description: "Turns of a session that can be gone back to" },
            bytesMax: { type: "integer", minimum: 1, description: "Bytes of all that is kept" },
            ageMsMax: { type: "integer", minimum: 1, description: "Milliseconds since the last change of a session" },
          },
        },
      ],
    },
    callLog: {
      description:
        "How much is kept of the calls, for filehand log and the inspector, or false if nothing is; the defaults are 64 MiB and 30 days (user settings only)",
      anyOf: [
        { type: "boolean", enum: [false] },
        {
          type: "object",
          additionalProperties: false,
          properties: {
            bytesMax: { type: "integer", minimum: 1_000_000, description: "Bytes of all that is kept" },
            ageMsMax: { type: "integer", minimum: 1, description: "Milliseconds since a call" },
          },
        },
      ],
    },
    observe: {
      type: "object",
      additionalProperties: false,
      description:
        "Limits of what is noted around shell commands; the defaults are 250,000 names, copies of 500 MiB, and of one file 10 MiB (user settings only)",
      properties: {
        filesMax: { type: "integer", minimum: 1, description: "Names of a root that are looked at" },
        bytesMax: { type: "integer", minimum: 0, description: "Bytes of all copies of files that git does not have" },
        fileBytesMax: { type: "integer", minimum: 0, description: "Bytes of one file that is copied" },
      },
    },
    languageTools: {
      description: 'Earlier form of "tools": ["+Lsp"], or with "rename" ["+Lsp", "+Rename"] (user settings only)',
      anyOf: [{ type: "boolean" }, { type: "string", enum: ["rename"] }],
    },
    fileTools: {
      type: "array",
      items: { type: "string", enum: fileTools },
      description: 'Earlier form of "tools" for Delete, Move, Copy and MakeFolder (user settings only)',
    },
    updateImports: {
      type: "boolean",
      description:
        "Whether a move lets language servers update the imports of other files; true by default (user settings only)",
    },
    historyTools: {
      type: "boolean",
      description: 'Earlier form of "tools": ["+History", "+Rewind"] (user settings only)',
    },
    lineEdits: {
      type: "boolean",
      description: 'Earlier form of "tools": ["+EditLines"] (user settings only)',
    },
    editFiles: {
      type: "boolean",
      description: 'Earlier form of "tools": ["+EditFiles"] (user settings only)',
    },
    patchTool: {
      type: "boolean",
      description: 'Earlier form of "tools": ["+Patch"] (user settings only)',
    },
    formatter: {
      ...textsByName,
      description:
        'Programs that format what a tool wrote, by glob, such as {"*.ts": "biome format --stdin-file-path {file}"}: they get the content on standard input and print the formatted one (user settings, or a project of trustedProjects)',
    },
    formatterMsMax: {
      type: "integer",
      minimum: 1,
      maximum: 600_000,
      description: "Milliseconds that a formatter may take for a file; 10,000 by default (user settings only)",
    },
    languageServers: {
      description:
        "Language servers that check what is changed: true for the known ones that are installed, or which and how (user settings only)",
      anyOf: [
        { type: "boolean" },
        {
          type: "object",
          additionalProperties: false,
          properties: {
            servers: {
              type: "object",
              description: "Changes to the table of known servers, by name; other names are added",
              additionalProperties: { anyOf: [{ type: "boolean" }, languageServer] },
            },
            waitMsMax: {
              type: "integer",
              minimum: 0,
              maximum: 600_000,
              description: "Milliseconds that the answer to a change waits for diagnostics; 1500 by default",
            },
            warnings: { type: "boolean", description: "Whether warnings are reported as well as errors" },
          },
        },
      ],
    },
    secrets: {
      type: "string",
      enum: ["ask", "allow"],
      description: "Whether reading files that commonly hold secrets is asked about (user settings only)",
    },
  },
} as const satisfies JsonSchema;

/**
 * A project comes from strangers: it may not change the roots or the state folder, release the user's secrets, or make
 * changes less careful. `hardLinks` is included because other links of a file may be outside the roots; `model` because
 * it turns the reminder off; `searchMsMax` because a search that ends at once finds nothing; `dialect` because a
 * client's rules name tools.
 */
export const userOnlyKeys: ReadonlySet<string> = new Set([
  "dialect",
  "model",
  "searchMsMax",
  "reminder",
  "reminderExemptModels",
  "answerBytesMax",
  "readFirst",
  "staleness",
  "hardLinks",
  "sameDevice",
  "denyHardlinks",
  "editBytesMax",
  "roots",
  "stateDir",
  "state",
  "history",
  "callLog",
  "observe",
  "tools",
  "fileTools",
  "updateImports",
  "historyTools",
  "lineEdits",
  "editFiles",
  "patchTool",
  "languageTools",
  "languageServers",
  "formatterMsMax",
  "secrets",
  "locked",
  "trustedProjects",
  "externalDirectories",
  "confinement",
] satisfies (keyof typeof schema.properties)[]);

/** For these keys a project may only choose stricter values. */
export const projectValues: ReadonlyMap<string, readonly unknown[]> = new Map([
  ["mode", ["read-only", "plan"]],
] satisfies [keyof typeof schema.properties, readonly unknown[]][]);

/** The type of the values that a schema describes; every key is optional. */
type ValueOf<Schema> = Schema extends { readonly anyOf: readonly (infer Branch)[] }
  ? ValueOf<Branch>
  : Schema extends { readonly enum: readonly (infer Choice)[] }
    ? Choice
    : Schema extends { readonly type: "string" }
      ? string
      : Schema extends { readonly type: "boolean" }
        ? boolean
        : Schema extends { readonly type: "integer" }
          ? number
          : Schema extends { readonly items: infer Items }
            ? readonly ValueOf<Items>[]
            : Schema extends { readonly properties: infer Properties }
              ? { readonly [Key in keyof Properties]?: ValueOf<Properties[Key]> }
              : Schema extends { readonly additionalProperties: infer Each }
                ? Readonly<Record<string, Each extends true ? unknown : ValueOf<Each>>>
                : never;

/** The values of one settings file. */
export type SettingsValues = ValueOf<typeof schema>;

/** The JSON Schema of a settings file, for editors and for the documentation. */
export const settingsSchema = (): JsonSchema & { readonly $schema: string; readonly title: string } => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Filehand settings",
  ...schema,
});
