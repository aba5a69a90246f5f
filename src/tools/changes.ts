/** The verbs that change files or share code with those that do. Loaded together, with the first of them. */

export { createCommandFormatter } from "./change/formatter-commands.ts";
export { edit, editFiles } from "./edit/edit.ts";
export { editLines } from "./edit/edit-lines.ts";
export { history } from "./rewind/history.ts";
export { lsp } from "./lsp/lsp.ts";
export { copy, makeFolder, move, remove } from "./files/files.ts";
export { notebookEdit } from "./notebook/notebook-edit.ts";
export { patch } from "./patch/patch.ts";
export { rename } from "./lsp/rename.ts";
export { rewind } from "./rewind/rewind.ts";
export { rewindByModel } from "./rewind/history.ts";
export { write } from "./write/write.ts";
