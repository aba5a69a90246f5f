/**
 * fast-check with many times the cases, for `npm run test:random`: it takes the place of the real one in the tests (vitest.config.ts),
 * since most of them say how many cases they try and a setting for all would not reach those.
 */

import * as fc from "fast-check";

export * from "fast-check";

const times = Number(process.env["FILEHAND_RANDOM"] ?? "1");

/** @type {(property: fc.IRawProperty<unknown>, parameters?: fc.Parameters<unknown>) => unknown} */
export const assert = (property, parameters) =>
  fc.assert(property, { ...parameters, numRuns: (parameters?.numRuns ?? 100) * times });
