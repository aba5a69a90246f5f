import { describe, expect, test } from "vitest";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import type { TextChange, TextEdit } from "../../contract/edit.ts";
import { apply } from "../pieces.ts";
import { finish } from "../steps.ts";
import { match, matchIn } from "./match.ts";
import { sourceOf } from "./source.ts";

function applied(text: string, changes: readonly TextChange[]): string {
  let result = "";
  let at = 0;
  for (const change of changes) {
    expect(change.from).toBeGreaterThanOrEqual(at);
    result += text.slice(at, change.from) + change.text;
    at = change.to;
  }
  return result + text.slice(at);
}

/** The step and the resulting text, or why there is none. */
function outcome(text: string, oldText: string, newText: string, all = false): string {
  const edit: TextEdit = { oldText, newText, all };
  const found = match(text, edit);
  switch (found.found) {
    case "yes":
      return `${found.matchedBy}: ${applied(text, found.changes)}`;
    case "several":
      return `several ${found.matchedBy}: ${found.lines.join(" ")} of ${found.total}`;
    case "already":
      return `already ${found.line}`;
    case "no":
      return `no: ${found.nearest?.difference.kind ?? "nothing"}`;
  }
}

type Row = readonly [name: string, text: string, oldText: string, newText: string, expected: string];

function table(title: string, rows: readonly Row[], all = false): void {
  describe(title, () => {
    for (const [name, text, oldText, newText, expected] of rows) {
      test(name, () => expect(outcome(text, oldText, newText, all)).toBe(expected));
    }
  });
}

table("line ends of a text that is found exactly", [
  ["LF in the new text is CRLF in the file", "a\r\nb\r\nc\r\n", "a\r\nb", "a\nB", "line ends: a\r\nB\r\nc\r\n"],
  ["CRLF in the new text is LF in the file", "a\nb\nc\n", "a\nb", "a\r\nB", "line ends: a\nB\nc\n"],
  ["a line with its end keeps it", "a\r\nb\r\n", "b\r\n", "B\n", "line ends: a\r\nB\r\n"],
  ["new lines take the end beside them", "a\r\nb\r\n", "a\r\nb", "a\nx\ny\nb", "line ends: a\r\nx\r\ny\r\nb\r\n"],
  ["shared lines keep their own", "a\r\nb\nc\r\nd\n", "a\r\nb\nc", "a\nB\nc", "line ends: a\r\nB\nc\r\nd\n"],
  ["a new line between two kinds", "a\r\nb\nc\n", "a\r\nb\nc", "a\nb\nx\nc", "line ends: a\r\nb\nx\nc\n"],
  ["both kinds in the new text", "a\nb\n", "a", "x\r\ny\nz", "line ends: x\ny\nz\nb\n"],
  ["as sent, if that is what the file has", "a\r\nb\nc\n", "a\r\nb\n", "a\r\nB\n", "exact: a\r\nB\nc\n"],
  ["line ends alone are the edit", "a\r\nb\r\nc\r\n", "a\r\nb\r\n", "a\nb\n", "exact: a\nb\nc\r\n"],
  ["lone returns", "a\rb\rc\r", "a\rb", "a\nB\nx", "line ends: a\rB\rx\rc\r"],
]);

table("a run of a look-alike that changes its length is written as sent", [
  ["a dash becomes two", "break\u2014here\n", "break-here", "break--here", "look-alikes: break--here\n"],
  ["two become one", "a\u2013\u2013b\n", "a--b", "a-b", "look-alikes: a-b\n"],
  ["an ellipsis grows", "wait\u2026\n", "wait...", "wait....", "look-alikes: wait....\n"],
  ["a space becomes two", "a\u00a0b c\n", "a b c", "a  b c", "look-alikes: a  b c\n"],
  ["in front of what stays", "x \u2014y\n", "x -y", "x --y", "look-alikes: x --y\n"],
  ["another change leaves it", "a\u2014b\n", "a-b", "a-c", "look-alikes: a\u2014c\n"],
]);

table("a last line without a newline is a place as well", [
  ["blanks do not make another line the one", "foo \nbar\nfoo", "foo\n", "x\n", "no: final newline"],
  ["nor does indentation", "  foo\n  b\nfoo\n b", "foo\nb\n", "x\n", "several indentation: 1 3 of 2"],
  ["nor do blanks of the call", "  foo\n\tfoo", "foo \n", "x\n", "several trailing whitespace: 1 2 of 2"],
  ["nor a look-alike", "a\u00a0b\nc\na b", "a b\n", "x\n", "no: final newline"],
  ["nor the end of a longer line", "foo \nbar foo", "foo\n", "x\n", "no: text"],
  ["alone it is refused as before", "bar\nfoo", "foo\n", "x\n", "no: final newline"],
  ["another line to the letter is exact", "foo\nbar\nfoo", "foo\n", "x\n", "exact: x\nbar\nfoo"],
]);

table("exact", [
  ["one place is replaced", "a\nb\nc\n", "b", "x", "exact: a\nx\nc\n"],
  ["two places are named by their lines", "x\ny\nx\n", "x", "z", "several exact: 1 3 of 2"],
  ["places that overlap are two", "aXaXa", "aXa", "b", "several exact: 1 1 of 2"],
  [
    "a looser step does not choose between them",
    "  f(x)\nf(x)\n    f(x)\n",
    "f(x)\n",
    "g\n",
    "several exact: 1 2 3 of 3",
  ],
  ["look-alikes elsewhere do not count", "a b\na\u00a0b\n", "a b", "c", "exact: c\na\u00a0b\n"],
  ["dollar signs are text", "a b c", "b", "$& $$ $` $1", "exact: a $& $$ $` $1 c"],
  [
    "the first line may lack its indentation",
    "  if x:\n    y\n",
    "if x:\n    y",
    "if z:\n    y",
    "exact:   if z:\n    y\n",
  ],
  ["a final newline can be added", "a\nb", "b", "b\n", "exact: a\nb\n"],
  ["a final newline can be removed", "a\nb\n", "b\n", "b", "exact: a\nb"],
  ["blanks at the end of the new text are kept", "a\n", "a", "a  \n\n", "exact: a  \n\n\n"],
  ["a file's own numbers are text", "12: a\n13: b\n", "12: a\n13: b", "12: c\n13: d", "exact: 12: c\n13: d\n"],
  ["backslashes are taken to the letter", "C:\\new\n", "C:\\new", "C:\\old", "exact: C:\\old\n"],
  ["quotes can be the edit", "“a”\n", "“a”", '"a"', 'exact: "a"\n'],
  ["a BOM in front of the old text is the file's", "a\nb\n", "\ufeffa", "\ufeffc", "exact: c\nb\n"],
]);

table(
  "every place",
  [
    ["all exact ones", "x\ny\nx\n", "x", "z$&", "exact: z$&\ny\nz$&\n"],
    ["those that overlap from the left", "aaaaa", "aa", "b", "exact: bba"],
    ["all of a looser step", "“a”\n“a”\n", '"a"', '"b"', "quotes: “b”\n“b”\n"],
    ["exact ones alone, where there are any", '"a"\n“a”\n', '"a"', '"b"', 'exact: "b"\n“a”\n'],
    [
      "each with its own shift",
      "  f(x)\n  g()\n\tf(x)\n\tg()\n",
      "f(x)\ng()",
      "f(y)\nh()",
      "indentation:   f(y)\n  h()\n\tf(y)\n\th()\n",
    ],
    ["none if one of them is uneven", "  f(x)\n  g()\n f(x)\n   g()\n", "f(x)\ng()", "h()", "no: indentation"],
  ],
  true,
);

table("line ends", [
  ["LF in the call, CRLF in the file", "a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", "line ends: a\r\nx\r\ny\r\nc\r\n"],
  ["CRLF in the call, LF in the file", "a\nb\nc\n", "a\r\nb", "a\r\nx\r\ny", "line ends: a\nx\ny\nc\n"],
  ["mixed ends stay with their lines", "a\r\nb\nc\r\nd\n", "a\nb\nc", "A\nB\nC", "line ends: A\r\nB\nC\r\nd\n"],
  [
    "inserted lines take the end beside them",
    "a\r\nb\r\nc\nd\n",
    "b\nc\n",
    "b\nx\nc\n",
    "line ends: a\r\nb\r\nx\r\nc\nd\n",
  ],
  [
    "inside LF lines of a mixed file LF is inserted",
    "a\r\nb\nc\nd\r\n",
    "b\nc",
    "b\nx\nc",
    "exact: a\r\nb\nx\nc\nd\r\n",
  ],
  ["lines that come to one line get its end", "a\r\nb\r\nc\r\n", "b", "b\nx", "line ends: a\r\nb\r\nx\r\nc\r\n"],
  ["the last line takes the end of the one before", "a\r\nb", "b", "b\nx", "line ends: a\r\nb\r\nx"],
  ["a lone return in a line is content", "a\rb\nc\n", "b\nc", "x\ny", "exact: a\rx\ny\n"],
  ["a file of lone returns has lines", "a\rb\rc\r", "a\nb", "a\nx\ny", "line ends: a\rx\ry\rc\r"],
  ["a newline is not torn from its return", "a\r\nb\r\nc", "\nb", "", "line ends: a\r\nc"],
  ["a last line without its newline does not compete", "a\r\na", "a\n", "", "line ends: a"],
  ["a missing final newline is not made up", "a = 1\nb = 2", "b = 2\n", "c = 3\n", "no: final newline"],
  ["a deletion takes whole line ends", "a\r\nb\r\nc\r\n", "a\nb\n", "a\n", "line ends: a\r\nc\r\n"],
]);

table("quotes", [
  ["the file's style is given back", "He said “yes”.\n", 'said "yes"', 'said "no"', "quotes: He said “no”.\n"],
  [
    "apostrophes included",
    "I don’t know\n",
    "I don't know",
    "I can't and won't say",
    "quotes: I can’t and won’t say\n",
  ],
  ["new quotes on the line too", "a “b” c\n", 'a "b" c', 'a "b" c "d" (\'e\')', "quotes: a “b” c “d” ('e')\n"],
  ["other lines keep theirs", "“a”\n‘b’\nc\n", "\"a\"\n'b'\nc", "\"a\"\n'b'\nd", "quotes: “a”\n‘b’\nd\n"],
  [
    "straight quotes on other lines stay straight",
    "“a”\nx = 'b'\n",
    "\"a\"\nx = 'b'",
    "\"z\"\nx = 'q'",
    "quotes: “z”\nx = 'q'\n",
  ],
  ["lines that mix both styles get what was sent", '“a” "b" c\n', '"a" "b" c', '"a" "b" "d"', 'quotes: “a” "b" "d"\n'],
  ["curly in the call, straight in the file", 'say "a"\n', "say “a”", "say “b”", 'quotes: say "b"\n'],
  ["inserted prose is curly", "“a”\n“b”\n", '"a"\n"b"', '"a"\n"c"\n"b"', "quotes: “a”\n“c”\n“b”\n"],
  ["inserted code is not", '// “a”\nf("x")\n', '// "a"\n', '// "a"\ng("y")\n', 'quotes: // “a”\ng("y")\nf("x")\n'],
  ["German marks open below", "„ja“ x\n", '"ja" x', '"nein" x', "quotes: „nein“ x\n"],
  ["quotes that are the edit are written as sent", "a “b” c\n", 'a "b" c', "a „b“ c", "quotes: a „b“ c\n"],
  ["also where the file has neither", 'a "b" c\n', "a “b” c", "a „b“ c", "quotes: a „b“ c\n"],
  ["lines with quotes that trade places in the call alone", "x1\n’a\n’a\n", "x1\n’a\n'a", "x1\n'a\n’a", "already 1"],
  ["quotes asked for that are there", "a “b” c\n", 'a "b" c', "a “b” c", "already 1"],
  ["with CRLF", "“a”\r\nb\r\n", '"a"\nb', '"c"\nb\nd', "quotes: “c”\r\nb\r\nd\r\n"],
]);

table("look-alikes", [
  ["no-break spaces", "10\u00a0km\nx\n", "10 km\nx", "10 km\ny", "look-alikes: 10\u00a0km\ny\n"],
  ["kept in a line that changes", "10\u00a0km of x\n", "10 km of x", "10 km of y", "look-alikes: 10\u00a0km of y\n"],
  ["dashes and minus", "a – b −1\n", "a - b -1", "a - b -2", "look-alikes: a – b −2\n"],
  ["an ellipsis", "wait… now\n", "wait... now", "wait... then", "look-alikes: wait… then\n"],
  ["composed and decomposed letters", "cafe\u0301 a\n", "caf\u00e9 a", "caf\u00e9 b", "look-alikes: cafe\u0301 b\n"],
  ["and the reverse", "caf\u00e9 a\n", "cafe\u0301 a", "cafe\u0301 b", "look-alikes: caf\u00e9 b\n"],
  ["no other letter", "the cafe\u0301\n", "the cafe\u0302", "x", "no: text"],
  ["together with quotes", "“a”\u00a0b\n", '"a" b', '"c" b', "look-alikes: “c”\u00a0b\n"],
  ["two places are refused", "a\u00a0b\na\u2009b\n", "a b", "c", "several look-alikes: 1 2 of 2"],
  ["astral characters are not torn", "😀\u00a0a\n", "😀 a", "😁 a", "look-alikes: 😁\u00a0a\n"],
]);

table("trailing whitespace", [
  ["in the file", "a  \nb\t\nc\n", "a\nb\nc", "a\nb\nd", "trailing whitespace: a  \nb\t\nd\n"],
  ["in the call", "a\nb\nc\n", "a  \nb \nc", "a  \nb \nd", "trailing whitespace: a\nb\nd\n"],
  ["of a line that was only touched", "one two  \nx\n", "one two\nx", "one 2\nx", "trailing whitespace: one 2  \nx\n"],
  [
    "of a line in which one long name changed",
    "  onerror: kEnumerableProperty,\t\nx\n",
    "  onerror: kEnumerableProperty,\nx",
    "  onerror: brief,\nx",
    "trailing whitespace:   onerror: brief,\t\nx\n",
  ],
  [
    "of a line in which its first name changed",
    "kEnumerableProperty: true,  \nx\n",
    "kEnumerableProperty: true,\nx",
    "brief: true,\nx",
    "trailing whitespace: brief: true,  \nx\n",
  ],
  [
    "of a line whose words only begin alike",
    "only_this_x  \nx\n",
    "only_this_x\nx",
    "one\nx",
    "trailing whitespace: one\nx\n",
  ],
  ["of a line that was replaced", "one  \nx\n", "one\nx", "two\nx", "trailing whitespace: two\nx\n"],
  ["not inside the line", "foobar\n", "foo ", "x", "no: text"],
  ["a blank line is no line end", "bar\nfoo\n", "    \nfoo", "x", "no: text"],
  ["two places are refused", "a \nb\na\t\nb\n", "a\nb", "c", "several trailing whitespace: 1 3 of 2"],
  ["the next line's indentation is not swallowed", "  a \n  b\n", "  a\n", "  c\n", "trailing whitespace:   c\n  b\n"],
]);

table("indentation", [
  [
    "a missing tab",
    "\tif x:\n\t\ty()\n",
    "if x:\n\ty()",
    "if z:\n\ty()\n\telse()",
    "indentation: \tif z:\n\t\ty()\n\t\telse()\n",
  ],
  [
    "a depth too many",
    "if x:\n    y()\n",
    "    if x:\n        y()",
    "    if z:\n        y()",
    "indentation: if z:\n    y()\n",
  ],
  ["blank lines are left alone", "  a1\n\n  b1\n", "a1\n\nb1", "a1\n\nc1\n\nd1", "indentation:   a1\n\n  c1\n\n  d1\n"],
  [
    "spaces for tabs",
    "\ta1\n\t\tb1\n",
    "    a1\n        b1",
    "    a1\n        c1\n            d1",
    "indentation: \ta1\n\t\tc1\n\t\t\td1\n",
  ],
  [
    "tabs for spaces",
    "  a1\n    b1\n",
    "\ta1\n\t\tb1",
    "\ta1\n\t\tc1\n\t\t\td1",
    "indentation:   a1\n    c1\n      d1\n",
  ],
  [
    "a depth that only the new text has",
    "\tf1()\n\tg1()\n",
    "f1()\ng1()",
    "if x:\n    f1()\ng1()",
    "indentation: \tif x:\n\t\tf1()\n\tg1()\n",
  ],
  ["uneven is refused", "  a1\n   b1\n", "a1\n  b1", "c1", "no: indentation"],
  ["one tab among spaces is refused", "\ta1\n    b1\n\tc1\n", "    a1\n    b1\n    c1", "d1", "no: tab or space"],
  [
    "depths that differ are two places",
    "  a1\n  b1\n    a1\n    b1\n",
    "a1\nb1\n",
    "c1\n",
    "several indentation: 1 3 of 2",
  ],
  ["brackets alone are no proof", "  )\n", "    )", "    ]", "no: indentation"],
  ["parts of lines do not count", "  foo(bar)\n  baz()\n", "foo(bar\nbaz", "x", "no: text"],
  ["a new line above the block's depth is refused", "a1\nb1\n", "  a1\n  b1", "  a1\nc1", "no: indentation"],
  ["with CRLF and quotes", "\t“a”\r\n\tb1\r\n", '"a"\nb1', '"c"\nb1\nd1', "indentation: \t“c”\r\n\tb1\r\n\td1\r\n"],
  ["the end of the line before", "x0\n  a1\n  b1\n", "\n a1\n b1", "\n a1\n c1", "indentation: x0\n  a1\n  c1\n"],
  ["a last line without any width is a line", "  a1\n  b1\n  keep1\n", "a1\nb1\n\u200b", "c1", "no: text"],
  ["and so is a first one", "  keep1\n  a1\n  b1\n", "\u200b\na1\nb1", "c1", "no: text"],
  ["no final newline", "  a1\n  b1", "a1\nb1\n", "c1\n", "no: final newline"],
]);

table("line numbers", [
  ["an arrow", "a1\nb1\nc1\n", "2→b1\n3→c1", "2→b1\n3→x1", "line numbers: a1\nb1\nx1\n"],
  ["a colon", "a1\nb1\nc1\n", "2: b1\n3: c1", "2: b1\n3: x1", "line numbers: a1\nb1\nx1\n"],
  [
    "zeros and a bar",
    "a1\n\nc1\n",
    "00001| a1\n00002| \n00003| c1",
    "00001| a1\n00002| \n00003| x1",
    "line numbers: a1\n\nx1\n",
  ],
  ["a bar between blanks", "a1\n  b1\n", "  1 | a1\n  2 |   b1", "a1\n  x1", "line numbers: a1\n  x1\n"],
  ["a tab", "a1\n\tb1\n", "     1\ta1\n     2\t\tb1\n", "     1\ta1\n     2\t\tx1\n", "line numbers: a1\n\tx1\n"],
  [
    "a colon without a blank, and no numbers in the new text",
    "if x:\n    a1\n    b1\n",
    "2:    a1\n3:    b1",
    "    a1\n    c1",
    "line numbers: if x:\n    a1\n    c1\n",
  ],
  ["a bar without a blank", "  a1\n  b1\n", "1|  a1\n2|  b1", "  x1\n  b1\n  c1", "line numbers:   x1\n  b1\n  c1\n"],
  [
    "the blank belongs to the line in one place and to the number in another",
    "a1\nb1\n a1\n b1\n",
    "1: a1\n2: b1",
    "x1",
    "several line numbers: 1 3 of 2",
  ],
  ["out of sequence is refused", "a1\nb1\nc1\n", "1→a1\n3→b1", "1→a1\n3→x1", "no: number"],
  ["on some lines is refused", "a1\nb1\n", "1→a1\nb1", "1→a1\nx1", "no: number"],
  ["on some lines of the new text is refused", "a1\nb1\n", "1→a1\n2→b1", "1→a1\nx1", "no: number"],
  ["a single number must be the line's own", "web\nx1\n", "8080: web", "8080: db", "no: number"],
  ["a single number that is", "x1\nweb\n", "2: web", "2: db", "line numbers: x1\ndb\n"],
  [
    "a tab, on every fifth line",
    "a1\nb1\nc1\nd1\ne1\nf1\n",
    "d1\n5\te1\nf1",
    "d1\n5\tx1\nf1",
    "line numbers: a1\nb1\nc1\nd1\nx1\nf1\n",
  ],
  [
    "and on the first and the last line of a page",
    "a1\nb1\nc1\nd1\n",
    "2\tb1\nc1\n4\td1\n",
    "2\tb1\nx1\n4\td1\n",
    "line numbers: a1\nb1\nx1\nd1\n",
  ],
  [
    "on every tenth line, with lines put in and no numbers left in the new text",
    "a1\nb1\nc1\nd1\ne1\nf1\ng1\nh1\ni1\nj1\nk1\n",
    "i1\n10\tj1\nk1",
    "i1\nnew1\nj1\nk1",
    "line numbers: a1\nb1\nc1\nd1\ne1\nf1\ng1\nh1\ni1\nnew1\nj1\nk1\n",
  ],
  [
    "a number of the old text that moved in the new one",
    "a1\nb1\nc1\nd1\ne1\nf1\n",
    "d1\n5\te1\nf1",
    "d1\nnew1\n5\te1\nf1",
    "line numbers: a1\nb1\nc1\nd1\nnew1\ne1\nf1\n",
  ],
  [
    "numbers that go on in the new text",
    "a1\nb1\nc1\nd1\n",
    "1\ta1\nb1\nc1\n4\td1",
    "1\ta1\nb1\nc1\nd1\n5\te1\nf1",
    "line numbers: a1\nb1\nc1\nd1\ne1\nf1\n",
  ],
  [
    "a number in the new text that no page would have is refused",
    "a1\nb1\nc1\nd1\ne1\nf1\n",
    "d1\n5\te1\nf1",
    "d1\n5\te1\n17\tx1",
    "no: number",
  ],
  ["few numbers, one of them missing, is refused", "a1\nb1\nc1\n", "a1\n2\tb1\nc1", "x1", "no: number"],
  [
    "a single number must be the line's own also among lines without one",
    "b1\nd1\ne1\nf1\n",
    "d1\n5\te1\nf1",
    "d1\n5\tx1\nf1",
    "no: number",
  ],
  [
    "two numbers that agree may be stale",
    "new1\na1\nb1\nc1\nd1\n",
    "1\ta1\nb1\nc1\n4\td1",
    "x1",
    "line numbers: new1\nx1\n",
  ],
  ["parts of lines do not count", "a1 and\nb1\n", "1→a1\n2→b1", "1→x\n2→y", "no: text"],
  ["nor do ends of lines", "x a1\nb1\n", "1→a1\n2→b1", "1→x\n2→y", "no: text"],
]);

table("escapes", [
  ["a newline", "a\nb\n", "a\\nb", "a\\nc", "escapes: a\nc\n"],
  [
    "a dollar sign and a backtick",
    "s = `a ${b}`;\n",
    "s = \\`a \\${b}\\`;",
    "s = \\`c \\${b}\\`;",
    "escapes: s = `c ${b}`;\n",
  ],
  [
    "a dollar sign that stands plain as well is no slip",
    "s = `$a ${b}`;\n",
    "`$a \\${b}`",
    "`$c \\${b}`",
    "no: nothing",
  ],
  ["quotes", 'f("a")\n', 'f(\\"a\\")', 'f(\\"b\\")', 'escapes: f("b")\n'],
  ["a literal is not touched", 'f("x\\n")\ng()\n', 'f("x\\n")\nh()', 'f("y\\n")\nh()', "no: text"],
  ["beside the real character they are meant", "alpha\nbeta\ngamma\n", "alpha\\nbeta\ngamma", "x", "no: text"],
  ["letters written as escapes stay", "name = caf\\u00e9\n", "name = café", "y", "no: escape"],
  ["and the reverse", "the name = café\n", "the name = caf\\u00e9", "y", "no: escape"],
  ["two places are refused", "a\nb\na\nb\n", "a\\nb", "c", "several escapes: 1 3 of 2"],
]);

table("already there", [
  [
    "lines of substance",
    "const a = 1;\nconst b = 2;\n",
    "let a = 1;\nlet b = 2;",
    "const a = 1;\nconst b = 2;",
    "already 1",
  ],
  ["with CRLF", "x\r\nconst a = 1;\r\nconst b = 2;\r\n", "let a;\nlet b;", "const a = 1;\nconst b = 2;", "already 2"],
  ["at another depth", "  const a = 1;\n  const b = 2;\n", "let a;\nlet b;", "const a = 1;\nconst b = 2;", "already 1"],
  [
    "not a single line at another depth",
    "  return theVeryLongName(a, b, c);\n",
    "zzz",
    "    return theVeryLongName(a, b, c);",
    "no: nothing",
  ],
  [
    "not where a slip hides the line to be removed behind the new text",
    "const a = load();\nconst b = parse(a);\nconsole.log('debug', b);\nreturn b;\n",
    "const a = load();\nconst b = parse(a);\nconsole.log('debugging', b);\n",
    "const a = load();\nconst b = parse(a);\n",
    "no: text",
  ],
  [
    "nor in front of it",
    "# remove me soon\n\nimport first\nimport second\n",
    "# remove me now\n\nimport first\nimport second",
    "\nimport first\nimport second",
    "no: text",
  ],
  [
    "nor in one of two places",
    "import first\nimport second\nrun(first)\nimport first\nimport second\nimport thrid\n",
    "import first\nimport second\nimport third\n",
    "import first\nimport second\n",
    "no: text",
  ],
  [
    "nor at the end of the line",
    "const total = computeTheTotal(items) ?? 0;\n",
    "const total = computeTheTotal(items) || 0",
    "const total = computeTheTotal(items)",
    "no: text",
  ],
  [
    "nor where the last line is only the beginning of one",
    "// It reads the phase of a session.\n// It returns nothing else.\n//\n",
    "// It reads the phase of a session.\n// It returns nothing more.\n//",
    "// It reads the phase of a session.\n//",
    "no: text",
  ],
  [
    "a removal shows between lines, and where others follow",
    "const a = load();\nconst b = parse(a);\nreturn b;\n",
    "const a = load();\nconst b = parse(a);\nconsole.log('debug', b);\n",
    "const a = load();\nconst b = parse(a);\n",
    "already 1",
  ],
  [
    "not where the old text stands with other blanks",
    "if ( user.isActive ) {\n}\nif (user.isActive && user.isVerified) {\n}\n",
    "if (user.isActive) {",
    "if (user.isActive && user.isVerified) {",
    "no: whitespace inside the line",
  ],
  [
    "the old text inside the new one is no other",
    "try:\n    first( 1 )\n    second( 2 )\nexcept Error:\n    pass\n",
    "first(1)\nsecond( 2 )\n",
    "try:\n    first( 1 )\n    second( 2 )\nexcept Error:\n    pass\n",
    "already 1",
  ],
  [
    "a short line where the old one is looked for",
    "first = 1\ntimeout = minute\nlast = 3\n",
    "timeout = second\n",
    "timeout = minute\n",
    "already 2",
  ],
  ["a short text is chance", "x = 1\ny = 2\n", "z = 3", "x = 1", "no: nothing"],
  ["a deletion never", "a\nb\n", "zzz", "", "no: nothing"],
]);

table("never", [
  [
    "the middle is only similar",
    "function f() {\n  return 1;\n}\n",
    "function f() {\n  return 2;\n}",
    "x",
    "no: number",
  ],
  ["case", "Foo bar\n", "foo bar", "x", "no: case"],
  ["blanks inside a literal", "print('a  b')\n", "print('a b')", "x", "no: whitespace inside the line"],
  ["a line dropped", "a1 = x\nb1 = y\nc1 = z\n", "a1 = x\nc1 = z", "q", "no: extra line"],
  ["a line invented", "a1 = x\nc1 = z\n", "a1 = x\nb1 = y\nc1 = z", "q", "no: missing line"],
  ["a blank line dropped", "a1 = x\n\nc1 = z\n", "a1 = x\nc1 = z", "q", "no: extra line"],
  ["bytes that were not decoded", "a\udc80b\n", "a\udc80b", "x", "no: nothing"],
]);

test("bytes that were not decoded stay beside a change", () => {
  expect(outcome("\udc80 a\u00a0b \udcff\n", "a b", "c")).toBe("look-alikes: \udc80 c \udcff\n");
});

test("at most fifty lines are named", () => {
  const found = match("x\n".repeat(80), { oldText: "x", newText: "y", all: false });
  expect(found).toMatchObject({ found: "several", total: 80 });
  expect(found.found === "several" && found.lines.length).toBe(50);
});

test("applying a call twice is refused the second time", () => {
  const text = "\tif x:\n\t\treturn alpha\n";
  const edit = { oldText: "if x:\n\treturn alpha", newText: "if not x:\n\treturn beta", all: false };
  const found = match(text, edit);
  expect(found.found).toBe("yes");
  const after = found.found === "yes" ? applied(text, found.changes) : "";
  expect(match(after, edit)).toEqual({ found: "already", line: 1 });
});

test("a change leaves shared lines out", () => {
  expect(match("a \nb\nc\nd\n", { oldText: "a\nb\nc\nd", newText: "a\nB\nc\nD", all: false })).toMatchObject({
    matchedBy: "trailing whitespace",
    places: [{ from: 0, to: 8 }],
    changes: [
      { from: 3, to: 4, text: "B" },
      { from: 7, to: 8, text: "D" },
    ],
  });
});

test("a change never begins or ends inside a character or a line end", () => {
  const edit = { oldText: "a b 😀\nc", newText: "a b 😁\n\nc", all: false };
  expect(match("a\u00a0b 😀\r\nc", edit)).toMatchObject({ changes: [{ from: 4, to: 6, text: "😁\r\n" }] });
});

test("a match that fails in four times the lines is four times the work", async () => {
  const file = (count: number): string =>
    Array.from({ length: count }, (_, at) => `  const value${at} = compute(${at * 7}, "${at % 13}");`).join("\n");
  for (const oldText of ["const missing = 1;", "  const value7 = compute(1);\n  return missing;\n}", "\n\n\n"]) {
    await growsLikeItsInput(25_000, file, (text) => match(text, { oldText, newText: "x", all: false }));
  }
});

test("four times the lines that all look alike are four times the work", async () => {
  const rows = (count: number, row: string) => ({ text: row.repeat(count * 10), repeated: "0,0,0,0\n".repeat(count) });
  const calls: readonly (readonly [string, (repeated: string) => TextEdit])[] = [
    ["0,0,0,0\n", (repeated) => ({ oldText: `${repeated}b`, newText: "x", all: false })],
    ["0,0,0,0\n", (repeated) => ({ oldText: `b\n${repeated}`, newText: "x", all: false })],
    ["0,0,0,0\n", (repeated) => ({ oldText: "b", newText: `${repeated}b`, all: false })],
    ["  0,0,0,0\n", (repeated) => ({ oldText: repeated, newText: "x", all: false })],
    ["0,0,0,0\r\n", (repeated) => ({ oldText: repeated, newText: "x", all: true })],
  ];
  for (const [row, edit] of calls) {
    await growsLikeItsInput(
      500,
      (count) => rows(count, row),
      ({ text, repeated }) => match(text, edit(repeated)),
    );
  }
});

test("two places are two, however many lines they share", () => {
  const lines = 120_000;
  const twice = match("  0,0\n".repeat(lines + 1), { oldText: "0,0\n".repeat(lines), newText: "x\n", all: false });
  expect(twice).toEqual({ found: "several", matchedBy: "indentation", lines: [1, 2], total: 2 });
});

test("a lone return is content in a file whose lines end otherwise", () => {
  const sent = (text: string, newText: string) => {
    const found = match(text, { oldText: "x", newText, all: false });
    return found.found === "yes" ? [found.matchedBy, applied(text, found.changes)] : [found.found];
  };
  expect(sent("x\ny\n", "p\rq")).toEqual(["exact", "p\rq\ny\n"]);
  expect(sent("x\r\ny\r\n", "p\rq")).toEqual(["exact", "p\rq\r\ny\r\n"]);
  expect(sent("x\r\ny\r\n", "p\rq\nr")).toEqual(["line ends", "p\rq\r\nr\r\ny\r\n"]);
  expect(sent("x\ry\r", "p\nq")).toEqual(["line ends", "p\rq\ry\r"]);
});

test("very many places are changed in blocks, to what each of them becomes by itself", () => {
  const kinds: readonly (readonly [string, string, string])[] = [
    ["a", "a", "bb"],
    ["ab\n", "b\n", "c\n"],
    ["ab\n", "\na", "\nc"],
    ["ab\r\n", "a", "x\ny"],
    ["ab\r\nab\n", "a", "x\ny"],
    ["ab\r\nab\n", "\na", "\nx"],
    ["ab\r\nab\n", "b\n", "x\r\n"],
    ["aaa b\n", "aa", "a"],
    ["a\n\n\n\n\n", "\n\n", ""],
    ["a\r", "a\r", "b\n"],
    ["a", "a", "long ".repeat(200)],
  ];
  for (const [unit, oldText, newText] of kinds) {
    const text = `start ${unit.repeat(45_000)} end`;
    const edit = { oldText, newText, all: true };
    const each = finish(matchIn(sourceOf(text), edit));
    const blocks = finish(matchIn(sourceOf(text), edit, "in blocks"));
    if (each.found !== "yes" || blocks.found !== "yes") throw new Error(`${JSON.stringify(edit)} is not found`);
    expect([blocks.total, blocks.matchedBy]).toEqual([each.places.length, each.matchedBy]);
    expect(apply(text, blocks.changes) === apply(text, each.changes)).toBe(true);
    // One for each place that a diff can show, not for each of 45,000.
    expect(blocks.changes.length).toBeLessThan(6_000);
  }
});
