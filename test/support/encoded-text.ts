/** Texts and their bytes, worked out without the engine: what an edit must leave and what it must write. */

export interface TextForm {
  readonly name: string;
  /** What Read calls it. */
  readonly encoding: string;
  readonly bom: readonly number[];
  /** Without these words at its beginning a file would not be known for what it is. */
  readonly head: string;
  /** Characters that a text of this form may have, besides ASCII. */
  readonly letters: readonly string[];
  readonly bytes: (text: string) => Buffer;
}

/** Stand for bytes that cannot be decoded. No call can hold them, as none can hold such bytes. */
export const brokenLetters = ["\ue000", "\ue001", "\ue002"] as const;

const brokenBytes: Readonly<Record<string, readonly number[]>> = {
  "\ue000": [0xff],
  "\ue001": [0x80],
  "\ue002": [0xc0],
};

function byCharacter(text: string, of: (character: string) => readonly number[] | Uint8Array): Buffer {
  return Buffer.concat(Array.from(text, (character) => Uint8Array.from(of(character))));
}

const utf8 = (text: string): Buffer =>
  byCharacter(text, (character) => brokenBytes[character] ?? Buffer.from(character));

function utf16(text: string, order: "le" | "be"): Buffer {
  // A second half without its first.
  const bytes = Buffer.from(text.replace(/[\ue000-\ue002]/g, "\udc00"), "utf16le");
  return order === "le" ? bytes : bytes.swap16();
}

function utf32(text: string, order: "le" | "be"): Buffer {
  return byCharacter(text, (character) => {
    const word = Buffer.alloc(4);
    const point = brokenBytes[character] === undefined ? (character.codePointAt(0) ?? 0) : 0x11_0000;
    if (order === "le") word.writeUInt32LE(point);
    else word.writeUInt32BE(point);
    return word;
  });
}

/** ASCII, and the bytes that a table has for the rest. */
const byTable =
  (table: Readonly<Record<string, string>>) =>
  (text: string): Buffer =>
    byCharacter(text, (character) => {
      const known = table[character];
      if (known !== undefined) return Buffer.from(known, "hex");
      const point = character.codePointAt(0) ?? 0;
      if (point > 0x7f) throw new Error(`The table lacks ${character}`);
      return [point];
    });

/** `日=93fa 本=967b` */
const table = (words: string): Readonly<Record<string, string>> =>
  Object.fromEntries(words.split(" ").map((pair) => pair.split("=") as [string, string]));

const western = table("é=e9 è=e8 à=e0 ç=e7 ê=ea û=fb ï=ef €=80");
const chinese = table(
  "这=d5e2 是=cac7 一=d2bb 个=b8f6 文=cec4 件=bcfe 中=d6d0 国=b9fa 的=b5c4 我=ced2 们=c3c7 在=d4da 有=d3d0 人=c8cb",
);
// The second byte of ソ and 表 is a backslash, that of ー is a bracket: no byte may be taken for a letter of its own.
const japanese = table(
  "日=93fa 本=967b 語=8cea の=82cc テ=8365 キ=834c ス=8358 ト=8367 で=82c5 す=82b7 ソ=835c ー=815b 表=955c あ=82a0 い=82a2",
);

const plain = Array.from("éßλЖ中文😀👍\u2028");

export const textForms: readonly TextForm[] = [
  { name: "UTF-8", encoding: "utf-8", bom: [], head: "Größe 中文 naïve\n", letters: plain, bytes: utf8 },
  { name: "UTF-8 with a BOM", encoding: "utf-8", bom: [0xef, 0xbb, 0xbf], head: "", letters: plain, bytes: utf8 },
  {
    name: "UTF-16LE",
    encoding: "utf-16le",
    bom: [0xff, 0xfe],
    head: "",
    letters: plain,
    bytes: (text) => utf16(text, "le"),
  },
  {
    name: "UTF-16BE",
    encoding: "utf-16be",
    bom: [0xfe, 0xff],
    head: "",
    letters: plain,
    bytes: (text) => utf16(text, "be"),
  },
  {
    name: "UTF-16LE without a BOM",
    encoding: "utf-16le",
    bom: [],
    head: "Plainly a text of many letters that nobody takes for anything else\n".repeat(4),
    letters: ["é", "ß"],
    bytes: (text) => utf16(text, "le"),
  },
  {
    name: "UTF-32LE",
    encoding: "utf-32le",
    bom: [0xff, 0xfe, 0, 0],
    head: "",
    letters: plain,
    bytes: (text) => utf32(text, "le"),
  },
  {
    name: "UTF-32BE",
    encoding: "utf-32be",
    bom: [0, 0, 0xfe, 0xff],
    head: "",
    letters: plain,
    bytes: (text) => utf32(text, "be"),
  },
  {
    name: "windows-1252",
    encoding: "windows-1252",
    bom: [],
    head: "Le garçon naïf préfère la crêpe à 5 €.\nDéjà payé, très cher, ça coûte.\n".repeat(8),
    letters: Object.keys(western).filter((letter) => letter !== "û"),
    bytes: byTable(western),
  },
  {
    name: "GB18030",
    encoding: "gb18030",
    bom: [],
    head: "这是一个中国的文件\n我们在中国有人\n这是我们的文件\n中国有一个人在\n",
    letters: Object.keys(chinese),
    bytes: byTable(chinese),
  },
  {
    name: "Shift_JIS",
    encoding: "shift_jis",
    bom: [],
    head: "日本語のテキストです\nソースの表です\nあいの日本語です\n日本のテスト\n",
    letters: Object.keys(japanese),
    bytes: byTable(japanese),
  },
];

export const bytesOf = (form: TextForm, text: string): Buffer =>
  Buffer.concat([Uint8Array.from(form.bom), form.bytes(text)]);
