/** One suite for the forms of state; what only a database has is in `postgres.test.ts`. */

import { afterAll, beforeAll, describe } from "vitest";
import { openFolderState } from "../../src/state/folder/folder-state.ts";
import { openPostgresState, type PostgresState } from "../../src/state/postgres/postgres.ts";
import { signerWith } from "../../src/state/audit-chain.ts";
import { stateSuite } from "../suites/state.ts";
import { postgresMissing, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { workspace } from "../support/workspace.ts";

const { path: place } = workspace({});
let folders = 0;

stateSuite({
  name: "a folder",
  place,
  open: async (signingKey) => {
    const stateDir = place(`state-${(folders += 1)}`);
    const options = {
      stateDir,
      lockFolder: place("locks"),
      signer: signingKey === undefined ? undefined : signerWith(signingKey),
    };
    const make = async () => openFolderState({ ...options, workspace: "w" });
    return { ...(await make()), again: make };
  },
});

describe.skipIf(postgresMissing !== undefined)(
  `in PostgreSQL${postgresMissing === undefined ? "" : ` (${postgresMissing})`}`,
  () => {
    let server: TestPostgres;
    const opened: PostgresState[] = [];
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(async () => {
      for (const one of opened) await one.close();
      await server?.remove();
    });
    stateSuite({
      name: "PostgreSQL",
      place,
      open: async (signingKey) => {
        const url = server.database();
        const signer = signingKey === undefined ? undefined : signerWith(signingKey);
        const make = async () => {
          const state = await openPostgresState({ url });
          opened.push(state);
          await state.migrate();
          return { state: state.workspace({ name: "w", roots: [place("")], signer }), tokens: state.tokens };
        };
        return { ...(await make()), again: make };
      },
    });
  },
);
