/** The capabilities that we announce to a server, and those that it announces to us. */

import { type PositionEncoding, uriOf } from "./diagnostics.ts";

export interface Capabilities {
  readonly encoding: PositionEncoding;
  /** 0: no changes; 1: the full text; 2: incremental, or the full text. */
  readonly change: number;
  readonly openClose: boolean;
  readonly save: { readonly includeText: boolean } | undefined;
  readonly pull: { readonly identifier: string | undefined } | undefined;
  readonly offers: (capability: string) => boolean;
}

export const initializeParams = (root: string, initializationOptions: unknown): object => ({
  processId: process.pid,
  clientInfo: { name: "filehand" },
  rootPath: root,
  rootUri: uriOf(root),
  workspaceFolders: [{ uri: uriOf(root), name: root.split(/[\\/]/).at(-1) || root }],
  ...(initializationOptions === undefined ? {} : { initializationOptions }),
  capabilities: {
    general: {
      positionEncodings: ["utf-16", "utf-8"],
      staleRequestSupport: { cancel: true, retryOnContentModified: [] },
    },
    window: { workDoneProgress: true, showMessage: {}, showDocument: { support: false } },
    workspace: {
      applyEdit: false,
      configuration: true,
      workspaceFolders: true,
      didChangeConfiguration: { dynamicRegistration: true },
      didChangeWatchedFiles: { dynamicRegistration: true, relativePatternSupport: true },
      symbol: { dynamicRegistration: false, symbolKind: { valueSet: symbolKinds } },
      diagnostics: { refreshSupport: true },
      fileOperations: { dynamicRegistration: false, willRename: true },
      workspaceEdit: { documentChanges: true, resourceOperations: ["create", "rename", "delete"] },
    },
    textDocument: {
      synchronization: { dynamicRegistration: false, didSave: true, willSave: false, willSaveWaitUntil: false },
      publishDiagnostics: { relatedInformation: false, versionSupport: true, codeDescriptionSupport: false },
      diagnostic: { dynamicRegistration: true, relatedDocumentSupport: false },
      definition: { dynamicRegistration: false, linkSupport: true },
      implementation: { dynamicRegistration: false, linkSupport: true },
      references: { dynamicRegistration: false },
      hover: { dynamicRegistration: false, contentFormat: ["markdown", "plaintext"] },
      documentSymbol: {
        dynamicRegistration: false,
        hierarchicalDocumentSymbolSupport: true,
        symbolKind: { valueSet: symbolKinds },
      },
      callHierarchy: { dynamicRegistration: false },
      rename: { dynamicRegistration: false, prepareSupport: true },
    },
  },
});

const symbolKinds = Array.from({ length: 26 }, (_, index) => index + 1);

export function capabilitiesIn(result: unknown): Capabilities {
  const all = fieldsOf(fieldsOf(result)["capabilities"]);
  const sync = all["textDocumentSync"];
  const fields = fieldsOf(sync);
  const diagnostic = all["diagnosticProvider"];
  return {
    encoding: all["positionEncoding"] === "utf-8" ? "utf-8" : "utf-16",
    change: numberOr(typeof sync === "number" ? sync : fields["change"], 0),
    openClose: typeof sync === "number" ? sync > 0 : fields["openClose"] !== false,
    save: typeof sync === "number" ? { includeText: false } : saveOf(fields["save"]),
    pull: isOffered(diagnostic) ? pullOf(diagnostic) : undefined,
    offers: (capability) =>
      isOffered(capability === willRename ? fileOperationsIn(all)["willRename"] : all[capability]),
  };
}

/** The capability to say what else changes when files are moved. */
export const willRename = "workspace.fileOperations.willRename";

const fileOperationsIn = (all: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  fieldsOf(fieldsOf(all["workspace"])["fileOperations"]);

export const pullOf = (options: unknown): NonNullable<Capabilities["pull"]> => {
  const { identifier } = fieldsOf(options);
  return { identifier: typeof identifier === "string" ? identifier : undefined };
};

const saveOf = (save: unknown): Capabilities["save"] =>
  isOffered(save) ? { includeText: fieldsOf(save)["includeText"] === true } : undefined;

const isOffered = (value: unknown): boolean => value === true || (typeof value === "object" && value !== null);
const numberOr = (value: unknown, other: number): number => (typeof value === "number" ? value : other);

/** The fields of an object from the wire; none for other values. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}; // any object has such fields or lacks them
