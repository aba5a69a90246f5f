/**
 * The helper for `using`, which Node 20 does not know: the bundler writes `context.u(resource)` for a declaration (`a` for `await
 * using`), sets `context.e` in a catch, and calls `context.d()` in a finally. The bundler's own helper makes eight closures for each
 * block, and a small Read runs five such blocks.
 */

const nothing = Symbol("nothing was thrown");

class UsingContext {
  /** What the block has thrown, then what closing has. @type {unknown} */
  e = nothing;
  /** @type {{ readonly value: unknown, readonly dispose: (() => unknown) | undefined, readonly isAsync: boolean }[]} */
  resources = [];
  isAsync = false;

  /** @template Resource @param {Resource} value */
  u(value) {
    if (value !== null && value !== undefined) this.add(value, disposeOf(value, Symbol.dispose), false);
    return value;
  }

  /** @template Resource @param {Resource} value */
  a(value) {
    this.isAsync = true;
    if (value === null || value === undefined) this.add(value, undefined, true);
    else this.add(value, disposeOf(value, Symbol.asyncDispose) ?? disposeOf(value, Symbol.dispose), true);
    return value;
  }

  /** @param {unknown} value @param {unknown} dispose @param {boolean} isAsync */
  add(value, dispose, isAsync) {
    const isEmpty = value === null || value === undefined;
    if (!isEmpty && typeof dispose !== "function")
      throw new TypeError("a resource of `using` has nothing that closes it");
    this.resources.push({ value, dispose: /** @type {(() => unknown) | undefined} */ (dispose), isAsync });
  }

  /** Closes the resources, the last one first, and throws what the block or a close has thrown. */
  d() {
    if (this.isAsync) return this.closeAsync();
    for (let one = this.resources.pop(); one !== undefined; one = this.resources.pop()) {
      try {
        one.dispose?.call(one.value);
      } catch (error) {
        this.failed(error);
      }
    }
    if (this.e !== nothing) throw this.e;
    return undefined;
  }

  async closeAsync() {
    for (let one = this.resources.pop(); one !== undefined; one = this.resources.pop()) {
      try {
        const closing = one.dispose?.call(one.value);
        if (one.isAsync) await closing;
      } catch (error) {
        this.failed(error);
      }
    }
    if (this.e !== nothing) throw this.e;
  }

  /** @param {unknown} error */
  failed(error) {
    this.e = this.e === nothing ? error : suppressing(error, this.e);
  }
}

/** @param {unknown} value @param {symbol} name @returns {unknown} */
const disposeOf = (value, name) => /** @type {Record<symbol, unknown>} */ (value)[name];

/** A `SuppressedError`, which Node 20 does not have. @param {unknown} error @param {unknown} suppressed */
const suppressing = (error, suppressed) =>
  Object.assign(new Error("closing failed after another error"), { name: "SuppressedError", error, suppressed });

export default () => new UsingContext();
