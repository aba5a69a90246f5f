/** Which calls are shown. The server filters its pages, and the page filters the stream, by the same criteria. */

import type { CallInfo } from "../../../src/surfaces/inspector/wire.ts";

export interface Filter {
  readonly session: string;
  readonly tool: string;
  readonly path: string;
  readonly errors: boolean;
}

export const noFilter: Filter = { session: "", tool: "", path: "", errors: false };

export function matches(call: CallInfo, { session, tool, path, errors }: Filter): boolean {
  if (session !== "" && call.session !== session) return false;
  if (tool !== "" && call.tool !== tool) return false;
  if (errors && call.outcome === "ok") return false;
  const part = path.toLowerCase();
  const names = part === "" ? [] : [call.path, call.real, ...call.changes.map(({ relative }) => relative)];
  return part === "" || names.some((name) => name?.toLowerCase().includes(part) === true);
}

export function parametersOf({ session, tool, path, errors }: Filter): URLSearchParams {
  const parameters = new URLSearchParams();
  if (session !== "") parameters.set("session", session);
  if (tool !== "") parameters.set("tool", tool);
  if (path !== "") parameters.set("path", path);
  if (errors) parameters.set("errors", "1");
  return parameters;
}
