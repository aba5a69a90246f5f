/** A part of a file too large to be hashed whole, hashed by itself: when there is time for it, or when somebody asks. */

import type { Page } from "../contract/read.ts";
import type { View } from "../session/read-state.ts";
import { viewHash } from "./stamp.ts";

/** A class, for its getter: as an object literal each would have a shape of its own, which stays in memory. */
export class LaterView implements View {
  readonly from: number;
  readonly to: number;
  /** Not kept longer than it is needed. */
  #page: Page | undefined;
  #hash: string | undefined;

  constructor(page: Page) {
    this.from = page.from;
    this.to = page.from + page.count - 1;
    this.#page = page;
    setImmediate(() => this.hash);
  }

  get hash(): string | undefined {
    if (this.#page !== undefined) this.#hash = viewHash(this.#page);
    this.#page = undefined;
    return this.#hash;
  }
}
