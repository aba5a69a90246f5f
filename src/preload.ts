/**
 * Loads what is otherwise loaded by the first call that needs it. A server lives long, and its package may be replaced under
 * it by an update: from then on a part that is not loaded yet is gone, or is that of another version.
 */

/** In the order in which calls are likely to need them. Packages that are optional belong to somebody else's update. */
const parts: readonly (() => Promise<unknown>)[] = [
  () => import("./tools/changes.ts"),
  () => import("./tools/grep.ts"),
  () => import("./tools/glob.ts"),
  () => import("./history/history.ts"),
  () => import("./tools/outline.ts"),
  () => import("./workspace.ts"),
  () => import("./text/notebook.ts"),
  () => import("./kinds/notebook.ts"),
  () => import("./kinds/image-size.ts"),
  () => import("./kinds/image.ts"),
  () => import("./kinds/pdf.ts"),
  () => import("./kinds/office.ts"),
  () => import("./kinds/worker-host.ts"),
  () => import("./kinds/worker.ts?program"),
  () => import("./tools/observe.ts"),
  () => import("./lsp/servers.ts"),
  () => import("./lsp/languages.ts"),
];

/** One part per turn of the event loop, so that no call waits for more than one. */
export async function preload(more: readonly (() => Promise<unknown>)[] = []): Promise<void> {
  for (const load of [...parts, ...more]) {
    await new Promise(setImmediate);
    await load();
  }
}
