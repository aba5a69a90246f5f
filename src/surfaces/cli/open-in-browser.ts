/** Opens an address in the person's browser, if there is one. Nobody waits for it, and nothing is lost if there is none. */

import { spawn } from "node:child_process";
import type { Host } from "./command.ts";

export function openInBrowser(url: string, { platform, env }: Host): void {
  const [program, args] = openerFor(platform, url);
  // A screen that is not there: the program would only write an error into the terminal.
  const hasScreen = platform === "darwin" || platform === "win32" || Boolean(env["DISPLAY"] ?? env["WAYLAND_DISPLAY"]);
  if (!hasScreen) return;
  const child = spawn(program, args, { detached: true, stdio: "ignore", windowsHide: true });
  child.on("error", () => undefined); // the address stands on the terminal
  child.unref();
}

/** No shell reads the address. */
function openerFor(platform: NodeJS.Platform, url: string): readonly [string, string[]] {
  if (platform === "darwin") return ["open", [url]];
  if (platform === "win32") return ["rundll32", ["url.dll,FileProtocolHandler", url]];
  return ["xdg-open", [url]];
}
