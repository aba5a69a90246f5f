/** What is made of a reply, or added to it, once it is there: its tokens, its failure as an error, what came late. */

import { lineNumber } from "./contract/brand.ts";
import type { Reply } from "./contract/call.ts";
import { FilehandError } from "./contract/failure.ts";
import type { DiagnosticsReport } from "./contract/language.ts";
import { limits } from "./contract/limits.ts";
import type { Code } from "./contract/problem.ts";
import type { Profile } from "./contract/profile.ts";
import type { Request } from "./contract/verb.ts";
import type { Dialect, Words } from "./dialects/dialect.ts";
import { roughTokens } from "./text/tokens.ts";
import type { Cost } from "./tools/cost.ts";

export const saysSomething = ({ newErrors, knownErrors, warnings, pending, unavailable }: DiagnosticsReport): boolean =>
  pending || [newErrors, knownErrors, warnings, unavailable].some((list) => list.length > 0);

/** An answer with what came too late for an earlier one. */
export function withLate(reply: Reply, late: readonly DiagnosticsReport[], words: Words): Reply {
  if (late.length === 0) return reply;
  return { ...reply, content: [...reply.content, { type: "text", text: words.renderLate(late) }], late };
}

/** What a neutral request would be as a call. */
export const inputOf = (request: Request): object => ({
  ...("pattern" in request ? { pattern: request.pattern } : {}),
  ...("path" in request && request.path !== undefined ? { path: request.path } : {}),
});

export const wholeRead = (path: string, profile: Profile): Request => ({
  verb: "read",
  path,
  ranges: [{ from: lineNumber(1), linesMax: Number.POSITIVE_INFINITY }],
  overBudget: "first page",
  profile: { ...profile, repeats: "content" },
});

/** Of a picture or a document: what its reply would be. */
export function costOfReply(reply: Reply, sizeBytes: number, profile: Profile): Cost {
  if (reply.error !== undefined) throw failureOf(reply.error);
  const tokensMax = profile.pageTokensMax ?? limits.pageTokensMax;
  return { tokens: tokensOf(reply), counted: "estimated", lines: undefined, sizeBytes, tokensMax };
}

/** Whole ones: estimates are not, and what is told and summed up is. */
export const tokensOf = (reply: Reply): number =>
  Math.round(
    reply.content.reduce(
      (sum, part) => sum + (part.type === "text" ? roughTokens(part.text) : part.data.length * 0.125),
      0,
    ),
  );

export function orThrow(dialect: Dialect, reply: Reply): unknown {
  if (dialect.failures === "returned" || !reply.isError || reply.error === undefined) return reply.structured;
  throw failureOf(reply.error);
}

export const failureOf = ({ code, message }: NonNullable<Reply["error"]>): FilehandError =>
  new FilehandError(code as Code, message); // dialects take the code from the problem
