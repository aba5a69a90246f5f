/** What the reader of one format is handed, and what it gives back besides the text. */

import type { LeftOut, Markdown } from "./markdown.ts";
import type { Package, Part } from "./package.ts";

export interface Reading {
  /** The main part; its root element has just been opened. */
  readonly main: Part;
  readonly office: Package;
  readonly markdown: Markdown;
  readonly leftOut: LeftOut;
  readonly cellsMax: number;
}

export interface Made {
  readonly parts: readonly string[];
  readonly notes: readonly string[];
}
