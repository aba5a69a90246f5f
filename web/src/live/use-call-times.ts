/** A number that grows from time to time while calls come in, for data that must then be loaded again. */

import { useEffect, useState } from "preact/hooks";
import { onCalls } from "./live-state.ts";

const everyMs = 2_000;

export function useCallTimes(): number {
  const [times, setTimes] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onCalls(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setTimes((before) => before + 1);
      }, everyMs);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  return times;
}
