/** A notebook's cells, as they are shown. */

/** A picture as the notebook claims it to be: nobody has looked at its bytes yet. */
export interface ClaimedImage {
  readonly type: "image";
  readonly mime: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  readonly base64: string;
}

/** Why a picture is not shown. */
export type NoImage =
  | { readonly why: "damaged"; readonly detail: string }
  | { readonly why: "too large"; readonly limit: string }
  /** The package that could read it. */
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
  /** A picture that decodes, made to fit, of the type that its bytes have. */
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

/** What a cell's outputs are before its pictures were looked at. */
export type ClaimedOutput = Exclude<NotebookOutput, { readonly type: "image" | "no image" }> | ClaimedImage;

export interface NotebookCell<Output = NotebookOutput> {
  /** From 0. */
  readonly index: number;
  readonly id: string;
  /** False when the file has no usable id and this one was made for it. */
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
