/** What every envelope carries besides its outcome. */

import type { Facts } from "../dialect.ts";

export interface Context {
  readonly cwd: string;
  readonly params_input: unknown;
  readonly path_resolved?: string;
}

export const contextOf = (facts: Facts, resolved: string | undefined): Context => ({
  cwd: facts.cwd,
  params_input: facts.input,
  ...(resolved === undefined ? {} : { path_resolved: resolved || "." }),
});

export const roundedElapsed = (facts: Facts): number => Math.round(facts.elapsedMs);
