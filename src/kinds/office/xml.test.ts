import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import { Unreadable } from "./unreadable.ts";
import { readXml, type XmlReader } from "./xml.ts";

const open = (text: string, depthMax = 50): XmlReader => readXml(Buffer.from(text), "part.xml", depthMax);

/** Everything a reader tells, as one text. */
function told(text: string): string {
  const xml = open(text);
  const events: string[] = [];
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    events.push(event === "open" ? `<${xml.name}` : event === "close" ? `${xml.name}>` : JSON.stringify(xml.text));
  }
  return events.join(" ");
}

function failure(text: string): unknown {
  try {
    return told(text);
  } catch (error) {
    if (error instanceof Unreadable) return error.failure;
    throw error;
  }
}

describe("events", () => {
  for (const [name, text, events] of [
    ["elements and texts", "<a>x<b>y</b></a>", '<a "x" <b "y" b> a>'],
    ["an empty element is opened and closed", "<a><b/></a>", "<a <b b> a>"],
    ["names lose their prefix", '<w:a xmlns:w="u"><w:b/></w:a>', "<a <b b> a>"],
    [
      "declarations, comments and instructions say nothing",
      '<?xml version="1.0"?><!-- <x> --><a><?pi <b>?></a><!-- -->',
      "<a a>",
    ],
    ["a sign in quotes ends no tag", "<a b='>' c=\"/>\">x</a>", '<a "x" a>'],
    ["entities are decoded", "<a>&lt;&amp;&gt;&quot;&apos;&#65;&#x1F600;</a>", '<a "<&>\\"\'A😀" a>'],
    ["what is no entity stays", "<a>R&D &nbsp; &#xD800; &#0;</a>", '<a "R&D &nbsp; \ufffd \ufffd" a>'],
    ["CDATA is text as it stands", "<a><![CDATA[<b>&amp;]]></a>", '<a "<b>&amp;" a>'],
    ["blanks in tags are allowed", "<a\n b = '1' ></a >", "<a a>"],
  ] as const) {
    test(name, () => expect(told(text)).toBe(events));
  }

  test("UTF-16 with a mark is read", () => {
    const xml = readXml(Buffer.from("\ufeff<a>ä</a>", "utf16le"), "part.xml", 5);
    xml.next();
    expect(xml.textInside()).toBe("ä");
  });
});

describe("attributes", () => {
  const opened = (text: string): XmlReader => {
    const xml = open(text);
    xml.next();
    return xml;
  };
  test("are found by their local name, entities decoded", () => {
    const xml = opened(`<a x:b='1 "&lt;"' c="2"/>`);
    expect([xml.attribute("b"), xml.attribute("c"), xml.attribute("d")]).toEqual(['1 "<"', "2", undefined]);
  });
  test("one with a prefix is told from one without", () => {
    const xml = opened('<s id="256" r:id="rId1"/>');
    expect([xml.attribute("id"), xml.prefixed("id")]).toEqual(["256", "rId1"]);
  });
  test("a declared prefix is no attribute, and a value holds none", () => {
    const xml = opened(`<s xmlns:id="u" a=" id='x' " id="y"/>`);
    expect(xml.attribute("id")).toBe("y");
  });
  test("a quote in a name ends the search", () => {
    expect(opened(`<a b'c "' d="e"/>`).attribute("d")).toBe(undefined);
    expect(opened(`<a b'c "'/>`).attribute("d")).toBe(undefined);
  });
  test("broken ones end the search", () => {
    expect(opened("<a b c=1 d/>").attribute("d")).toBe(undefined);
  });
});

test("nextIn and skip stay inside their element", () => {
  const xml = open("<a><b><c>1</c></b><b>2</b></a>");
  xml.next();
  const depth = xml.depth;
  const names: string[] = [];
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    names.push(xml.name);
    xml.skip();
  }
  expect([names, xml.next()]).toEqual([["b", "b"], "end"]);
});

describe("what is no XML is refused", () => {
  for (const [name, text, kind] of [
    ["nothing", "", "damaged"],
    ["text alone", "hello", "damaged"],
    ["an element that is not closed", "<a><b></b>", "damaged"],
    ["elements that cross", "<a><b></a></b>", "damaged"],
    ["a longer name at the end", "<a></ab>", "damaged"],
    ["a tag that does not end", "<a b='", "damaged"],
    ["a comment that does not end", "<a><!-- ", "damaged"],
    ["a sign without a name", "<a>1 < 2</a>", "damaged"],
    ["a DTD", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "bomb"],
    ["depth", "<a>".repeat(51), "bomb"],
  ] as const) {
    test(name, () => expect(failure(text)).toMatchObject({ kind }));
  }
});

test("no text makes it fail in another way, or not end", () => {
  const piece = fc.constantFrom(
    "<a",
    "<b>",
    "</b>",
    "/>",
    ">",
    " c='",
    "'",
    '"',
    "=",
    "&lt;",
    "&",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<!",
    "x:",
    "</",
    "t",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 40 }), (pieces) => {
      failure(`<r>${pieces.join("")}</r>`);
      const xml = open(`<r ${pieces.join("")}></r>`);
      try {
        xml.next();
        xml.attribute("c");
        xml.prefixed("c");
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
      }
    }),
    { numRuns: 2_000 },
  );
});

for (const sign of ["<", "&", "<a ", "<a/>", "'", "<!", "<?", "<a b=", "]]>", "&#"]) {
  test(`four times as much of "${sign}" is four times the work`, async () => {
    await growsLikeItsInput(
      500_000,
      (chars) => `<r>${sign.repeat(chars / sign.length)}</r>`,
      (text) => expectEnd(open(text)),
    );
  });
}

// What grows with the square of the length would take hours.
for (const sign of ["<", "&", "<a ", "<a/>", "'", "<!", "<?", "<a b=", "]]>", "&#"]) {
  test(`ten megabytes of "${sign}" come to an end`, () => {
    expectEnd(open(`<r>${sign.repeat(10_000_000 / sign.length)}</r>`));
  });
}

function expectEnd(xml: XmlReader): void {
  try {
    while (xml.next() !== "end");
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
  }
}
