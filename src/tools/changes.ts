/** Every verb that changes files. */

export { edit } from "./edit.ts";
export { notebookEdit } from "./notebook-edit.ts";
export { patch } from "./patch.ts";
export { write } from "./write.ts";
