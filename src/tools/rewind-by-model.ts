/** Rewind as a model calls it: it names turns and files as History shows them, and is told of no file that it may not know. */

import { Problem } from "../contract/problem.ts";
import { withSides } from "./conflict-sides.ts";
import { namedTurn } from "./named-turn.ts";
import { isOrIsBelow, mayName, realPathOf } from "./past-paths.ts";
import { rewind } from "./rewind.ts";
import type { Tool } from "./tool.ts";

export const rewindByModel: Tool<"rewind"> = async (request, bench) => {
  const { to: asking } = request;
  if (typeof asking !== "string") throw new Error("a model names the turn that it wants to go back to");
  const past = await bench.past();
  if (past === undefined) throw new Problem({ code: "NO_TURN", asked: asking, reason: "no history" });
  const to = await namedTurn(asking, past);
  const tracked = past.tracked();
  const asked: { readonly path: string; readonly files: readonly string[] }[] = [];
  for (const path of request.files ?? []) {
    const { real } = await realPathOf(path, bench);
    asked.push({
      path,
      files: tracked.has(real) ? [real] : [...tracked.keys()].filter((file) => isOrIsBelow(file, real)),
    });
  }
  const files = request.files === undefined ? undefined : [...new Set(asked.flatMap((one) => one.files))];
  const dryRun = bench.dryRun || request.byModel?.dryRun === true;
  const outcome = await rewind({ ...request, to, files }, { ...bench, dryRun });

  const isNamed = mayName(bench);
  const named = outcome.files.filter(({ path }) => isNamed(path));
  const concerned = new Set(outcome.files.map(({ path }) => path));
  const unchanged = asked.filter((one) => !one.files.some((file) => concerned.has(file))).map(({ path }) => path);
  return {
    ...outcome,
    files: await withSides(named, past, bench),
    forModel: { withheld: outcome.files.length - named.length, unchanged },
  };
};
