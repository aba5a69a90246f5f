/**
 * Different lines that any product of four bytes at a time makes one of: the highest bit of two such groups in a row, set in both
 * or in neither, is lost.
 */
export function collidingLines(count: number): readonly string[] {
  const bits = Math.ceil(Math.log2(count));
  const pair = (set: boolean): string => (set ? "a\uce00a\uce00" : "a\u4e00a\u4e00");
  return Array.from({ length: count }, (_, number) => {
    const pairs = Array.from({ length: bits }, (_, bit) => pair(((number >> bit) & 1) === 1));
    return `${pairs.join("")}z\n`;
  });
}
