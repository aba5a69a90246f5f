/** A number that grows while calls come in, now and then: for what is asked for again because of them. */

import { useEffect, useState } from "preact/hooks";
import { onCalls } from "./desk.ts";

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
