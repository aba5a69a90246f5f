import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { throughDoors } from "../../../scripts/doors.js";
import { textFiles } from "../../../scripts/text-files.js";
import {
  animated,
  bmp,
  bmpColour,
  cmyk,
  drawing,
  everyFormat,
  flatGiants,
  heicDecoder,
  heicGradient,
  heicHeader,
  hostileImages,
  type ImageSample,
  noise,
  photo,
  png,
  randomBytes,
  sixteenBits,
  transparent,
  turned,
} from "../../../test/samples/images.ts";
import { type Codecs, type ImageBudget, type ImageResult, readImage, vendorSize } from "./image.ts";

const budget: ImageBudget = { tokensMax: 25_000, longEdgeMax: 1_568, sideMax: 2_000, pixelsMax: 100_000_000 };
const { signal } = new AbortController();

async function read(bytes: Uint8Array, change: Partial<ImageBudget> = {}): Promise<ImageResult> {
  const image = await readImage(bytes, { ...budget, ...change }, signal);
  if (image.kind !== "image") throw new Error(JSON.stringify(image));
  return image;
}

/** What a strict reader sees in what was handed out. */
async function seen({
  base64,
  mime,
}: ImageResult): Promise<{ width: number; height: number; at(x: number): number[] }> {
  const image = sharp(Buffer.from(base64, "base64"), { failOn: "warning", animated: true });
  const { format } = await image.metadata();
  expect(`image/${format}`).toBe(mime);
  const { data, info } = await image.toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
  const middle = Math.floor(info.height / 2) * info.width;
  const at = (x: number): number[] => [
    ...data.subarray((middle + x) * info.channels, (middle + x + 1) * info.channels),
  ];
  return { width: info.width, height: info.height, at };
}

/** Red and blue come back from a JPEG with a few units more or less. */
const isRed = ([red = 0, , blue = 0]: readonly number[]): boolean => red > 200 && blue < 60;

describe("an image that is fine stays as it is", () => {
  test("byte for byte, in the four formats that models take", async () => {
    for (const { name, bytes } of (await everyFormat()).filter(({ name }) => !/tiff|avif|bmp|heic/.test(name))) {
      const image = await read(bytes);
      expect(image.steps, name).toBe("untouched");
      expect(image.base64).toBe(Buffer.from(bytes).toString("base64"));
      expect(image.tokens).toBe(Math.ceil(image.base64.length * 0.125));
      expect(image.display).toEqual(image.original);
      expect(await seen(image)).toMatchObject(image.display);
    }
  });

  test("up to the edges and the budget, and not one beyond", async () => {
    const wide = await drawing(1_568, 20).png().toBuffer();
    expect((await read(wide)).steps).toBe("untouched");
    expect(await read(await drawing(1_569, 20).png().toBuffer())).toMatchObject({
      steps: "resized",
      display: { width: 1_568 },
    });
    const exact = Math.ceil(wide.toString("base64").length / 8);
    expect((await read(wide, { tokensMax: exact })).steps).toBe("untouched");
    expect((await read(wide, { tokensMax: exact - 1 })).steps).not.toBe("untouched");
    expect((await read(wide, { sideMax: 1_000 })).display).toEqual({ width: 1_000, height: 13 });
  });

  test("a GIF whose canvas is not what the decoder shows is made anew", async () => {
    const gif = await photo(24, 16).gif().toBuffer();
    gif.writeUInt16LE(3_000, 6);
    const image = await read(gif, { longEdgeMax: 4_000, sideMax: 4_000 });
    expect(image).toMatchObject({ steps: "resized", mime: "image/png", display: { width: 24, height: 16 } });
  });
});

describe("an image that is not fine is made so", () => {
  test("a photo of 12 megapixels fits the edges", async () => {
    const image = await read(await photo(4_000, 3_000).jpeg().toBuffer());
    expect(image).toMatchObject({
      mime: "image/jpeg",
      originalMime: "image/jpeg",
      original: { width: 4_000, height: 3_000 },
      display: { width: 1_568, height: 1_176 },
      steps: "resized",
      frames: 1,
      vendorTokens: 56 * 42,
    });
    expect(image.tokens).toBeLessThanOrEqual(budget.tokensMax);
    expect(await seen(image)).toMatchObject(image.display);
  });

  test("a screenshot stays a PNG, a photo in a PNG becomes a JPEG", async () => {
    expect(await read(await drawing(2_880, 1_800).png().toBuffer())).toMatchObject({
      mime: "image/png",
      steps: "resized",
    });
    expect(await read(await photo(2_880, 1_800).png().toBuffer())).toMatchObject({
      mime: "image/jpeg",
      steps: "resized",
    });
    expect(await read(await photo(2_000, 1_000).webp().toBuffer())).toMatchObject({
      mime: "image/webp",
      steps: "resized",
    });
  });

  test("harder and harder, down to the last resort", async () => {
    const bytes = await noise(700, 500).png().toBuffer();
    const found = [];
    for (const tokensMax of [60_000, 25_000, 12_000, 4_000, 100]) {
      const image = await read(bytes, { tokensMax });
      if (image.steps !== "last resort") expect(image.tokens).toBeLessThanOrEqual(tokensMax);
      expect(await seen(image)).toMatchObject(image.display);
      found.push(`${image.steps} ${image.mime}`);
    }
    expect(found[0]).toBe("resized image/jpeg");
    expect(found.slice(1, 3)).toEqual(["compressed image/jpeg", "compressed image/jpeg"]);
    expect(found.at(-1)).toBe("last resort image/jpeg");
    expect((await read(bytes, { tokensMax: 100 })).display).toEqual({ width: 400, height: 286 });
  });

  test("transparency is kept, and white where a JPEG has none", async () => {
    const kept = await read(await transparent(2_000).png().toBuffer());
    expect((await seen(kept)).at(0)[3]).toBe(0);
    const last = await read(await transparent(500).png().toBuffer(), { tokensMax: 10 });
    expect(last).toMatchObject({ steps: "last resort", mime: "image/jpeg", display: { width: 400, height: 400 } });
    const corner = await sharp(Buffer.from(last.base64, "base64"))
      .extract({ left: 0, top: 0, width: 1, height: 1 })
      .raw()
      .toBuffer();
    for (const value of corner) expect(value).toBeGreaterThan(240);
  });

  test("a turned photo is turned back, and so are its dimensions", async () => {
    for (const [orientation, leftIsRed] of [
      [1, true],
      [2, false],
      [3, false],
      [4, true],
    ] as const) {
      const image = await read(await turned(300, 100, orientation));
      expect(image).toMatchObject({ original: { width: 300, height: 100 }, display: { width: 300, height: 100 } });
      expect(isRed((await seen(image)).at(10)), `${orientation}`).toBe(leftIsRed);
    }
    for (const orientation of [5, 6, 7, 8]) {
      const image = await read(await turned(2_000, 1_000, orientation));
      expect(image).toMatchObject({
        original: { width: 1_000, height: 2_000 },
        display: { width: 784, height: 1_568 },
      });
      expect(await seen(image)).toMatchObject(image.display);
    }
  });

  test("an animation shows its first frame and says how many there are", async () => {
    for (const format of ["gif", "webp"] as const) {
      const image = await read(await animated(format, 60, 5));
      expect(image).toMatchObject({ frames: 5, steps: "resized", display: { width: 60, height: 60 } });
      const shown = await seen(image);
      expect(shown).toMatchObject({ width: 60, height: 60 });
      expect(
        shown
          .at(5)
          .slice(0, 3)
          .map((value) => Math.round(value / 16)),
      ).toEqual([16, 0, 0]);
    }
  });

  test("no side becomes 0", async () => {
    expect((await read(await drawing(8_000, 1).png().toBuffer())).display).toEqual({ width: 1_568, height: 1 });
    expect((await read(await drawing(1, 8_000).png().toBuffer())).display).toEqual({ width: 1, height: 1_568 });
    expect(await read(await photo(1, 1).png().toBuffer())).toMatchObject({ steps: "untouched", vendorTokens: 1 });
  });

  test("other formats become one that models take", async () => {
    for (const [bytes, originalMime, mime] of [
      [await photo(100, 50).tiff().toBuffer(), "image/tiff", "image/jpeg"],
      [await photo(100, 50).avif({ effort: 0 }).toBuffer(), "image/avif", "image/jpeg"],
      [await transparent(50).avif({ effort: 0 }).toBuffer(), "image/avif", "image/webp"],
      [bmp(100, 50, { bits: 8, compression: 1 }), "image/bmp", "image/png"],
      [bmp(100, 50, { bits: 32, compression: 3 }), "image/bmp", "image/png"],
    ] as const) {
      const image = await read(bytes);
      expect(image).toMatchObject({ originalMime, mime, steps: "resized" });
      expect(await seen(image)).toMatchObject(image.display);
    }
    expect((await seen(await read(bmp(9, 1, { bits: 24 })))).at(3)).toEqual([...bmpColour(3)]);
  });

  test("16 bits and the colours of printers", async () => {
    expect((await read(await sixteenBits(100, 100))).steps).toBe("untouched");
    const large = await read(await sixteenBits(2_000, 500));
    expect((await sharp(Buffer.from(large.base64, "base64")).metadata()).depth).toBe("uchar");
    const printed = await read(await cmyk(100, 100));
    expect(printed.steps).toBe("resized");
    expect((await sharp(Buffer.from(printed.base64, "base64")).metadata()).space).toBe("srgb");
  });

  test("a call that was called off does not go on", async () => {
    const bytes = await photo(20, 20).png().toBuffer();
    await expect(readImage(bytes, budget, AbortSignal.abort())).rejects.toThrow("abort");
  });
});

describe("without the optional packages", () => {
  const none: Codecs = { loadSharp: async () => undefined, heic: () => undefined };
  const readBare = (bytes: Uint8Array): ReturnType<typeof readImage> => readImage(bytes, budget, signal, none);

  test("small images that are provably whole pass", async () => {
    for (const { name, bytes } of await everyFormat()) {
      const image = await readBare(bytes);
      if (/tiff|avif|bmp|heic/.test(name)) expect(image).toMatchObject({ kind: "no codec", install: "sharp" });
      else expect(image, name).toEqual(await read(bytes));
    }
  });

  test("all others do not: large, turned, animated, broken", async () => {
    for (const bytes of [
      await drawing(2_000, 20).png().toBuffer(),
      await turned(30, 20, 6),
      await animated("gif", 20, 2),
      await animated("webp", 20, 2),
      png(10, 10, Buffer.alloc(0)),
      (await photo(30, 30).jpeg().toBuffer()).subarray(0, -2),
    ]) {
      expect(await readBare(bytes)).toMatchObject({ kind: "no codec", install: "sharp" });
    }
  });

  test("nothing hostile passes", async () => {
    const passed = [];
    for (const { name, bytes } of await hostileImages())
      if ((await readBare(bytes)).kind === "image") passed.push(name);
    expect(passed).toEqual([]);
  });

  test("HEIC asks for its own decoder", async () => {
    const codecs: Codecs = { loadSharp: async () => sharp, heic: () => undefined };
    expect(await readImage(heicHeader(10, 10), budget, signal, codecs)).toEqual({
      kind: "no codec",
      mime: "image/heic",
      install: "libheif-js",
    });
  });
});

describe("HEIC", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "filehand-heic-"));
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

  /** A decoder that does as told, as the file that the worker loads. */
  function decoder(code: string): Codecs {
    const file = path.join(folder, `${fs.readdirSync(folder).length}.cjs`);
    fs.writeFileSync(file, heicDecoder(code));
    return { loadSharp: async () => sharp, heic: () => file };
  }

  test("a real one is decoded, in a worker: the main thread never loads the decoder", async () => {
    const image = await read(heicGradient());
    expect(image).toMatchObject({ originalMime: "image/heic", original: { width: 64, height: 48 }, frames: 1 });
    const picture = await seen(image);
    expect(picture).toMatchObject({ width: 64, height: 48 });
    for (const x of [2, 32, 61]) {
      const wanted = [x * 4, 24 * 5, 128];
      for (const [channel, value] of picture.at(x).entries())
        expect(Math.abs(value - (wanted[channel] ?? 0))).toBeLessThan(16);
    }
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    expect(loaded.filter((file) => /node_modules.libheif/.test(file))).toEqual([]);
  });

  test("one that is cut anywhere, or has garbage for pixels, is damaged", async () => {
    const whole = heicGradient();
    const garbage = Buffer.from(whole);
    garbage.set(randomBytes(50), garbage.indexOf("mdat") + 8);
    const cuts = [20, 100, 300, 450, 470, 520, whole.length - 1].map((length) => whole.subarray(0, length));
    for (const bytes of [...cuts, garbage]) {
      expect((await readImage(bytes, budget, signal)).kind, `${bytes.length} bytes`).toBe("damaged");
    }
  });

  test("what its decoder makes of it is handed on", async () => {
    const file = decoder("return { width: 3000, height: 1000 };");
    const image = await readImage(heicHeader(3_000, 1_000), budget, signal, file);
    expect(image).toMatchObject({
      originalMime: "image/heic",
      mime: "image/jpeg",
      display: { width: 1_568, height: 523 },
    });
  });

  test("is decoded in a worker: others have their turns meanwhile", async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 5);
    const slow = decoder("for (const end = Date.now() + 1000; Date.now() < end; ); return { width: 1, height: 1 };");
    expect((await readImage(heicHeader(10, 10), budget, signal, slow)).kind).toBe("image");
    clearInterval(timer);
    expect(turns).toBeGreaterThan(10);
  });

  test("a broken one is refused by the real decoder, which prints nothing", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const answers = await Promise.all([1, 2, 3].map(() => readImage(heicHeader(10, 10), budget, signal)));
    for (const answer of answers) expect(answer.kind).toBe("damaged");
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });
});

describe("what the vendor makes of a size", () => {
  for (const [tier, from, to, tokens] of [
    ["standard", [1_920, 1_080], [1_456, 819], 1_560],
    ["standard", [1_075, 1_520], [924, 1_307], 1_551],
    ["standard", [2_000, 2_000], [1_092, 1_092], 1_521],
    ["standard", [2_000, 1_500], [1_270, 952], 1_564],
    ["standard", [8_000, 100], [1_568, 20], 56],
    ["high", [3_840, 2_160], [2_576, 1_449], 4_784],
    ["standard", [1, 1], [1, 1], 1],
    ["standard", [100_000, 1], [1_568, 1], 56],
    ["high", [1, 100_000], [1, 2_576], 92],
  ] as const) {
    test(`${from.join("×")} is ${to.join("×")} in the ${tier} tier`, () => {
      expect(vendorSize(from[0], from[1], tier)).toEqual({ width: to[0], height: to[1], tokens });
    });
  }
});

/** In a process of its own, so that the memory is that of the image; idle, with sharp loaded, it has 70 MB. */
describe("hostile images", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "filehand-images-"));
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

  interface Answer {
    readonly name: string;
    readonly kind: string;
    readonly peakMegabytes: number;
  }

  beforeAll(async () => {
    const { resolve } = createRequire(import.meta.url);
    const bundle = await rolldown({
      input: fileURLToPath(new URL("image.ts", import.meta.url)),
      platform: "node",
      transform: { target: "node20" },
      plugins: [
        textFiles(),
        throughDoors(),
        {
          name: "packages are where they are",
          resolveId: (id) =>
            id === "sharp" || id === "libheif-js" ? { id: pathToFileURL(resolve(id)).href, external: true } : undefined,
        },
      ],
    });
    await bundle.write({ file: path.join(folder, "image.mjs"), format: "esm", codeSplitting: false });
    await bundle.close();
    fs.writeFileSync(
      path.join(folder, "child.mjs"),
      `import { readFileSync } from "node:fs";
      import { readImage } from "./image.mjs";
      // On Linux the usual figure starts with what the parent had when it forked.
      function peakKilobytes() {
        if (process.platform !== "linux") return process.resourceUsage().maxRSS;
        return Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
      }
      const answers = [];
      for (const name of process.argv.slice(3)) {
        const bytes = readFileSync(name);
        const { kind } = await readImage(bytes, JSON.parse(process.argv[2]), new AbortController().signal);
        const peakMegabytes = peakKilobytes() / 1024;
        answers.push({ name, kind, peakMegabytes });
      }
      console.log(JSON.stringify(answers));`,
    );
  });

  function inChild(samples: readonly ImageSample[]): readonly Answer[] {
    for (const { name, bytes } of samples) fs.writeFileSync(path.join(folder, name), bytes);
    const args = ["child.mjs", JSON.stringify(budget), ...samples.map(({ name }) => name)];
    return JSON.parse(execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" })) as readonly Answer[];
  }

  const within = (answers: readonly Answer[]): void => {
    for (const { name, peakMegabytes } of answers) {
      expect(peakMegabytes, `MB of ${name}`).toBeLessThan(300);
    }
  };

  test("all are refused, but for those that still are a picture", async () => {
    const answers = inChild(await hostileImages());
    within(answers);
    expect(answers.filter(({ kind }) => kind === "image").map(({ name }) => name)).toEqual([
      "rle bmp of 7,000",
      "png with a bomb inside",
      "gif without trailer",
    ]);
    const claims = answers.filter(({ name }) => name.endsWith("of 50,000"));
    expect(new Set(claims.map(({ kind }) => kind))).toEqual(new Set(["too large"]));
  });

  for (const { name, make } of flatGiants()) {
    test(`the largest that is let through is read in little memory: ${name}`, async () => {
      const answers = inChild([await make()]);
      within(answers);
      expect(answers[0]?.kind).toBe("image");
    });
  }
});
