/** State that several machines share: opened once for all workspaces of a process, from `--state`, FILEHAND_STATE or the settings. */

import { FilehandError } from "../../contract/problem.ts";
import { createHash } from "node:crypto";
import {
  type AuditSigner,
  type PostgresState,
  type SharedWorkspaceState,
  signerWith,
  type Tokens,
} from "../../state/state.ts";
import { loadSettings } from "../../settings/settings.ts";
import { type Given, type Host, UsageError } from "./command.ts";
import { textFrom } from "./input.ts";
import { stateDirOf } from "./open-session.ts";

export type SharedStates = ReturnType<typeof createSharedStates>;

/** Undefined for a state folder, which is the default. */
export function stateAddress(given: Given, host: Host, fromSettings?: string): string | undefined {
  const address = given.text("state") ?? host.env["FILEHAND_STATE"] ?? fromSettings;
  if (address === undefined || address === "") return undefined;
  // The address is not shown: it may have a password.
  if (!/^postgres(?:ql)?:\/\//.test(address)) {
    throw new UsageError("--state must be the address of a database, postgres://…; for a folder use --state-dir");
  }
  return address;
}

/** Opens the database, whose tables need not be there yet. */
export async function openDatabaseState(address: string, given: Given): Promise<PostgresState> {
  const { openPostgresState } = await import("../../state/postgres/postgres.ts");
  try {
    return await openPostgresState({ url: address, tenant: given.text("tenant") });
  } catch (error) {
    throw asFailure("use", error);
  }
}

export function createSharedStates(given: Given, host: Host) {
  let opened: PostgresState | undefined;
  let workspace: SharedWorkspaceState | undefined;
  return {
    /** `name`: of the workspace; by default its roots name it, so that nodes must have them at the same paths. */
    async open(address: string, name: string | undefined, roots: readonly string[]): Promise<SharedWorkspaceState> {
      opened ??= await openDatabaseState(address, given);
      try {
        await opened.check();
      } catch (error) {
        throw asFailure("use", error);
      }
      const fromRoots = createHash("sha256").update(roots.toSorted().join("\n")).digest("hex").slice(0, 12);
      workspace = opened.workspace({ name: name ?? fromRoots, roots, signer: await signerOf(given, host) });
      return workspace;
    },
    /** Why the state cannot be used now; undefined if it can, and without a database. */
    async fault(): Promise<string | undefined> {
      try {
        await opened?.check();
        return undefined;
      } catch (error) {
        return reasonOf(error);
      }
    },
    /** The one that was opened last; undefined without a database. */
    get workspace(): SharedWorkspaceState | undefined {
      return workspace;
    },
    close: async (): Promise<void> => opened?.close(),
  };
}

async function signerOf(given: Given, host: Host): Promise<AuditSigner | undefined> {
  const file = given.text("audit-key");
  if (file === undefined) return undefined;
  try {
    return signerWith(await textFrom(file, host));
  } catch {
    throw new UsageError(
      `Cannot sign the audit with "${file}": it is no Ed25519 key in PEM, make one with openssl genpkey`,
    );
  }
}

/** The tokens of a database, or of the state folder. */
export async function tokensOf(
  given: Given,
  host: Host,
): Promise<{ readonly tokens: Tokens; readonly close: () => Promise<void> }> {
  const { settings } = await loadSettings({
    roots: [host.cwd],
    env: host.env,
    platform: host.platform,
    home: host.home,
  });
  const address = stateAddress(given, host, settings.state);
  if (address !== undefined) {
    const database = await openDatabaseState(address, given);
    return { tokens: database.tokens, close: () => database.close() };
  }
  const stateDir = stateDirOf(given.text("state-dir"), settings.stateDir, host);
  if (stateDir === undefined) throw new UsageError("There is no state folder for tokens: name one with --state-dir");
  const { openFolderState } = await import("../../state/folder/folder-state.ts");
  return { tokens: openFolderState({ stateDir, workspace: "" }).tokens, close: async () => undefined };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A failure of the state as a sentence for the person who started the command; a bug is thrown on. */
export function asFailure(does: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "StateFailed") return error;
  return new FilehandError("STATE_UNAVAILABLE", `Cannot ${does} the shared state: ${error.message}`);
}
