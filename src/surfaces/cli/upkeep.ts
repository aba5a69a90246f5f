/** Once a day, after a change: what is kept is brought within its limits by a process that nobody waits for. */

import type { Host } from "./command.ts";
import type { Opened } from "./open-session.ts";

export async function startUpkeep({ filehand, stateDir }: Opened, host: Host): Promise<void> {
  if (host.background === undefined || stateDir === undefined) return;
  const history = await filehand.history();
  if (history?.isDue() === true) host.background(["history", "gc", "--if-due", "--json", "--state-dir", stateDir]);
}
