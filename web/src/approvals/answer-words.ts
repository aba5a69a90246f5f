/** The answer to a question, in words. */

import type { Answered } from "../../../src/surfaces/inspector/wire.ts";
import type { Keep } from "../../../src/contract/ask.ts";

export function answerWords({ reply, rule, hunks }: Answered): string {
  switch (reply) {
    case "once":
      return hunks === null
        ? "allowed once"
        : `allowed in part (${hunks.length === 1 ? "1 hunk" : `${hunks.length} hunks`})`;
    case "always":
      return rule === null ? "always allowed" : `always allowed by ${rule}`;
    case "reject":
      return "rejected";
    case "nobody":
      return "not answered";
  }
}

export function byWords({ by }: Answered): string {
  switch (by) {
    case "you":
      return "here";
    case "page":
      return "in another browser";
    case "client":
      return "in the client";
    case "time":
      return "in time";
    case "cancelled":
      return "because the call was cancelled";
  }
}

/** What a person should know before a yes. */
export function cautionWords(caution: string): string {
  switch (caution) {
    case "build":
      return "This file names commands that are run when the project is built or installed";
    case "instructions":
      return "Agents take what stands in this file for their instructions";
    default:
      return caution;
  }
}

export const keepWords: Readonly<Record<Keep, string>> = {
  session: "for this session",
  project: "in the project's settings",
  user: "in your own settings",
};

export const permissionWords = {
  read: "read",
  edit: "change",
  external_directory: "work in a folder outside of the workspace",
} as const;
