/**
 * A process that edits, rewinds and collects through the library until it is killed, and says what it is about and what
 * was acknowledged:
 *
 *   node child.mjs <top> <id>      begins when it gets a word
 */

import type { RewindOutcome } from "../../src/contract/history.ts";
import { openWorkspace } from "./desk.ts";
import { textOf } from "./killing.ts";
import { begin, did, linesOf, theWord } from "./saying.ts";

const [top = "", id = ""] = process.argv.slice(2);
await theWord();
const desk = openWorkspace(top, { history: { snapshotsMax: 10 } });

async function edit(n: number): Promise<string> {
  const turn = `${id}-${n}`;
  const writes = { [`file-${n % 3}`]: linesOf(id, n), [`file-${(n + 1) % 3}`]: linesOf(id, n) };
  begin({ begins: "edit", turn, writes });
  await desk.session.checkpoint(turn);
  for (const [name, lines] of Object.entries(writes)) await desk.write(name, textOf(lines));
  did("edit", turn);
  return turn;
}

async function rewind(as: "before" | "after", turn: string, work: () => Promise<RewindOutcome>): Promise<void> {
  begin({ begins: "rewind", as, turn });
  did("rewind", (await work()).turn);
}

for (let n = 0; ; n += 2) {
  const first = await edit(n);
  const second = await edit(n + 1);
  await rewind("before", first, () => desk.session.rewind(first));
  await rewind("after", second, () => desk.session.redo());
  await rewind("before", second, () => desk.session.undo());
  begin({ begins: "gc" });
  await (await desk.filehand.history())?.gc({ graceMs: 0 });
  did("gc");
}
