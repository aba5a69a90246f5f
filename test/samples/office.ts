/**
 * Office files for tests, made when asked: small, large and hostile ones. Nothing of it is kept as a file, so that every
 * byte of them can be read here.
 */

import { strToU8, zipSync } from "fflate";

export type Parts = Readonly<Record<string, string | Uint8Array>>;

/** `level` 0 stores, which makes offsets easy to find. */
export function zipOf(parts: Parts, level: 0 | 6 = 6): Uint8Array {
  const entries = Object.entries(parts).map(([name, part]) => [name, typeof part === "string" ? strToU8(part) : part]);
  return zipSync(Object.fromEntries(entries), { level, mtime: "2024-01-01T00:00:00Z" });
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const officeTypes = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packageTypes = "http://schemas.openxmlformats.org/package/2006";

export interface Related {
  readonly id: string;
  readonly type: string;
  readonly target: string;
  readonly external?: boolean;
}

export function relationships(list: readonly Related[]): string {
  const items = list.map(
    ({ id, type, target, external }) =>
      `<Relationship Id="${id}" Type="${officeTypes}/${type}" Target="${target}"${external ? ' TargetMode="External"' : ""}/>`,
  );
  return `${declaration}<Relationships xmlns="${packageTypes}/relationships">${items.join("")}</Relationships>`;
}

const contentTypes = `${declaration}<Types xmlns="${packageTypes}/content-types"/>`;

const start = (target: string): Parts => ({
  "[Content_Types].xml": contentTypes,
  "_rels/.rels": relationships([{ id: "rId1", type: "officeDocument", target }]),
});

const wordNames =
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';

export const wordDocument = (body: string): string =>
  `${declaration}<w:document ${wordNames}><w:body>${body}</w:body></w:document>`;

/** What stands in `body` is the XML inside `w:body`. */
export function docxParts(body: string, parts: Parts = {}, related: readonly Related[] = []): Parts {
  return {
    ...start("word/document.xml"),
    "word/document.xml": wordDocument(body),
    "word/_rels/document.xml.rels": relationships(related),
    ...parts,
  };
}

export const paragraph = (text: string, properties = ""): string =>
  `<w:p>${properties === "" ? "" : `<w:pPr>${properties}</w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

export const wordCell = (text: string, properties = ""): string =>
  `<w:tc>${properties === "" ? "" : `<w:tcPr>${properties}</w:tcPr>`}${paragraph(text)}</w:tc>`;

export const wordTable = (rows: readonly (readonly string[])[]): string =>
  `<w:tbl><w:tblPr/><w:tblGrid/>${rows.map((row) => `<w:tr>${row.map((text) => wordCell(text)).join("")}</w:tr>`).join("")}</w:tbl>`;

export interface SheetSample {
  readonly name: string;
  /** The XML inside `worksheet`. */
  readonly xml: string;
  readonly state?: string;
}

export const rowsXml = (rows: readonly string[]): string => `<sheetData>${rows.join("")}</sheetData>`;

const sheetNames =
  'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';

export function xlsxParts(
  sheets: readonly SheetSample[],
  more: {
    readonly strings?: string;
    readonly styles?: string;
    readonly properties?: string;
    readonly parts?: Parts;
  } = {},
): Parts {
  const list = sheets.map(
    ({ name, state }, index) =>
      `<sheet name="${name}" sheetId="${index + 1}"${state === undefined ? "" : ` state="${state}"`} r:id="rId${index + 1}"/>`,
  );
  const related = sheets.map((_, index) => ({
    id: `rId${index + 1}`,
    type: "worksheet",
    target: `worksheets/sheet${index + 1}.xml`,
  }));
  return {
    ...start("xl/workbook.xml"),
    "xl/workbook.xml": `${declaration}<workbook ${sheetNames}>${more.properties ?? ""}<sheets>${list.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationships([
      ...related,
      { id: "rIdStrings", type: "sharedStrings", target: "sharedStrings.xml" },
      { id: "rIdStyles", type: "styles", target: "/xl/styles.xml" },
    ]),
    ...(more.strings === undefined
      ? {}
      : { "xl/sharedStrings.xml": `${declaration}<sst ${sheetNames}>${more.strings}</sst>` }),
    ...(more.styles === undefined
      ? {}
      : { "xl/styles.xml": `${declaration}<styleSheet ${sheetNames}>${more.styles}</styleSheet>` }),
    ...Object.fromEntries(
      sheets.map(({ xml }, index) => [
        `xl/worksheets/sheet${index + 1}.xml`,
        `${declaration}<worksheet ${sheetNames}>${xml}</worksheet>`,
      ]),
    ),
    ...more.parts,
  };
}

const slideNames =
  'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';

export interface SlideSample {
  /** The XML inside `p:spTree`. */
  readonly shapes: string;
  readonly notes?: string;
  readonly attributes?: string;
  readonly related?: readonly Related[];
}

export const textBody = (paragraphs: readonly string[]): string =>
  `<p:txBody><a:bodyPr/>${paragraphs.map((text) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`).join("")}</p:txBody>`;

export const shape = (placeholder: string | undefined, paragraphs: readonly string[]): string =>
  `<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:nvPr>${placeholder === undefined ? "" : `<p:ph type="${placeholder}"/>`}</p:nvPr></p:nvSpPr>${textBody(paragraphs)}</p:sp>`;

export function pptxParts(slides: readonly SlideSample[], parts: Parts = {}): Parts {
  const made: Record<string, string> = {};
  for (const [index, slide] of slides.entries()) {
    const number = index + 1;
    const notes: Related[] =
      slide.notes === undefined
        ? []
        : [{ id: "rIdNotes", type: "notesSlide", target: `../notesSlides/notesSlide${number}.xml` }];
    made[`ppt/slides/slide${number}.xml`] =
      `${declaration}<p:sld ${slideNames} ${slide.attributes ?? ""}><p:cSld><p:spTree>${slide.shapes}</p:spTree></p:cSld></p:sld>`;
    made[`ppt/slides/_rels/slide${number}.xml.rels`] = relationships([...notes, ...(slide.related ?? [])]);
    if (slide.notes !== undefined) {
      made[`ppt/notesSlides/notesSlide${number}.xml`] =
        `${declaration}<p:notes ${slideNames}><p:cSld><p:spTree>${shape("body", [slide.notes])}${shape("sldNum", [String(number)])}</p:spTree></p:cSld></p:notes>`;
    }
  }
  // Ids of slides and of relationships stand side by side, and the order of the list is not that of the names.
  const ids = slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`);
  return {
    ...start("ppt/presentation.xml"),
    "ppt/presentation.xml": `${declaration}<p:presentation ${slideNames}><p:sldIdLst>${ids.join("")}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relationships(
      slides.map((_, index) => ({ id: `rId${index + 1}`, type: "slide", target: `slides/slide${index + 1}.xml` })),
    ),
    ...made,
    ...parts,
  };
}

/** 2,000 paragraphs. */
export function largeDocx(): Uint8Array {
  const sentence = "The quick brown fox jumps over the lazy dog, and then it goes home again. ";
  const paragraphs = Array.from({ length: 2_000 }, (_, index) => paragraph(`${index}: ${sentence.repeat(4)}`));
  return zipOf(docxParts(paragraphs.join("")));
}

/** 20,000 rows of six columns: shared strings, numbers, dates, formulas. */
export function largeXlsx(): Uint8Array {
  const strings = Array.from({ length: 5_000 }, (_, index) => `<si><t>customer ${index}</t></si>`);
  const rows = Array.from({ length: 20_000 }, (_, index) => {
    const row = index + 1;
    return `<row r="${row}"><c r="A${row}" t="s"><v>${index % 5_000}</v></c><c r="B${row}"><v>${index * 1.5}</v></c><c r="C${row}"><v>${index % 97}</v></c><c r="D${row}" s="1"><v>${45_000 + (index % 700)}</v></c><c r="E${row}"><f>B${row}*C${row}</f><v>${index * 1.5 * (index % 97)}</v></c><c r="F${row}" t="inlineStr"><is><t>note ${index}</t></is></c></row>`;
  });
  const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>';
  return zipOf(xlsxParts([{ name: "Data", xml: rowsXml(rows) }], { strings: strings.join(""), styles }));
}

/** 30 slides, each with a title, ten points and notes. */
export function largePptx(): Uint8Array {
  return zipOf(
    pptxParts(
      Array.from({ length: 30 }, (_, index) => ({
        shapes:
          shape("title", [`Title ${index + 1}`]) +
          shape(
            "body",
            Array.from({ length: 10 }, (_, point) => `Point ${point}`),
          ),
        notes: `Say this on slide ${index + 1}`,
      })),
    ),
  );
}

/** A compound file as Office writes it around what has a password: enough of it to be known. */
export function encryptedFile(): Uint8Array {
  const bytes = Buffer.alloc(4_096);
  bytes.write("d0cf11e0a1b11ae1", 0, "hex");
  bytes.write("EncryptedPackage", 1_024, "utf16le");
  return bytes;
}

export interface OfficeSample {
  readonly name: string;
  readonly format: "docx" | "xlsx" | "pptx";
  readonly bytes: Uint8Array;
  /** What it must be answered with; "read" where it is only expensive, "any" where either is right. */
  readonly answer: "damaged" | "encrypted" | "bomb" | "too large" | "read" | "any";
}

/** Each must be answered in two seconds and 300 MB, with the limits that are usual. */
export function* hostileOfficeFiles(): Generator<OfficeSample> {
  const docx = (name: string, bytes: Uint8Array, answer: OfficeSample["answer"]): OfficeSample => ({
    name,
    format: "docx",
    bytes,
    answer,
  });
  const small = docxParts(paragraph("hello"));

  yield docx("nothing", new Uint8Array(), "damaged");
  yield docx("a zip that ends early", zipOf(small).subarray(0, 300), "damaged");
  yield docx("a zip without a document", zipOf({ "a.txt": "a" }), "damaged");
  yield docx("a password", encryptedFile(), "encrypted");
  yield docx("an old document", encryptedFile().subarray(0, 512), "damaged");
  yield docx("a part that grows a thousandfold", zipOf(docxParts(" ".repeat(40_000_000))), "bomb");
  yield docx(
    "a part that says it is smaller",
    patched(zipOf(docxParts("<w:p/>".repeat(100_000))), "word/document.xml", { bytes: 1_000 }),
    "bomb",
  );
  yield docx(
    "a part that says it is larger",
    patched(zipOf(small), "word/document.xml", { bytes: 900_000 }),
    "damaged",
  );
  yield docx(
    "a directory that contradicts a header",
    patched(zipOf(small), "word/document.xml", { bytes: 900_000 }, "directory"),
    "damaged",
  );
  yield docx("entries that share their bytes", overlapping(), "bomb");
  yield docx("twenty thousand entries", zipOf({ ...small, ...manyParts(20_000) }), "bomb");
  yield docx("a zip that says it has 65,000 entries", withEntryCount(zipOf(small), 65_000), "bomb");
  yield docx("entities that grow", zipOf({ ...small, "word/document.xml": billionLaughs() }), "bomb");
  yield docx(
    "an entity that reads a file",
    zipOf({ ...small, "word/document.xml": '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><d>&x;</d>' }),
    "bomb",
  );
  yield docx(
    "sixty thousand levels",
    zipOf(docxParts(`${"<w:sdt>".repeat(60_000)}${"</w:sdt>".repeat(60_000)}`)),
    "bomb",
  );
  yield docx(
    "tables in tables",
    zipOf(docxParts(nested("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>", 40, paragraph(noise(8_000_000))))),
    "any",
  );
  yield docx(
    "links in links",
    zipOf(
      docxParts(
        `<w:p>${nested('<w:hyperlink r:id="rId9">', "</w:hyperlink>", 150, `<w:r><w:t>${noise(8_000_000)}</w:t></w:r>`)}</w:p>`,
        {},
        [{ id: "rId9", type: "hyperlink", target: "http://a", external: true }],
      ),
    ),
    "any",
  );
  yield docx(
    "one address of a megabyte, sixteen thousand times",
    zipOf(
      docxParts(`<w:p>${'<w:hyperlink r:id="rId9"><w:r><w:t>x</w:t></w:r></w:hyperlink>'.repeat(16_000)}</w:p>`, {}, [
        { id: "rId9", type: "hyperlink", target: noise(1_000_000), external: true },
      ]),
    ),
    "any",
  );
  yield docx(
    "a cell a billion columns wide",
    zipOf(
      docxParts(`<w:tbl><w:tr>${wordCell("a", '<w:gridSpan w:val="1000000000"/>')}${wordCell("b")}</w:tr></w:tbl>`),
    ),
    "read",
  );
  yield docx(
    "headers without end",
    zipOf(
      docxParts(
        "",
        { "word/header1.xml": "<w:hdr/>" },
        Array.from({ length: 100_000 }, (_, index) => ({ id: `r${index}`, type: "header", target: "header1.xml" })),
      ),
    ),
    "any",
  );
  yield docx("tags that never close", zipOf(docxParts("<w:p a".repeat(150_000))), "damaged");
  yield docx("no XML at all", zipOf({ ...small, "word/document.xml": "hello" }), "damaged");
  yield docx(
    "styles that are based on each other",
    zipOf(
      docxParts(
        paragraph("a", '<w:pStyle w:val="a"/>'),
        {
          "word/styles.xml":
            '<w:styles><w:style w:styleId="a"><w:basedOn w:val="b"/></w:style><w:style w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>',
        },
        [{ id: "r1", type: "styles", target: "styles.xml" }],
      ),
    ),
    "read",
  );

  const xlsx = (name: string, bytes: Uint8Array, answer: OfficeSample["answer"]): OfficeSample => ({
    name,
    format: "xlsx",
    bytes,
    answer,
  });
  const sheet = (xml: string, strings?: string): Uint8Array =>
    zipOf(xlsxParts([{ name: "S", xml }], strings === undefined ? {} : { strings }));
  yield xlsx(
    "one long text in every cell",
    sheet(rowsXml([`<row>${'<c t="s"><v>0</v></c>'.repeat(40_000)}</row>`]), `<si><t>${noise(32_000)}</t></si>`),
    "too large",
  );
  yield xlsx(
    "a diagonal of cells",
    sheet(
      rowsXml(
        Array.from(
          { length: 16_384 },
          (_, index) => `<row r="${index * 64 + 1}"><c r="${letters(index + 1)}1"><v>${index}</v></c></row>`,
        ),
      ),
    ),
    "read",
  );
  yield xlsx(
    "places that are no places",
    sheet(
      rowsXml([
        '<row r="-5"><c r="ZZZ9999999999"><v>1</v></c><c r="?"><v>2</v></c></row><row r="1e99"><c><v>3</v></c></row>',
      ]),
    ),
    "read",
  );
  yield xlsx("one sheet under twenty thousand names", manyNames(), "any");
  yield xlsx(
    "two and a half million cells",
    zipOf(xlsxParts([{ name: "S", xml: rowsXml(numberRows(100_000, 25)) }])),
    "any",
  );
  const shared = (name: string, value: string, answer: OfficeSample["answer"]): OfficeSample => ({
    name,
    format: "xlsx",
    bytes: zipOf(xlsxParts([{ name: "S", xml: `<!--${noise(120_000)}-->${rowsXml(sharedRows(250, 200, value))}` }])),
    answer,
  });
  yield shared("one long formula in fifty thousand cells", "", "too large");
  yield shared("two long formulas, turn by turn in fifty thousand cells", "<v>1</v>", "read");
  yield { name: "slides without end", format: "pptx", bytes: endlessSlides(), answer: "any" };
}

/** Text that deflate cannot shrink much, so that no ratio gives it away; the same every time. */
export function noise(chars: number): string {
  const bytes = new Uint8Array(chars);
  let state = 12_345;
  for (let at = 0; at < chars; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = 0x61 + ((state >>> 16) % 26);
  }
  return Buffer.from(bytes).toString("latin1");
}

function numberRows(rows: number, columns: number): readonly string[] {
  const letters = noise(rows);
  const row = Array.from({ length: columns }, (_, column) => `<c><v>${column}</v></c>`).join("");
  return Array.from({ length: rows }, (_, index) => `<row spans="${letters.slice(index, index + 20)}">${row}</row>`);
}

/** Two formulas of eight thousand characters, told once and meant in every cell of every other row. */
const sharedRows = (rows: number, columns: number, value: string): readonly string[] =>
  Array.from({ length: rows }, (_, row) => {
    const formula = row < 2 ? `${"A1+".repeat(2_700)}${row}` : "";
    const first = `<c><f t="shared" si="${row % 2}" ref="A1:ZZ9999">${formula}</f>${value}</c>`;
    return `<row>${first}${`<c><f t="shared" si="${row % 2}"/>${value}</c>`.repeat(columns - 1)}</row>`;
  });

const nested = (open: string, close: string, depth: number, inside: string): string =>
  open.repeat(depth) + inside + close.repeat(depth);

function letters(column: number): string {
  return column <= 0 ? "" : letters(Math.floor((column - 1) / 26)) + String.fromCharCode(0x41 + ((column - 1) % 26));
}

const manyParts = (count: number): Parts =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`customXml/item${index}.xml`, ""]));

function billionLaughs(): string {
  const levels = Array.from({ length: 9 }, (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`);
  return `<!DOCTYPE d [<!ENTITY l0 "ha">${levels.join("")}]>${wordDocument("<w:p><w:r><w:t>&l9;</w:t></w:r></w:p>").slice(declaration.length)}`;
}

function manyNames(): Uint8Array {
  const parts = xlsxParts([{ name: "S", xml: rowsXml(["<row><c><v>1</v></c></row>"]) }]);
  const list = Array.from(
    { length: 20_000 },
    (_, index) => `<sheet name="S${index}" sheetId="${index + 1}" r:id="rId1"/>`,
  );
  return zipOf({ ...parts, "xl/workbook.xml": `<workbook xmlns:r="r"><sheets>${list.join("")}</sheets></workbook>` });
}

function endlessSlides(): Uint8Array {
  const parts = pptxParts([{ shapes: shape("title", ["T"]) }]);
  const ids = '<p:sldId id="256" r:id="rId1"/>'.repeat(30_000);
  return zipOf({
    ...parts,
    "ppt/presentation.xml": `<p:presentation ${slideNames}><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
  });
}

/** The same zip, in which an entry says something else of its size: in both places, or in the directory only. */
export function patched(
  zip: Uint8Array,
  name: string,
  { bytes }: { readonly bytes: number },
  where: "both" | "directory" = "both",
): Uint8Array {
  const copy = Buffer.from(zip);
  const directory = copy.lastIndexOf(name) - 46;
  copy.writeUInt32LE(bytes, directory + 24);
  if (where === "both") copy.writeUInt32LE(bytes, copy.indexOf(name) - 30 + 22);
  return copy;
}

/** Two entries of the directory that lead to the same bytes. */
export function overlapping(): Uint8Array {
  const zip = Buffer.from(
    zipOf({ ...docxParts(paragraph("a")), "word/document2.xml": wordDocument(paragraph("a")) }, 0),
  );
  const first = zip.lastIndexOf("word/document.xml") - 46;
  const second = zip.lastIndexOf("word/document2.xml") - 46;
  zip.writeUInt32LE(zip.readUInt32LE(first + 42), second + 42);
  return zip;
}

export function withEntryCount(zip: Uint8Array, count: number): Uint8Array {
  const copy = Buffer.from(zip);
  copy.writeUInt16LE(count, copy.length - 22 + 8);
  copy.writeUInt16LE(count, copy.length - 22 + 10);
  return copy;
}
