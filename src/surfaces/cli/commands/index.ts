/** Every command, in the order of the help. */

import type { Command } from "../command.ts";
import { completionOf } from "../completion.ts";
import { batch } from "./batch.ts";
import { call, permissions, stats, tools } from "./call.ts";
import { diagnostics, lsp, outline, rename } from "./lsp.ts";
import { diff, history, redo, rewind, show, undo } from "./history.ts";
import { copy, mkdir, move, remove } from "./files.ts";
import { doctor } from "./doctor.ts";
import { edit, notebookEdit, patch, write } from "./edit.ts";
import { glob, grep, ls } from "./grep.ts";
import { init } from "./init.ts";
import { inspect, serve } from "./serve.ts";
import { log } from "./log.ts";
import { mcp } from "./mcp.ts";
import { hook, observe, run } from "./observe.ts";
import { read } from "./read.ts";
import { replay } from "./replay.ts";
import { audit, state, token } from "./state.ts";

export const commands: readonly Command[] = [
  read,
  outline,
  grep,
  ls,
  glob,
  edit,
  write,
  patch,
  notebookEdit,
  remove,
  move,
  copy,
  mkdir,
  rename,
  diagnostics,
  lsp,
  history,
  diff,
  show,
  rewind,
  undo,
  redo,
  log,
  run,
  observe,
  hook,
  permissions,
  call,
  batch,
  tools,
  mcp,
  serve,
  inspect,
  state,
  audit,
  token,
  stats,
  replay,
  init,
  doctor,
  completionOf(() => commands),
];
