/** Descriptors that a `using` block closes or hands on. Node 20 has no `DisposableStack`; `HandleStack` is the part needed here. */

import * as fs from "node:fs";
import { errnoName } from "./errno.ts";
import { timeSlices } from "./event-loop.ts";
import type { System } from "./system.ts";

const node: Pick<System, "close"> = { close: (fd) => fs.closeSync(fd) };

/** Follows no symlink and waits for no FIFO. Windows has neither flag. */
export const noFollow = (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

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

  [Symbol.dispose](): void {
    quietly(() => this.close());
  }
}

/** Closes files that were only read or are given up: a failed close loses nothing. EBADF is a bug and is thrown. */
export function quietly(close: () => void): void {
  try {
    close();
  } catch (error) {
    ignoreFailedClose(error);
  }
}

export function ignoreFailedClose(error: unknown): void {
  if (["EBADF", undefined].includes(errnoName(error))) throw error;
}

export class HandleStack implements Disposable, AsyncDisposable {
  #handles: Disposable[] = [];

  use<Handle extends Disposable | undefined>(handle: Handle): Handle {
    if (handle !== undefined) this.#handles.push(handle);
    return handle;
  }

  move(): HandleStack {
    const moved = new HandleStack();
    moved.#handles = this.#handles;
    this.#handles = [];
    return moved;
  }

  [Symbol.dispose](): void {
    for (const handle of this.#handles.splice(0).reverse()) handle[Symbol.dispose]();
  }

  /** For many handles: closing a file that has lost its last name makes the system free it, which takes time. */
  async [Symbol.asyncDispose](): Promise<void> {
    const slices = timeSlices();
    for (let handle = this.#handles.pop(); handle !== undefined; handle = this.#handles.pop()) {
      handle[Symbol.dispose]();
      if (slices.isOver()) await slices.next();
    }
  }
}
