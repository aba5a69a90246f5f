/** Every command, in the order of the help. */

import type { Command } from "../command.ts";
import { batch } from "./batch.ts";
import { call } from "./call.ts";
import { ls } from "./ls.ts";
import { read } from "./read.ts";
import { stats } from "./stats.ts";
import { tools } from "./tools.ts";

export const commands: readonly Command[] = [read, ls, call, batch, tools, stats];
