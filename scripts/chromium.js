/** Where the browser is that the page is tested and pictured in: Debian's, which `npm test` installs. */

import { existsSync } from "node:fs";

/** Undefined if there is none. */
export const chromiumPath = () =>
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));

/** Its own sandbox does not run as root; shared memory is small in containers. */
export const chromiumArguments = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--force-color-profile=srgb",
];
