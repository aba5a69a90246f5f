/** What Edit and Write do and say in every dialect: the same files, the same codes, its own names. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import {
  type CallOptions,
  createFilehand,
  type DialectName,
  type FilehandOptions,
  type Reply,
} from "../../src/index.ts";

export interface ChangeCase {
  readonly name: DialectName;
  readonly tools: { readonly read: string; readonly edit: string; readonly write: string };
  readonly parameters: {
    readonly path: string;
    readonly old: string;
    readonly new: string;
    readonly all: string;
    readonly offset: string;
  };
  /** The number of the first line in `offset`. */
  readonly first: number;
  /** What the first line of an answer says when a file was edited, written anew and created. */
  readonly says: { readonly edited: RegExp; readonly written: RegExp; readonly created: RegExp };
}

/** What a test does in one conversation. */
interface Hand {
  read(file: string, more?: object): Promise<Reply>;
  edit(file: string, oldText: string, newText: string, more?: object, options?: CallOptions): Promise<Reply>;
  write(file: string, content: string, options?: CallOptions): Promise<Reply>;
  call(tool: "read" | "edit" | "write", input: unknown): Promise<Reply>;
}

const words = ({ content: [part] }: Reply): string => (part?.type === "text" ? part.text : "");

export function changeSuite(given: ChangeCase): void {
  const { tools, parameters, says } = given;
  const { path: pathName, old: oldName, new: newName, all } = parameters;
  const top = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-changes-"));
  const at = (name: string): string => path.join(top, name);
  const put = (name: string, content: string | Uint8Array): void => fs.writeFileSync(at(name), content);
  const there = (name: string): string => fs.readFileSync(at(name), "utf8");
  const hex = (name: string): string => fs.readFileSync(at(name)).toString("hex");

  const hand = (options: Partial<FilehandOptions> = {}): Hand => {
    const session = createFilehand({ roots: [top], ask: "yes", ...options }).session({ dialect: given.name });
    return {
      read: (file, more = {}) => session.call(tools.read, { [pathName]: file, ...more }),
      edit: (file, oldText, newText, more = {}, how = {}) =>
        session.call(tools.edit, { [pathName]: file, [oldName]: oldText, [newName]: newText, ...more }, how),
      write: (file, content, how = {}) => session.call(tools.write, { [pathName]: file, content }, how),
      call: (tool, input) => session.call(tools[tool], input),
    };
  };
  /** A conversation that has read a file. */
  const reader = async (file: string, options: Partial<FilehandOptions> = {}): Promise<Hand> => {
    const made = hand(options);
    expect((await made.read(file)).error).toBeUndefined();
    return made;
  };

  describe(`changes in the dialect ${given.name}`, () => {
    beforeEach(() => {
      for (const name of fs.readdirSync(top)) fs.rmSync(at(name), { recursive: true, force: true });
    });
    afterAll(() => fs.rmSync(top, { recursive: true, force: true }));

    describe("an edit", () => {
      test("replaces the text and nothing else, and says so", async () => {
        put("a.txt", "one\ntwo\nthree\n");
        const reply = await (await reader("a.txt")).edit("a.txt", "two", "2");
        expect(reply.error).toBeUndefined();
        expect(words(reply)).toMatch(says.edited);
        expect(there("a.txt")).toBe("one\n2\nthree\n");
        expect(JSON.stringify(reply.structured)).toContain("-two");
        expect(JSON.stringify(reply.structured)).toContain("+2");
      });

      test("of a text that fits several places lists their lines and changes nothing", async () => {
        put("a.txt", "x\ny\nx\nz\nx\n");
        const reply = await (await reader("a.txt")).edit("a.txt", "x", "q");
        expect(reply.error?.code).toBe("AMBIGUOUS");
        expect(reply.error?.message).toContain("3 places (at lines 1, 3, 5)");
        expect(reply.error?.message).toContain(all);
        expect(there("a.txt")).toBe("x\ny\nx\nz\nx\n");
      });

      test("of every place replaces them all and tells how many", async () => {
        put("a.txt", "x\ny\nx\nz\nx\n");
        const reply = await (await reader("a.txt")).edit("a.txt", "x", "q", { [all]: true });
        expect(reply.error).toBeUndefined();
        expect(there("a.txt")).toBe("q\ny\nq\nz\nq\n");
        expect(JSON.stringify(reply)).toContain("+q");
      });

      test("of a text that is not there shows the nearest text and names the difference", async () => {
        put("a.txt", "function a() {\n\treturn first + second;\n}\n");
        const reply = await (await reader("a.txt")).edit("a.txt", "return first + Second;", "return 1;");
        expect(reply.error?.code).toBe("NO_MATCH");
        expect(reply.error?.message).toContain(oldName);
        expect(reply.error?.message).toContain("upper and lower case differ");
        expect(reply.error?.message).toContain("return first + second;");
        expect(there("a.txt")).toBe("function a() {\n\treturn first + second;\n}\n");
      });

      test("of a text that nothing is like says what to do", async () => {
        put("a.txt", "alpha\nbeta\n");
        const reply = await (await reader("a.txt")).edit("a.txt", "1234567890", "0");
        expect(reply.error?.code).toBe("NO_MATCH");
        expect(reply.error?.message).toMatch(/nothing was changed.*read the file again/s);
      });

      test("that was made already is told apart from one that fits nowhere", async () => {
        put("a.txt", "const answer = computeTheAnswer(40 + 2);\nexport { answer };\n");
        const editor = await reader("a.txt");
        const edit = () =>
          editor.edit("a.txt", "computeTheAnswer(40 + 2);", "computeTheAnswerAnew(forty + 2, options);");
        expect((await edit()).error).toBeUndefined();
        const after = there("a.txt");
        const second = await edit();
        expect(second.error?.code).toBe("ALREADY_APPLIED");
        expect(second.error?.message).toContain("line 1");
        expect(there("a.txt")).toBe(after);
      });

      test("of a file that was not read is refused", async () => {
        put("a.txt", "one\n");
        const reply = await hand().edit("a.txt", "one", "1");
        expect(reply.error?.code).toBe("NOT_READ");
        expect(reply.error?.message).toMatch(/not read in this session, read it first/);
        expect(there("a.txt")).toBe("one\n");
      });

      test("of lines that were not shown is made where the exact text occurs once", async () => {
        put("a.txt", Array.from({ length: 60 }, (_, index) => `line ${index + 1} of 60\n`).join(""));
        const editor = hand();
        await editor.read("a.txt", { limit: 10 });
        expect((await editor.edit("a.txt", "line 40 of 60\nline 41 of 60\n", "")).error).toBeUndefined();
        expect(there("a.txt")).not.toMatch(/line (?:40|41) /);
        // A match that is not exact, and Write, need the lines themselves.
        const loose = await editor.edit("a.txt", "  line 50 of 60\n  line 51 of 60\n", "");
        expect({ loose: loose.error?.code, write: (await editor.write("a.txt", "x")).error?.code }).toEqual({
          loose: "NOT_READ",
          write: "NOT_READ",
        });
        // A file that was never shown stays refused.
        put("b.txt", "one\n");
        expect((await editor.edit("b.txt", "one", "1")).error?.code).toBe("NOT_READ");
      });

      test("of every place is made if one of them was shown, and says how many were not", async () => {
        put(
          "a.txt",
          Array.from({ length: 30 }, (_, index) => `line ${index + 1} ${index % 10 === 0 ? "x" : "y"}\n`).join(""),
        );
        const editor = hand();
        await editor.read("a.txt", { limit: 10 });
        const reply = await editor.edit("a.txt", " x", " z", { [all]: true });
        expect(words(reply)).toContain("2 of the 3 places were not shown before.");
        expect(there("a.txt").match(/ z$/gm)).toHaveLength(3);
        put("b.txt", "one\ntwo x\nthree x\n");
        await editor.read("b.txt", { limit: 1 });
        expect((await editor.edit("b.txt", " x", " z", { [all]: true })).error?.code).toBe("NOT_READ");
      });

      test("of lines that were shown is made where somebody else changed other lines, which it names", async () => {
        put("a.txt", "one\ntwo\nthree\nfour\n");
        const editor = await reader("a.txt");
        put("a.txt", "zero\none\ntwo\nthree\nFOUR\n");
        const reply = await editor.edit("a.txt", "three", "3\n3");
        expect(words(reply)).toContain("Somebody else changed lines 1 and 6 since the file was read");
        expect(there("a.txt")).toBe("zero\none\ntwo\n3\n3\nFOUR\n");
        expect((await editor.edit("a.txt", "two", "2")).error).toBeUndefined();
        expect((await editor.write("a.txt", "x")).error?.code).toBe("NOT_READ");
      });

      test("of lines read before somebody else changed others stays possible after the next read of a part", async () => {
        put("a.txt", Array.from({ length: 60 }, (_, index) => `line ${index + 1} of 60\n`).join(""));
        const editor = hand({ readFirst: "lines" });
        await editor.read("a.txt", { limit: 10 });
        put("a.txt", `a\nb\n${there("a.txt").replace("line 30 of", "line 30 OF")}`);
        await editor.read("a.txt", { [parameters.offset]: 49 + given.first, limit: 5 });
        expect((await editor.edit("a.txt", "line 7 of 60", "7")).error).toBeUndefined();
        expect((await editor.edit("a.txt", "line 50 of 60", "50")).error).toBeUndefined();
        expect((await editor.edit("a.txt", "line 30 OF 60", "30")).error?.code).toBe("NOT_READ");
      });

      test("of lines that were not shown is refused with `lines`, and names them and how to see them", async () => {
        put("a.txt", Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n`).join(""));
        const editor = hand({ readFirst: "lines" });
        await editor.read("a.txt", { limit: 10 });
        const reply = await editor.edit("a.txt", "line 40\nline 41\n", "");
        expect(reply.error?.code).toBe("NOT_READ");
        expect(reply.error?.message).toContain("lines 40 to 41");
        expect(reply.error?.message).toContain("only lines 1 to 10");
        expect(reply.error?.message).toMatch(/read them first with .*(?:39|40).*2/);
        expect((await editor.edit("a.txt", "line 7\n", "")).error).toBeUndefined();
        await editor.read("a.txt", { [parameters.offset]: 38 + given.first, limit: 3 });
        expect((await editor.edit("a.txt", "line 40\nline 41\n", "")).error).toBeUndefined();
        expect(there("a.txt")).not.toMatch(/line (?:7|40|41)\n/);
      });

      test("of a place that somebody else changed since is refused, and allowed after reading again", async () => {
        put("a.txt", "one\ntwo\n");
        const editor = await reader("a.txt");
        put("a.txt", "one\ntwo\nthree\n");
        const reply = await editor.edit("a.txt", "three", "3");
        expect(reply.error?.code).toBe("STALE");
        expect(reply.error?.message).toMatch(/somebody else changed line 3 since it was shown.*read it again/s);
        expect(there("a.txt")).toBe("one\ntwo\nthree\n");
        await editor.read("a.txt");
        expect((await editor.edit("a.txt", "one", "1")).error).toBeUndefined();
        expect(there("a.txt")).toBe("1\ntwo\nthree\n");
      });

      test("of a file that is gone does not bring it back", async () => {
        put("a.txt", "one\n");
        const editor = await reader("a.txt");
        fs.rmSync(at("a.txt"));
        expect((await editor.edit("a.txt", "one", "1")).error?.code).toBe("STALE");
        expect((await editor.edit("a.txt", "one", "1")).error?.code).toBe("NOT_FOUND");
        expect(fs.existsSync(at("a.txt"))).toBe(false);
      });

      test("of two texts that are the same is refused, whatever is in the file", async () => {
        put("a.txt", "one\n");
        const reply = await (await reader("a.txt")).edit("a.txt", "one", "one");
        expect(reply.error?.code).toBe("INVALID_PARAM");
        expect(reply.error?.message).toContain(`${oldName} and ${newName} are the same`);
      });

      test("without an old text makes a file with its folders, fills an empty one, and is an error elsewhere", async () => {
        const editor = hand();
        const made = await editor.edit("new/deep/a.txt", "", "one\n");
        expect(made.error).toBeUndefined();
        expect(there("new/deep/a.txt")).toBe("one\n");
        put("empty.txt", "");
        expect((await editor.edit("empty.txt", "", "two\n")).error).toBeUndefined();
        expect(there("empty.txt")).toBe("two\n");
        const reply = await editor.edit("empty.txt", "", "three\n");
        expect(reply.error?.code).toBe("INVALID_PARAM");
        expect(reply.error?.message).toContain(`${oldName} is empty`);
        expect(there("empty.txt")).toBe("two\n");
      });

      test("of a missing file is NOT_FOUND and names one that is there", async () => {
        put("reader.ts", "one\n");
        const reply = await hand().edit("raeder.ts", "one", "1");
        expect(reply.error?.code).toBe("NOT_FOUND");
        expect(reply.error?.message).toContain("reader.ts");
        expect(fs.readdirSync(top)).toEqual(["reader.ts"]);
      });

      test("takes $ in the new text for what it is", async () => {
        for (const more of [{}, { [all]: true }]) {
          put("a.txt", "one two three\n");
          const text = "$& $$ $` $' $1 $<x> \\1 \\n";
          expect((await (await reader("a.txt")).edit("a.txt", "two", text, more)).error).toBeUndefined();
          expect(there("a.txt")).toBe(`one ${text} three\n`);
        }
      });

      test("that finds its place by anything but the letters says so and shows the lines", async () => {
        put("a.py", "def f():\n    a = 1\n    b = 2\n");
        const reply = await (await reader("a.py")).edit("a.py", "a = 1\nb = 2\n", "a = 1\nif a:\n    b = 3\n");
        expect(reply.error).toBeUndefined();
        expect(words(reply)).toContain("with another indentation");
        expect(there("a.py")).toBe("def f():\n    a = 1\n    if a:\n        b = 3\n");
      });

      test("that would change nothing but was asked for a dry run writes nothing and says so", async () => {
        put("a.txt", "one\ntwo\n");
        const editor = await reader("a.txt");
        const reply = await editor.edit("a.txt", "two", "2", {}, { dryRun: true });
        expect(reply.error).toBeUndefined();
        expect(words(reply)).toContain("nothing was written");
        expect(JSON.stringify(reply.structured)).toContain("+2");
        expect(there("a.txt")).toBe("one\ntwo\n");
        expect((await editor.edit("a.txt", "two", "2")).error).toBeUndefined();
      });

      test("twice in a row works without reading in between", async () => {
        put("a.txt", "one\ntwo\n");
        const editor = await reader("a.txt");
        expect((await editor.edit("a.txt", "one", "1\n1b")).error).toBeUndefined();
        expect((await editor.edit("a.txt", "two", "2")).error).toBeUndefined();
        expect(there("a.txt")).toBe("1\n1b\n2\n");
      });
    });

    describe("an edit keeps", () => {
      for (const [what, before, oldText, newText, after] of [
        ["CRLF at every line", "a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n"],
        ["CRLF where one line becomes two", "a\r\nb\r\nc\r\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n"],
        ["a \\r with its newline", "a\r\nb\r\nc\r\n", "\nb", "", "a\r\nc\r\n"],
        ["the end that each line has", "a\r\nb\nc\r\nd\n", "b\nc\n", "x\ny\n", "a\r\nx\ny\r\nd\n"],
        ["LF in a part with LF", "a\r\nb\r\nc\nd\ne\n", "d", "d1\nd2", "a\r\nb\r\nc\nd1\nd2\ne\n"],
        ["a lone \\r in a line", "a\rb\nc\n", "c", "x", "a\rb\nx\n"],
        ["a missing final newline", "a\nb", "a", "x", "x\nb"],
        ["blanks at line ends", "a  \nb\t\nc\n", "c", "x  \n\n", "a  \nb\t\nx  \n\n\n"],
        ["U+2028 as a character", "a\u2028b\nc\n", "c", "x", "a\u2028b\nx\n"],
      ] as const) {
        test(what, async () => {
          put("a.txt", before);
          const reply = await (await reader("a.txt")).edit("a.txt", oldText, newText);
          expect(reply.error).toBeUndefined();
          expect(there("a.txt")).toBe(after);
        });
      }

      for (const [what, before, oldText, newText, after] of [
        ["a UTF-8 BOM", "efbbbf610a620a", "a\n", "x\n", "efbbbf780a620a"],
        ["a byte that is no UTF-8", "61ff0a620a63c3a9", "b", "ü", "61ff0ac3bc0a63c3a9"],
        ["UTF-16LE", "fffe61000a00e9000a00", "é", "ü中", "fffe61000a00fc002d4e0a00"],
        ["UTF-16BE", "feff0061000a00e9000a", "é", "ü", "feff0061000a00fc000a"],
        ["UTF-32LE", "fffe0000610000000a000000620000000a000000", "b", "😀", "fffe0000610000000a00000000f601000a000000"],
      ] as const) {
        test(what, async () => {
          put("a.txt", Buffer.from(before, "hex"));
          const reply = await (await reader("a.txt")).edit("a.txt", oldText, newText);
          expect(reply.error).toBeUndefined();
          expect(hex("a.txt")).toBe(after);
        });
      }

      test("windows-1252, and refuses a character that it lacks", async () => {
        const text = "Où est passé l'été ?\nÇa coûte cher, déjà payé.\nLe garçon naïf préfère la forêt.\n";
        put("a.txt", Buffer.from(text, "latin1"));
        const editor = await reader("a.txt");
        expect((await editor.edit("a.txt", "forêt", "crêpe à 5 €")).error).toBeUndefined();
        expect(fs.readFileSync(at("a.txt"), "latin1")).toBe(text.replace("forêt", "crêpe à 5 \x80"));
        const before = hex("a.txt");
        const reply = await editor.edit("a.txt", "garçon", "😀");
        expect(reply.error?.code).toBe("ENCODING");
        expect(reply.error?.message).toContain("windows-1252");
        expect(reply.error?.message).toContain("😀");
        expect(reply.error?.message).toContain("U+1F600");
        expect(hex("a.txt")).toBe(before);
      });

      for (const [what, bytes] of [
        ["Latin-1", Buffer.from("Où est passé l'été ?\nkey = one\nÇa coûte cher, déjà payé.\n", "latin1")],
        ["Shift_JIS", Buffer.from("93fa967b8cea82cc955c8ea60a6b6579203d206f6e650a955c8ea60a", "hex")],
        ["bytes of no encoding", Buffer.from("81fe8dff0a6b6579203d206f6e650aff80c0f5fe9d0a", "hex")],
        ["UTF-8 with a byte too many", Buffer.from("6772c3b6c39f6572ff0a6b6579203d206f6e650ac3a40a", "hex")],
        [
          "UTF-8 and Latin-1 mixed",
          Buffer.concat([Buffer.from("größer ähnlich\nkey = one\n"), Buffer.from("caf\xe9\n", "latin1")]),
        ],
      ] as const) {
        test(`every byte of ${what}, as it was read and whatever was shown of it`, async () => {
          put("a.txt", bytes);
          const editor = hand();
          const shown = await editor.read("a.txt");
          expect(shown.error).toBeUndefined();
          const expected = Buffer.from(bytes.toString("latin1").replace("one", "two"), "latin1").toString("hex");
          expect((await editor.edit("a.txt", "key = one", "key = two")).error).toBeUndefined();
          expect(hex("a.txt")).toBe(expected);
          // What stands for a byte is no text of the file: it finds nothing, and nothing is written in its place.
          const line = JSON.stringify(shown.content).includes("\ufffd") ? "\ufffd" : "\ufffd\ufffd";
          expect((await editor.edit("a.txt", line, "x", { [all]: true })).error?.code).toBe("NO_MATCH");
          expect(hex("a.txt")).toBe(expected);
        });
      }

      test("mode bits, and a link as a link", async () => {
        put("run.sh", "echo one\n");
        fs.chmodSync(at("run.sh"), 0o755);
        fs.symlinkSync("run.sh", at("link.sh"));
        expect((await (await reader("link.sh")).edit("link.sh", "one", "1")).error).toBeUndefined();
        expect(there("run.sh")).toBe("echo 1\n");
        expect(fs.statSync(at("run.sh")).mode & 0o777).toBe(0o755);
        expect(fs.lstatSync(at("link.sh")).isSymbolicLink()).toBe(true);
      });
    });

    describe("a write", () => {
      test("creates a file with its folders", async () => {
        const reply = await hand().write("new/a.txt", "┌─┐ é\r\n");
        expect(reply.error).toBeUndefined();
        expect(words(reply)).toMatch(says.created);
        expect(there("new/a.txt")).toBe("┌─┐ é\r\n");
      });

      test("over a file that was read replaces it, and the next change needs no reading", async () => {
        put("a.txt", "one\ntwo\n");
        const editor = await reader("a.txt");
        const reply = await editor.write("a.txt", "one\n2\n");
        expect(reply.error).toBeUndefined();
        expect(words(reply)).toMatch(says.written);
        expect(there("a.txt")).toBe("one\n2\n");
        expect((await editor.edit("a.txt", "2", "3")).error).toBeUndefined();
        expect((await editor.write("a.txt", "")).error).toBeUndefined();
        expect(there("a.txt")).toBe("");
      });

      test("over a file that was not read, or only partly, is refused", async () => {
        put("a.txt", "one\ntwo\nthree\n");
        const editor = hand();
        expect((await editor.write("a.txt", "x")).error?.code).toBe("NOT_READ");
        await editor.read("a.txt", { limit: 2 });
        const partly = await editor.write("a.txt", "x");
        expect(partly.error?.code).toBe("NOT_READ");
        expect(partly.error?.message).toMatch(/not all of it was shown \(only lines 1 to 2\)/);
        await editor.read("a.txt", { [parameters.offset]: 2 + given.first });
        expect((await editor.write("a.txt", "x")).error).toBeUndefined();
        expect(there("a.txt")).toBe("x");
      });

      test("over a file that somebody else changed since is refused", async () => {
        put("a.txt", "one\n");
        const editor = await reader("a.txt");
        put("a.txt", "two\n");
        expect((await editor.write("a.txt", "x")).error?.code).toBe("STALE");
        expect(there("a.txt")).toBe("two\n");
      });

      test("of what is there already says that nothing was written", async () => {
        put("a.txt", "one\n");
        const editor = await reader("a.txt");
        const { ino, mtimeMs } = fs.statSync(at("a.txt"));
        const reply = await editor.write("a.txt", "one\n");
        expect(reply.error).toBeUndefined();
        expect(words(reply)).toMatch(/nothing was written/);
        expect(fs.statSync(at("a.txt"))).toMatchObject({ ino, mtimeMs });
      });

      test("sends line ends as they are and tells that they changed", async () => {
        put("a.txt", "one\r\ntwo\r\n");
        const reply = await (await reader("a.txt")).write("a.txt", "one\n2\n");
        expect(there("a.txt")).toBe("one\n2\n");
        expect(words(reply)).toContain("Line ends changed from CRLF to LF");
        put("a.txt", "one\r\ntwo\r\n");
        await (await reader("a.txt", { writeEol: "keep" })).write("a.txt", "one\n2\r\n");
        expect(there("a.txt")).toBe("one\r\n2\r\n");
      });

      test("keeps a BOM and an encoding", async () => {
        put("a.txt", Buffer.from("efbbbf610a", "hex"));
        put("b.txt", Buffer.from("fffe61000a00", "hex"));
        const editor = await reader("a.txt");
        await editor.read("b.txt");
        await editor.write("a.txt", "é\n");
        await editor.write("b.txt", "é\n");
        expect(hex("a.txt")).toBe("efbbbfc3a90a");
        expect(hex("b.txt")).toBe("fffee9000a00");
      });

      for (const [what, before, content, oldText, newText, after] of [
        ["that is ASCII by now", "caf\xe9 gar\xe7on\n", "plain\n", "plain", "pläin", "pl\xe4in\n"],
        ["that could be UTF-8 by now", "caf\xe9 gar\xe7on\n", "Ã© x\n", "x", "ß", "\xc3\xa9 \xdf\n"],
        ["that could be another one", "caf\xe9 gar\xe7on\n", "Ð¿ð¾ò x\n", "x", "é", "\xd0\xbf\xf0\xbe\xf2 \xe9\n"],
      ] as const) {
        test(`in an encoding ${what} is understood in it by the next read and the next edit`, async () => {
          put("a.txt", Buffer.from(before, "latin1"));
          const editor = await reader("a.txt");
          expect((await editor.write("a.txt", content)).error).toBeUndefined();
          expect(JSON.stringify((await editor.read("a.txt")).content)).toContain(content.trimEnd());
          expect((await editor.edit("a.txt", oldText, newText)).error).toBeUndefined();
          expect(fs.readFileSync(at("a.txt"), "latin1")).toBe(after);
        });
      }

      test("in UTF-16 without a mark stays that, whatever its bytes look like", async () => {
        put("a.txt", Buffer.from("hello world\n", "utf16le"));
        const editor = await reader("a.txt");
        expect((await editor.write("a.txt", "漢字仮名交じり文漢字")).error).toBeUndefined();
        expect(JSON.stringify((await editor.read("a.txt")).content)).toContain("漢字仮名交じり文漢字");
        expect((await editor.edit("a.txt", "仮名", "か")).error).toBeUndefined();
        expect(fs.readFileSync(at("a.txt")).toString("utf16le")).toBe("漢字か交じり文漢字");
      });

      test("that somebody else wrote since is looked at anew", async () => {
        put("a.txt", Buffer.from("caf\xe9 gar\xe7on\n", "latin1"));
        const editor = await reader("a.txt");
        await editor.write("a.txt", "plain\n");
        put("a.txt", "größer\n");
        expect(JSON.stringify((await editor.read("a.txt")).content)).toContain("größer");
        expect((await editor.edit("a.txt", "größer", "kühler")).error).toBeUndefined();
        expect(there("a.txt")).toBe("kühler\n");
      });

      test("as a dry run writes nothing, not even a folder", async () => {
        const reply = await hand().write("new/a.txt", "one\n", { dryRun: true });
        expect(reply.error).toBeUndefined();
        expect(words(reply)).toContain("nothing was written");
        expect(fs.readdirSync(top)).toEqual([]);
      });

      test("on a folder, a pipe's place, or outside is refused and leaves no trace", async () => {
        fs.mkdirSync(at("folder"));
        put("file", "x");
        const editor = hand();
        expect((await editor.write("folder", "x")).error?.code).toBe("IS_DIRECTORY");
        expect((await editor.write("../filehand-outside.txt", "x")).error?.code).toBe("ACCESS_DENIED");
        expect((await editor.write("file/below.txt", "x")).error?.code).toBe("NOT_FOUND");
        expect(fs.readdirSync(top).toSorted()).toEqual(["file", "folder"]);
        expect(fs.existsSync(at("../filehand-outside.txt"))).toBe(false);
      });
    });

    describe("a call that is wrong", () => {
      const edit = { [pathName]: "a.txt", [oldName]: "one", [newName]: "1" };
      for (const [what, tool, input] of [
        ["no path", "edit", { [oldName]: "one", [newName]: "1" }],
        ["a number for the old text", "edit", { ...edit, [oldName]: 1 }],
        ["null for the new text", "edit", { ...edit, [newName]: null }],
        ["a word for the switch", "edit", { ...edit, [all]: "yes" }],
        ["another word for the switch", "edit", { ...edit, [all]: "yes" }],
        ["a number for the switch", "edit", { ...edit, [all]: 1 }],
        ["an unknown name", "edit", { ...edit, replaceEverything: true }],
        ["no content", "write", { [pathName]: "a.txt" }],
        ["an object for the content", "write", { [pathName]: "a.txt", content: { one: 1 } }],
        ["a list", "write", ["a.txt", "x"]],
        ["JSON that was cut off", "write", '{"content": "hal'],
        ["an empty path", "write", { [pathName]: "", content: "x" }],
        ["a NUL in the path", "write", { [pathName]: "a\0b", content: "x" }],
        ["a name that is too long", "write", { [pathName]: "n".repeat(300), content: "x" }],
        ["half of a surrogate pair", "edit", { ...edit, [newName]: "\ud83d" }],
      ] as const) {
        test(`${what} is an INVALID_PARAM in words, and nothing is written`, async () => {
          put("a.txt", "one\n");
          const editor = await reader("a.txt");
          const reply = await editor.call(tool, input);
          expect(reply.error?.code).toBe("INVALID_PARAM");
          expect(reply.error?.message).not.toMatch(/\n\s+at |Zod|undefined/);
          expect(fs.readdirSync(top)).toEqual(["a.txt"]);
          expect(there("a.txt")).toBe("one\n");
        });
      }

      test("one that was cut off is told to come in smaller parts", async () => {
        const input = JSON.stringify({ [pathName]: "a.txt", content: `${"word ".repeat(500)}\n` });
        const editor = hand();
        for (const cut of [input.slice(0, -1), input.slice(0, -4), input.slice(0, 1_000), "{"]) {
          const { error } = await editor.call("write", cut);
          expect(error?.code).toBe("INVALID_PARAM");
          expect(error?.message).toContain(`ends too early, after ${cut.length} characters`);
          expect(error?.message).toContain("in smaller parts");
        }
        // A host that repairs what was cut off hands on what is left of it.
        expect((await editor.call("write", { [pathName]: "a.txt" })).error?.message).toContain("in smaller parts");
        expect((await editor.call("write", { content: "x" })).error?.message).not.toContain("smaller parts");
        expect((await editor.call("write", "no JSON at all")).error?.message).not.toContain("ends too early");
        expect(fs.readdirSync(top)).toEqual([]);
      });

      test("JSON with more objects, lists or keys than are parsed is told so", async () => {
        const keys = Array.from({ length: 10_001 }, (_, index) => `"k${index}":1`).join(",");
        for (const input of [`[${"[".repeat(70_000)}${"]".repeat(70_000)}]`, `{${keys}}`]) {
          const { error } = await hand().call("write", input);
          expect(error?.code).toBe("INVALID_PARAM");
          expect(error?.message).toContain(
            `is JSON of ${input.length} characters that has more than 70000 objects and lists or 10000 different keys, send it in parts`,
          );
        }
      });

      test("half of a surrogate pair is refused for a new file as for an old one", async () => {
        put("a.txt", "one\n");
        const editor = await reader("a.txt");
        const [old, made] = [await editor.write("a.txt", "x\ud83d"), await editor.write("b.txt", "x\ud83d")];
        expect(old.error?.message).toMatch(/half of a surrogate pair/);
        expect(made.error).toMatchObject({ code: old.error?.code });
        expect(fs.readdirSync(top)).toEqual(["a.txt"]);
      });
    });

    test("without anybody to ask nothing is written, not even a folder", async () => {
      put("a.txt", "one\n");
      const session = createFilehand({ roots: [top] }).session({ dialect: given.name });
      await session.call(tools.read, { [pathName]: "a.txt" });
      const edited = await session.call(tools.edit, { [pathName]: "a.txt", [oldName]: "one", [newName]: "1" });
      const written = await session.call(tools.write, { [pathName]: "new/b.txt", content: "x" });
      expect([edited.error?.code, written.error?.code]).toEqual(["ACCESS_DENIED", "ACCESS_DENIED"]);
      expect(there("a.txt")).toBe("one\n");
      expect(fs.readdirSync(top)).toEqual(["a.txt"]);
    });
  });
}
