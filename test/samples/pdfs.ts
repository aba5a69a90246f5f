/**
 * PDF files for tests, written by a writer of a hundred lines: good ones, broken ones and ones that mean harm. Nothing
 * here is a file in the repository, so each sample can be read as what it is.
 */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { constants, deflateRawSync, deflateSync } from "node:zlib";

/** Bodies of objects 1, 2, 3 … as bytes in a string (latin1). Object 1 is the catalogue. */
type Bodies = readonly string[];

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

const stream = (data: string | Uint8Array, dictionary = ""): string => {
  const bytes = typeof data === "string" ? latin1(data) : Buffer.from(data);
  return `<< ${dictionary} /Length ${bytes.length} >>\nstream\n${bytes.toString("latin1")}\nendstream`;
};

const flate = (data: string | Uint8Array, dictionary = ""): string =>
  stream(deflateSync(typeof data === "string" ? latin1(data) : data), `${dictionary} /Filter /FlateDecode`);

/** A zlib stream of `data` many times over, never held at once. Its checksum is wrong, which PDFium forgives. */
function repeated(data: string | Uint8Array, times: number): Buffer {
  const block = deflateRawSync(data, { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([latin1("\x78\x9c"), ...Array.from({ length: times }, () => block), latin1("\x03\0\0\0\0\0")]);
}

/** The classic form: objects one by one, then the table of their places. */
function writePdf(bodies: Bodies, trailer = ""): Buffer {
  const parts: Buffer[] = [latin1("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")];
  const places: number[] = [];
  let at = parts[0]?.length ?? 0;
  for (const [index, body] of bodies.entries()) {
    places.push(at);
    const part = latin1(`${index + 1} 0 obj\n${body}\nendobj\n`);
    parts.push(part);
    at += part.length;
  }
  const rows = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  parts.push(
    latin1(
      `xref\n0 ${bodies.length + 1}\n0000000000 65535 f \n${rows}` +
        `trailer\n<< /Size ${bodies.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

/** The form since PDF 1.5: all that is no stream inside one compressed stream, the table of places a stream too. */
function writeCompressedPdf(bodies: Bodies): Buffer {
  const isStream = (body: string): boolean => body.endsWith("endstream");
  const packed = [...bodies.entries()].filter(([, body]) => !isStream(body));
  const packNumber = bodies.length + 1;
  const tableNumber = packNumber + 1;
  let offset = 0;
  const heads = packed.map(([index, body]) => {
    const head = `${index + 1} ${offset}`;
    offset += body.length + 1;
    return head;
  });
  const head = `${heads.join(" ")}\n`;
  const pack = flate(
    head + packed.map(([, body]) => `${body}\n`).join(""),
    `/Type /ObjStm /N ${packed.length} /First ${head.length}`,
  );

  let file = "%PDF-1.7\n";
  const rows = new Map<number, readonly [number, number, number]>([[0, [0, 0, 255]]]);
  for (const [row, [index]] of packed.entries()) rows.set(index + 1, [2, packNumber, row]);
  for (const [number, body] of [
    ...bodies.map((body, index) => [index + 1, body] as const),
    [packNumber, pack] as const,
  ]) {
    if (number !== packNumber && !isStream(body)) continue;
    rows.set(number, [1, file.length, 0]);
    file += `${number} 0 obj\n${body}\nendobj\n`;
  }
  rows.set(tableNumber, [1, file.length, 0]);
  const table = Buffer.alloc((tableNumber + 1) * 6);
  for (const [number, [type, first, second]] of rows) {
    table.writeUInt8(type, number * 6);
    table.writeUInt32BE(first, number * 6 + 1);
    table.writeUInt8(second, number * 6 + 5);
  }
  const tableBody = flate(table, `/Type /XRef /W [1 4 1] /Size ${tableNumber + 1} /Root 1 0 R`);
  return latin1(`${file}${tableNumber} 0 obj\n${tableBody}\nendobj\nstartxref\n${file.length}\n%%EOF\n`);
}

interface Leaf {
  /** Operators of the page, or a zlib stream of them. */
  readonly content: string | Uint8Array;
  /** Entries of its resources. */
  readonly resources?: string;
  readonly size?: readonly [number, number];
}

const helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

/** Catalogue 1, page tree 2, Helvetica 3 (as `/F1`), `extra` from 4 on, then two objects a page. */
function bodiesOf(pages: readonly Leaf[], extra: Bodies = []): Bodies {
  const first = 4 + extra.length;
  return [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${first + index * 2} 0 R`).join(" ")}] >>`,
    helvetica,
    ...extra,
    ...pages.flatMap(({ content, resources = "/Font << /F1 3 0 R >>", size = [612, 792] }, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${size.join(" ")}] /Resources << ${resources} >> ` +
        `/Contents ${first + index * 2 + 1} 0 R >>`,
      typeof content === "string" ? stream(content) : stream(content, "/Filter /FlateDecode"),
    ]),
  ];
}

/** Lines of Latin text from the top of the page; characters are those of windows-1252 below U+0100. */
const linesContent = (lines: readonly string[]): string =>
  `BT /F1 11 Tf 14 TL 50 740 Td\n${lines.map((line) => `(${line.replaceAll(/[\\()]/g, "\\$&")}) Tj T*`).join("\n")}\nET`;

const textLeaves = (pages: readonly (readonly string[])[]): readonly Leaf[] =>
  pages.map((lines) => ({ content: linesContent(lines) }));

/** A page for each list of lines. */
export const textPdf = (pages: readonly (readonly string[])[]): Buffer => writePdf(bodiesOf(textLeaves(pages)));

/** The same with object streams and a cross-reference stream. */
export const compressedPdf = (pages: readonly (readonly string[])[]): Buffer =>
  writeCompressedPdf(bodiesOf(textLeaves(pages)));

/** Pages of prose, `linesPerPage` lines each; every page begins with its number. */
export const prosePdf = (pages: number, linesPerPage: number): Buffer =>
  textPdf(
    Array.from({ length: pages }, (_, page) => [
      `Page ${page + 1}`,
      ...Array.from(
        { length: linesPerPage - 1 },
        (_, line) =>
          `Line ${line + 2}: the quick brown fox jumps over the lazy dog, ${page * 31 + line * 7} times so far`,
      ),
    ]),
  );

export const emptyPagesPdf = (pages: number): Buffer =>
  writePdf(bodiesOf(Array.from({ length: pages }, () => ({ content: "" }))));

const utf16Hex = (text: string): string => Buffer.from(text, "utf16le").swap16().toString("hex");

/** Chinese and Japanese in fonts that are not in the file: only the names of the character maps say what is meant. */
export const cjkPdf = (chinese: string, japanese: string): Buffer => {
  const font = (name: string, map: string, ordering: string, system: number, descendant: number): Bodies => [
    `<< /Type /Font /Subtype /Type0 /BaseFont /${name} /Encoding /${map} /DescendantFonts [${descendant} 0 R] >>`,
    `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /${name} /DW 1000 ` +
      `/CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement ${system} >> >>`,
  ];
  return writePdf(
    bodiesOf(
      [
        {
          content: `BT /C 12 Tf 50 700 Td <${utf16Hex(chinese)}> Tj /J 12 Tf 0 -20 Td <${utf16Hex(japanese)}> Tj ET`,
          resources: "/Font << /C 4 0 R /J 6 0 R >>",
        },
      ],
      [...font("STSong-Light", "UniGB-UCS2-H", "GB1", 2, 5), ...font("HeiseiMin-W3", "UniJIS-UCS2-H", "Japan1", 2, 7)],
    ),
  );
};

/** Glyphs by number, as most programs write text today; a map in the file says which characters they are. */
export const mappedPdf = (text: string): Buffer => {
  const characters = [...new Set(text)];
  const code = (character: string): string => (characters.indexOf(character) + 1).toString(16).padStart(4, "0");
  const rows = characters.map((character) => `<${code(character)}> <${utf16Hex(character)}>`);
  const map =
    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n" +
    "1 begincodespacerange <0000> <ffff> endcodespacerange\n" +
    `${rows.length} beginbfchar\n${rows.join("\n")}\nendbfchar\nendcmap end end`;
  return writePdf(
    bodiesOf(
      [
        {
          content: `BT /M 12 Tf 50 700 Td <${Array.from(text, code).join("")}> Tj ET`,
          resources: "/Font << /M 4 0 R >>",
        },
      ],
      [
        "<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /Identity-H /DescendantFonts [5 0 R] /ToUnicode 6 0 R >>",
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Some /DW 1000 " +
          "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
        stream(map),
      ],
    ),
  );
};

/** Pages that are only a picture: grey noise, as paper on a scanner is. */
export const scannedPdf = (pages: number, edge = 400): Buffer => {
  const pixels = Buffer.alloc(edge * edge);
  let seed = 1;
  for (let index = 0; index < pixels.length; index += 1) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    pixels[index] = 128 + (seed >>> 25);
  }
  const image = flate(
    pixels,
    `/Type /XObject /Subtype /Image /Width ${edge} /Height ${edge} /ColorSpace /DeviceGray /BitsPerComponent 8`,
  );
  const leaf: Leaf = { content: "q 612 0 0 792 0 0 cm /I Do Q", resources: "/XObject << /I 4 0 R >>" };
  return writePdf(
    bodiesOf(
      Array.from({ length: pages }, () => leaf),
      [image],
    ),
  );
};

/** One page that is red all over. */
export const redPdf = (): Buffer => writePdf(bodiesOf([{ content: "1 0 0 rg 0 0 612 792 re f" }]));

/** Encrypted with RC4 of 40 bits. Without a user password anybody may open it; the owner's only guards its rights. */
export function encryptedPdf(lines: readonly string[], userPassword: string): Buffer {
  const id = md5("a sample");
  const rights = -44;
  const owner = rc4(md5(padded("owner")).subarray(0, 5), padded(userPassword));
  const rightsBytes = Buffer.alloc(4);
  rightsBytes.writeInt32LE(rights);
  const key = md5(padded(userPassword), owner, rightsBytes, id).subarray(0, 5);
  const user = rc4(key, padded(""));

  const bodies = bodiesOf(textLeaves([lines])).map((body, index) => {
    const match = /^<<.*?>>\nstream\n([^]*)\nendstream$/.exec(body);
    if (match === null) return body;
    const place = Buffer.from([index + 1, 0, 0, 0, 0]);
    return stream(rc4(md5(key, place).subarray(0, 10), latin1(match[1] ?? "")));
  });
  const encrypt = `<< /Filter /Standard /V 1 /R 2 /O <${owner.toString("hex")}> /U <${user.toString("hex")}> /P ${rights} >>`;
  return writePdf(
    [...bodies, encrypt],
    `/Encrypt ${bodies.length + 1} 0 R /ID [<${id.toString("hex")}> <${id.toString("hex")}>]`,
  );
}

/** The 32 bytes that fill up every password, from the standard. */
const padding = Buffer.from("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a", "hex");

const padded = (password: string): Buffer => Buffer.concat([latin1(password), padding]).subarray(0, 32);

function md5(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash("md5");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function rc4(key: Uint8Array, data: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const swap = (a: number, b: number): void => {
    [state[a], state[b]] = [state[b] ?? 0, state[a] ?? 0];
  };
  let j = 0;
  for (let i = 0; i < 256; i += 1) {
    j = (j + (state[i] ?? 0) + (key[i % key.length] ?? 0)) & 255;
    swap(i, j);
  }
  let i = 0;
  j = 0;
  return Buffer.from(data).map((byte) => {
    i = (i + 1) & 255;
    j = (j + (state[i] ?? 0)) & 255;
    swap(i, j);
    return byte ^ (state[((state[i] ?? 0) + (state[j] ?? 0)) & 255] ?? 0);
  }) as Buffer;
}

/** Three pages: text, a page whose object is no page, text. */
export const pageMissingPdf = (): Buffer => {
  const bodies = [...bodiesOf(textLeaves([["first"], ["second"], ["third"]]))];
  bodies[5] = "42";
  return writePdf(bodies);
};

/** 400 MB of operators. */
const hugeContent = (): Buffer => repeated("BT /F1 9 Tf (abcdefgh) Tj ET ".repeat(35_000), 400);

/** Three pages: text, a page that takes all memory, text. */
export const pageBombPdf = (): Buffer =>
  writePdf(bodiesOf([...textLeaves([["first"]]), { content: hugeContent() }, ...textLeaves([["third"]])]));

/** Three pages: text, a page that takes hours to draw, text. */
export const pageDrawnForHoursPdf = (): Buffer =>
  writePdf(bodiesOf([...textLeaves([["first"]]), tinyTiles, ...textLeaves([["third"]])], [tinyTile]));

const tinyTiles: Leaf = {
  content: "/Pattern cs /P scn 0 0 612 792 re f ".repeat(200),
  resources: "/Pattern << /P 4 0 R >>",
};
const tinyTile = stream(
  "0 0 0.001 0.001 re f",
  "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 0.01 0.01] /XStep 0.01 /YStep 0.01 /Resources << >>",
);

/** Nothing of these can be read, or only some of it. */
export function damagedPdfs(): ReadonlyMap<string, Buffer> {
  const whole = prosePdf(3, 20);
  const cut = (share: number): Buffer => whole.subarray(0, Math.floor(whole.length * share));
  const random = Buffer.alloc(50_000);
  let state = 7;
  for (let index = 0; index < random.length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    random[index] = state >>> 24;
  }
  return new Map([
    ["nothing", Buffer.alloc(0)],
    ["the header only", latin1("%PDF-1.7\n")],
    ["a header and random bytes", Buffer.concat([latin1("%PDF-1.7\n"), random])],
    ["random bytes", random],
    ["cut after a tenth", cut(0.1)],
    ["cut in the middle", cut(0.5)],
    ["cut before the table of places", cut(0.95)],
    ["a header and zeros", Buffer.concat([latin1("%PDF-1.7\n"), Buffer.alloc(100_000)])],
    ["no pages", writePdf(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 0 /Kids [] >>"])],
    [
      "a trailer that leads to itself",
      latin1("%PDF-1.7\ntrailer\n<< /Size 1 /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF\n"),
    ],
  ]);
}

/** A black picture, of 400 MB at most. */
const picturePdf = (edge: number): Buffer =>
  writePdf(
    bodiesOf(
      [{ content: "q 612 0 0 792 0 0 cm /I Do Q", resources: "/XObject << /I 4 0 R >>" }],
      [
        stream(
          repeated(Buffer.alloc(1_000_000), 400),
          `/Type /XObject /Subtype /Image /Width ${edge} /Height ${edge} /ColorSpace /DeviceRGB /BitsPerComponent 8 ` +
            "/Filter /FlateDecode",
        ),
      ],
    ),
  );

/** Files that are small and try to take all time or all memory. Made when asked for: some take a second to make. */
export const bombs: Readonly<Record<string, () => Buffer>> = {
  "a content stream of 400 MB": () => writePdf(bodiesOf([{ content: hugeContent() }])),
  "a content stream packed twice": () =>
    writePdf([
      ...bodiesOf([{ content: "" }]).slice(0, -1),
      stream(deflateSync(repeated(" ".repeat(1_000_000), 500)), "/Filter [/FlateDecode /FlateDecode]"),
    ]),
  "forms that call forms ten times each": () =>
    writePdf(
      bodiesOf(
        [{ content: "/X Do", resources: "/XObject << /X 4 0 R >>" }],
        Array.from({ length: 12 }, (_, depth) =>
          stream(
            depth === 11 ? "BT /F1 9 Tf (ha) Tj ET" : "/X Do ".repeat(10),
            "/Type /XObject /Subtype /Form /BBox [0 0 612 792] " +
              `/Resources << /Font << /F1 3 0 R >> /XObject << /X ${depth + 5} 0 R >> >>`,
          ),
        ),
      ),
    ),
  "a form that calls itself": () =>
    writePdf(
      bodiesOf(
        [{ content: "/X Do", resources: "/XObject << /X 4 0 R >>" }],
        [
          stream(
            "/X Do /X Do",
            "/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << /X 4 0 R >> >>",
          ),
        ],
      ),
    ),
  "a page tree 20,000 deep": () =>
    writePdf([
      "<< /Type /Catalog /Pages 2 0 R >>",
      ...Array.from(
        { length: 20_000 },
        (_, depth) => `<< /Type /Pages /Count 1 /Kids [${depth + 3} 0 R] /Parent ${depth + 1} 0 R >>`,
      ),
      "<< /Type /Page /MediaBox [0 0 612 792] /Parent 20001 0 R >>",
    ]),
  "a page tree that contains itself": () =>
    writePdf([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count 3 /Kids [2 0 R 2 0 R 2 0 R] /Parent 2 0 R >>",
    ]),
  "a page tree that counts a billion": () =>
    writePdf(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1000000000 /Kids [2 0 R] >>"]),
  "a page of a million by a million points": () =>
    writePdf(bodiesOf([{ content: linesContent(["far away"]), size: [1_000_000, 1_000_000] }])),
  "a page of a million by one point": () =>
    writePdf(bodiesOf([{ content: linesContent(["a thread"]), size: [1_000_000, 1] }])),
  "a picture of 60,000 by 60,000": () => picturePdf(60_000),
  "a picture of 10,000 by 10,000": () => picturePdf(10_000),
  "a JBIG2 picture of 60,000 by 60,000": () => {
    // One page information segment: width, height, resolution, flags, no stripes.
    const segment = Buffer.alloc(11 + 19);
    segment.writeUInt8(48, 4);
    segment.writeUInt8(1, 6);
    segment.writeUInt32BE(19, 7);
    segment.writeUInt32BE(60_000, 11);
    segment.writeUInt32BE(60_000, 15);
    const image =
      "/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceGray /BitsPerComponent 1";
    return writePdf(
      bodiesOf(
        [{ content: "q 612 0 0 792 0 0 cm /I Do Q", resources: "/XObject << /I 4 0 R >>" }],
        [stream(segment, `${image} /Filter /JBIG2Decode`)],
      ),
    );
  },
  "a line of endless dashes": () =>
    writePdf(bodiesOf([{ content: "[0.00001 0.00001] 0 d 1 w 0 0 m 600 700 l S ".repeat(50) }])),
  "a pattern of tiny tiles": () => writePdf(bodiesOf([tinyTiles], [tinyTile])),
  "a page of two million letters": () =>
    writePdf(bodiesOf([{ content: deflateSync(`BT /F1 0.1 Tf ${"(abcdefghijklmnopqrst) Tj ".repeat(100_000)} ET`) }])),
  "lines of text on top of each other": () =>
    writePdf(bodiesOf([{ content: deflateSync("BT /F1 11 Tf 50 50 Td (over and over) Tj ET ".repeat(30_000)) }])),
  "arrays a million deep": () => {
    const bodies = bodiesOf([{ content: "[".repeat(1_000_000) }], [`${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`]);
    return writePdf(bodies, "/Info 4 0 R");
  },
};
