/** The packages that decode pictures, loaded when the first one is read. */

import type { SharpConstructor } from "sharp";
import type { Size } from "./image-formats/head.ts";

/** The optional packages. Undefined is "not installed": npm may have left them out. */
export interface Codecs {
  loadSharp(): Promise<SharpConstructor | undefined>;
  loadHeic(): Promise<HeicDecode | undefined>;
}

export type HeicDecode = (file: { readonly buffer: Uint8Array }) => Promise<Size & { readonly data: Uint8Array }>;

export const installedCodecs: Codecs = {
  async loadSharp() {
    const module = await import("sharp").catch(() => undefined);
    if (module === undefined) return undefined;
    // The host has other work for its cores, and no picture is asked for twice.
    module.default.concurrency(1);
    module.default.cache(false);
    return module.default;
  },
  async loadHeic() {
    // The package brings no types: as a plain string it is not looked for at compile time.
    // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- see above
    const loaded: unknown = await import("heic-decode" as string).catch(() => undefined);
    const decodeHeic = (loaded as { readonly default: HeicDecode } | undefined)?.default;
    return decodeHeic && ((file) => oneAtATime(() => quietly(() => decodeHeic(file))));
  },
};

let lastHeic: Promise<unknown> = Promise.resolve();

/** So that memory for one suffices, and `quietly` never meets itself. */
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  const done = lastHeic.then(work);
  lastHeic = done.catch(() => undefined);
  return done;
}

/** The HEIC decoder prints these on stdout, where a server's replies go. All else that is printed meanwhile passes. */
const heicTalk =
  /^(Could not (create HEIF|get image|parse HEIF)|Decoding image failed|Error loading image|No images found)/;

/* oxlint-disable no-console -- to keep another from printing */
async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const original = console.log;
  console.log = (...words: unknown[]) => {
    if (typeof words[0] !== "string" || !heicTalk.test(words[0])) original(...words);
  };
  try {
    return await work();
  } finally {
    console.log = original;
  }
}
/* oxlint-enable no-console */
