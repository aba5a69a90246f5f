/**
 * A pull parser for the XML inside office files: fast, without a tree, without custom entities. Names are local names,
 * because writers choose their prefixes freely. A DTD is refused, so nothing can expand. The bytes are decoded window by
 * window, so only a small piece of a part is in memory as a string.
 */

import { bomb, damaged, tooLarge } from "./unreadable.ts";

type XmlEvent = "open" | "close" | "text" | "end";

export type XmlReader = ReturnType<typeof readXml>;

const windowBytes = 131_072;
/** A tag is decoded as a whole; office files have none of this size. */
const tagCharsMax = 1_000_000;
/** For the text of one element that is read as a whole: V8 survives running out of memory only in small steps. */
const textCharsMax = 1_000_000;

/** Throws if a text that is joined from pieces becomes too long for one string. */
export function checkText(chars: number, part: string): void {
  if (chars > textCharsMax) throw tooLarge(`"${part}" has a text of more than ${textCharsMax} characters in one piece`);
}

export function readXml(bytes: Uint8Array, part: string, depthMax: number) {
  const decoder = new TextDecoder(encodingOf(bytes));
  // The decoded text that is not read yet, and how many bytes were decoded.
  let source = "";
  let decodedBytes = 0;
  const open: string[] = [];
  let at = 0;
  let [name, text] = ["", ""];
  let [tagFrom, tagTo] = [0, 0];
  let [closesAtOnce, inCdata, sawRoot] = [false, false, false];

  const fault = (what: string): Error => damaged(`"${part}" is not well-formed: ${what}`);

  const more = (): boolean => {
    if (decodedBytes >= bytes.length) return false;
    const window = bytes.subarray(decodedBytes, decodedBytes + windowBytes);
    decodedBytes += window.length;
    source = source.slice(at) + decoder.decode(window, { stream: decodedBytes < bytes.length });
    at = 0;
    return true;
  };

  /** Moves after the next `mark` without keeping the text before it. */
  const skipAfter = (mark: string): void => {
    for (;;) {
      const found = source.indexOf(mark, at);
      if (found !== -1) {
        at = found + mark.length;
        return;
      }
      at = Math.max(at, source.length - mark.length + 1);
      if (!more()) throw fault("it ends early");
    }
  };

  const decodeUntil = (find: () => number | undefined): number | undefined => {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (source.length - at > tagCharsMax) throw bomb(`"${part}" has a tag of more than ${tagCharsMax} characters`);
      if (!more()) return undefined;
    }
  };

  /** The next event. An empty element yields both `open` and `close`. Throws `Unreadable` if the bytes are no XML. */
  const next = (): XmlEvent => {
    if (closesAtOnce) {
      closesAtOnce = false;
      return close();
    }
    for (;;) {
      // Enough to recognise what begins here.
      while (source.length - at < markChars && more());
      if (at >= source.length) {
        if (open.length > 0 || !sawRoot || inCdata) throw fault("it ends early");
        return "end";
      }
      if (inCdata || source.charCodeAt(at) !== lessThan) {
        const piece = inCdata ? cdataPiece() : textPiece();
        // Outside of the root there is only whitespace, which no caller needs.
        if (piece === undefined || open.length === 0) continue;
        text = piece;
        return "text";
      }
      const mark = source.charCodeAt(at + 1);
      if (mark === questionMark) skipAfter("?>");
      else if (mark === exclamation) {
        if (source.startsWith("<!--", at)) {
          at += 4;
          skipAfter("-->");
        } else if (source.startsWith("<![CDATA[", at)) {
          at += 9;
          inCdata = true;
        } else if (source.startsWith("<!DOCTYPE", at)) throw bomb(`"${part}" declares a DTD, no office program does`);
        else throw fault("a declaration stands where none may");
      } else if (mark === slash) {
        decodeUntil(() => found(source.indexOf(">", at)));
        const opened = open[open.length - 1] ?? "";
        const closes = source.startsWith(opened, at + 2) && endOfName(source, at + 2) === at + 2 + opened.length;
        if (!closes) throw fault(`"${source.slice(at, at + 40)}" closes what is not open`);
        at += 2 + opened.length;
        skipAfter(">");
        return close();
      } else return openTag();
    }
  };

  /** Up to the next tag or the end of the window; an entity that the window cuts is left for the next one. */
  const textPiece = (): string | undefined => {
    let end = source.indexOf("<", at);
    if (end === -1) {
      end = source.length;
      const entity = source.lastIndexOf("&");
      if (decodedBytes < bytes.length && entity >= at && end - entity < markChars && !source.includes(";", entity))
        end = entity;
      if (end === at) return more() ? undefined : source.slice(at);
    }
    const piece = source.slice(at, end);
    at = end;
    return decodeEntities(piece);
  };

  const cdataPiece = (): string | undefined => {
    const end = source.indexOf("]]>", at);
    inCdata = end === -1;
    // The last two characters may be the beginning of the end mark.
    const to = inCdata ? Math.max(at, source.length - 2) : end;
    const piece = source.slice(at, to);
    at = inCdata ? to : end + 3;
    if (inCdata && !more()) throw fault("it ends early");
    return piece;
  };

  const close = (): "close" => {
    name = localName(open.pop() ?? "");
    return "close";
  };

  const openTag = (): "open" => {
    const end = decodeUntil(() => endOfTag(source, endOfName(source, at + 1)));
    if (end === undefined) throw fault("it ends early");
    const nameTo = endOfName(source, at + 1);
    if (nameTo === at + 1) throw fault('a "<" begins no tag');
    closesAtOnce = source.charCodeAt(end - 1) === slash;
    const fullName = source.slice(at + 1, nameTo);
    name = localName(fullName);
    tagFrom = nameTo;
    tagTo = closesAtOnce ? end - 1 : end;
    at = end + 1;
    sawRoot = true;
    if (open.push(fullName) > depthMax) throw bomb(`"${part}" is nested more than ${depthMax} deep`);
    return "open";
  };

  /** The next event inside the element at `depth`; undefined once that is closed. Unknown wrappers are transparent. */
  const nextIn = (depth: number): "open" | "close" | "text" | undefined => {
    const event = next();
    return event === "end" || (event === "close" && open.length < depth) ? undefined : event;
  };

  /** The names of the elements that open inside the element that was just opened, or in the whole part. */
  function* opened(): Generator<string> {
    const depth = open.length;
    for (let event = nextIn(depth); event !== undefined; event = nextIn(depth)) if (event === "open") yield name;
  }

  const skip = (): void => {
    const depth = open.length;
    while (nextIn(depth) !== undefined);
  };

  const textInside = (): string => {
    const depth = open.length;
    let all = "";
    for (let event = nextIn(depth); event !== undefined; event = nextIn(depth)) {
      if (event !== "text") continue;
      all += text;
      checkText(all.length, part);
    }
    return all;
  };

  return {
    next,
    nextIn,
    opened,
    skip,
    textInside,
    get name() {
      return name;
    },
    get depth() {
      return open.length;
    },
    /** The text of a `text` event. A long text yields several events. */
    get text() {
      return text;
    },
    attribute: (wanted: string) => findAttribute(source, tagFrom, tagTo, wanted, "any"),
    /** The same, but only with a prefix: an element may have both `r:id` and `id`. */
    prefixed: (wanted: string) => findAttribute(source, tagFrom, tagTo, wanted, "prefixed"),
  };
}

/** Characters of the longest mark, and of the longest entity. */
const markChars = 16;

const found = (at: number): number | undefined => (at === -1 ? undefined : at);

const lessThan = 0x3c;
const greaterThan = 0x3e;
const slash = 0x2f;
const questionMark = 0x3f;
const exclamation = 0x21;
const equals = 0x3d;
const colon = 0x3a;
const doubleQuote = 0x22;
const singleQuote = 0x27;

function encodingOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
}

const isWhitespace = (unit: number): boolean => unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;

function endOfName(source: string, from: number): number {
  let at = from;
  for (; at < source.length; at += 1) {
    const unit = source.charCodeAt(at);
    if (isWhitespace(unit) || unit === greaterThan || unit === slash || unit === equals || unit === lessThan) break;
  }
  return at;
}

/** The index of the `>` that ends a tag; `>` in quotes does not. */
function endOfTag(source: string, from: number): number | undefined {
  let quote = 0;
  for (let at = from; at < source.length; at += 1) {
    const unit = source.charCodeAt(at);
    if (quote !== 0) {
      if (unit === quote) quote = 0;
    } else if (unit === greaterThan) return at;
    else if (unit === doubleQuote || unit === singleQuote) quote = unit;
  }
  return undefined;
}

function localName(name: string): string {
  const colonAt = name.indexOf(":");
  return colonAt === -1 ? name : name.slice(colonAt + 1);
}

/** Parses attributes on demand: most of an office file's are never needed. */
function findAttribute(
  source: string,
  from: number,
  to: number,
  wanted: string,
  which: "any" | "prefixed",
): string | undefined {
  let at = from;
  while (at < to) {
    while (at < to && isWhitespace(source.charCodeAt(at))) at += 1;
    const nameFrom = at;
    let localFrom = at;
    while (at < to && source.charCodeAt(at) !== equals && !isWhitespace(source.charCodeAt(at))) {
      if (source.charCodeAt(at) === colon) localFrom = at + 1;
      at += 1;
    }
    const nameTo = at;
    while (at < to && source.charCodeAt(at) !== doubleQuote && source.charCodeAt(at) !== singleQuote) at += 1;
    const quote = source.charCodeAt(at);
    let valueTo = at + 1;
    while (valueTo < to && source.charCodeAt(valueTo) !== quote) valueTo += 1;
    // A misplaced quote has no end: the rest of the tag cannot be parsed.
    if (valueTo >= to) return undefined;
    const found =
      nameTo - localFrom === wanted.length &&
      source.startsWith(wanted, localFrom) &&
      (which === "any" || localFrom > nameFrom);
    if (found && !source.startsWith("xmlns:", nameFrom)) return decodeEntities(source.slice(at + 1, valueTo));
    at = valueTo + 1;
  }
  return undefined;
}

const namedEntities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** Unknown entities are left as they are. */
function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]{2,4}));/g, (whole, decimal, hex, named) => {
    if (named !== undefined) return Object.hasOwn(namedEntities, named) ? (namedEntities[named] ?? whole) : whole;
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const valid = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return valid ? String.fromCodePoint(point) : "\ufffd";
  });
}
