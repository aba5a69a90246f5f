/** Why a recorded call failed, by the words of the clients: the only place where sentences of others are read. Pure. */

import type { FailureKind } from "./conversation.ts";

/** The first that fits decides. */
const words: readonly (readonly [RegExp, FailureKind])[] = [
  [
    /doesn't want to (?:proceed|take this action)|user (?:rejected|declined|cancel|denied)|rejected permission|cancelled by user/i,
    "refused by a person",
  ],
  [/has not been read yet|must (?:first )?read (?:the )?file|read it first before/i, "not read"],
  [
    /modified since (?:it was )?(?:last )?read|changed (?:on disk )?since|has been modified since|modified on disk/i,
    "changed since",
  ],
  [
    /\d+ matches of the string|multiple (?:matches|occurrences)|found multiple|more than one (?:match|occurrence)|expected \d+ occurrences? but found|not unique/i,
    "several places",
  ],
  [
    /string to replace not found|could not find|not find (?:an exact match|oldstring|expected lines|context)|0 occurrences found|failed to find (?:expected|context)|does not contain|no match found/i,
    "text not found",
  ],
  [/no changes to (?:make|apply)|are (?:exactly the same|identical)|must be different|same content/i, "no change"],
  [/file (?:does not|doesn't) exist|no such file|file not found|enoent/i, "no such file"],
  [
    /interrupted|aborted|sibling tool call|unsupported custom tool|unknown tool|inputvalidationerror|permission/i,
    "not run",
  ],
];

/** Only the beginning counts: the rest may quote a file. */
const headChars = 600;

export function failureIn(answer: string): FailureKind {
  const head = answer.slice(0, headChars);
  return words.find(([pattern]) => pattern.test(head))?.[1] ?? "other";
}
