/**
 * A process that works on a store, for the tests that need several or kill one:
 *
 *   node child.mjs append|compact <store> <locks> <id> <count>
 *   node child.mjs change <bed> - <id>      waits for a word, then edits, rewinds and collects until it is killed, and says so
 */

import { openFileStore } from "../../src/state/state.ts";
import { makeBed } from "./bed.ts";
import { begin, did, linesOf, theWord } from "./saying.ts";
import { textOf } from "./killing.ts";

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
    await theWord();
    const bed = makeBed(folder, { snapshotsMax: 10 });
    const edit = async (n: number): Promise<string> => {
      const turn = `${id}-${n}`;
      const writes = { [`file-${n % 3}`]: linesOf(id, n), [`file-${(n + 1) % 3}`]: linesOf(id, n) };
      begin({ begins: "edit", turn, writes });
      await bed.turn(turn);
      for (const [name, lines] of Object.entries(writes)) await bed.write(name, textOf(lines));
      did("edit", turn);
      return turn;
    };
    const rewind = async (as: "before" | "after", turn: string, to: string, back: string): Promise<void> => {
      begin({ begins: "rewind", as, turn });
      await bed.rewind(to, { id: back });
      did("rewind", back);
    };
    for (let n = 0; ; n += 2) {
      const first = await edit(n);
      const second = await edit(n + 1);
      await rewind("before", first, first, `${first}-back`);
      await rewind("after", second, `${first}-back`, `${first}-again`);
      begin({ begins: "gc" });
      await bed.session.tidy();
      await bed.history.gc({ graceMs: 0 });
      did("gc");
    }
  }
}
