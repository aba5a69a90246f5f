/** A diff that is made when it is first looked at: while the disk is busy, or when somebody has to be shown it. */

import type { Hunk } from "../contract/edit.ts";
import type { Diff } from "./plan.ts";

/** A class, for its getters: each object literal with getters of its own has a shape of its own, which stays in memory. */
export class LaterDiff implements Diff {
  readonly #make: () => Diff;
  #made: Diff | undefined;

  constructor(make: () => Diff) {
    this.#make = make;
  }

  /** It costs nothing from then on. */
  made(): Diff {
    return (this.#made ??= this.#make());
  }

  get hunks(): readonly Hunk[] {
    return this.made().hunks;
  }
  get additions(): number {
    return this.made().additions;
  }
  get deletions(): number {
    return this.made().deletions;
  }
  get complete(): boolean {
    return this.made().complete;
  }
}
