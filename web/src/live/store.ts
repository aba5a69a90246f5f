/** A value that parts of the page watch. */

import { useEffect, useState } from "preact/hooks";

export interface Store<Value> {
  get(): Value;
  set(next: Value | ((before: Value) => Value)): void;
  watch(onChange: () => void): () => void;
}

export function createStore<Value extends object>(initial: Value): Store<Value> {
  let value = initial;
  const watchers = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      const after = typeof next === "function" ? next(value) : next;
      if (after === value) return;
      value = after;
      for (const watcher of watchers) watcher();
    },
    watch(onChange) {
      watchers.add(onChange);
      return () => watchers.delete(onChange);
    },
  };
}

export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState(() => store.get());
  useEffect(() => {
    const look = (): void => setValue(() => store.get());
    look();
    return store.watch(look);
  }, [store]);
  return value;
}
