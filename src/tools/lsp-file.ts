/** The file that a language server is asked about: permitted, there, and served; and why it may not be. */

import type { LanguageAnswer, Languages, SourceFile } from "../contract/language.ts";
import type { AskedPlace, FoundPlace } from "../contract/lsp.ts";
import { type CodePlaceFault, Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { placeIn } from "../text/code-place.ts";
import { sourceOf } from "./languages.ts";
import { locatePermitted } from "./locate.ts";
import type { Bench } from "./tool.ts";

export interface AskedFile {
  readonly target: Target;
  readonly source: SourceFile;
  readonly languages: Languages;
}

export async function askedFile(path: string, bench: Bench): Promise<AskedFile> {
  const { target, found } = await locatePermitted(path, "file", bench);
  found.held.close();
  if (found.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
  if (found.kind !== "file") throw new Problem({ code: "SPECIAL_FILE", place: target, special: found.kind });
  const languages = await bench.languages?.();
  if (languages === undefined) throw new Problem({ code: "LANGUAGE_SERVER", place: target, reason: "off" });
  if (!languages.serves(target.real)) {
    throw new Problem({ code: "LANGUAGE_SERVER", place: target, reason: "unknown language" });
  }
  const source = await sourceOf(target.real, bench);
  if (source === undefined) throw new Problem({ code: "LANGUAGE_SERVER", place: target, reason: "not shown" });
  return { target, source, languages };
}

export function placeOf({ source, target }: AskedFile, asked: AskedPlace): FoundPlace {
  const found = placeIn(source.text, asked);
  if (found.found === "yes") return found.place;
  const fault = faultOf(found, asked);
  throw new Problem({ code: "INVALID_PARAM", reason: "code place", place: target, fault });
}

function faultOf(
  found: Extract<ReturnType<typeof placeIn>, { readonly found: "no" }>,
  { line, column, symbol }: AskedPlace,
): CodePlaceFault {
  switch (found.why) {
    case "nothing named":
      return { why: "nothing named" };
    case "line":
      return { why: "line", line: line ?? 1, linesTotal: found.linesTotal };
    case "column":
      return { why: "column", column: column ?? 1, columnsMax: found.columnsMax };
    case "symbol":
      return { why: "symbol", symbol: symbol ?? "", line, lines: found.lines };
  }
}

/** What a server said; a reason why it said nothing is a Problem. */
export function valueOf<Value>(
  answer: LanguageAnswer<Value>,
  { target, languages }: AskedFile,
  { signal }: Bench,
): { readonly value: Value; readonly server: string } {
  signal.throwIfAborted();
  const place = target;
  switch (answer.answer) {
    case "given":
      return answer;
    case "no server": {
      const servers = languages.remedies(target.real);
      throw new Problem({ code: "LANGUAGE_SERVER", place, reason: "not installed", servers });
    }
    case "failed": {
      const { server, why } = answer;
      throw new Problem({ code: "LANGUAGE_SERVER", place, reason: "failed", server, why });
    }
    case "not offered":
      throw new Problem({ code: "LANGUAGE_SERVER", place, reason: "not offered", server: answer.server });
    case "too slow": {
      const { server, waitedMs } = answer;
      throw new Problem({ code: "LANGUAGE_SERVER", place, reason: "too slow", server, waitedMs });
    }
  }
}
