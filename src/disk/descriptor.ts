/**
 * Descriptors that are closed where the block ends that opened them (`using`), and how one of them is handed on. Node 20 has
 * the symbols and no `DisposableStack`: `HandleStack` is the part of it that is needed here.
 */

import * as fs from "node:fs";
import { errnoName } from "./errno.ts";
import type { System } from "./system.ts";

const node: Pick<System, "close"> = { close: (fd) => fs.closeSync(fd) };

/** A number that the system gave out. Never closed twice: the number is free even if closing failed. */
export class Descriptor implements Disposable {
  readonly fd: number;
  readonly #system: Pick<System, "close">;
  #open = true;

  constructor(fd: number, system: Pick<System, "close"> = node) {
    this.fd = fd;
    this.#system = system;
  }

  /** For what was written: the error of closing counts, and is thrown. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#system.close(this.fd);
  }

  /** The caller closes it from now on. */
  move(): Descriptor {
    this.#open = false;
    return new Descriptor(this.fd, this.#system);
  }

  /** What was only read, or is given up anyway, loses nothing when closing fails. A bad number is a bug and stays one. */
  [Symbol.dispose](): void {
    try {
      this.close();
    } catch (error) {
      if (["EBADF", undefined].includes(errnoName(error))) throw error;
    }
  }
}

/** Handles that are closed together, the last one first, unless they are handed on. */
export class HandleStack implements Disposable {
  #handles: Disposable[] = [];

  use<Handle extends Disposable | undefined>(handle: Handle): Handle {
    if (handle !== undefined) this.#handles.push(handle);
    return handle;
  }

  /** The caller closes them from now on. */
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
