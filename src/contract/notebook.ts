/** A notebook's cells, as they are shown. */

export type NotebookOutput =
  | {
      readonly type: "text";
      readonly name: "stdout" | "stderr" | "result" | "display";
      readonly text: string;
      /** Characters left out. */
      readonly cutChars: number;
    }
  | {
      readonly type: "error";
      readonly name: string;
      readonly message: string;
      /** The traceback, without the escapes that colour it. */
      readonly text: string;
      readonly cutChars: number;
    }
  | {
      readonly type: "image";
      readonly mime: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
      readonly base64: string;
    }
  | { readonly type: "other"; readonly mimes: readonly string[]; readonly bytes: number };

export interface NotebookCell {
  /** From 0. */
  readonly index: number;
  readonly id: string;
  /** False when the file has no usable id and this one was made for it. */
  readonly ownId: boolean;
  readonly type: "code" | "markdown" | "raw";
  readonly source: string;
  readonly executionCount: number | null;
  readonly language: string;
  readonly outputs: readonly NotebookOutput[];
  /** Outputs beyond the limit, which are not shown. */
  readonly outputsLeftOut: number;
}
