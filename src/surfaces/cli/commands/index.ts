/** Every command, in the order of the help. */

import type { Command } from "../command.ts";
import { batch } from "./batch.ts";
import { call } from "./call.ts";
import { edit } from "./edit.ts";
import { ls } from "./ls.ts";
import { notebookEdit } from "./notebook-edit.ts";
import { patch } from "./patch.ts";
import { read } from "./read.ts";
import { stats } from "./stats.ts";
import { tools } from "./tools.ts";
import { write } from "./write.ts";

export const commands: readonly Command[] = [read, ls, edit, write, patch, notebookEdit, call, batch, tools, stats];
