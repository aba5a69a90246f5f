/** Dates in a workbook are numbers; only the format of their cell tells them apart. */

import type { Part } from "./package.ts";
import { checkHeld } from "./unreadable.ts";

export type DateKind = "date" | "time" | "date and time" | "elapsed";

/** The kind of date that each cell style shows, by its number; undefined for other numbers. */
export type DateStyles = readonly (DateKind | undefined)[];

/** What the formats below 164 mean; they are in no file. 27 to 36 and 50 to 58 are those of East Asian languages. */
function builtInKind(id: number): DateKind | undefined {
  if (id === 22) return "date and time";
  if (id === 46) return "elapsed";
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id === 45 || id === 47 || id === 55 || id === 56)
    return "time";
  return (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? "date" : undefined;
}

export function readDateStyles(part: Part | undefined): DateStyles {
  const styles: (DateKind | undefined)[] = [];
  if (part === undefined) return styles;
  const { xml } = part;
  const own = new Map<number, DateKind | undefined>();
  let inCells = false;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    checkHeld(styles.length + own.size, "cell styles");
    if (event === "text") continue;
    if (xml.name === "cellXfs") inCells = event === "open";
    if (event === "close") continue;
    if (xml.name === "numFmt") {
      own.set(Number(xml.attribute("numFmtId")), kindOfFormat(xml.attribute("formatCode") ?? ""));
    } else if (xml.name === "xf" && inCells) {
      const id = Number(xml.attribute("numFmtId"));
      styles.push(own.has(id) ? own.get(id) : builtInKind(id));
    }
  }
  return styles;
}

const formatCharsMax = 255;

/** The first section decides; texts, escaped characters, colours and conditions say nothing. */
export function kindOfFormat(code: string): DateKind | undefined {
  const section = code
    .slice(0, formatCharsMax)
    .toLowerCase()
    .replace(/"[^"]*"|\\.|_.|\*./g, "")
    .split(";", 1)[0];
  if (section === undefined || section === "general") return undefined;
  if (/\[(?:h+|m+|s+)\]/.test(section)) return "elapsed";
  const letters = section.replace(/\[[^\]]*\]|am\/pm|a\/p/g, "");
  const time = /[hs]/.test(letters);
  const date = /[yd]/.test(letters) || (!time && letters.includes("m"));
  return date ? (time ? "date and time" : "date") : time ? "time" : undefined;
}

const daySeconds = 86_400;
const dayMs = 86_400_000;
/** The last day of the year 9999. */
const daysMax = 2_958_465;

/** A stored number as a date of ISO 8601, undefined if it is none. `epoch` is what the workbook counts from. */
export function dateText(serial: number, kind: DateKind, epoch: 1900 | 1904): string | undefined {
  if (!(serial >= 0 && serial < daysMax + 1)) return undefined;
  const seconds = Math.round(serial * daySeconds);
  const days = Math.floor(seconds / daySeconds);
  const ofDay = seconds % daySeconds;
  if (kind === "elapsed") return clock(seconds);
  if (kind === "time" && days === 0) return clock(ofDay).padStart(8, "0");
  const date = dayText(days, epoch);
  return kind === "date" && ofDay === 0 ? date : `${date}T${clock(ofDay).padStart(8, "0")}`;
}

function dayText(days: number, epoch: 1900 | 1904): string {
  if (epoch === 1904) return isoDay(Date.UTC(1904, 0, 1) + days * dayMs);
  // The 29th of February 1900 never was, but Lotus 1-2-3 had it, so Excel counts it.
  if (days === 60) return "1900-02-29";
  return isoDay(Date.UTC(1899, 11, days < 60 ? 31 : 30) + days * dayMs);
}

/** `toISOString` takes five times as long, and a column of dates has many. */
function isoDay(ms: number): string {
  const day = new Date(ms);
  return `${String(day.getUTCFullYear()).padStart(4, "0")}-${two(day.getUTCMonth() + 1)}-${two(day.getUTCDate())}`;
}

const two = (part: number): string => (part < 10 ? `0${part}` : String(part));

function clock(seconds: number): string {
  return `${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}
