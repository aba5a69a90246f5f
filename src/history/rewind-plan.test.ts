import { deepEqual } from "node:assert/strict";
import { describe, test } from "vitest";
import type { FileVersion } from "../contract/history.ts";
import { type Availability, type Facts, type FileStory, stepOf } from "./rewind-plan.ts";

const absent: FileVersion = { kind: "absent" };
const version = (letter: string, more: object = {}): FileVersion => ({
  kind: "file",
  sizeBytes: 1,
  mode: 0o644,
  content: letter.repeat(64),
  ...more,
});
const [a, b] = [version("a"), version("b")];

const story = (base: FileVersion, ours: FileVersion, more: Partial<FileStory> = {}): FileStory => ({
  path: "/w/f",
  relative: "f",
  base,
  ours,
  lastBefore: base,
  broken: false,
  ...more,
});
const gone: Facts = { now: "absent" };
type Unkept = Extract<Facts, { readonly now: "file" }>["unkept"];
const file = (is: "base" | "ours" | "theirs", mode = 0o644, linkedSince = false, unkept?: Unkept): Facts => ({
  now: "file",
  unkept,
  linkedSince,
  mode,
  hash: is,
  isBase: is === "base",
  isOurs: is !== "theirs",
});

const cases: readonly (readonly [string, FileStory, Facts, Availability, string])[] = [
  ["an edit is taken back", story(a, b), file("ours"), "there", "restore"],
  ["an edit that is back already", story(a, b), file("base"), "there", "nothing"],
  [
    "an edit, and others have edited since",
    story(a, b),
    file("theirs"),
    "there",
    "conflict: changed since, else restore",
  ],
  ["an edit, and others have removed it", story(a, b), gone, "there", "conflict: changed since, else create"],
  [
    "an edit, and others came in between",
    story(a, b, { broken: true }),
    file("ours"),
    "there",
    "conflict: changed in between, else restore",
  ],
  [
    "an edit, and the file has got another name since",
    story(a, b),
    file("ours", 0o644, true),
    "there",
    "conflict: linked since, else restore",
  ],
  [
    "a creation that has got another name since",
    story(absent, b),
    file("ours", 0o644, true),
    "there",
    "conflict: linked since, else delete",
  ],
  ["what is back already, whatever its names", story(a, b), file("base", 0o644, true), "there", "nothing"],
  ["a creation is removed", story(absent, b), file("ours"), "there", "delete"],
  ["a creation that is gone", story(absent, b), gone, "there", "nothing"],
  [
    "a creation that others have edited",
    story(absent, b),
    file("theirs"),
    "there",
    "conflict: changed since, else delete",
  ],
  ["a deletion is made good", story(a, absent, { lastBefore: a }), gone, "there", "create 644"],
  [
    "a deletion, and others have made a file",
    story(a, absent),
    file("theirs"),
    "there",
    "conflict: changed since, else restore",
  ],
  [
    "a mode that we changed is set back",
    story(a, version("b", { mode: 0o755 })),
    file("ours", 0o755),
    "there",
    "restore 644",
  ],
  [
    "only the mode is to be set back",
    story(a, version("a", { mode: 0o755 })),
    file("base", 0o755),
    "there",
    "restore 644",
  ],
  ["a mode that others changed stays", story(a, b), file("ours", 0o755), "there", "restore"],
  [
    "a secret cannot be brought back",
    story(version("a", { notKept: "secret" }), b),
    file("ours"),
    "there",
    "unavailable: secret",
  ],
  [
    "a secret that we made would be lost for good",
    story(absent, version("b", { notKept: "secret" })),
    file("ours", 0o644, false, "secret"),
    "there",
    "conflict: never stored, else delete",
  ],
  [
    "a creation that is too large to be kept would be lost for good",
    story(absent, version("b", { notKept: "too large" })),
    file("ours", 0o644, false, "too large"),
    "there",
    "conflict: too large to keep, else delete",
  ],
  [
    "what others made of it comes first, also if it is too large",
    story(a, b),
    file("theirs", 0o644, false, "too large"),
    "there",
    "conflict: changed since, else restore (too large)",
  ],
  ["a content that is gone", story(a, b), file("ours"), "pruned", "unavailable: pruned"],
  ["a content that is damaged", story(a, b), file("ours"), "damaged", "unavailable: damaged"],
  ["a link in its place", story(a, b), { now: "other", what: "link" }, "there", "unavailable: link"],
  ["made and removed by us, and nothing is there", story(absent, absent), gone, "there", "nothing"],
];

describe("one file of a rewind", () => {
  for (const [title, given, facts, availability, expected] of cases) {
    test(title, () => {
      const step = stepOf(given, facts, availability);
      const words = (() => {
        switch (step.does) {
          case "conflict":
            return `conflict: ${step.why}, else ${step.forced.does}${step.why === "changed since" && step.loses ? ` (${step.loses.why})` : ""}`;
          case "unavailable":
            return `unavailable: ${step.why}`;
          case "restore":
          case "create":
            return step.mode === undefined ? step.does : `${step.does} ${step.mode.toString(8)}`;
          case "delete":
          case "nothing":
            return step.does;
        }
      })();
      deepEqual(words, expected);
    });
  }
});
