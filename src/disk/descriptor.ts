/**
 * File descriptors that close at the end of a `using` block, and handing one on to a caller. Node 20 has the symbols but no
 * `DisposableStack`; `HandleStack` is the part of it that is needed here.
 */

import * as fs from "node:fs";
import { errnoName } from "./errno.ts";
import type { System } from "./system.ts";

const node: Pick<System, "close"> = { close: (fd) => fs.closeSync(fd) };

/** Closes its number at most once: after a failed close the system may already have reused it. */
export class Descriptor implements Disposable {
  readonly fd: number;
  readonly #system: Pick<System, "close">;
  #open = true;

  constructor(fd: number, system: Pick<System, "close"> = node) {
    this.fd = fd;
    this.#system = system;
  }

  /** For written files: throws the error of closing, which may report lost data. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#system.close(this.fd);
  }

  /** From now on the caller closes the returned descriptor. */
  move(): Descriptor {
    this.#open = false;
    return new Descriptor(this.fd, this.#system);
  }

  /** For files only read or given up: a failed close loses nothing. EBADF is a bug and is thrown. */
  [Symbol.dispose](): void {
    try {
      this.close();
    } catch (error) {
      if (["EBADF", undefined].includes(errnoName(error))) throw error;
    }
  }
}

/** Handles closed together, the last one first, unless moved to a caller. */
export class HandleStack implements Disposable {
  #handles: Disposable[] = [];

  use<Handle extends Disposable | undefined>(handle: Handle): Handle {
    if (handle !== undefined) this.#handles.push(handle);
    return handle;
  }

  /** From now on the caller closes the returned stack. */
  move(): HandleStack {
    const moved = new HandleStack();
    moved.#handles = this.#handles;
    this.#handles = [];
    return moved;
  }

  [Symbol.dispose](): void {
    for (const handle of this.#handles.splice(0).reverse()) handle[Symbol.dispose]();
  }
}
