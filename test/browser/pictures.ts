/** Small pictures of one colour. */

import { deflateSync } from "node:zlib";
import { png } from "../samples/images.ts";

export function pngOf(width: number, height: number, [red, green, blue]: readonly [number, number, number]): Buffer {
  const row = Buffer.from([0, ...Array.from({ length: width }, () => [red, green, blue]).flat()]);
  return png(width, height, deflateSync(Buffer.concat(Array.from({ length: height }, () => row))));
}
