/** What a host does to a file after a tool changed it, and before the tool answers. */

/**
 * `path` is the file's real path. It may rewrite that file and nothing else of the workspace; Filehand holds its lock
 * meanwhile, so it MUST NOT call a tool. What it throws is told with the change, which stays made. The signal is aborted when the
 * call is cancelled, or when the formatter has taken too long (`formatterMsMax`); then it is not waited for any more.
 */
export type Formatter = (file: { readonly path: string; readonly signal: AbortSignal }) => Promise<void> | void;
