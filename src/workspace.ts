/** The workspace for programs: its files, their content, and watching them. Same guard, no dialect. */

import type { CallOptions, Workspace } from "./options.ts";
import { Problem } from "./contract/problem.ts";
import type { Verb } from "./contract/call.ts";
import { watchPath } from "./disk/disk.ts";
import {
  atPath,
  contentOf,
  filesAfter,
  folderEntries,
  locate,
  pathsThatBegin,
  statKeyOf,
  type ToolContext,
} from "./tools/tools.ts";

/** Runs `work` with a ToolContext; a Problem becomes a FilehandError in the words of the session's dialect. */
export type AsData = <Answer>(
  path: string,
  options: CallOptions,
  work: (context: ToolContext) => Promise<Answer>,
  /** The verb of the error message; "read" by default. */
  verb?: Verb,
) => Promise<Answer>;

export const createWorkspace = (asData: AsData): Workspace => ({
  files: ({ after, max }, options = {}) => asData("", options, (context) => filesAfter(after, max, context)),
  paths: (start, max, options = {}) => asData(start, options, (context) => pathsThatBegin(start, max, context)),
  content: (path, bytesMax, options = {}) => asData(path, options, (context) => contentOf(path, bytesMax, context)),
  entries: (path, page, options = {}) => asData(path, options, (context) => folderEntries(path, page, context)),
  watch: (path, onChange, options = {}) =>
    asData(path, options, async (context) => {
      const { target, node } = await locate(path, "file", context);
      node.handle.close();
      await context.guard.permit("read", target, context.signal);
      if (node.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
      const statKeyNow = (): string | undefined =>
        atPath(target.real, context, ({ handle }) => statKeyOf(handle.identity));
      let statKey = statKeyNow();
      // The watcher also fires without a change, so the stat is compared.
      const look = (): void => {
        const now = statKeyNow();
        if (now === statKey) return;
        statKey = now;
        onChange();
      };
      return watchPath(target.real, look);
    }),
});
