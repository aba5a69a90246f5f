/** What is told of one file: errors that are new, then those that were known, then warnings, each up to a limit. */

import type { Diagnostic, DiagnosticsReport } from "../contract/language.ts";
import { limits } from "../contract/limits.ts";
import { divided, type Known, nothingKnown } from "./diagnostics.ts";
import type { Said } from "./server.ts";

/** What one server said, and what it was known to say before. */
export interface Part {
  readonly said: Said;
  readonly known: Known;
}

export function reportOf(
  path: string,
  parts: readonly Part[],
  { pending, unavailable }: Pick<DiagnosticsReport, "pending" | "unavailable">,
): DiagnosticsReport {
  const fresh: Diagnostic[] = [];
  const old: Diagnostic[] = [];
  const warnings: Diagnostic[] = [];
  let errorsLeftOut = 0;
  let warningsLeftOut = 0;
  for (const { said, known } of parts) {
    const errors = said.diagnostics.filter(({ severity }) => severity === "error");
    const both = divided(errors, known, said.lines);
    fresh.push(...both.fresh);
    old.push(...both.known);
    errorsLeftOut += said.errorsMore;
    warningsLeftOut += said.warningsMore;
    warnings.push(...said.diagnostics.filter(({ severity }) => severity === "warning"));
  }
  const newErrors = fresh.slice(0, limits.languageErrorsShownMax);
  const knownErrors = old.slice(0, limits.languageErrorsShownMax - newErrors.length);
  const warningsShown = warnings.slice(0, limits.languageWarningsShownMax);
  return {
    path,
    newErrors,
    knownErrors,
    warnings: warningsShown,
    isFirstLook: parts.some(({ known }) => known === nothingKnown),
    pending,
    errorsLeftOut: errorsLeftOut + fresh.length + old.length - newErrors.length - knownErrors.length,
    warningsLeftOut: warningsLeftOut + warnings.length - warningsShown.length,
    unavailable,
  };
}
