/** The cells of a notebook, as they are shown. */

/** An image as the notebook declares it: its bytes are not checked yet. */
export interface ClaimedImage {
  readonly type: "image";
  readonly mime: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  readonly base64: string;
}

export type NoImage =
  | { readonly why: "damaged"; readonly detail: string }
  | { readonly why: "too large"; readonly limit: string }
  /** The package to install. */
  | { readonly why: "no codec"; readonly install: string }
  | { readonly why: "budget"; readonly tokens: number; readonly tokensMax: number };

interface Size {
  readonly width: number;
  readonly height: number;
}

export type NotebookOutput =
  | {
      readonly type: "text";
      readonly name: "stdout" | "stderr" | "result" | "display";
      readonly text: string;
      readonly cutChars: number;
    }
  | {
      readonly type: "error";
      readonly name: string;
      readonly message: string;
      /** The traceback, without colour escapes. */
      readonly text: string;
      readonly cutChars: number;
    }
  /** An image that decodes, resized to fit, with the type of its bytes. */
  | {
      readonly type: "image";
      readonly mime: string;
      readonly base64: string;
      readonly originalMime: string;
      readonly original: Size;
      readonly display: Size;
      readonly frames: number;
    }
  | ({ readonly type: "no image"; readonly mime: string } & NoImage)
  | { readonly type: "other"; readonly mimes: readonly string[]; readonly bytes: number };

/** The outputs of a cell before its images are checked. */
export type ClaimedOutput = Exclude<NotebookOutput, { readonly type: "image" | "no image" }> | ClaimedImage;

export interface NotebookCell<Output = NotebookOutput> {
  /** Counts from 0. */
  readonly index: number;
  readonly id: string;
  /** False if the file has no usable id and this one was generated. */
  readonly ownId: boolean;
  readonly type: "code" | "markdown" | "raw";
  readonly source: string;
  /** Characters of the source that are left out, because the cell alone is over the budget. */
  readonly sourceCutChars?: number;
  readonly executionCount: number | null;
  readonly language: string;
  readonly outputs: readonly Output[];
  /** Outputs beyond the limit or the budget, which are not shown. */
  readonly outputsLeftOut: number;
}
