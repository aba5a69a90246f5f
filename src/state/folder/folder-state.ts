/** The state of one workspace in files of the state folder. What locks, questions and events need on one machine is elsewhere. */

import * as nodePath from "node:path";
import type { AuditSigner } from "../audit-chain.ts";
import type { Tokens, WorkspaceState } from "../ports.ts";
import { openFolderAudit } from "./audit.ts";
import { openFileStore } from "./file-store.ts";
import { appendUsage, readUsage } from "./logs.ts";
import { openFolderSessions } from "./read-states.ts";
import { openFolderTokens } from "./tokens.ts";

export interface FolderStateOptions {
  readonly stateDir: string;
  readonly workspace: string;
  readonly signer?: AuditSigner | undefined;
  /** For tests; see `disk/lock/lock.ts`. */
  readonly lockFolder?: string | undefined;
}

export interface FolderState {
  readonly state: Omit<WorkspaceState, "approvals">;
  readonly tokens: Tokens;
}

export function openFolderState({ stateDir, workspace, signer, lockFolder }: FolderStateOptions): FolderState {
  return {
    state: {
      history: openFileStore({ folder: nodePath.join(stateDir, "history"), lockFolder }),
      sessions: openFolderSessions(stateDir, lockFolder),
      audit: openFolderAudit(nodePath.join(stateDir, "audit"), workspace, signer, lockFolder),
      usage: {
        add: async (usage) => appendUsage(stateDir, usage),
        list: async () => readUsage(stateDir),
      },
    },
    tokens: openFolderTokens(nodePath.join(stateDir, "tokens"), lockFolder),
  };
}
