/**
 * A process that works on a store, for the tests that need several or kill one:
 *
 *   node child.mjs append|compact <store> <locks> <id> <count>
 *   node child.mjs change <bed> - <id> <count>      edits and rewinds, and says what is acknowledged
 */

import { writeSync } from "node:fs";
import { openFileStore } from "../../src/history/file-store.ts";
import { makeBed } from "./bed.ts";

const [task = "", folder = "", lockFolder = "", id = "", count = "0"] = process.argv.slice(2);
const moment = () => new Promise((resolve) => setImmediate(resolve));

switch (task) {
  case "append": {
    const store = openFileStore({ folder });
    for (let n = 0; n < Number(count); n += 1) {
      store.append("s", [{ type: "turn", messageId: `${id}${n}`, timeMs: n }]);
      await moment();
    }
    break;
  }
  case "compact": {
    const store = openFileStore({ folder, lockFolder });
    const endMs = Date.now() + 1_500;
    while (Date.now() < endMs) {
      await store.rewrite("s", (entries) => entries.map(({ record }) => record));
      await moment();
    }
    break;
  }
  case "change": {
    const bed = makeBed(folder, { snapshotsMax: 10 });
    for (let n = 0; n < Number(count); n += 1) {
      await bed.turn(`${id}-${n}`);
      const name = `file-${n % 3}`;
      await bed.write(name, `${id} ${n}\n`.repeat(1 + (n % 7) * 400));
      // In one call, so that it is out or not.
      writeSync(1, `${JSON.stringify({ messageId: `${id}-${n}`, name })}\n`);
      if (n % 3 === 2) {
        const back = `${id}-${n}-back`;
        await bed.rewind(`${id}-${n - 1}`, { id: back });
        writeSync(1, `${JSON.stringify({ messageId: back, name })}\n`);
      }
      if (n % 9 === 8) await bed.session.tidy();
      if (n % 13 === 12) await bed.history.gc();
    }
    break;
  }
}
