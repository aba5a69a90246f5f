/** Opens an address in the person's browser, if there is one. Nobody waits for it, and nothing is lost if there is none. */

import { spawn } from "node:child_process";
import * as nodePath from "node:path";
import { programOnPath } from "../../settings/own-arguments.ts";
import type { Host } from "./command.ts";

/** Nothing that lies in one of the roots is run. */
export function openInBrowser(url: string, { platform, env }: Host, roots: readonly string[]): void {
  const opener = openerFor(platform, env, url, roots);
  // A screen that is not there: the program would only write an error into the terminal.
  const hasScreen = platform === "darwin" || platform === "win32" || Boolean(env["DISPLAY"] ?? env["WAYLAND_DISPLAY"]);
  if (!hasScreen || opener === undefined) return; // the address stands on the terminal
  const child = spawn(opener.program, opener.args, { detached: true, stdio: "ignore", windowsHide: true });
  child.on("error", () => undefined);
  child.unref();
}

/** No shell reads the address. */
function openerFor(
  platform: NodeJS.Platform,
  env: Host["env"],
  url: string,
  roots: readonly string[],
): { readonly program: string; readonly args: string[] } | undefined {
  if (platform === "darwin") return { program: "/usr/bin/open", args: [url] };
  if (platform === "win32") {
    const program = nodePath.win32.join(env["SystemRoot"] ?? "C:\\Windows", "System32", "rundll32.exe");
    return { program, args: ["url.dll,FileProtocolHandler", url] };
  }
  const program = programOnPath("xdg-open", { path: env["PATH"], platform, notBeneath: roots });
  return program === undefined ? undefined : { program, args: [url] };
}
