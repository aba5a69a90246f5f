/** The browser that tests use. Where there is none they are skipped, and the run says so at its end. */

import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { chromiumArguments, chromiumPath } from "../../scripts/chromium.js";

const executablePath = chromiumPath();

export const browserTest = test.skipIf(executablePath === undefined);

/** One browser for all tests of a file; each gets a profile of its own. */
export function browserForAll(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args: [...chromiumArguments] });
  });
  afterAll(() => browser?.close());
  return () => {
    if (browser === undefined) throw new Error("there is no chromium");
    return browser;
  };
}
