/** The workspace itself, for programs: its files, what they hold, when they change. Same guard, no dialect. */

import type { CallOptions, Workspace } from "./options.ts";
import { Problem } from "./contract/problem.ts";
import type { Verb } from "./contract/call.ts";
import { watchPath } from "./disk/watch.ts";
import { contentOf, filesAfter, folderEntries, pathsThatBegin } from "./tools/workspace-files.ts";
import { locate } from "./tools/locate.ts";
import { signOf } from "./tools/stamp.ts";
import type { Bench } from "./tools/tool.ts";
import { atPath } from "./tools/workspace-walk.ts";

/** Does something with a bench; a Problem becomes a FilehandError in the words of the session's dialect. */
export type AsData = <Answer>(
  path: string,
  options: CallOptions,
  work: (bench: Bench) => Promise<Answer>,
  /** What it is, in a sentence about why it cannot be done; reading by default. */
  verb?: Verb,
) => Promise<Answer>;

export const createWorkspace = (asData: AsData): Workspace => ({
  files: ({ after, max }, options = {}) => asData("", options, (bench) => filesAfter(after, max, bench)),
  paths: (start, max, options = {}) => asData(start, options, (bench) => pathsThatBegin(start, max, bench)),
  content: (path, bytesMax, options = {}) => asData(path, options, (bench) => contentOf(path, bytesMax, bench)),
  entries: (path, page, options = {}) => asData(path, options, (bench) => folderEntries(path, page, bench)),
  watch: (path, onChange, options = {}) =>
    asData(path, options, async (bench) => {
      const { target, found } = await locate(path, "file", bench);
      found.held.close();
      await bench.guard.permit("read", target, bench.signal);
      if (found.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
      const signNow = (): string | undefined => atPath(target.real, bench, ({ held }) => signOf(held.identity));
      let sign = signNow();
      // A watch tells of more than changes: only another state of the file counts.
      const look = (): void => {
        const now = signNow();
        if (now === sign) return;
        sign = now;
        onChange();
      };
      return watchPath(target.real, look);
    }),
});
