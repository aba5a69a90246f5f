/** Paths in answers can be given back, in every dialect. */

import { dialectNames } from "../src/dialects/index.ts";
import { givenBackSuite } from "./suites/given-back.ts";

for (const name of dialectNames) givenBackSuite(name);
