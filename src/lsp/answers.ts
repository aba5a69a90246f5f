/** What servers ask of us, and our answers: configuration, progress, registrations. Edits of their own are refused. */

import { limits } from "../contract/limits.ts";
import { fieldsOf, pullOf, type Capabilities } from "./capabilities.ts";
import type { Handlers } from "./client.ts";
import { uriOf } from "./uris.ts";

/** What a server switches on after its start. */
export interface Registered {
  watching(id: string, options: unknown): void;
  pulling(options: NonNullable<Capabilities["pull"]>): void;
  unregistered(id: string): void;
  /** What it said may be no longer so. */
  refresh(): void;
}

export interface Context {
  readonly root: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly registered: Registered;
}

export function answerTo(method: string, params: unknown, context: Context): ReturnType<Handlers["asked"]> {
  switch (method) {
    case "workspace/configuration":
      return { result: configuration(fieldsOf(params)["items"], context.settings) };
    case "client/registerCapability":
      for (const one of listIn(fieldsOf(params)["registrations"])) register(one, context.registered);
      return { result: null };
    case "client/unregisterCapability":
      // The protocol spells it so.
      for (const one of listIn(fieldsOf(params)["unregisterations"])) {
        const { id } = fieldsOf(one);
        if (typeof id === "string") context.registered.unregistered(id);
      }
      return { result: null };
    case "workspace/workspaceFolders":
      return { result: [{ uri: uriOf(context.root), name: context.root.split(/[\\/]/).at(-1) ?? "" }] };
    case "workspace/applyEdit":
      // Files are changed by calls that were permitted, and by nothing else.
      return { result: { applied: false, failureReason: "Files are changed by the session only" } };
    case "workspace/diagnostic/refresh":
      context.registered.refresh();
      return { result: null };
    case "window/showDocument":
      return { result: { success: false } };
    case "window/workDoneProgress/create":
    case "window/showMessageRequest":
    case "workspace/codeLens/refresh":
    case "workspace/semanticTokens/refresh":
    case "workspace/inlayHint/refresh":
    case "workspace/inlineValue/refresh":
    case "workspace/foldingRange/refresh":
      return { result: null };
    default:
      return undefined;
  }
}

function register(value: unknown, registered: Registered): void {
  const { id, method, registerOptions } = fieldsOf(value);
  if (typeof id !== "string") return;
  if (method === "workspace/didChangeWatchedFiles") registered.watching(id, registerOptions);
  if (method === "textDocument/diagnostic") registered.pulling(pullOf(registerOptions));
}

function configuration(items: unknown, settings: Context["settings"]): readonly unknown[] {
  return listIn(items).map((item) => {
    const { section } = fieldsOf(item);
    if (typeof section !== "string" || section === "") return settings;
    let value: unknown = settings;
    for (const name of section.split(".")) {
      value = typeof value === "object" && value !== null && Object.hasOwn(value, name) ? fieldsOf(value)[name] : null;
    }
    return value ?? null;
  });
}

const listIn = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, limits.languageRequestsMax) : [];
