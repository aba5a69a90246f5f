/** Permission rules: what they cost a call, and the start of a toolkit. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { mustSucceed, openSession, row } from "../row.js";

const sizes = [1, 10, 100, 1_000, 3_000, 10_000];
const quick = [1, 10, 100, 1_000, 3_000];

/** A third of each verdict, and of each kind of pattern. @param {number} count */
function rulesOf(count) {
  const patterns = Array.from(
    { length: count },
    (_, at) => [`/secrets/s${at}.txt`, `packages/p${at}/private/**`, `/data/**/set-${at}*.key`][at % 3],
  );
  const every = (/** @type {number} */ third) => patterns.filter((_, at) => Math.floor(at / 3) % 3 === third);
  return {
    deny: every(0).map((pattern) => `Read(${pattern})`),
    ask: every(1).map((pattern) => `Edit(${pattern})`),
    allow: every(2).map((pattern) => `Edit(${pattern})`),
  };
}

export const permissions = [
  row({
    name: "permission-decision",
    title: "Read of a small file, with rules for others",
    unit: "rules",
    sizes,
    quick,
    grows: "constant",
    prepare: async (size, { folder }) => {
      for (let at = 0; at < 100; at += 1) writeFileSync(join(folder, `file${at}.txt`), "text\n");
      const session = await openSession(folder, { permissions: rulesOf(size) });
      let call = 0;
      return {
        measure: async () => {
          call += 1;
          mustSucceed(await session.call("Read", { file_path: `file${call % 100}.txt` }), "text");
        },
      };
    },
  }),
  row({
    name: "permission-start",
    title: "a toolkit with its rules, and the first Read",
    unit: "rules",
    sizes,
    quick,
    grows: "linear",
    prepare: (size, { folder }) => {
      writeFileSync(join(folder, "file.txt"), "text\n");
      const permissions = rulesOf(size);
      return {
        measure: async () => {
          const session = await openSession(folder, { permissions });
          mustSucceed(await session.call("Read", { file_path: "file.txt" }), "text");
        },
      };
    },
  }),
];
