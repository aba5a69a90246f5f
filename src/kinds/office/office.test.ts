import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  docxParts,
  hostileOfficeFiles,
  largeDocx,
  largePptx,
  largeXlsx,
  paragraph,
  type Parts,
  pptxParts,
  type Related,
  rowsXml,
  shape,
  wordCell,
  wordTable,
  xlsxParts,
  zipOf,
} from "../../../test/samples/office.ts";
import { runInWorker } from "../worker/host.ts";
import { type OfficeFormat, type OfficeLimits, type OfficeResult, officeText } from "./office.ts";

const limits: OfficeLimits = {
  entryBytesMax: 67_108_864,
  totalBytesMax: 134_217_728,
  ratioMax: 200,
  entriesMax: 10_000,
  cellsMax: 1_100_000,
  depthMax: 200,
};

const never = new AbortController().signal;

async function read(
  parts: Parts | Uint8Array,
  format: OfficeFormat,
  changed: Partial<OfficeLimits> = {},
): Promise<Omit<OfficeResult, "text"> & { readonly text: string }> {
  const bytes = parts instanceof Uint8Array ? parts : zipOf(parts);
  const result = officeText(bytes, format, { ...limits, ...changed });
  if (result.kind !== "office") throw new Error(JSON.stringify(result));
  return { ...result, text: Buffer.from(result.text).toString() };
}

describe("a document", () => {
  const styles = `<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
    <w:style w:styleId="T"><w:name w:val="Title"/></w:style>
    <w:style w:styleId="Own"><w:name w:val="My heading"/><w:basedOn w:val="berschrift1"/></w:style>
    <w:style w:styleId="Deep"><w:name w:val="Deep"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
    <w:style w:styleId="Item"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>`;
  const level = (at: number, format: string, text: string): string =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
  const numbering = `<w:numbering>
    <w:abstractNum w:abstractNumId="7">${level(0, "bullet", "")}${level(1, "bullet", "o")}</w:abstractNum>
    <w:abstractNum w:abstractNumId="8">${level(0, "decimal", "%1.")}${level(1, "lowerLetter", "%1.%2)")}${level(2, "upperRoman", "%3")}</w:abstractNum>
    <w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>
    <w:num w:numId="3"><w:abstractNumId w:val="8"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num></w:numbering>`;
  const related: readonly Related[] = [
    { id: "rId1", type: "styles", target: "styles.xml" },
    { id: "rId2", type: "numbering", target: "/word/numbering.xml" },
    { id: "rId3", type: "hyperlink", target: "https://example.com/a?b=1&amp;c=2", external: true },
    { id: "rId4", type: "footnotes", target: "footnotes.xml" },
    { id: "rId5", type: "header", target: "header1.xml" },
    { id: "rId6", type: "footer", target: "footer1.xml" },
    { id: "rId7", type: "header", target: "header2.xml" },
  ];
  const notes =
    '<w:footnotes><w:footnote w:id="-1"><w:p/></w:footnote><w:footnote w:id="2"><w:p><w:r><w:t>The note.</w:t></w:r></w:p></w:footnote></w:footnotes>';
  const parts = { "word/styles.xml": styles, "word/numbering.xml": numbering, "word/footnotes.xml": notes };
  const textOf = async (body: string): Promise<string> => (await read(docxParts(body, parts, related), "docx")).text;
  const item = (text: string, list: number, at = 0): string =>
    paragraph(text, `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${list}"/></w:numPr>`);
  const styled = (text: string, style: string): string => paragraph(text, `<w:pStyle w:val="${style}"/>`);
  const run = (inside: string): string => `<w:p><w:r>${inside}</w:r></w:p>`;

  for (const [name, body, text] of [
    [
      "paragraphs have an empty line between them",
      paragraph("one") + paragraph(" ") + paragraph("two"),
      "one\n\ntwo\n",
    ],
    [
      "a title and headings, by name, by style and by level",
      styled("T", "T") + styled("A", "berschrift1") + styled("B", "Own") + styled("C", "Deep"),
      "# T\n\n# A\n\n# B\n\n### C\n",
    ],
    ["bulleted lists are nested", item("a", 1) + item("b", 1, 1) + item("c", 1), "- a\n  - b\n- c\n"],
    [
      "numbered lists count and start over",
      item("a", 2) + item("b", 2, 1) + item("c", 2, 1) + item("d", 2) + item("e", 2, 1),
      "1. a\n  1.a) b\n  1.b) c\n2. d\n  2.a) e\n",
    ],
    ["a list can go on from another number", item("a", 2) + item("b", 3) + item("c", 3), "1. a\n5. b\n6. c\n"],
    [
      "a style makes an item, and number 0 takes it back",
      styled("a", "Item") + paragraph("b", '<w:pStyle w:val="Item"/><w:numPr><w:numId w:val="0"/></w:numPr>'),
      "- a\n\nb\n",
    ],
    [
      "a numbered heading keeps its number",
      paragraph("Scope", '<w:pStyle w:val="Deep"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr>'),
      "### 1. Scope\n",
    ],
    [
      "tabs, breaks and hyphens",
      run("<w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:softHyphen/>"),
      "a\tb\nc-d\n",
    ],
    [
      "a table is one in Markdown",
      wordTable([
        ["a", "b"],
        ["c|d", "e\nf"],
      ]),
      "| a | b |\n| --- | --- |\n| c\\|d | e<br>f |\n",
    ],
    [
      "a wide cell is followed by empty ones",
      `<w:tbl><w:tr>${wordCell("wide", '<w:gridSpan w:val="2"/>')}${wordCell("x")}</w:tr><w:tr>${wordCell("1")}${wordCell("2")}${wordCell("3")}</w:tr></w:tbl>`,
      "| wide |  | x |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n",
    ],
    [
      "a table in a table is told in lines",
      wordTable([["a", "b"]]).replace(
        paragraph("b"),
        wordTable([
          ["1", "2"],
          ["3", "4"],
        ]),
      ),
      "| a | 1, 2<br>3, 4 |\n| --- | --- |\n",
    ],
    ["a table of one cell is a frame", wordTable([["framed"]]), "framed\n"],
    [
      "a link has its address",
      `<w:p><w:hyperlink r:id="rId3"><w:r><w:t>here</w:t></w:r></w:hyperlink></w:p>`,
      "[here](https://example.com/a?b=1&c=2)\n",
    ],
    [
      "a link inside the document is its text",
      '<w:p><w:hyperlink w:anchor="x"><w:r><w:t>there</w:t></w:r></w:hyperlink></w:p>',
      "there\n",
    ],
    [
      "a note stands at the end",
      run('<w:t>text</w:t><w:footnoteReference w:id="2"/>'),
      "text[^1]\n\n[^1]: The note.\n",
    ],
    [
      "tracked insertions count, deletions do not",
      "<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom></w:p>",
      "new\n",
    ],
    [
      "what formatting was before says nothing",
      paragraph("a", '<w:pPrChange><w:pPr><w:pStyle w:val="T"/></w:pPr></w:pPrChange><w:rPr><w:del/></w:rPr>'),
      "a\n",
    ],
    [
      "a text box follows its paragraph, once",
      `<w:p><w:r><w:t>anchor</w:t></w:r><w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent>${paragraph("boxed")}${paragraph("twice")}</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>${paragraph("boxed")}</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`,
      "anchor\n\nboxed\ntwice\n",
    ],
    [
      "a picture is told by its description",
      run(
        '<w:drawing><wp:docPr id="1" name="Picture 1" descr="A  red\nhouse"/><a:graphic><pic:pic><pic:cNvPr descr="x"/></pic:pic></a:graphic></w:drawing>',
      ),
      "[image: A red house]\n",
    ],
    [
      "fields show their result",
      run(
        '<w:fldChar w:fldCharType="begin"/><w:instrText>PAGE</w:instrText><w:fldChar w:fldCharType="separate"/><w:t>7</w:t><w:fldChar w:fldCharType="end"/>',
      ),
      "7\n",
    ],
    [
      "content controls are walked through",
      `<w:sdt><w:sdtPr><w:alias w:val="x"/></w:sdtPr><w:sdtContent>${paragraph("inside")}</w:sdtContent></w:sdt>`,
      "inside\n",
    ],
    ["entities are decoded, Markdown signs stay", paragraph("a &lt; b &amp; *c*"), "a < b & *c*\n"],
  ] as const) {
    test(name, async () => expect(await textOf(body)).toBe(text));
  }

  test("headers and footers stand once at the end", async () => {
    const header = `<w:hdr>${paragraph("Acme")}${paragraph("secret")}</w:hdr>`;
    const margins = {
      "word/header1.xml": header,
      "word/header2.xml": header,
      "word/footer1.xml": `<w:ftr>${paragraph("2024")}</w:ftr>`,
    };
    const result = await read(docxParts(paragraph("text"), { ...parts, ...margins }, related), "docx");
    expect(result.text).toBe("text\n\nHeader: Acme secret\n\nFooter: 2024\n");
    expect(result.parts).toEqual(["document", "headers and footers"]);
  });

  test("a deleted row is left out, and all that is left out is noted", async () => {
    const row = (text: string, properties = ""): string =>
      `<w:tr>${properties}${wordCell(text)}${wordCell("x")}</w:tr>`;
    const body = `<w:tbl>${row("a")}${row("b", "<w:trPr><w:del/></w:trPr>")}${row("c")}</w:tbl><w:p><w:r><w:commentReference w:id="1"/></w:r><w:r><w:pict><v:imagedata/></w:pict></w:r></w:p>`;
    const result = await read(docxParts(body, parts, related), "docx");
    expect(result.text).toBe("| a | x |\n| --- | --- |\n| c | x |\n\n[image]\n");
    expect(result.notes).toEqual(["1 tracked deletion left out", "1 comment left out", "1 image left out"]);
  });

  test("prefixes are free, and so is the name of the main part", async () => {
    const parts = docxParts("");
    const document = '<document xmlns="x"><body><p><r><t>plain</t></r></p></body></document>';
    const moved = Object.fromEntries(
      Object.entries({ ...parts, "word/document.xml": document }).map(([name, part]) => [
        name.replace("word/document", "Other/Main"),
        typeof part === "string" ? part.replace("word/document", "/other/main") : part,
      ]),
    );
    expect((await read(moved, "docx")).text).toBe("plain\n");
  });
});

describe("a workbook", () => {
  const sheetText = async (xml: string, more: Parameters<typeof xlsxParts>[1] = {}): Promise<string> =>
    (await read(xlsxParts([{ name: "S", xml }], more), "xlsx")).text;
  const cells = (row: number, ...list: readonly string[]): string => `<row r="${row}">${list.join("")}</row>`;
  const number = (at: string, value: number | string, style?: number): string =>
    `<c r="${at}"${style === undefined ? "" : ` s="${style}"`}><v>${value}</v></c>`;
  const head = (range: string): string => `## Sheet "S" (${range})\n\n`;

  test("every kind of value, with its address", async () => {
    const strings =
      "<si><t>one</t></si><si><r><t>rich </t></r><r><rPr><b/></rPr><t>text</t></r><rPh><t>aid</t></rPh></si>";
    const xml = rowsXml([
      cells(2, '<c r="B2" t="s"><v>0</v></c>', '<c r="C2" t="s"><v>1</v></c>', number("E2", "0.10000000000000001")),
      cells(
        3,
        '<c r="B3" t="inlineStr"><is><t>a|b\nc</t></is></c>',
        '<c r="C3" t="b"><v>1</v></c>',
        '<c r="E3" t="e"><v>#DIV/0!</v></c>',
        '<c r="F3"/>',
      ),
      cells(9, '<c r="B9" t="str"><v>text</v></c>', number("C9", 1200)),
    ]);
    expect(await sheetText(xml, { strings })).toBe(
      `${head("B2:E9")}|  | B | C | E |\n| --- | --- | --- | --- |\n| 2 | one | rich text | 0.1 |\n| 3 | a\\|b<br>c | TRUE | #DIV/0! |\n| 9 | text | 1200 |\n`,
    );
  });

  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy hh:mm"/><numFmt numFmtId="165" formatCode="[Red]0.00&quot; days&quot;;General"/><numFmt numFmtId="166" formatCode="[h]:mm:ss"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="20"/></cellXfs>';
  for (const [name, value, style, properties, text] of [
    ["a date", 45_351, 1, "", "2024-02-29"],
    ["a date counted from 1904", 45_351, 1, '<workbookPr date1904="1"/>', "2028-03-01"],
    ["a date with a time of its own", 45_351.5, 2, "", "2024-02-29T12:00:00"],
    ["a date that hides its time", 45_351.25, 1, "", "2024-02-29T06:00:00"],
    ["the first day", 1, 1, "", "1900-01-01"],
    ["the last day before the gap", 59, 1, "", "1900-02-28"],
    ["the day that never was", 60, 1, "", "1900-02-29"],
    ["the day behind it", 61, 1, "", "1900-03-01"],
    ["a time", 0.75, 5, "", "18:00:00"],
    ["hours beyond a day", 1.5, 4, "", "36:00:00"],
    ["a number with a unit", 3, 3, "", "3"],
    ["no date that far", 3_000_000, 1, "", "3000000"],
    ["no date before the first", -1, 1, "", "-1"],
  ] as const) {
    test(`${name} is ${text}`, async () => {
      const xml = rowsXml([cells(1, number("A1", value, style))]);
      expect(await sheetText(xml, { styles, properties })).toBe(
        `${head("A1")}|  | A |\n| --- | --- |\n| 1 | ${text} |\n`,
      );
    });
  }

  test("formulas are listed below, those filled down once", async () => {
    const rows = [1, 2, 3].map((row) =>
      cells(
        row,
        number(`A${row}`, row),
        `<c r="B${row}"><f>A${row}*$A$1</f><v>${row}</v></c>`,
        `<c r="C${row}"><f>SUM(A$1:A3)</f></c>`,
      ),
    );
    const shared = cells(4, '<c r="A4"><f t="shared" ref="A4:A9" si="0">A3+1</f><v>4</v></c>');
    const more = cells(5, '<c r="A5"><f t="shared" si="0"/><v>5</v></c>', '<c r="B5"><f>"A1"&amp;A2</f><v>x</v></c>');
    const text = await sheetText(rowsXml([...rows, shared, more]));
    expect(text).toContain("| 2 | 2 | 2 | =SUM(A$1:A3) |\n");
    expect(text.slice(text.indexOf("Formulas"))).toBe('Formulas:\n- B1:B3: =A1*$A$1\n- A4:A5: =A3+1\n- B5: ="A1"&A2\n');
  });

  test("a shared formula is moved to its cells, and told only of those that have it", async () => {
    const shared = (text: string): string => `<f t="shared" si="0"${text === "" ? "/>" : ` ref="B1:B3">${text}</f>`}`;
    const uncalculated = [1, 2, 3].map((row) =>
      cells(row, number(`A${row}`, row), `<c r="B${row}">${shared(row === 1 ? "A1*$A$1" : "")}</c>`),
    );
    expect(await sheetText(rowsXml(uncalculated))).toContain("| 3 | 3 | =A3*$A$1 |\n");
    const calculated = rowsXml([
      cells(1, `<c r="B1">${shared("A1*2")}<v>2</v></c>`),
      cells(2, `<c r="B2">${shared("")}<v>4</v></c>`),
      cells(3, '<c r="B3"><f>SUM(A1:A3)</f><v>6</v></c>'),
    ]);
    expect(await sheetText(calculated)).toContain("- B1:B2: =A1*2\n- B3: =SUM(A1:A3)\n");
  });

  test("a formula that came to an empty text shows that, and a cell without a value none of the texts", async () => {
    const empty = cells(1, number("A1", 1), '<c r="B1" t="str"><f>""</f><v></v></c>', number("C1", 2));
    expect(await sheetText(rowsXml([empty]))).toMatch(/\| 1 \| 1 \| 2 \|\n.*- B1: =""\n/s);
    const none = cells(1, number("A1", 1), '<c r="B1" t="s"/>', '<c r="C1" t="s"><v></v></c>', number("D1", 2));
    expect(await sheetText(rowsXml([none]), { strings: "<si><t>FIRST</t></si>" })).not.toContain("FIRST");
  });

  test("a sheet with just as many cells as are read is not cut", async () => {
    const xml = rowsXml([cells(1, number("A1", 1), number("B1", 2))]);
    const result = await read(xlsxParts([{ name: "S", xml }]), "xlsx", { cellsMax: 2 });
    expect(result.notes).toEqual([]);
  });

  test("merged cells, links and hidden rows are told", async () => {
    const parts = {
      "xl/worksheets/_rels/sheet1.xml.rels":
        '<Relationships><Relationship Id="rId1" Type="x/hyperlink" Target="https://e.com" TargetMode="External"/></Relationships>',
    };
    const xml = `${rowsXml([`<row r="1" hidden="1">${number("A1", 1)}</row>`])}<mergeCells><mergeCell ref="A1:C1"/></mergeCells><hyperlinks><hyperlink ref="A1" r:id="rId1"/></hyperlinks>`;
    const result = await read(xlsxParts([{ name: "S", xml }], { parts }), "xlsx");
    expect(result.text).toBe(
      `${head("A1")}|  | A |\n| --- | --- |\n| 1 | 1 |\n\nMerged: A1:C1\n\nLinks: A1 https://e.com\n`,
    );
    expect(result.notes).toEqual(['"S": 1 hidden row shown']);
  });

  test("sheets come in order, hidden and empty ones said so", async () => {
    const one = rowsXml([cells(1, number("A1", 1))]);
    const result = await read(
      xlsxParts([
        { name: "Z", xml: one },
        { name: "H &amp; I", xml: one, state: "veryHidden" },
        { name: "E", xml: rowsXml([]) },
      ]),
      "xlsx",
    );
    expect(result.parts).toEqual(["Z", "H & I", "E"]);
    expect(result.text.split("\n").filter((line) => line.startsWith("#"))).toEqual([
      '## Sheet "Z" (A1)',
      '## Sheet "H & I" (A1, hidden)',
      '## Sheet "E" (empty)',
    ]);
  });

  test("cells far apart are listed with their addresses", async () => {
    const rows = Array.from({ length: 30 }, (_, at) =>
      cells(at + 1, number(`${String.fromCharCode(65 + (at % 26))}${at + 1}`, at)),
    );
    expect(await sheetText(rowsXml(rows))).toContain("\n\nA1: 0\nB2: 1\n");
  });

  test("rows and cells without places are next to each other", async () => {
    expect(await sheetText(rowsXml(["<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c></row>"]))).toBe(
      `${head("A1:B2")}|  | A | B |\n| --- | --- | --- |\n| 1 | 1 | 2 |\n| 2 | 3 |\n`,
    );
  });

  test("behind the limit it is cut, and that is noted", async () => {
    const xml = rowsXml([cells(1, number("A1", 1), number("B1", 2)), cells(2, number("A2", 3))]);
    const result = await read(
      xlsxParts([
        { name: "S", xml },
        { name: "T", xml },
      ]),
      "xlsx",
      { cellsMax: 2 },
    );
    expect(result.text).toContain("| 1 | 1 | 2 |\n");
    expect(result.notes).toEqual(['only the first 2 cells are read: "S" is cut, 1 sheet left out']);
  });
});

describe("a presentation", () => {
  const textOf = async (slides: Parameters<typeof pptxParts>[0], parts: Parts = {}): Promise<string> =>
    (await read(pptxParts(slides, parts), "pptx")).text;

  test("title, points, texts and notes, slide by slide", async () => {
    const body = shape("body", ["first", "second"]).replace(
      "<a:p><a:r><a:t>second",
      '<a:p><a:pPr lvl="1"/><a:r><a:t>second',
    );
    const slides = [
      {
        shapes: shape("sldNum", ["1"]) + shape("ctrTitle", ["The", "title"]) + body + shape(undefined, ["free text"]),
        notes: "Say hello",
      },
      { shapes: shape(undefined, ["no title"]), attributes: 'show="0"' },
    ];
    expect(await textOf(slides)).toBe(
      "## Slide 1: The title\n\n- first\n  - second\n\nfree text\n\nNotes: Say hello\n\n## Slide 2 (hidden)\n\nno title\n",
    );
  });

  test("the order is that of the list, not of the names", async () => {
    const parts = pptxParts([{ shapes: shape("title", ["A"]) }, { shapes: shape("title", ["B"]) }]);
    const list = String(parts["ppt/presentation.xml"]);
    const turned = list
      .replace('r:id="rId1"', 'r:id="x"')
      .replace('r:id="rId2"', 'r:id="rId1"')
      .replace('r:id="x"', 'r:id="rId2"');
    expect((await read({ ...parts, "ppt/presentation.xml": turned }, "pptx")).text).toBe(
      "## Slide 1: B\n\n## Slide 2: A\n",
    );
  });

  test("tables, pictures, charts, diagrams and links", async () => {
    const cell = (text: string): string => `<a:tc><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
    const shapes = [
      `<p:graphicFrame><a:tbl><a:tr>${cell("a")}${cell("b")}</a:tr><a:tr>${cell("c")}${cell("d")}</a:tr></a:tbl></p:graphicFrame>`,
      '<p:grpSp><p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture" descr="A house"/></p:nvPicPr></p:pic></p:grpSp>',
      '<p:graphicFrame><c:chart r:id="rId5"/></p:graphicFrame><p:graphicFrame><dgm:relIds r:dm="rId6"/></p:graphicFrame>',
      '<p:sp><p:txBody><a:p><a:r><a:rPr><a:hlinkClick r:id="rId7"/></a:rPr><a:t>site</a:t></a:r><a:r><a:t> end</a:t></a:r></a:p></p:txBody></p:sp>',
    ].join("");
    const related = [
      { id: "rId5", type: "chart", target: "../charts/chart1.xml" },
      { id: "rId6", type: "diagramData", target: "../diagrams/data1.xml" },
      { id: "rId7", type: "hyperlink", target: "https://e.com", external: true },
    ];
    const text = (words: string): string => `<a:p><a:r><a:t>${words}</a:t></a:r></a:p>`;
    const parts = {
      "ppt/charts/chart1.xml": `<c:chartSpace><c:chart><c:title>${text("Sales")}</c:title><c:plotArea/></c:chart></c:chartSpace>`,
      "ppt/diagrams/data1.xml": `<dgm:dataModel><dgm:pt><dgm:t>${text("Plan")}</dgm:t></dgm:pt><dgm:pt><dgm:t>${text("Do")}</dgm:t></dgm:pt></dgm:dataModel>`,
    };
    const result = await read(pptxParts([{ shapes, related }], parts), "pptx");
    expect(result.text).toBe(
      "## Slide 1\n\n| a | b |\n| --- | --- |\n| c | d |\n\n[image: A house]\n\n[site](https://e.com) end\n\n[chart: Sales]\n\n- Plan\n- Do\n",
    );
    expect(result.notes).toEqual(["1 image left out", "1 chart left out"]);
  });
});

test("a file is read as what it is, and its name is corrected", async () => {
  const result = await read(xlsxParts([{ name: "S", xml: rowsXml([]) }]), "docx");
  expect([result.format, result.notes]).toEqual(["xlsx", ["it is named .docx but holds xlsx"]]);
});

describe("large files", () => {
  for (const [name, format, make, chars] of [
    ["2,000 paragraphs", "docx", largeDocx, 500_000],
    ["20,000 rows", "xlsx", largeXlsx, 1_000_000],
    ["30 slides", "pptx", largePptx, 3_000],
  ] as const) {
    test(`${name} are read without holding others up`, async () => {
      const bytes = make();
      let turns = 0;
      let isOver = false;
      const others = (): void => {
        turns += 1;
        if (!isOver) setImmediate(others);
      };
      setImmediate(others);
      const result = await runInWorker("office", { bytes, format, limits }, { signal: never, msMax: 60_000 });
      isOver = true;
      expect("text" in result && result.text.length).toBeGreaterThan(chars);
      expect(turns).toBeGreaterThan(2);
    });
  }

  test("reading stops when it is told to", async () => {
    const stop = new AbortController();
    const within = { signal: stop.signal, msMax: 60_000 };
    const reading = runInWorker("office", { bytes: largeXlsx(), format: "xlsx", limits }, within);
    setImmediate(() => stop.abort(new Error("enough")));
    await expect(reading).rejects.toThrow("enough");
    const again = runInWorker("office", { bytes: new Uint8Array(), format: "docx", limits }, within);
    await expect(again).rejects.toThrow("enough");
  });
});

describe("hostile files are answered within bounds", () => {
  for (const { name, format, bytes, answer } of hostileOfficeFiles()) {
    test(`${name}: ${answer}`, async () => {
      const before = process.memoryUsage().rss;
      const { kind } = officeText(bytes, format, limits);
      expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000);
      if (answer !== "any") expect(kind).toBe(answer === "read" ? "office" : answer);
    });
  }
});

describe("no bytes make it throw", () => {
  const samples = [
    ["docx", docxParts(`${wordTable([["a", "b"]])}${paragraph("c", '<w:numPr><w:numId w:val="1"/></w:numPr>')}`)],
    [
      "xlsx",
      xlsxParts([{ name: "S", xml: rowsXml(['<row r="1"><c r="A1" t="s"><v>0</v></c><c><f>A1</f></c></row>']) }], {
        strings: "<si><t>x</t></si>",
        styles: "<cellXfs><xf/></cellXfs>",
      }),
    ],
    ["pptx", pptxParts([{ shapes: shape("title", ["T"]) + shape("body", ["a"]), notes: "n" }])],
  ] as const;

  test("random ones", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => void officeText(bytes, "docx", limits)),
    );
  });

  for (const [format, parts] of samples) {
    test(`changed bytes of a ${format}`, async () => {
      const zip = zipOf(parts, 0);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.nat(zip.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 }),
          async (changes) => {
            const copy = zip.slice();
            for (const [at, byte] of changes) copy[at] = byte;
            officeText(copy, format, limits);
          },
        ),
        { numRuns: 300 },
      );
    });

    test(`changed XML of a ${format}, in a zip that is right`, async () => {
      const names = Object.keys(parts);
      const put = fc.oneof(
        fc.string({ maxLength: 6 }),
        fc.constantFrom("<w:tbl>", "</w:p>", "<row>", "<c r='ZZZ1'>", '"', "<", "99999999999", "-1", "<a:p>"),
      );
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...names), fc.nat(), fc.nat(30), put, async (name, at, length, text) => {
          const part = String(parts[name]);
          const from = at % part.length;
          const changed = part.slice(0, from) + text + part.slice(from + length);
          officeText(zipOf({ ...parts, [name]: changed }, 0), format, limits);
        }),
        { numRuns: 700 },
      );
    });
  }
});
