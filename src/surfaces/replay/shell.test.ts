import { describe, expect, test } from "vitest";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import { linesRead, patchInCommand, shellChanges } from "./shell.ts";

describe("what a command changes", () => {
  test.each([
    ["ls -la src", []],
    ["cat a.txt | grep rm", []],
    ["echo 'rm -rf /'", []],
    ["git status && git diff", []],
    ["sed -n '1,5p' a.txt", []],
    ["npm test 2>&1 | tail -5", []],
    ["npm test > /tmp/out.txt", []],
    ["ls 2>/dev/null", []],
    ["# rm a", []],
    ["rm -rf build", ["remove"]],
    ["cd src && rm a.ts; mv b.ts c.ts", ["remove", "move"]],
    ["sudo env A=1 cp a b", ["copy"]],
    ["mkdir -p a/b && touch a/b/c", ["make folder or file"]],
    ["sed -i.bak 's/a/b/' f", ["edit in place"]],
    ["perl -pi -e 's/a/b/' f", ["edit in place"]],
    ["echo x > a.txt", ["redirect"]],
    ["echo x >> a.txt", ["redirect"]],
    ["cat <<'EOF' > a.sh\nrm -rf /\nmv a b\nEOF\nls", ["redirect"]],
    ["printf x | tee -a log.txt", ["redirect"]],
    ["git checkout -- .", ["git"]],
    ["git -C sub reset --hard", ["git"]],
    ["git rm old.ts", ["remove"]],
    ["npx prettier --write src", ["format"]],
    ["prettier --check src", []],
    ["gofmt -w .", ["format"]],
    ["npm install left-pad", ["install"]],
    ["find . -name '*.o' -delete", ["remove"]],
    ["find . -name '*.ts' -exec sed -i s/a/b/ {} +", ["edit in place"]],
    ["if true; then rm a; fi", ["remove"]],
    ["Remove-Item a.txt", ["remove"]],
    ['echo "a > b"', []],
    ["a=$(rm b)", ["remove"]],
  ])("%j", (command, kinds) => expect(shellChanges(command)).toEqual(kinds));

  test.each(["'", '"a" ', "<<A\n", "$(", "| ", "a\\", "> ", "rm a; ", "\n#", "<<-'E'\nE\n"])(
    "takes time in proportion to the length of %j",
    (part) => growsLikeItsInput(2_000, (size) => part.repeat(size / part.length), shellChanges),
  );
});

describe("commands that only print lines of a file", () => {
  const text = "one\ntwo\nthree\n";
  test.each([
    ["cat a.txt", text, "a.txt", { is: "whole", text }],
    ["cd sub && cat a.txt", text, "sub/a.txt", { is: "whole", text }],
    ["sed -n '2,3p' a.txt", "two\nthree\n", "a.txt", { is: "lines", from: 2, lines: ["two", "three"] }],
    ["sed -n '2,9p' a.txt", "two\nthree\n", "a.txt", { is: "lines", from: 2, linesTotal: 4 }],
    ["sed -n 1,200p a.txt", text, "a.txt", { is: "whole", text }],
    ["head -n 2 a.txt", "one\ntwo\n", "a.txt", { is: "lines", from: 1, lines: ["one", "two"] }],
    ["head -2 a.txt", "one\ntwo\n", "a.txt", { is: "lines", from: 1, lines: ["one", "two"] }],
    ["nl -ba a.txt | sed -n '2,3p'", "     2\ttwo\n     3\tthree\n", "a.txt", { lines: ["two", "three"] }],
  ])("%s", (command, output, path, fact) => {
    const read = linesRead({ command, folder: undefined }, output);
    expect(read?.action).toMatchObject({ verb: "read", path });
    expect(read?.facts).toMatchObject([{ path, ...fact }]);
  });

  test.each([
    ["cat a b", "x"],
    ["cat a > b", "x"],
    ["cat a | wc -l", "3"],
    ["cat *.txt", "x"],
    ["sed -i 1,2p a", ""],
    ["cat a && rm a", "x"],
    ["tail -5 a", "x"],
    ["cat a.txt", "one\n…12 tokens truncated…\ntwo"],
  ])("%s is not one", (command, output) => expect(linesRead({ command, folder: undefined }, output)).toBeUndefined());
});

test("a patch is found in a heredoc only", () => {
  expect(patchInCommand("apply_patch <<EOF\n*** Begin Patch\nEOF\n")).toBe("*** Begin Patch\n");
  expect(patchInCommand("echo apply_patch <<EOF\nx\nEOF")).toBeUndefined();
});
