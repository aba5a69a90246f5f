/** Every verb that changes files. */

export { edit } from "./edit.ts";
export { notebookEdit } from "./notebook-edit.ts";
export { patch } from "./patch.ts";
export { rewind } from "./rewind.ts";
export { write } from "./write.ts";
