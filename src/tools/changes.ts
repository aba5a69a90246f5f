/** Every verb that changes files, or looks at what was changed. */

export { edit } from "./edit.ts";
export { history } from "./history.ts";
export { notebookEdit } from "./notebook-edit.ts";
export { patch } from "./patch.ts";
export { rename } from "./rename.ts";
export { rewind } from "./rewind.ts";
export { rewindByModel } from "./rewind-by-model.ts";
export { write } from "./write.ts";
