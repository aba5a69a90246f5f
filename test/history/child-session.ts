/**
 * A process that edits and rewinds through the library until it is killed, and says what was acknowledged:
 *
 *   node child.mjs <top> <id>
 */

import { writeSync } from "node:fs";
import { openDesk } from "./desk.ts";

const [top = "", id = ""] = process.argv.slice(2);
const desk = openDesk(top, { history: { snapshotsMax: 10 } });

for (let n = 0; ; n += 1) {
  const messageId = `${id}-${n}`;
  await desk.session.checkpoint(messageId);
  const names = [`file-${n % 3}`, `file-${(n + 1) % 3}`];
  for (const name of names) await desk.write(name, `${id} ${n}\n`.repeat(1 + (n % 7) * 400));
  // In one call, so that it is out or not.
  writeSync(1, `${JSON.stringify({ messageId, names })}\n`);
  if (n % 3 === 2) await desk.session.rewind(`${id}-${n - 1}`);
  if (n % 4 === 3) await desk.session.undo();
}
