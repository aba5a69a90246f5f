/** What a host asks about one file by itself: may it be read, what do language servers say of it; and what it has shown of it. */

import type { DiagnosticsReport } from "./contract/language.ts";
import { Problem } from "./contract/problem.ts";
import { refusal } from "./guard/guard.ts";
import type { ShownElsewhere } from "./session/read-state.ts";
import { sourceOf } from "./tools/languages.ts";
import { locate, locatePermitted } from "./tools/locate.ts";
import { refuseDenied } from "./tools/subject.ts";
import type { Bench } from "./tools/tool.ts";

/** Throws a Problem where a read would be refused. */
export async function openOnce(path: string, bench: Bench): Promise<undefined> {
  const { target, found } = await locatePermitted(path, "file", bench);
  const file = bench.disk.open(found);
  found.held.close();
  if ("errno" in file) throw refusal(target, file.errno, "opening it");
  file.close();
  return undefined;
}

/** Undefined: none is in charge of the file, or it is nothing for them. */
export async function reportOf(
  path: string,
  waitMsMax: number | undefined,
  bench: Bench,
): Promise<DiagnosticsReport | undefined> {
  const { target, found } = await locatePermitted(path, "file", bench);
  found.held.close();
  if (found.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
  const languages = await bench.languages?.();
  const source = languages?.serves(target.real) === true ? await sourceOf(target.real, bench) : undefined;
  if (source === undefined) return undefined;
  bench.leaveQueue();
  const asking = { signal: bench.signal, ...(waitMsMax === undefined ? {} : { waitMsMax }) };
  return languages?.diagnostics(source, asking);
}

/** What the host showed counts as read. */
export async function noteShown(path: string, shown: ShownElsewhere, bench: Bench): Promise<undefined> {
  const { target, found } = await locate(path, "file", bench);
  found.held.close();
  refuseDenied(target, bench, ["read"]);
  if (found.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
  if (bench.ledger.shownElsewhere(target.real, shown)) return undefined;
  const expected = "a sha256 in hex and, if not all was shown, lines as { from, to } that count from 1";
  const issue = { fault: "type", name: "shown", expected, got: "what was given", optional: false } as const;
  throw new Problem({ code: "INVALID_PARAM", reason: "arguments", tool: "markRead", issues: [issue] });
}
