/** Every command, in the order of the help. */

import type { Command } from "../command.ts";
import { batch } from "./batch.ts";
import { call } from "./call.ts";
import { diagnostics } from "./diagnostics.ts";
import { diff } from "./diff.ts";
import { doctor } from "./doctor.ts";
import { edit } from "./edit.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { history } from "./history.ts";
import { init } from "./init.ts";
import { inspect } from "./inspect.ts";
import { lsp } from "./lsp.ts";
import { rename } from "./rename.ts";
import { ls } from "./ls.ts";
import { mcp } from "./mcp.ts";
import { notebookEdit } from "./notebook-edit.ts";
import { outline } from "./outline.ts";
import { patch } from "./patch.ts";
import { permissions } from "./permissions.ts";
import { read } from "./read.ts";
import { rewind } from "./rewind.ts";
import { serve } from "./serve.ts";
import { show } from "./show.ts";
import { stats } from "./stats.ts";
import { tools } from "./tools.ts";
import { redo, undo } from "./undo.ts";
import { write } from "./write.ts";

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
  rename,
  diagnostics,
  lsp,
  history,
  diff,
  show,
  rewind,
  undo,
  redo,
  permissions,
  call,
  batch,
  tools,
  mcp,
  serve,
  inspect,
  stats,
  init,
  doctor,
];
