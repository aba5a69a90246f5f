/** Every kind of file in every dialect, through the whole toolkit. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lineNumber } from "../src/contract/target.ts";
import { createFilehand, type Reply, restrictedFiles } from "../src/index.ts";
import type { DialectName } from "../src/dialects/index.ts";
import { countTokens } from "../src/kinds/exact-tokens.ts";
import { animated, bmp, heicGradient, photo } from "./samples/images.ts";
import { docxParts, encryptedFile, largeXlsx, paragraph, pptxParts, shape, zipOf } from "./samples/office.ts";
import { encryptedPdf, prosePdf, scannedPdf, textPdf } from "./samples/pdfs.ts";
import { replyTo } from "./support/reading.ts";

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-kinds-"));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const put = (name: string, bytes: string | Uint8Array): void => fs.writeFileSync(path.join(root, name), bytes);
const never = new AbortController().signal;

const notebook = {
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { language_info: { name: "python" } },
  cells: [
    { cell_type: "markdown", id: "intro", metadata: {}, source: ["# Title\n", "words"] },
    {
      cell_type: "code",
      id: "sum",
      metadata: {},
      execution_count: 7,
      source: "print(1 + 1)",
      outputs: [{ output_type: "stream", name: "stdout", text: ["2\n"] }],
    },
  ],
};

beforeAll(async () => {
  put("small.png", await photo(64, 48).png().toBuffer());
  put("large.jpg", await photo(2_400, 1_800).jpeg().toBuffer());
  put("moving.gif", await animated("gif", 32, 5));
  put("cut.png", (await photo(64, 48).png().toBuffer()).subarray(0, 400));
  put("empty.png", "");
  put("text.png", "only text\n");
  put("short.pdf", textPdf([["first page"], ["second page"], ["third page"]]));
  put("long.pdf", prosePdf(12, 20));
  put("scanned.pdf", scannedPdf(2));
  put("secret.pdf", encryptedPdf(["hidden"], "password"));
  put("broken.pdf", "%PDF-1.7\nnothing follows\n");
  put("book.ipynb", JSON.stringify(notebook, null, 1));
  put("letter.docx", zipOf(docxParts(paragraph("Dear reader") + paragraph("Yours"))));
  put("figures.xlsx", largeXlsx());
  put("talk.pptx", zipOf(pptxParts([{ shapes: shape("title", ["Opening"]) }])));
  put("locked.docx", encryptedFile());
  put("cut.docx", zipOf(docxParts(paragraph("Dear reader"))).subarray(0, 200));
  put("text.docx", "only text\n");
  put("broken.ipynb", '{"cells": [}');
});

const filehand = createFilehand({ roots: [root], dedup: false, reminder: false });

async function read(dialect: DialectName, file: string, more: object = {}): Promise<Reply> {
  const session = filehand.session({ dialect });
  const [tool] = session.definitions();
  return session.call(tool?.name ?? "", { [tool?.inputSchema.required?.[0] ?? ""]: file, ...more });
}

const words = (reply: Reply): string =>
  reply.content.map((part) => (part.type === "text" ? part.text : `<${part.mimeType}>`)).join("\n");

describe("images", () => {
  test("claude gets the picture, its size and its dimensions", async () => {
    const reply = await read("claude", "large.jpg");
    expect(reply.structured).toMatchObject({
      type: "image",
      file: {
        originalSize: fs.statSync(path.join(root, "large.jpg")).size,
        dimensions: { originalWidth: 2_400, originalHeight: 1_800, displayWidth: 1_568, displayHeight: 1_176 },
      },
    });
    const [image] = reply.content;
    const bytes = Buffer.from(image?.type === "image" ? image.data : "", "base64");
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 1_568, height: 1_176 });
    expect(words(reply)).toContain("2400x1800 pixels, shown at 1568x1176");
    expect((image?.type === "image" ? image.data.length : 0) * 0.125).toBeLessThanOrEqual(25_000);
  });

  test("a small one is handed out as it is", async () => {
    const reply = await read("claude", "small.png");
    const [image] = reply.content;
    expect(image?.type === "image" ? Buffer.from(image.data, "base64") : "").toEqual(
      fs.readFileSync(path.join(root, "small.png")),
    );
    expect(reply.content.slice(1)).toEqual([
      { type: "text", text: expect.stringMatching(/^\[Image: \d+x\d+ pixels, image\/png\]$/) },
    ]);
  });

  for (const dialect of ["opencode", "opencode-legacy"] as const) {
    test(`${dialect} attaches it`, async () => {
      const reply = await read(dialect, "small.png");
      const data = fs.readFileSync(path.join(root, "small.png")).toString("base64");
      expect(reply.structured).toEqual({
        title: "small.png",
        output: "Image read successfully",
        metadata: { preview: "Image read successfully", truncated: false },
        attachments: [
          {
            id: expect.any(String),
            sessionID: expect.any(String),
            messageID: expect.stringMatching(/./),
            type: "file",
            mime: "image/png",
            url: `data:image/png;base64,${data}`,
          },
        ],
      });
    });
  }

  test("the messageID of an attachment is the id of the turn: the one that the host names, else the call's own", async () => {
    const reader = filehand.session({ dialect: "opencode" });
    const messageId = async (): Promise<string> => {
      const { structured } = await reader.call("read", { filePath: "small.png" });
      return (structured as { attachments: [{ messageID: string }] }).attachments[0].messageID;
    };
    const own = [await messageId(), await messageId()];
    expect(new Set([...own, ""]).size).toBe(3);
    await reader.checkpoint("message-7");
    expect([await messageId(), await messageId()]).toEqual(["message-7", "message-7"]);
  });

  for (const dialect of ["claude", "opencode", "opencode-legacy"] as const) {
    test(`${dialect} says so where a picture is shrunk, converted or the first frame of several`, async () => {
      put("drawn.bmp", bmp(40, 30, { bits: 24 }));
      expect(words(await read(dialect, "moving.gif"))).toContain("the first of 5 frames");
      expect(words(await read(dialect, "large.jpg"))).toContain("[Image: 2400x1800 pixels, shown at 1568x1176]");
      expect(words(await read(dialect, "drawn.bmp"))).toContain("[Image: converted from image/bmp]");
      expect(words(await read(dialect, "small.png"))).not.toMatch(/shown at|converted|frames/);
    });
  }

  test("a HEIC is shown as a JPEG, and a cut one is refused as damaged", async () => {
    put("photo.heic", heicGradient());
    put("cut.heic", heicGradient().subarray(0, 500));
    for (const dialect of ["claude", "opencode", "opencode-legacy"] as const) {
      expect(words(await read(dialect, "photo.heic"))).toContain("[Image: converted from image/heic]");
      expect((await read(dialect, "cut.heic")).error?.code).toBe("DAMAGED");
    }
    expect((await read("claude", "photo.heic")).content[0]).toMatchObject({ type: "image", mimeType: "image/jpeg" });
  });

  test("the budget holds: less room, smaller picture", async () => {
    const small = createFilehand({ roots: [root], pageTokensMax: 2_000, dedup: false }).session();
    const reply = await small.call("Read", { file_path: "large.jpg" });
    const [image] = reply.content;
    expect((image?.type === "image" ? image.data.length : 1e9) * 0.125).toBeLessThanOrEqual(2_000);
  });

  test("what does not decode is never handed out", async () => {
    for (const dialect of ["claude", "opencode", "opencode-legacy"] as const) {
      for (const name of ["cut.png", "empty.png"]) expect((await read(dialect, name)).error?.code).toBe("DAMAGED");
    }
  });

  test("envelope has no pictures, and text called .png is text everywhere", async () => {
    expect((await read("envelope", "small.png")).error).toEqual({
      code: "BINARY_FILE",
      message: "File 'small.png' appears to be binary.",
    });
    for (const dialect of ["claude", "opencode", "opencode-legacy", "envelope"] as const) {
      expect(words(await read(dialect, "text.png"))).toContain("only text");
    }
  });
});

describe("PDFs", () => {
  test("a short one is read whole: text for the model, the file for programs", async () => {
    const reply = await read("claude", "short.pdf");
    expect(words(reply)).toMatch(/PDF, 3 pages.*--- page 1 ---\nfirst page.*--- page 3 ---\nthird page/s);
    const bytes = fs.readFileSync(path.join(root, "short.pdf"));
    const file = {
      filePath: path.join(root, "short.pdf"),
      base64: bytes.toString("base64"),
      originalSize: bytes.length,
    };
    expect(reply.structured).toEqual({ type: "pdf", file });
  });

  test("pages are chosen, and shown as pictures too", async () => {
    const reply = await read("claude", "short.pdf", { pages: "2-3" });
    expect(reply.structured).toMatchObject({
      type: "parts",
      file: { count: 2, outputDir: null },
      pages: [
        { page: 2, text: expect.stringContaining("second page"), mediaType: expect.stringMatching(/^image\//) },
        { page: 3 },
      ],
    });
    expect(reply.content.filter(({ type }) => type === "image")).toHaveLength(2);
    expect(words(reply)).not.toContain("first page");
  });

  test("a range of pages that is over the budget is refused with the range that fits", async () => {
    const session = createFilehand({ roots: [root], pageTokensMax: 2_000 }).session({ dialect: "claude" });
    const pages = (range: string) => session.call("Read", { file_path: "long.pdf", pages: range });
    const { error } = await pages("3-12");
    expect(error?.code).toBe("OVER_BUDGET");
    const [, range = ""] = /the budget is 2000, read pages "(3-\d+)" instead/.exec(error?.message ?? "") ?? [];
    expect((await pages(range)).isError).toBe(false);
    const [from, to] = range.split("-").map(Number);
    expect((await pages(`${from}-${(to ?? 0) + 1}`)).error?.code).toBe("OVER_BUDGET");
  });

  test("more pages than one call reads are refused with a range that can be read", async () => {
    put("longer.pdf", prosePdf(30, 1));
    const { error } = await read("claude", "longer.pdf", { pages: "4-30" });
    expect(error?.message).toMatch(/at most 20 pages can be read at once.*read pages "4-23" instead/);
  });

  test("a long one demands pages and names an example", async () => {
    const { error } = await read("claude", "long.pdf");
    expect(error?.code).toBe("INVALID_PARAM");
    expect(error?.message).toMatch(/12 pages.*pages, such as "1-20"/);
  });

  for (const [pages, hint] of [
    ["0", /1 to 12/],
    ["5-3", /1 to 12/],
    ["3-", /1 to 12/],
    ["a", /1 to 12/],
    ["99", /1 to 12/],
  ] as const) {
    test(`pages "${pages}" of 12 is refused with the legal range`, async () => {
      const { error } = await read("claude", "long.pdf", { pages });
      expect(error?.code).toBe("INVALID_PARAM");
      expect(error?.message).toMatch(hint);
    });
  }

  test("encrypted, damaged and scanned are three different answers", async () => {
    expect((await read("claude", "secret.pdf")).error?.code).toBe("ENCRYPTED");
    expect((await read("claude", "broken.pdf")).error?.code).toBe("DAMAGED");
    const scanned = await read("claude", "scanned.pdf");
    expect(scanned.isError).toBe(false);
    expect(words(scanned)).toMatch(/scanned.*with pages/);
    expect((await read("claude", "scanned.pdf", { pages: "1" })).content.some(({ type }) => type === "image")).toBe(
      true,
    );
  });

  test("the opencode dialects attach the file, envelope refuses it", async () => {
    for (const dialect of ["opencode", "opencode-legacy"] as const) {
      expect((await read(dialect, "long.pdf")).structured).toMatchObject({
        output: "PDF read successfully",
        metadata: { preview: "PDF read successfully", truncated: false },
        attachments: [
          { type: "file", mime: "application/pdf", url: expect.stringMatching(/^data:application\/pdf;base64,/) },
        ],
      });
    }
    expect((await read("envelope", "short.pdf")).error?.code).toBe("BINARY_FILE");
  });

  test("a model gets the text of a PDF in the opencode dialects, which answer with the same sentence", async () => {
    for (const dialect of ["opencode", "opencode-legacy"] as const) {
      const short = await read(dialect, "short.pdf");
      expect(short.content[0]).toEqual({ type: "text", text: "PDF read successfully" });
      expect(words(short)).toMatch(/--- page 1 ---\nfirst page\n.*--- page 3 ---\nthird page/s);
      expect(short.structured).toMatchObject({ output: "PDF read successfully", attachments: [{ type: "file" }] });
      const scanned = await read(dialect, "scanned.pdf");
      expect(words(scanned)).toContain("[No page has text: the document is scanned]");
      const long = await read(dialect, "long.pdf");
      expect(words(long)).toContain("--- page 12 ---");
      put("longer.pdf", prosePdf(30, 20));
      expect(words(await read(dialect, "longer.pdf"))).toContain(
        "(PDF has 30 pages: the text of pages up to 20 is shown, the attachment has all of them.",
      );
    }
  });

  test("of one that is too large to attach the opencode dialects show the first pages, and say what is left out", async () => {
    const pdf = prosePdf(30, 20).toString("latin1");
    const at = pdf.lastIndexOf("startxref");
    put("heavy.pdf", Buffer.from(`${pdf.slice(0, at)}%${"x".repeat(8_000_000)}\n${pdf.slice(at)}`, "latin1"));
    for (const dialect of ["opencode", "opencode-legacy"] as const) {
      const reply = await read(dialect, "heavy.pdf");
      expect(words(reply)).toMatch(/--- page 1 ---.*--- page 20 ---/s);
      expect(words(reply)).toMatch(
        /PDF has 30 pages and is too large to be attached: pages up to 20 are shown\. Ask the user/,
      );
      expect(reply.structured).toMatchObject({ metadata: { truncated: true } });
    }
  });

  test("pages that a program asks for are given in the opencode dialects too", async () => {
    const range = { from: lineNumber(1), linesMax: Number.POSITIVE_INFINITY };
    const { reply } = await filehand.session({ dialect: "opencode" }).run((profile) => ({
      verb: "read",
      path: "short.pdf",
      ranges: [range],
      pages: "2",
      overBudget: "first page",
      profile,
    }));
    expect(words(reply)).toContain("second page");
    expect(words(reply)).not.toContain("first page");
  });

  test("pages of a text are refused", async () => {
    expect((await read("claude", "text.png", { pages: "1" })).error).toMatchObject({
      code: "INVALID_PARAM",
      message: /not a PDF/,
    });
    expect((await read("claude", "small.png", { pages: "1" })).error?.message).toContain("an image, leave pages out");
  });
});

describe("text that begins like something else", () => {
  test("is looked at once, whatever it goes on with", async () => {
    put("digits.txt", `%PDF-1.4 ${"1".repeat(65_000)}`);
    const startedMs = performance.now();
    expect(words(await read("claude", "digits.txt"))).toContain("1\t%PDF-1.4 111");
    expect(performance.now() - startedMs).toBeLessThan(1_500);
  });

  test("is text, unless it is what it begins like", async () => {
    put("note.txt", "GIF89a is how a GIF begins\n");
    put("pdfnote.md", "%PDF-1.7 is how a PDF begins\n");
    expect(words(await read("claude", "note.txt"))).toContain("1\tGIF89a is how a GIF begins");
    expect(words(await read("claude", "pdfnote.md"))).toContain("1\t%PDF-1.7 is how");
    put("real.txt", textPdf([["a page"]]));
    expect(words(await read("claude", "real.txt"))).toContain("--- page 1 ---\na page");
    put("moving.txt", await animated("gif", 32, 2));
    expect(words(await read("claude", "moving.txt"))).toContain("<image/");
    expect((await read("claude", "broken.pdf")).error?.code).toBe("DAMAGED");
  });
});

describe("the end of a file that nobody counts", () => {
  const readEnd = (dialect: DialectName, path: string, last = 2, pageTokensMax?: number): Promise<Reply> =>
    replyTo(filehand.session({ dialect }), (profile) => ({
      verb: "read",
      path,
      ranges: [{ last, numbered: "from the end" }],
      overBudget: "first page",
      profile: pageTokensMax === undefined ? profile : { ...profile, pageTokensMax },
    }));

  for (const [what, count, last, first] of [
    ["a part of it", 1_500, 100, 1_401],
    ["more than it has", 80, 100, 1],
    ["just what it has", 80, 80, 1],
    ["the end of a large one", 40_000, 100, 39_901],
  ] as const) {
    test(`lines keep their numbers where the budget ends before the file: ${what}`, async () => {
      put("numbered.txt", Array.from({ length: count }, (_, line) => `this is line ${line + 1}\n`).join(""));
      const text = words(await readEnd("claude", "numbered.txt", last, 200));
      const from = first - count - 1;
      expect(text).toMatch(new RegExp(`^${from}\tthis is line ${first}\n`));
      const shown = text.match(/\tthis/g)?.length ?? 0;
      expect(text).toContain(`lines ${from} to ${from + shown - 1}, go on with offset ${from + shown}]`);
      expect(shown).toBeLessThan(79);
    });
  }

  test("no dialect says more of the total than is known", async () => {
    put("three.txt", "a\nb\nc\n");
    put("none.txt", "");
    const envelope = await readEnd("envelope", "three.txt");
    expect(words(envelope)).toContain("Read 2 lines from 'three.txt' (Lines -2--1).");
    expect(envelope.structured).toMatchObject({ stats: { total_lines: null } });
    expect(words(await readEnd("envelope", "none.txt"))).toContain("(file is empty)");
    expect(words(await readEnd("opencode", "three.txt"))).toContain("\n(End of file)\n");
    expect(words(await readEnd("opencode-legacy", "three.txt"))).toContain("-0002| c\n-0001| \n");
    expect(words(await readEnd("claude", "none.txt"))).toContain("[The file exists and is empty]");
  });
});

describe("dense text", () => {
  /** As the model gets them. */
  const numbered = (lines: readonly string[]): string => lines.map((line, at) => `${at + 1}\t${line}`).join("\n");

  /** Lines of base64 of bytes that look like chance. */
  const base64Lines = Array.from({ length: 3_000 }, (_, line) =>
    Buffer.from(Array.from({ length: 57 }, (_, at) => Math.imul(line * 57 + at + 1, 2_654_435_761) >>> 11)).toString(
      "base64",
    ),
  );

  test("stays within the budget by count, and the limit that a refusal names is accepted", async () => {
    put("dense.txt", base64Lines.join("\n"));
    const refused = await read("claude", "dense.txt", { offset: 1, limit: 3_000 });
    const limit = Number(/use a limit of at most (\d+)/.exec(refused.error?.message ?? "")?.[1]);
    const accepted = await read("claude", "dense.txt", { offset: 1, limit });
    expect(accepted.structured).toMatchObject({ file: { numLines: limit } });
    const whole = await read("claude", "dense.txt");
    expect(whole.structured).toMatchObject({ file: { truncatedByTokenCap: true, numLines: limit } });
    const tokens = (await countTokens(numbered(base64Lines.slice(0, limit)), never)) ?? 0;
    expect(tokens).toBeGreaterThan(24_000);
    expect(tokens).toBeLessThanOrEqual(25_000);
  });

  test("what has few tokens by count is not refused for a high estimate, nor is a refusal at odds with itself", async () => {
    const rule = `${"=".repeat(80)}\n`;
    put("rules.txt", rule.repeat(1_200));
    const whole = { numLines: 1_200, totalLines: 1_200 };
    expect((await read("claude", "rules.txt", { offset: 1, limit: 1_200 })).structured).toMatchObject({ file: whole });
    put("rules.txt", rule.repeat(60_000));
    const { error } = await read("claude", "rules.txt", { offset: 1, limit: 60_000 });
    const [, tokens, limit] = /have (?:about|at least) (\d+) tokens.*at most (\d+)/.exec(error?.message ?? "") ?? [];
    expect(Number(tokens)).toBeGreaterThan(25_000);
    const shown = await read("claude", "rules.txt", { offset: 1, limit: Number(limit) });
    expect(shown.structured).toMatchObject({ file: { numLines: Number(limit) } });
    const lines = Array.from({ length: Number(limit) }, () => "=".repeat(80));
    expect((await countTokens(numbered(lines), never)) ?? 0).toBeGreaterThan(20_000);
  });

  for (const [name, line, lines] of [
    ["empty", "", 200_000],
    ["of one letter", "a", 100_000],
    ["of one brace", "}", 20_000],
    ["of few letters", "ab cd", 9_000],
  ] as const) {
    test(`the token budget counts the numbers in front of lines: lines that are ${name}`, async () => {
      put("lines.txt", `${line}\n`.repeat(lines));
      const reply = await read("claude", "lines.txt");
      expect(reply.structured).toMatchObject({ file: { truncatedByTokenCap: true, totalLines: lines } });
      const tokens = (await countTokens(words(reply), never)) ?? 0;
      expect(tokens).toBeGreaterThan(22_000);
      // The notice after the page is not part of it.
      expect(tokens).toBeLessThanOrEqual(25_100);
    });
  }

  test("a refusal names the tokens that were measured", async () => {
    put("dense.txt", base64Lines.join("\n"));
    const refused = await read("claude", "dense.txt", { offset: 1, limit: 600 });
    const tokens = await countTokens(numbered(base64Lines.slice(0, 600)), never);
    expect(refused.error?.message).toContain(`have about ${tokens} tokens, the budget is 25000`);
  });
});

describe("notebooks", () => {
  test("claude gets the cells", async () => {
    const reply = await read("claude", "book.ipynb");
    expect(reply.structured).toMatchObject({
      type: "notebook",
      file: {
        filePath: path.join(root, "book.ipynb"),
        cells: [
          { id: "intro", type: "markdown", source: "# Title\nwords" },
          {
            id: "sum",
            type: "code",
            executionCount: 7,
            outputs: [{ type: "text", text: expect.stringContaining("2") }],
          },
        ],
      },
    });
    expect(words(reply)).toMatch(
      /cell 1, markdown, id "intro".*# Title.*cell 2, code, run 7.*print\(1 \+ 1\).*\[stdout\]\n2/s,
    );
  });

  test("offset and limit count cells", async () => {
    const reply = await read("claude", "book.ipynb", { offset: 2, limit: 1 });
    expect(words(reply)).not.toContain("# Title");
    expect(words(reply)).toContain("print(1 + 1)");
    expect((await read("claude", "book.ipynb", { offset: 3 })).error).toMatchObject({
      code: "INVALID_PARAM",
      message: /2 cells/,
    });
  });

  /** A cell of code whose outputs are pictures, as the notebook claims. */
  const plots = (...images: readonly (readonly [mime: string, bytes: Uint8Array | string])[]): object => ({
    cell_type: "code",
    metadata: {},
    execution_count: 1,
    source: "plot()",
    outputs: images.map(([mime, bytes]) => ({
      output_type: "display_data",
      metadata: {},
      data: { [mime]: typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("base64") },
    })),
  });
  const putBook = (name: string, cells: readonly object[]): void => put(name, JSON.stringify({ ...notebook, cells }));
  const images = (reply: Reply): readonly { data: string; mimeType: string }[] =>
    reply.content.flatMap((part) => (part.type === "image" ? [part] : []));

  test("pictures that do not decode are named, not handed out, and the others say what they are", async () => {
    const small = await photo(64, 48).png().toBuffer();
    putBook("pictures.ipynb", [
      plots(["image/png", small.subarray(0, 400)]),
      plots(["image/png", "bm90IGEgcGljdHVyZQ=="], ["image/png", "A"]),
      plots(["image/png", await photo(64, 48).jpeg().toBuffer()]),
      plots(["image/gif", await animated("gif", 32, 5)]),
      plots(["image/png", small]),
    ]);
    const reply = await read("claude", "pictures.ipynb");
    expect(words(reply).match(/\[picture of type image\/png, not shown: it is damaged \([^\n]+\)\]/g)).toHaveLength(3);
    expect(words(reply)).toContain("the first of 5 frames");
    expect(images(reply).map(({ mimeType }) => mimeType)).toEqual(["image/jpeg", "image/png", "image/png"]);
    expect(images(reply)[2]?.data).toBe(small.toString("base64"));
    for (const { data, mimeType } of images(reply)) {
      const { format, pages = 1 } = await sharp(Buffer.from(data, "base64")).metadata();
      expect([`image/${format}`, pages]).toEqual([mimeType, 1]);
    }
  });

  test("pictures are made to fit, and count in the budget", async () => {
    const noise = Buffer.from(
      Array.from({ length: 900 * 700 * 3 }, (_, at) => Math.imul(at + 1, 2_654_435_761) >>> 24),
    );
    const noisy = await sharp(noise, { raw: { width: 900, height: 700, channels: 3 } })
      .png()
      .toBuffer();
    const large = await sharp({ create: { width: 3_000, height: 2_000, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    putBook("large.ipynb", [plots(["image/png", noisy]), plots(["image/png", large])]);
    const reply = await read("claude", "large.ipynb");
    for (const { data } of images(reply)) expect(data.length * 0.125).toBeLessThanOrEqual(25_000 / 4);
    expect(words(reply)).toContain("3000x2000 pixels, shown at 1568x1045");

    const plot = await sharp(noise, { raw: { width: 160, height: 120, channels: 3 } })
      .png()
      .toBuffer();
    const each = plot.toString("base64").length * 0.125;
    const fit = Math.floor(25_000 / each);
    putBook(
      "many.ipynb",
      Array.from({ length: fit + 5 }, () => plots(["image/png", plot])),
    );
    const first = await read("claude", "many.ipynb");
    // The lines above the cells and the pictures count as well.
    expect(images(first).length).toBeGreaterThan(fit - 4);
    expect(images(first).length).toBeLessThanOrEqual(fit);
    expect(words(first)).toContain(`go on with offset ${images(first).length + 1}]`);
    const refused = await read("claude", "many.ipynb", { offset: 1, limit: fit + 5 });
    expect(refused.error).toMatchObject({
      code: "OVER_BUDGET",
      message: expect.stringContaining(`use a limit of at most ${images(first).length}`),
    });
    expect(images(await read("claude", "many.ipynb", { offset: 1, limit: images(first).length }))).toHaveLength(
      images(first).length,
    );
    putBook("crowd.ipynb", [plots(...Array.from({ length: 40 }, () => ["image/png", plot] as const))]);
    const crowd = await read("claude", "crowd.ipynb");
    const leftOut = words(crowd).match(/not shown: it has about \d+ tokens/g) ?? [];
    expect(images(crowd).length + leftOut.length).toBe(40);
    expect(images(crowd).length).toBeGreaterThanOrEqual(images(first).length);
    expect(images(crowd).length).toBeLessThanOrEqual(fit);
  });

  test("of a cell that is over the budget by itself as much as fits is shown, and it says so", async () => {
    const source = "y = 1\n".repeat(100_000);
    putBook("huge.ipynb", [{ ...plots(), source }, plots()]);
    for (const more of [{}, { offset: 1, limit: 1 }]) {
      const reply = await read("claude", "huge.ipynb", more);
      expect(words(reply).length).toBeLessThan(200_000);
      expect(words(reply)).toMatch(/PARTIAL view, cell 1 alone is over the budget: the last \d+ characters/);
    }
    const refused = await read("claude", "huge.ipynb", { offset: 1, limit: 2 });
    expect(refused.error).toMatchObject({
      code: "OVER_BUDGET",
      message: expect.stringContaining("a limit of at most 1"),
    });
  });

  test("pictures of few bytes and many pixels are not all decoded, whether they are whole or not", async () => {
    const wide = await sharp({ create: { width: 9_990, height: 9_990, channels: 3, background: "white" } })
      .toColourspace("b-w")
      .png()
      .toBuffer();
    const cut = wide.subarray(0, wide.length - 300);
    putBook("pixels.ipynb", [
      plots(["image/png", cut]),
      ...Array.from({ length: 30 }, () => plots(["image/png", wide])),
      plots(["image/png", await photo(64, 48).png().toBuffer()]),
    ]);
    const reply = await read("claude", "pixels.ipynb");
    expect(words(reply).match(/it is damaged/g)).toHaveLength(1);
    expect(words(reply).match(/9990x9990 pixels, more than are left of 200000000 for one answer/g)).toHaveLength(29);
    expect(images(reply)).toHaveLength(2);
    expect(images(await read("claude", "pixels.ipynb", { offset: 20, limit: 1 }))).toHaveLength(1);
  });

  test("one that the budget cuts says so to programs", async () => {
    putBook(
      "many.ipynb",
      Array.from({ length: 5_000 }, () => ({ cell_type: "code", metadata: {}, source: "x = 1", outputs: [] })),
    );
    putBook("one.ipynb", [{ cell_type: "code", metadata: {}, source: "word ".repeat(60_000), outputs: [] }]);
    const many = (await read("claude", "many.ipynb")).structured;
    expect(many).toMatchObject({
      file: { truncatedByTokenCap: true, totalCells: 5_000, nextOffset: expect.any(Number) },
    });
    const one = (await read("claude", "one.ipynb")).structured;
    expect(one).toMatchObject({ file: { truncatedByTokenCap: true } });
    expect(one).not.toHaveProperty("file.nextOffset");
    expect((await read("claude", "book.ipynb")).structured).not.toHaveProperty("file.truncatedByTokenCap");
  });

  test("what stands around a text counts in the budget: heads of cells, names and words of errors", async () => {
    putBook(
      "nothing.ipynb",
      Array.from({ length: 9_000 }, () => ({ cell_type: "code", metadata: {}, source: "", outputs: [] })),
    );
    const raised = { output_type: "error", ename: "E".repeat(10_000), evalue: "word ".repeat(2_000), traceback: [] };
    putBook("raised.ipynb", [{ ...plots(), outputs: Array.from({ length: 50 }, () => raised) }, plots()]);
    for (const name of ["nothing.ipynb", "raised.ipynb"]) {
      const reply = await read("claude", name);
      expect((await countTokens(words(reply), never)) ?? 0).toBeLessThan(30_000);
    }
    expect(words(await read("claude", "nothing.ipynb"))).toMatch(/go on with offset \d+\]/);
    expect(words(await read("claude", "raised.ipynb"))).toMatch(/\d+ more outputs are not shown/);
  });

  test("one that is not JSON says where, and the other dialects read it as text", async () => {
    expect((await read("claude", "broken.ipynb")).error).toMatchObject({ code: "DAMAGED", message: /line 1, column/ });
    for (const dialect of ["opencode", "opencode-legacy", "envelope"] as const) {
      expect(words(await read(dialect, "broken.ipynb"))).toContain('{"cells": [}');
    }
  });
});

describe("office documents", () => {
  for (const dialect of ["claude", "opencode"] as const) {
    test(`${dialect} reads them as text with line numbers`, async () => {
      expect(words(await read(dialect, "letter.docx"))).toMatch(/1(?:\t|: )Dear reader\n/);
      expect(words(await read(dialect, "talk.pptx"))).toContain("Opening");
      expect(words(await read(dialect, "figures.xlsx", { limit: 5 }))).toMatch(/Sheet/);
    });
  }

  test("claude says what the text was made from, and a long one pages like any text", async () => {
    expect(words(await read("claude", "letter.docx"))).toContain("[Converted from docx");
    const reply = await read("claude", "figures.xlsx");
    expect(reply.structured).toMatchObject({ type: "text", file: { truncatedByTokenCap: true } });
    expect(words(reply)).toMatch(/PARTIAL view.*go on with offset/);
  });

  test("encrypted and damaged ones are told apart, and text called .docx is text", async () => {
    expect((await read("claude", "cut.docx")).error?.code).toBe("DAMAGED");
    expect(words(await read("claude", "text.docx"))).toContain("only text");
    expect((await read("claude", "locked.docx")).error?.code).toBe("ENCRYPTED");
  });

  test("the dialects that have a rule against them refuse them", async () => {
    expect((await read("envelope", "letter.docx")).error?.code).toBe("BINARY_FILE");
    expect((await read("opencode-legacy", "letter.docx")).error?.code).toBe("BINARY_FILE");
  });
});

test("the list of restricted files is exported, holds, and is in the documentation", async () => {
  const documented = fs.readFileSync(new URL("../docs/behaviour/reading.md", import.meta.url), "utf8");
  for (const extension of restrictedFiles.extensions) {
    put(`some${extension}`, "only text\n");
    expect((await read("claude", `some${extension}`)).error?.code, extension).toBe("BINARY_FILE");
    expect(documented).toMatch(new RegExp(`[\\s\`]\\${extension}[\\s\`]`));
  }
  for (const name of restrictedFiles.names) expect(documented).toContain(`\`${name}\``);
});

test("the total of lines is a number in every answer to a call of the envelope dialect, by its type too", async () => {
  put("three.txt", "a\nb\nc\n");
  const answer = await filehand.session({ dialect: "envelope" }).tools.Read({ path: "three.txt", limit: 1 });
  const total: number = "stats" in answer && "total_lines" in answer.stats ? answer.stats.total_lines : -1;
  expect(total).toBe(3);
});
