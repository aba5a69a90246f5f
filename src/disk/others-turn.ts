/** Lets whoever waits have their turn, in the middle of long work: much that is done on a disk does not wait itself. */
export const othersTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
