/**
 * Every kind of input that a hostile repository, a model or a client can bring: how a case of it is made from a seed, and which
 * samples are known. Each below 1 MB, but for one that is only large.
 */

import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { createFilehand, type FilehandOptions } from "../../src/index.ts";
import { loadSettings } from "../../src/settings/settings.ts";
import { parseMessage, requestFault } from "../../src/surfaces/mcp/stdio-wire.ts";
import { docxParts, paragraph, pptxParts, rowsXml, shape as slideShape, xlsxParts, zipOf } from "../samples/office.ts";
import { png } from "../samples/images.ts";
import { textPdf } from "../samples/pdfs.ts";
import type { Asked } from "./harness.ts";
import { below, type Grammar, oneOf, type Random, randomOf, shapeOf } from "./shapes.ts";

export interface Case {
  readonly label: string;
  /** What is hostile about it. */
  readonly exact: string;
  readonly work: () => Promise<string>;
}

/** Makes a case in an empty folder. Given a text of that shape, or choosing one by itself. */
type Make = (place: string, random: Random, text?: string) => Promise<Case> | Case;

interface Input {
  readonly make: Make;
  /** Texts that were once too slow or too large. */
  readonly known: Readonly<Record<string, string | (() => string)>>;
}

export async function caseOf({ input, known, seed }: Asked, place: string): Promise<Case> {
  const of = inputs[input];
  if (of === undefined) throw new Error(`there is no input "${input}", there are ${Object.keys(inputs).join(", ")}`);
  const sample = known === undefined ? undefined : of.known[known];
  const text = typeof sample === "function" ? sample() : sample;
  return of.make(place, randomOf(seed), text);
}

const write = (place: string, name: string, content: string | Uint8Array): void => {
  const path = join(place, name);
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, content);
};

type Tool = readonly [tool: string, input: unknown];

/** The beginnings of the answers. */
async function answers(place: string, calls: readonly Tool[], options: Partial<FilehandOptions> = {}): Promise<string> {
  const dialect = options.dialect ?? "claude";
  const filehand = createFilehand({ roots: [place], ask: "yes", readFirst: false, reminder: false, ...options });
  const session = filehand.session({ dialect });
  const said: string[] = [];
  for (const [tool, input] of calls) {
    const { content } = await session.call(tool, input);
    const [part] = content;
    said.push(part?.type === "text" ? part.text.slice(0, 100) : (part?.type ?? "nothing"));
  }
  await filehand.close();
  return said.join(" | ");
}

const chosen = (random: Random, grammar: Grammar, text: string | undefined, charsMax?: number) =>
  text === undefined ? shapeOf(random, grammar, charsMax) : { name: "known", text };

const patterns: Grammar = {
  atoms: ["*", "**/", "?", "a", "/", "[a-z]", "[!a]", "\\", "!", "*a", "x", " ", "**", ".", "[", "#"],
  pairs: [
    ["*(", ")"],
    ["@(", ")"],
    ["!(", ")"],
    ["+(", ")"],
    ["{", "}"],
    ["[", "]"],
    ["*/**/", ""],
    ["**/", "a"],
  ],
  joints: ["|", ",", "\n", "/", " "],
};

const deepPath = `${"a/".repeat(47)}${Array.from({ length: 50 }, (_, index) => `x${index}`).join("")}-`;

function manyNames(place: string): void {
  for (let name = 0; name < 10; name += 1) write(place, `${"a".repeat(240)}${name}.txt`, "hello\n");
  write(place, `${"a/".repeat(30)}b.txt`, "hello\n");
  write(place, deepPath, "hello\n");
}

const ignore: Make = (place, random, text) => {
  const { name, text: rules } = chosen(random, patterns, text);
  manyNames(place);
  write(place, oneOf(random, [".gitignore", ".ignore", ".rgignore"]), `${rules}\n`);
  const calls: Tool[] = [
    ["Glob", { pattern: "**/*.txt" }],
    ["Grep", { pattern: "hello" }],
    ["LS", { path: "." }],
  ];
  const work = async () => {
    const said = await answers(place, calls);
    const filehand = createFilehand({ roots: [place], stateDir: `${place}-state` });
    const session = filehand.session();
    await session.observe();
    const { files } = await session.workspace.files({ max: 100 });
    await filehand.close();
    return `${said} | ${files.length} files`;
  };
  return { label: name, exact: rules, work };
};

const glob: Make = (place, random, text) => {
  const { name, text: pattern } = chosen(random, patterns, text, 200_000);
  manyNames(place);
  const calls: Tool[] = [
    ["Glob", { pattern }],
    ["Grep", { pattern: "hello", glob: pattern }],
    ["LS", { path: ".", ignore: [pattern] }],
  ];
  return { label: name, exact: pattern, work: () => answers(place, calls) };
};

const rules: Make = (place, random, text) => {
  const { name, text: shape } = chosen(random, patterns, text, 20_000);
  const verb = oneOf(random, ["Read", "Edit"]);
  const patternsOf = (): readonly string[] =>
    text?.includes("\n") ? text.split("\n") : Array.from({ length: 200 }, (_, index) => `${shape}${index}`);
  const deny = patternsOf().map((pattern) => `${verb}(${pattern})`);
  manyNames(place);
  const calls: Tool[] = [
    ["Glob", { pattern: "**/*.txt" }],
    ["Read", { file_path: deepPath }],
    ["Grep", { pattern: "hello" }],
  ];
  return { label: name, exact: shape, work: () => answers(place, calls, { permissions: { deny } }) };
};

/** Patterns, one to a line. As rules in quotes 2,500 short ones are as many as the 32 KiB of a settings file hold. */
const manyRules = (patternAt: (index: number) => string, length = 2_500): string =>
  Array.from({ length }, (_, index) => patternAt(index)).join("\n");

const jsonGrammar: Grammar = {
  atoms: [
    '"a"',
    "1",
    "null",
    '"a":1',
    '"permissions":{"deny":["Read(**)"]}',
    "//",
    "/*",
    "\\u0061",
    '"',
    "\n",
    " ",
    "[]",
    "{}",
  ],
  pairs: [
    ["[", "]"],
    ["{", "}"],
    ['{"a":', "}"],
    ['["', '"]'],
    ["/*", "*/"],
    ['"', '"'],
    ['{"permissions":', "}"],
  ],
  joints: [",", ":", ",\n", "\n//"],
};

const settings: Make = (place, random, text) => {
  // Most of them just below the most that is read.
  const { name, text: shape } = chosen(random, jsonGrammar, text, random() < 0.9 ? 32_000 : undefined);
  const [before, after] = oneOf(random, [
    ["", ""],
    ["{", "}"],
    ['{"permissions":{"deny":[', "]}}"],
    ['{"model":"', '"}'],
  ]);
  const content = text ?? `${before}${shape}${after}`;
  write(place, "filehand.jsonc", content);
  write(place, "b.txt", "hello\n");
  const work = async () => {
    const loaded = await loadSettings({ roots: [place], env: {}, platform: process.platform, home: place });
    const said = await answers(place, [["Glob", { pattern: "**/*.txt" }]], { rules: loaded.settings.rules });
    return `${loaded.faults.length} faults | ${said}`;
  };
  return { label: name, exact: content, work };
};

const prose: Grammar = {
  atoms: [
    "a",
    " ",
    "\t",
    "line\n",
    "\n",
    "a\n",
    "é",
    "e\u0301",
    "—",
    "'",
    "\u2019",
    "  a\n",
    "\r\n",
    "const x = f(a, b);\n",
    "}\n",
    "\u00a0",
  ],
  pairs: [
    ["(", ")"],
    ["{\n", "}\n"],
    ["“", "”"],
    ["<a>", "</a>"],
    ["  ", "\n"],
  ],
  joints: ["\n", " ", ", ", "\r\n", "\n\n"],
};

/** A part of the text with something changed, so that it almost matches. */
function almost(random: Random, text: string): string {
  const from = below(random, Math.max(1, text.length - 10));
  const part = text.slice(from, from + oneOf(random, [10, 200, 5_000, 40_000])) || "a";
  const at = below(random, part.length);
  return oneOf(random, [
    `${part}b`,
    `b${part}`,
    `${part.slice(0, at)}x${part.slice(at + 1)}`,
    part.replaceAll("\n", " \n"),
    part.toUpperCase(),
    part,
  ]);
}

const edit: Make = (place, random, text) => {
  const { name, text: content } = chosen(random, prose, text);
  write(place, "f.txt", content);
  const isLarge = content.length > 1_000_000;
  const loosely = looselyFound.get(content);
  const near = isLarge ? ["a"] : ["plain ascii", "é", `${content.slice(0, 20_000)}b`];
  const old_string = loosely ?? (text === undefined ? almost(random, content) : oneOf(random, near));
  const replace_all = isLarge || loosely !== undefined || random() < 0.3;
  const calls: Tool[] = [
    ["Edit", { file_path: "f.txt", old_string, new_string: oneOf(random, ["x", "", `${old_string}y`]), replace_all }],
  ];
  return { label: name, exact: content, work: () => answers(place, calls) };
};

/** Texts that stand in each of these very often, in all but the first but for quotes, spaces, line ends, blanks or indentation. */
const looselyFound = new Map([
  ["a line\n\n".repeat(100_000), "\na line\n"],
  ["\u201ca\u201d\n".repeat(100_000), '"a"'],
  ["x\u00a0y\n".repeat(100_000), "x y"],
  ["a\r\nb\r\n".repeat(100_000), "a\nb\n"],
  ["a  \nb\n".repeat(100_000), "a\nb\n"],
  ["    if a:\n      b\n".repeat(50_000), "if a:\n  b\n"],
]);

const numberedLines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join("");

/** Content and edits that all apply, each of which was once looked for in the whole text. */
const applying: Readonly<Record<string, () => { readonly content?: string; readonly edits: readonly EditPart[] }>> = {
  good: () => ({ content: numberedLines(20_000, (at) => `line ${at}`), edits: renamedLines(20_000) }),
  "partly shown": () => ({ content: numberedLines(60_000, (at) => `line ${at}`), edits: renamedLines(2_000) }),
  short: () => ({
    content: numberedLines(80_000, (at) => `${10_000 + at} ----`),
    edits: Array.from({ length: 16_000 }, (_, at) => ({ old_string: `${10_000 + 5 * at}`, new_string: "x" })),
  }),
  long: () => ({
    content: numberedLines(90, (at) => `${10 + at}`.repeat(5_000)),
    edits: Array.from({ length: 89 }, (_, at) => ({ old_string: `${10 + at}`.repeat(5_000), new_string: "x" })),
  }),
  crlf: () => ({
    content: numberedLines(20_000, (at) => `line ${at}\r`),
    edits: Array.from({ length: 9_000 }, (_, at) => ({
      old_string: `line ${2 * at}\nline ${2 * at + 1}\n`,
      new_string: `LINE ${2 * at}\nline ${2 * at + 1}\n`,
    })),
  }),
  "new file": () => ({
    edits: [{ old_string: "", new_string: numberedLines(15_000, (at) => `line ${at}`) }, ...renamedLines(12_000)],
  }),
};

interface EditPart {
  readonly old_string: string;
  readonly new_string: string;
}

const renamedLines = (count: number): readonly EditPart[] =>
  Array.from({ length: count }, (_, at) => ({ old_string: `line ${at}\n`, new_string: `LINE ${at}\n` }));

const multiEdit: Make = (place, random, text) => {
  const failing = (content: string): readonly EditPart[] => {
    const count = text === undefined ? oneOf(random, [3, 50, 500, 2_000]) : 2_000;
    const made: EditPart[] = [];
    for (let chars = 0; made.length < count && chars < 900_000; chars += made.at(-1)?.old_string.length ?? 0) {
      const old_string = text === undefined ? almost(random, content) : `${"abc\n".repeat(50)}${made.length}`;
      made.push({ old_string, new_string: `${made.length}` });
    }
    return made;
  };
  const given = applying[text ?? ""]?.();
  const content =
    given === undefined
      ? text === undefined
        ? chosen(random, prose, undefined, 200_000).text
        : "abc\n".repeat(225_000)
      : given.content;
  if (content !== undefined) write(place, "f.txt", content);
  const edits = given?.edits ?? failing(content ?? "");
  const exact = JSON.stringify(edits).slice(0, 1_000_000);
  const isPart = text === "partly shown";
  const calls: Tool[] = [
    ...(isPart ? [["Read", { file_path: "f.txt", limit: 2_000 }] as const] : []),
    ["MultiEdit", { file_path: "f.txt", edits }],
  ];
  return {
    label: `${edits.length} edits`,
    exact,
    work: () => answers(place, calls, isPart ? { readFirst: true } : {}),
  };
};

/** The same lines in another order, or other lines of the same few kinds: what a diff has the most to do with. */
const overwrite: Make = (place, random, text) => {
  const { name, text: before } = chosen(random, prose, text);
  const lines = before.split("\n");
  const after = oneOf(random, [
    () => lines.toReversed(),
    () => lines.map(() => oneOf(random, lines)),
    () => lines.flatMap((line, at) => (at % 3 === 0 ? [] : at % 5 === 0 ? [line, line] : [line])),
  ])();
  write(place, "f.txt", before);
  const calls: Tool[] = [["Write", { file_path: "f.txt", content: after.join("\n").slice(0, 1_000_000) }]];
  return { label: name, exact: before, work: () => answers(place, calls) };
};

/** New files in one patch: hundreds in a few folders, and in one deep folder. */
const manyFiles = new Map<string, readonly string[]>([
  ["many files", Array.from({ length: 600 }, (_, index) => `d${index % 50}/n${index}.txt`)],
  ["deep files", Array.from({ length: 200 }, (_, index) => `${"q/".repeat(90)}n${index}.txt`)],
]);

const patch: Make = (place, random, text) => {
  const files = manyFiles.get(text ?? "");
  if (files !== undefined) {
    const sections = files.map((file) => `*** Add File: ${file}\n+x`).join("\n");
    const patchText = `*** Begin Patch\n${sections}\n*** End Patch`;
    const work = () => answers(place, [["patch", { patchText }]], { dialect: "opencode" });
    return { label: `${files.length} new files`, exact: patchText, work };
  }
  const hunks = (count: number, hunk: (index: number) => string, charsMax = Infinity): string => {
    const made: string[] = [];
    for (let chars = 0; made.length < count && chars < charsMax; chars += made.at(-1)?.length ?? 0)
      made.push(hunk(made.length));
    return made.join("\n").slice(0, charsMax);
  };
  const content =
    text === undefined
      ? chosen(random, prose, undefined, 400_000).text
      : Array.from({ length: 40_000 }, (_, index) => `line ${index}\n`).join("");
  write(place, "f.txt", content);
  const lines = content.split("\n");
  const count = oneOf(random, [1, 20, 500, 5_000]);
  const body =
    text === "good" || text === "added"
      ? hunks(20_000, (index) => `@@\n-line ${index * 2}\n+LINE ${index * 2}`)
      : text === "failing"
        ? hunks(5_000, (index) => `@@\n a\n a\n-b${index}\n+c`)
        : hunks(
            count,
            () => {
              const line = lines[below(random, lines.length)] ?? "";
              return `@@${random() < 0.3 ? ` ${line}` : ""}\n ${line}\n-${almost(random, line)}\n+x`;
            },
            900_000,
          );
  const added = `*** Add File: new.txt\n+${lines.join("\n+")}\n*** Update File: new.txt`;
  const patchText = `*** Begin Patch\n${text === "added" ? added : "*** Update File: f.txt"}\n${body}\n*** End Patch`;
  return {
    label: `${text ?? count} hunks`,
    exact: patchText,
    work: () => answers(place, [["patch", { patchText }]], { dialect: "opencode" }),
  };
};

/** The tools that say what was changed, and undo it, for as many files as one patch can create. */
const rewind: Make = (place, random, text) => {
  const count = text === undefined ? oneOf(random, [1, 10, 100]) : 200;
  const folder = (index: number): string => oneOf(random, ["", `d${index % 20}/`, "q/".repeat(30)]);
  const files = Array.from({ length: count }, (_, index) => `${folder(index)}n${index}.txt`);
  const { name, text: content } = chosen(random, prose, text, Math.floor(400_000 / count));
  const sections = (section: (file: string) => string): string =>
    `*** Begin Patch\n${files.map(section).join("\n")}\n*** End Patch`;
  const lines = content.split("\n").map((line) => `+${line}`);
  const work = async () => {
    const stateDir = `${place}-state`;
    const filehand = createFilehand({ roots: [place], ask: "yes", readFirst: false, stateDir, historyTools: true });
    const session = filehand.session({ dialect: "opencode" });
    await session.call("patch", { patchText: sections((file) => `*** Add File: ${file}\n${lines.join("\n")}`) });
    await session.call("patch", { patchText: sections((file) => `*** Delete File: ${file}`) });
    await session.call("history", {});
    const last = (await session.history())?.turns().at(-1);
    const { content } = await session.call("rewind", { turn: last?.messageId ?? "" });
    await filehand.close();
    fs.rmSync(stateDir, { recursive: true, force: true });
    const [part] = content;
    return part?.type === "text" ? part.text.slice(0, 100) : "nothing";
  };
  return { label: `${count} files, ${name}`, exact: content, work };
};

/** A text in the bytes of some encoding, or of none, as Read and Grep get it. */
const bytes: Make = (place, random, text) => {
  const { name, text: content } = chosen(random, prose, text);
  const form =
    text === undefined ? oneOf(random, ["latin1", "utf8", "utf16le", "cut", "scattered"] as const) : "latin1";
  const plain = Buffer.from(content.slice(0, 400_000), form === "cut" || form === "scattered" ? "utf8" : form);
  if (form === "scattered") for (let at = 0; at < plain.length; at += 50) plain[at] = 0x80 + below(random, 128);
  write(place, "f.txt", form === "cut" ? plain.subarray(1 + below(random, 3)) : plain);
  const calls: Tool[] = [
    ["Read", { file_path: "f.txt" }],
    ["Read", { file_path: "f.txt", offset: 1 + below(random, 400_000), limit: 10 }],
    ["Grep", { pattern: "a", output_mode: "content" }],
    ["Grep", { pattern: "\\p{L}+$", output_mode: "count" }],
  ];
  return { label: `${name}, ${form}`, exact: content, work: () => answers(place, calls) };
};

const expressions: Grammar = {
  atoms: ["a", ".", "a*", "a+?", "\\w", "\\p{L}", "[a-z]", "[^a]", "$", "^", "\\b", "|", "a{1,50}", "\\n", "é"],
  pairs: [
    ["(", ")"],
    ["(?:", ")*"],
    ["(", "){1,20}"],
    ["(?i:", ")+"],
    ["[", "]"],
  ],
  joints: ["|", "", ".*", "\n"],
};

const search: Make = (place, random, text) => {
  const { name, text: pattern } = chosen(random, expressions, text, 50_000);
  for (let file = 0; file < 20; file += 1) write(place, `${file}.txt`, `${"a".repeat(5_000)}\nab\n`.repeat(4));
  const output_mode = oneOf(random, ["content", "count", "files_with_matches"]);
  const calls: Tool[] = [["Grep", { pattern, output_mode, multiline: random() < 0.3, "-i": random() < 0.3 }]];
  return { label: name, exact: pattern, work: () => answers(place, calls) };
};

const notebook: Make = (place, random, text) => {
  const cell = (more: string): string => `{"cell_type":"code","id":"a","metadata":{},"source":"x","outputs":[]${more}}`;
  const { name, text: shape } = chosen(
    random,
    { ...jsonGrammar, atoms: [...jsonGrammar.atoms, cell(""), cell(`,"x":1`), '"source":["a"]'] },
    text,
  );
  const [before, after] = oneOf(random, [
    ["", ""],
    ['{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[', "]}"],
    [`{"cells":[${cell("")}],"metadata":`, "}"],
    ['{"cells":[{"cell_type":"code","outputs":[', "]}]}"],
  ]);
  const content = text ?? `${before}${shape}${after}`;
  write(place, "n.ipynb", content);
  const calls: Tool[] = [
    ["Read", { file_path: "n.ipynb" }],
    ["NotebookEdit", { notebook_path: "n.ipynb", cell_id: "a", new_source: "y" }],
  ];
  return { label: name, exact: content, work: () => answers(place, calls) };
};

const wordXml: Grammar = {
  atoms: [
    "<w:r><w:t>a</w:t></w:r>",
    "<w:p/>",
    "&amp;",
    "&#97;",
    " ",
    "a",
    "<!-- a -->",
    "<w:br/>",
    "<w:tab/>",
    "<a b='c'/>",
    "<![CDATA[a]]>",
    "&a;",
  ],
  pairs: [
    ["<w:p>", "</w:p>"],
    ["<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"],
    ["<w:sdt>", "</w:sdt>"],
    ["<w:r><w:t>", "</w:t></w:r>"],
    ["<w:hyperlink>", "</w:hyperlink>"],
    ["<w:del>", "</w:del>"],
  ],
  joints: ["", " ", "<w:p/>"],
};
const sheetXml: Grammar = {
  atoms: [
    "<row/>",
    '<row r="1"><c r="A1"><v>1</v></c></row>',
    '<c r="XFD1048576"/>',
    "<c/>",
    " ",
    '<row r="1048576"/>',
    "<v>1</v>",
    "&amp;",
    '<c t="s"><v>0</v></c>',
    "<f>A1</f>",
  ],
  pairs: [
    ["<row>", "</row>"],
    ["<c>", "</c>"],
    ["<is><t>", "</t></is>"],
  ],
  joints: ["", " "],
};
const slideXml: Grammar = {
  atoms: ["<a:r><a:t>a</a:t></a:r>", "<a:br/>", "<a:p/>", " ", "&amp;", "<p:sp/>"],
  pairs: [
    ["<a:p>", "</a:p>"],
    ["<p:grpSp>", "</p:grpSp>"],
    ["<a:tbl><a:tr><a:tc>", "</a:tc></a:tr></a:tbl>"],
    ["<p:txBody>", "</p:txBody>"],
  ],
  joints: ["", " "],
};

/** A comment that does not compress, so that the part does not grow suspiciously. */
const ballast = (random: Random): string =>
  `<!--${Array.from({ length: 350_000 }, () => below(random, 36).toString(36)).join("")}-->`;

const office =
  (kind: "docx" | "xlsx" | "pptx"): Make =>
  (place, random, text) => {
    const grammar = { docx: wordXml, xlsx: sheetXml, pptx: slideXml }[kind];
    const { name, text: unit } = chosen(random, grammar, text, 200_000);
    // Compressed it is small: what a part unpacks to is what counts.
    const chars = text === undefined ? oneOf(random, [1, 1, 2_000_000, 20_000_000]) : 60_000_000;
    const body = `${unit.repeat(Math.max(1, Math.floor(chars / unit.length)))}${ballast(random)}`;
    const footnotes = `<w:footnotes><w:footnote w:id="1"><w:p><w:r><w:t>a${body}b</w:t></w:r></w:p></w:footnote></w:footnotes>`;
    const parts =
      kind === "docx"
        ? oneOf(random, [
            () => docxParts(body),
            () => docxParts(paragraph(body)),
            () =>
              docxParts('<w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>', { "word/footnotes.xml": footnotes }, [
                { id: "rId9", type: "footnotes", target: "footnotes.xml" },
              ]),
          ])()
        : kind === "xlsx"
          ? xlsxParts([{ name: "S", xml: rowsXml([body]) }])
          : pptxParts([{ shapes: slideShape(undefined, [body]) }]);
    write(place, `f.${kind}`, zipOf(parts));
    return { label: name, exact: unit, work: () => answers(place, [["Read", { file_path: `f.${kind}` }]]) };
  };

/** Headers that are right, and behind them numbers that point anywhere, to themselves above all. */
const image: Make = (place, random, text) => {
  const formats = ["png", "jpg", "gif", "tiff", "webp", "heic", "bmp"] as const;
  const format = formats.find((one) => one === text?.split(" ", 1)[0]) ?? oneOf(random, formats);
  const size = text === undefined ? oneOf(random, [64, 1_000, 100_000, 900_000]) : 800_000;
  const bytes = Buffer.alloc(size);
  const unit = Buffer.from(
    Array.from({ length: oneOf(random, [1, 2, 4, 12]) }, () => oneOf(random, [0, 0, 1, 8, 255, below(random, 256)])),
  );
  if (text === undefined) bytes.fill(unit);
  const heads: Readonly<Record<(typeof formats)[number], () => Buffer>> = {
    png: () =>
      random() < 0.5
        ? png(below(random, 60_000), below(random, 60_000), bytes)
        : Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), bytes]),
    jpg: () => Buffer.concat([Buffer.from("ffd8ffe000104a4649460001", "hex"), bytes]),
    gif: () => Buffer.concat([Buffer.from("GIF89a\x10\0\x10\0\x80\0\0", "latin1"), bytes]),
    tiff: () => {
      bytes.write("II*\0\x08\0\0\0", "latin1");
      const count = Math.min(65_535, Math.floor((size - 14) / 12));
      if (text === undefined && random() < 0.3) return bytes;
      const entries = text === undefined ? below(random, count + 1) : count;
      bytes.writeUInt16LE(entries, 8);
      for (let entry = 0; entry < entries; entry += 1) {
        const at = 10 + entry * 12;
        bytes.writeUInt16LE(oneOf(random, [entry, 256, 257, 330]), at);
        bytes.writeUInt16LE(3, at + 2);
        bytes.writeUInt32LE(1, at + 4);
        bytes.writeUInt32LE(oneOf(random, [10, 8]), at + 8);
      }
      // The next directory: this one again, or anywhere.
      const next = text === undefined ? oneOf(random, [8, 0, below(random, size), 10]) : 8;
      bytes.writeUInt32LE(next, Math.min(size - 4, 10 + entries * 12));
      return bytes;
    },
    webp: () =>
      Buffer.concat([
        Buffer.from("RIFF\xff\xff\0\0WEBP", "latin1"),
        Buffer.from(oneOf(random, ["VP8 ", "VP8L", "VP8X", "ANMF"]), "latin1"),
        bytes,
      ]),
    heic: () =>
      Buffer.concat([
        Buffer.from("\0\0\0\x18ftypheic\0\0\0\0heicmif1", "latin1"),
        Buffer.from("\0\0\0\0meta", "latin1"),
        bytes,
      ]),
    bmp: () => Buffer.concat([Buffer.from("BM", "latin1"), bytes]),
  };
  const made = heads[format]();
  write(place, `f.${format}`, made);
  return {
    label: `${format} of ${made.length} bytes`,
    exact: made.subarray(0, 2_000).toString("hex"),
    work: () => answers(place, [["Read", { file_path: `f.${format}` }]]),
  };
};

const pdf: Make = (place, random, text) => {
  const grammar: Grammar = {
    atoms: [
      "<< >>",
      "[",
      "(a)",
      "1 0 R",
      "/A",
      "q ",
      "Q ",
      "BT (a) Tj ET\n",
      "0 0 m ",
      "%a\n",
      "endobj\n",
      "stream\n",
      "<61>",
      "\\(",
    ],
    pairs: [
      ["<<", ">>"],
      ["[", "]"],
      ["(", ")"],
      ["<< /Kids [1 0 R] /A ", ">>"],
      ["1 0 obj\n", "endobj\n"],
    ],
    joints: [" ", "\n", "/"],
  };
  const { name, text: shape } = chosen(random, grammar, text);
  const sound = textPdf([["hello"]]).toString("latin1");
  const at = text === undefined ? below(random, sound.length) : sound.indexOf("endobj");
  const made = Buffer.from(`${sound.slice(0, at)}${shape}${sound.slice(at)}`, "latin1");
  write(place, "f.pdf", made);
  return { label: name, exact: shape, work: () => answers(place, [["Read", { file_path: "f.pdf" }]]) };
};

const code: Grammar = {
  atoms: [
    "a",
    "a.",
    "a(",
    "*",
    "=>",
    "`${",
    'f"{',
    "<<A+",
    "$(",
    "def a():\n ",
    "class A {",
    "m!{",
    "#{",
    "if x:\n",
    "a::<",
    '"',
    "'",
    "\\",
    "\n",
    "/*",
    "@a ",
  ],
  pairs: [
    ["(", ")"],
    ["{", "}"],
    ["[", "]"],
    ["a<", ">"],
    ["class A { static x = ", "}"],
    ["namespace a{", "}"],
    ["(a=>", ")"],
    ["`${", "}`"],
    ["fn a(){", "}"],
    ["<div>", "</div>"],
  ],
  joints: [",", ";", "\n", ".", "+"],
};
const extensions = ["ts", "tsx", "js", "py", "rs", "go", "java", "c", "cpp", "cs", "rb", "sh", "php"];

const outline: Make = (place, random, text) => {
  const { name, text: shape } = chosen(random, code, text);
  const file = `f.${oneOf(random, extensions)}`;
  write(place, file, shape);
  const work = async () => {
    const filehand = createFilehand({ roots: [place], longCode: "outline" });
    const session = filehand.session();
    const said = await session.outline(file).then(
      ({ kind }) => kind,
      (error: unknown) => String(error),
    );
    const { isError } = await session.call("Read", { file_path: file });
    await filehand.close();
    return `${said} | ${isError}`;
  };
  return { label: `${file}: ${name}`, exact: shape, work };
};

/** JSON of values as a model could send them in place of any argument. */
function argumentJson(random: Random): string {
  const many = oneOf(random, [1, 100, 20_000]);
  const list = (item: () => unknown): string => JSON.stringify(Array.from({ length: many }, item));
  return oneOf<() => string>(random, [
    () => JSON.stringify(shapeOf(random, jsonGrammar, 400_000).text),
    () => list(() => oneOf(random, [1, null, "a", {}, []])),
    () => list(() => ({ old_string: 1, new_string: null, extra: true })),
    () => JSON.stringify(Object.fromEntries(Array.from({ length: many }, (_, index) => [`key${index}`, index]))),
    () => `${"[".repeat(10_000)}${"]".repeat(10_000)}`,
    () => `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
  ])();
}

const callArguments: Make = (place, random, text) => {
  write(place, "a.txt", "hello\n");
  const tools = ["Read", "Edit", "MultiEdit", "Write", "NotebookEdit", "Glob", "Grep", "LS"];
  const names = [
    "file_path",
    "path",
    "pattern",
    "offset",
    "limit",
    "pages",
    "edits",
    "old_string",
    "new_string",
    "content",
    "ignore",
    "glob",
    "type",
    "notebook_path",
    "x",
  ];
  const exact = text ?? argumentJson(random);
  const hostile: unknown = JSON.parse(exact);
  const calls = tools.map((tool): Tool => {
    const plain = { file_path: "a.txt", path: ".", pattern: "*.md", old_string: "hello", new_string: "HELLO" };
    const [one, other] = [oneOf(random, names), oneOf(random, names)];
    return [
      tool,
      oneOf<unknown>(random, [
        hostile,
        { ...plain, [one]: hostile },
        { file_path: "a.txt", [one]: hostile, [other]: hostile },
      ]),
    ];
  });
  return { label: `${exact.length} characters of JSON`, exact, work: () => answers(place, calls) };
};

const messages: Make = (_place, random, text) => {
  const grammar = {
    ...jsonGrammar,
    atoms: [...jsonGrammar.atoms, '"jsonrpc":"2.0"', '"id":1', '"method":"tools/call"', "\ud800", "1e999", "-"],
  };
  const { name, text: shape } = chosen(random, grammar, text);
  const [before, after] = oneOf(random, [
    ["", ""],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":', "}"],
    ['{"jsonrpc":"2.0","id":', ',"method":"ping"}'],
  ]);
  const line = text ?? `${before}${shape}${after}`;
  const work = async () => {
    const parsed = parseMessage(line);
    return "fault" in parsed
      ? parsed.fault
      : `message, ${JSON.stringify(requestFault(parsed.message) ?? "sound").slice(0, 100)}`;
  };
  return { label: name, exact: line, work };
};

/** V8 makes a shape for each object whose key no other has. */
const ownKeys = (count: number): string =>
  `[${Array.from({ length: count }, (_, index) => `{"k${index}":1}`).join(",")}]`;
const manyKeys = (count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"${index.toString(36)}":1`).join(",")}}`;

export const inputs: Readonly<Record<string, Input>> = {
  arguments: {
    make: callArguments,
    known: {
      "edits of 20,000 wrong elements": () =>
        JSON.stringify(Array.from({ length: 20_000 }, () => ({ old_string: 1, extra: 1 }))),
      "20,000 unknown keys": () =>
        JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1]))),
      "a JSON text of 400,000 brackets": () => JSON.stringify("[".repeat(400_000)),
      "a JSON text of lists, 50 levels deep": () =>
        JSON.stringify(`[${`${"[".repeat(50)}${"]".repeat(50)},`.repeat(8_000)}1]`),
      "a JSON text of 10,000 objects with a key of its own": () => JSON.stringify(ownKeys(10_000)),
      "a JSON text of 10,000 keys": () => JSON.stringify(manyKeys(10_000)),
      "a JSON text of many edits that ends early": () =>
        JSON.stringify(`[${'{"old_string":"a","new_string":"b"},'.repeat(20_000)}`),
      "a long key": () => JSON.stringify({ ["a_".repeat(200_000)]: 1 }),
    },
  },
  settings: {
    make: settings,
    known: {
      "200 steep deny rules": () =>
        JSON.stringify({
          permissions: { deny: Array.from({ length: 200 }, (_, index) => `Read(${"**/*a*/".repeat(20)}${index})`) },
        }),
      "400,000 open brackets": () => "[".repeat(400_000),
      "32,000 open brackets": () => "[".repeat(32_000),
      "100,000 faults": () => `{${'"x":1,'.repeat(100_000)}"y":1}`,
      "5,000 faults": () => `{${'"x":1,'.repeat(5_000)}"y":1}`,
      "16,000 faults of syntax": () => `{${",,".repeat(16_000)}}`,
      "lists, 500 levels deep": () => `[${`${"[".repeat(500)}${"]".repeat(500)},`.repeat(32)}1]`,
      "10,000 empty rules": () => `{"permissions":{"deny":[${'"",'.repeat(10_000)}""]}}`,
      "500 rules": () =>
        `{"permissions":{"deny":[${Array.from({ length: 500 }, (_, index) => `"Read(${index})"`).join(",")}]}}`,
      "faults after many lines": () => `{${"\n".repeat(32_000)}${'"x":1,'.repeat(60)}"y":1}`,
      "4,000 comments": () => `{${"/* a */\n".repeat(4_000)}}`,
      "8,000 rules about no tool": () => `{"permissions":{"deny":[${'"a"'.repeat(8_000)}]}}`,
      "a long rule": () => JSON.stringify({ permissions: { deny: [`Read(${"*a".repeat(16_000)})`] } }),
    },
  },
  messages: {
    make: messages,
    known: {
      "400,000 levels": () =>
        `{"jsonrpc":"2.0","id":1,"method":"ping","params":${"[".repeat(400_000)}${"]".repeat(400_000)}}`,
      "100,000 keys": () =>
        `{"jsonrpc":"2.0","id":1,"method":"ping","params":{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join(",")}}}`,
      "120,000 keys": () => `{"jsonrpc":"2.0","id":1,"method":"ping","params":${manyKeys(120_000)}}`,
      "as many keys as are parsed": () => `{"jsonrpc":"2.0","id":1,"method":"ping","params":${manyKeys(10_000)}}`,
      "objects with a key of their own": () =>
        `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${ownKeys(70_000)}}}`,
      "as many objects with a key of their own as are parsed": () =>
        `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${ownKeys(9_990)}}}`,
      "lists, 50 levels deep": () =>
        `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[${`${"[".repeat(50)}${"]".repeat(50)},`.repeat(8_000)}1]}}`,
      "not closed": () => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"${"\\\\".repeat(400_000)}`,
    },
  },
  ignore: {
    make: ignore,
    known: {
      "stars and folders, ten times": `${"*/**/".repeat(10)}*x`,
      "blanks before a letter": () => `${" ".repeat(60_000)}x`,
      "question marks": () => `${"?".repeat(200_000)}x`,
      "many rules": () => "*a*b*c\n".repeat(20_000),
      "combining marks": () => `a${"\u0301\u0323".repeat(30_000)}`,
      "lines of combining marks": () => `a${"\u0301\u0323".repeat(4_000)}\n`.repeat(40),
    },
  },
  glob: {
    make: glob,
    known: {
      "groups of three, twenty times": `${"*(a|?|[a])".repeat(20)}Z`,
      "question marks": () => "?".repeat(200_000),
      "nested groups": () => `${"*(".repeat(19)}a${"|b)".repeat(19)}Z`,
      "negated groups": `${"!(*(a|?)b)".repeat(10)}Z`,
      "groups that repeat anything": `${"+(".repeat(20)}*${")".repeat(20)}`,
      "negated groups in each other": "!(*!(*!(*a*)*)*)",
      "negated groups in groups that repeat": "+(!(*(a|?)+([a-z]*(*(a*+(?)*a)!(*[a-z]?)+(a*+(?)*a))))*(a)|)Z",
      braces: `${"{a,b}".repeat(14)}*Z`,
    },
  },
  rules: {
    make: rules,
    known: {
      "folders and stars": "**/*a*/".repeat(30),
      "any folder, twice": "*/**/*/**/*x",
      "question marks": () => "?".repeat(20_000),
      groups: "*(a|?|[a])".repeat(20),
      "as many names as a settings file can hold": () => manyRules((index) => `${index}`),
      "as many names in folders of their own": () => manyRules((index) => `${index}/1`),
      "10,000 plain names": () => manyRules((index) => `plain-name-of-file-${index}`, 10_000),
      "10,000 absolute names": () => manyRules((index) => `//some/folder/name-${index}/of`, 10_000),
      "2,500 with braces": () => manyRules((index) => `a{b,c}${index}`),
      "2,000 with brackets": () => manyRules((index) => `app/[id]/x-${index}`, 2_000),
      "100 deep absolute names": () => manyRules((index) => `//${index}${"/a".repeat(2_000)}`, 100),
      "slashes before a name": () => "/".repeat(1_000),
      "slashes, too many": () => "/".repeat(20_000),
      "nested braces": () => `${"{".repeat(900)}/${"}".repeat(900)}`,
      "nested braces around choices": () => `${"{".repeat(1_000)}${"{a,b}".repeat(6)}${"}".repeat(1_000)}`,
      "braces, too deep": () => `${"{".repeat(2_000)}/${"}".repeat(2_000)}`,
      "brackets that never close, in a brace": () => `{${"[".repeat(4_000)}`,
      "combining marks": () => `x${"\u0301\u20dd".repeat(450)}`,
      "letters of another script": () => "\u0416".repeat(900),
      "sets of letters": () => "[a-z]".repeat(190),
    },
  },
  edit: {
    make: edit,
    known: {
      "combining marks": () => `e${"\u0301\u0323".repeat(50_000)}`,
      "the same line": () => "a\n".repeat(400_000),
      "lines of blanks": () => `${" ".repeat(1_000)}\n`.repeat(800),
      "one long line": () => "a".repeat(900_000),
      "every letter, 8 MB": () => "a ".repeat(4_000_000),
      ...Object.fromEntries(
        [...looselyFound].map(([content, old]) => [`every ${JSON.stringify(old)}, loosely`, content]),
      ),
      "many indents": () => Array.from({ length: 20_000 }, (_, index) => `${" ".repeat(index % 50)}line\n`).join(""),
    },
  },
  "multi-edit": {
    make: multiEdit,
    known: {
      "2,000 that fail": "failing",
      "20,000 that apply": "good",
      "2,000 in a file that was shown in part": "partly shown",
      "16,000 of 5 characters": "short",
      "89 of 10,000 characters": "long",
      "9,000 of two lines in a file with CRLF": "crlf",
      "12,000 in a new file": "new file",
    },
  },
  write: {
    make: overwrite,
    known: {
      "few kinds of lines": () => {
        const random = randomOf(7);
        return numberedLines(300_000, () => `l${below(random, 3)}`);
      },
      "two lines, repeated": () => "a\nb\n".repeat(200_000),
      "empty lines": () => "\n".repeat(900_000),
      "lines that are all different": () => numberedLines(90_000, (at) => `line ${at}`),
    },
  },
  patch: {
    make: patch,
    known: {
      "600 new files": "many files",
      "files in a deep folder": "deep files",
      "20,000 hunks": "good",
      "20,000 hunks for a file that the patch adds": "added",
      "5,000 hunks that fail": "failing",
    },
  },
  rewind: {
    make: rewind,
    known: { "200 files": "a\nb", "400,000 empty lines in 200 files": () => "\n".repeat(2_000) },
  },
  bytes: {
    make: bytes,
    known: { "words that are no language": () => `${"\u00e9".repeat(60)} `.repeat(6_500) },
  },
  search: {
    make: search,
    known: {
      "groups in groups": () => `${"(a*".repeat(60)}${")*".repeat(60)}Z`,
      "long counts": "(((a{1,99}){1,99}){1,99})Z",
    },
  },
  notebook: {
    make: notebook,
    known: {
      "400,000 levels": () => `{"cells":[${"[".repeat(400_000)}${"]".repeat(400_000)}]}`,
      "12,000 cells": () =>
        `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[${Array.from({ length: 9_000 }, (_, index) => `{"cell_type":"code","id":"c${index}","metadata":{},"source":"a","outputs":[]}`).join(",")}]}`,
      "100,000 cells": () => `{"nbformat":4,"nbformat_minor":4,"metadata":{},"cells":[${"{},".repeat(99_999)}{}]}`,
      "100,000 cells with ids": () =>
        `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[${Array.from({ length: 72_000 }, (_, index) => `{"id":"${index}"}`).join(",")},{"id":"a"}]}`,
      "300,000 cells that are none": () => `{"cells":[${"1,".repeat(300_000)}{"id":"a"}]}`,
      "cells of code, as many as fit": () =>
        `{"cells":[${Array.from({ length: 30_000 }, () => '{"cell_type":"code","source":""}').join(",")},{"id":"a"}]}`,
      "keys of their own": () => `{"cells":[{"id":"a","metadata":${manyKeys(100_000)}}]}`,
      "broken at the end": () => `{"cells":[${'{"a":1},'.repeat(100_000)}}`,
    },
  },
  docx: {
    make: office("docx"),
    known: { runs: "<w:r><w:t>a</w:t></w:r>", entities: "&amp;", whitespace: " ", "empty elements": "<a/>" },
  },
  xlsx: { make: office("xlsx"), known: { "empty rows": "<row/>", "far cells": '<row><c r="XFD1048576"/></row>' } },
  pptx: { make: office("pptx"), known: { runs: "<a:r><a:t>a</a:t></a:r>", groups: "<p:grpSp>" } },
  image: { make: image, known: { "tiff that follows itself": "tiff that follows itself" } },
  pdf: {
    make: pdf,
    known: { "open brackets": () => "[".repeat(400_000), "objects without end": () => "9 0 obj\n<<".repeat(50_000) },
  },
  outline: {
    make: outline,
    known: {
      parentheses: () => "(".repeat(900_000),
      generics: () => "a<".repeat(450_000),
      templates: () => "`${".repeat(300_000),
    },
  },
};
