/** `--observe`: looks at the workspace between calls, so that what others changed there can be undone as well. */

import type { Session } from "../../api.ts";
import { FilehandError } from "../../contract/failure.ts";
import { escapeName } from "../../text/escape.ts";
import { nameFrom } from "./change.ts";
import type { Host } from "./command.ts";

/** Names of one look on stderr. */
const namesMax = 10;

export interface Watch {
  /** Not while calls of the session run. */
  look(): Promise<void>;
}

/** The first look is made here: without one there is nothing to compare with, and who asked for it wants to know. */
export async function startWatch(session: Session, host: Host): Promise<Watch> {
  const options = { signal: host.signal };
  let isTold = false;
  const tell = ({ notCovered, complete }: Awaited<ReturnType<Session["observe"]>>): void => {
    if (notCovered.length > 0) host.stderr.write(`filehand: ${notCoveredText(notCovered, host)}\n`);
    if (!complete && !isTold) host.stderr.write("filehand: there are too many files to look at all of them\n");
    isTold ||= !complete;
  };
  tell(await session.observe(options));
  return {
    async look() {
      try {
        tell(await session.observe(options));
      } catch (error) {
        // The calls go on: what cannot be undone is not therefore wrong.
        if (!(error instanceof FilehandError)) throw error;
        if (!host.signal.aborted) host.stderr.write(`filehand: ${error.message}\n`);
      }
    },
  };
}

function notCoveredText(paths: readonly string[], host: Host): string {
  const some = paths.slice(0, namesMax).map((path) => escapeName(nameFrom(host.cwd, path)));
  const more = paths.length > namesMax ? ` and ${paths.length - namesMax} more` : "";
  return `changed by others, and cannot be brought back: ${some.join(", ")}${more}`;
}
