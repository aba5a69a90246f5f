/** Converts docx, xlsx and pptx to Markdown. The main part decides which it is; the name is only a hint. */

import { Buffer } from "node:buffer";
import type { WorkerContext } from "../worker/worker.ts";
import { readDocument } from "./docx.ts";
import { startLeftOut, startMarkdown } from "./markdown.ts";
import { mainPart, openPackage, type Package, type PackageLimits, type Part } from "./package.ts";
import { readPresentation } from "./pptx.ts";
import { damaged, type OfficeFailure, Unreadable } from "./unreadable.ts";
import { readWorkbook } from "./xlsx.ts";

export type { OfficeFailure };

export type OfficeFormat = "docx" | "xlsx" | "pptx";

/** The text may have a quarter as many characters as `totalBytesMax` has bytes. */
export interface OfficeLimits extends PackageLimits {
  /** For cells and for rows of a workbook; above it the workbook is cut, with a note. */
  readonly cellsMax: number;
}

export interface OfficeResult {
  readonly kind: "office";
  readonly format: OfficeFormat;
  readonly text: Uint8Array;
  readonly parts: readonly string[];
  readonly notes: readonly string[];
}

export interface OfficeTask {
  readonly bytes: Uint8Array;
  readonly format: OfficeFormat;
  readonly limits: OfficeLimits;
}

export function readOffice(
  { bytes, format, limits }: OfficeTask,
  context: WorkerContext,
): OfficeResult | OfficeFailure {
  const result = officeText(bytes, format, limits);
  if (result.kind === "office" && result.text.buffer instanceof ArrayBuffer) context.give(result.text.buffer);
  return result;
}

export function officeText(
  bytes: Uint8Array,
  format: OfficeFormat,
  limits: OfficeLimits,
): OfficeResult | OfficeFailure {
  try {
    if (isCompoundFile(bytes)) throw compoundFailure(bytes);
    const office = openPackage(bytes, limits);
    const main = office.open(mainPart(office));
    if (main === undefined) throw damaged("its main document is missing");
    return readMain(main, format, office, limits);
  } catch (error) {
    if (error instanceof Unreadable) return error.failure;
    throw error;
  }
}

const readers = { docx: readDocument, xlsx: readWorkbook, pptx: readPresentation } as const;
const roots: Readonly<Record<string, OfficeFormat>> = { document: "docx", workbook: "xlsx", presentation: "pptx" };

function readMain(main: Part, named: OfficeFormat, office: Package, limits: OfficeLimits): OfficeResult {
  // Skips the prolog: the root element comes first, or the part is no XML.
  while (main.xml.next() !== "open");
  const format = Object.hasOwn(roots, main.xml.name) ? roots[main.xml.name] : undefined;
  if (format === undefined) throw damaged(`its main document is a "${main.xml.name.slice(0, 40)}"`);

  const markdown = startMarkdown(Math.floor(limits.totalBytesMax / 4));
  const leftOut = startLeftOut();
  const { parts, notes } = readers[format]({ main, office, markdown, leftOut, cellsMax: limits.cellsMax });
  const renamed = format === named ? [] : [`it is named .${named} but holds ${format}`];
  return {
    kind: "office",
    format,
    text: markdown.finish(),
    parts,
    notes: [...renamed, ...notes, ...leftOut.notes()],
  };
}

/** The container of the formats before 2007, and of a new file with a password. */
function isCompoundFile(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(8, bytes.length)).toString("hex") === "d0cf11e0a1b11ae1";
}

function compoundFailure(bytes: Uint8Array): Unreadable {
  const encrypted = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(
    "EncryptedPackage",
    0,
    "utf16le",
  );
  return encrypted
    ? new Unreadable({ kind: "encrypted" })
    : damaged("it is a document of the format before 2007 under a new name");
}
