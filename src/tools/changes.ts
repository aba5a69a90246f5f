/** Every verb that changes files, looks at what was changed, or shares its code with one that does. */

export { edit } from "./edit.ts";
export { history } from "./history.ts";
export { lsp } from "./lsp.ts";
export { move } from "./move.ts";
export { notebookEdit } from "./notebook-edit.ts";
export { patch } from "./patch.ts";
export { remove } from "./remove.ts";
export { rename } from "./rename.ts";
export { rewind } from "./rewind.ts";
export { rewindByModel } from "./rewind-by-model.ts";
export { write } from "./write.ts";
