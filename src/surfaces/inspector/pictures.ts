/** Pictures that a browser shows, told by their first bytes. Pure. What is drawn by a program (SVG) is text here. */

const marks: readonly (readonly [mimeType: string, test: (bytes: Buffer) => boolean])[] = [
  ["image/png", (bytes) => bytes.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))],
  ["image/jpeg", (bytes) => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff],
  ["image/gif", (bytes) => /^GIF8[79]a/.test(bytes.toString("latin1", 0, 6))],
  ["image/webp", (bytes) => /^RIFF.{4}WEBP/s.test(bytes.toString("latin1", 0, 12))],
  ["image/bmp", (bytes) => bytes.length > 26 && bytes.toString("latin1", 0, 2) === "BM" && bytes.readUInt32LE(6) === 0],
];

export const mimeOf = (bytes: Buffer): string | undefined => marks.find(([, test]) => test(bytes))?.[0];
