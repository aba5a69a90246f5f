/** Lets whoever waits have their turn, in the middle of long work on the store: its reads and writes do not wait themselves. */
export const othersTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
