/**
 * Real shell commands, each undone and redone: every byte, mode, symlink and folder is compared with a copy from before. In a
 * folder without git, and in a checkout whose contents are taken from git's own store.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { createFilehand } from "../../src/filehand.ts";
import { onWindows, workspace } from "../support/workspace.ts";

const { path: place } = workspace({});

/** Names of commands that a machine may lack. */
const has = (program: string): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

const isolated = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.org",
};

const shell = (command: string, cwd: string): string => {
  try {
    return execFileSync("bash", ["-c", command], { cwd, env: isolated, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    // A command that fails halfway has changed something all the same.
    return String((error as { stdout?: unknown }).stdout);
  }
};

const makeTree = `
  mkdir -p src/deep/er docs empty 'with space' .github/workflows bin
  for i in $(seq 1 30); do printf 'line one of %s\\nline two\\nline three\\n' $i > src/f$i.ts; done
  printf 'a\\r\\nb\\r\\n' > src/crlf.txt; printf 'no newline' > src/last.txt; : > src/empty.txt
  head -c 5000 /dev/urandom > bin/data.bin; printf '#!/bin/sh\\necho hi\\n' > bin/tool.sh; chmod 755 bin/tool.sh
  printf 'deep\\n' > src/deep/er/x.txt; printf 'doc\\n' > docs/a.md; printf 'doc\\n' > docs/b.md
  printf 'spaced\\n' > 'with space/a file.txt'; printf 'on: push\\n' > .github/workflows/ci.yml
  printf '{"b":1,"a":2}\\n' > package.json; printf 'build/\\nnode_modules/\\n*.log\\n' > .gitignore
  ln -s src/f1.ts link; ln -s docs docs-link; ln -s nowhere dangling; ln src/f2.ts hard.ts
  chmod 600 docs/b.md; chmod 750 src/deep; printf 'umlaut\\n' > 'ümläut.txt'; printf 'star\\n' > 'a*b?.txt'
`;

/** In every tree. */
const commands: readonly string[] = [
  "rm src/f1.ts",
  "rm -rf src",
  "rm -rf src docs bin",
  "rm -f link dangling",
  "rm hard.ts",
  "rm -rf -- *",
  "rm 'with space/a file.txt'",
  "rm 'a*b?.txt' ümläut.txt",
  "rmdir empty",
  "unlink docs-link",
  "find . -name '*.ts' -not -path './.git/*' -delete",
  "find src -type f -exec rm {} +",
  "mv src/f1.ts src/g1.ts",
  "mv src lib",
  "mv docs/a.md docs/b.md",
  "mv 'with space' without",
  "mv docs empty/",
  "mv link moved-link",
  'for f in src/*.ts; do mv "$f" "${f%.ts}.mts"; done',
  "cp src/f1.ts src/copy.ts",
  "cp -r src src2",
  "cp -a docs docs-copy",
  "cp docs/a.md src/f1.ts",
  "cp -P link link2",
  "mkdir -p new/deep/er",
  "mkdir one && touch one/two",
  "mkdir only-empty",
  "touch new.txt",
  "touch -d 2001-01-01 src/f1.ts && echo more >> src/f1.ts",
  "sed -i 's/line/LINE/' src/*.ts",
  "sed -i '2d' src/crlf.txt",
  "perl -pi -e 's/two/2/' src/f3.ts",
  "echo new > src/f1.ts",
  "echo more >> src/last.txt",
  "printf '' > src/f4.ts",
  ": > docs/a.md",
  "truncate -s 3 bin/data.bin",
  "truncate -s 100000 bin/data.bin",
  "cat > src/heredoc.ts <<'EOF'\nconst a = `$x`;\nEOF",
  "cat >> src/f5.ts <<EOF\nappended $((1 + 2))\nEOF",
  "tee docs/a.md docs/c.md < src/f1.ts",
  "dd if=/dev/zero of=bin/data.bin bs=1k count=2 conv=notrunc status=none",
  "echo x > 'new\nline.txt'",
  'echo x > "quote\'and\\"double"',
  "echo x > '-dash.txt'",
  "echo x > '$(touch pwned)'",
  "echo x > $'tab\\there'",
  "echo x > ' leading and trailing '",
  "echo x > \"$(printf 'n%.0s' $(seq 1 200))\"",
  "chmod 755 src/f1.ts",
  "chmod -x bin/tool.sh",
  "chmod -R go-rwx src",
  "chmod 500 docs",
  "chmod 4755 bin/tool.sh",
  "ln -s ../package.json src/pkg",
  "ln -sfn src docs-link",
  "ln -sf docs/b.md link",
  "ln src/f1.ts src/f1-hard.ts",
  "rm link && cp src/f1.ts link",
  "rm src/f1.ts && ln -s f2.ts src/f1.ts",
  "rm -r empty && echo file > empty",
  "rm docs/a.md && mkdir docs/a.md && echo in > docs/a.md/in.txt",
  "tar cf all.tar src && rm -rf src",
  "tar cf - src | (mkdir out && tar xf - -C out)",
  "tar czf x.tgz docs && tar xzf x.tgz -C empty",
  "gzip src/f1.ts",
  "split -l 1 src/f2.ts part-",
  "sort -o src/f3.ts src/f3.ts",
  "vim -e -s -u NONE -c '%s/line/LINE/' -c wq src/f1.ts",
  "printf 'g/line/s//LINE/\\nw\\nq\\n' | ed -s src/f1.ts",
  "tr a-z A-Z < src/f1.ts > src/upper.ts && mv src/upper.ts src/f1.ts",
  "awk 'NR>1' src/f1.ts > tmp && mv tmp src/f1.ts",
  "printf 'line one of 1\\nx\\n' | patch -s src/f1.ts /dev/stdin; echo y > src/f1.ts.orig",
  "sed -i 's/$/\\r/' src/f6.ts",
  "install -m 755 src/f1.ts bin/installed",
  "node -e \"const fs=require('fs');const p=JSON.parse(fs.readFileSync('package.json'));fs.writeFileSync('package.json',JSON.stringify(p,null,2))\"",
  "python3 -c \"import os;os.rename('src/f1.ts','src/tmp');os.rename('src/f2.ts','src/f1.ts');os.rename('src/tmp','src/f2.ts')\"",
  "rsync -a --delete docs/ src/",
  "mkdir src/new && mv src/f1.ts src/new/ && rmdir empty && chmod 700 src/new",
  "echo one > a && mv a b && mv b c",
  "rm -rf src && mkdir src && echo again > src/f1.ts",
  "exec 3> src/f7.ts; echo a >&3; exec 3>&-; false",
  "(echo background > src/bg.ts &) ; wait; sleep 0.05",
  "mkfifo pipe",
  "echo both >> hard.ts",
  "mkdir build node_modules && echo x > build/x && echo y > y.txt",
  "npm init -y > /dev/null 2>&1; echo x > src/f8.ts",
];

/** In a checkout. What git keeps in `.git` is git's own: the files come back, the index stays as the command left it. */
const gitCommands: readonly string[] = [
  "git rm -q -r -f src",
  "git mv src lib",
  "git checkout -q other",
  "git checkout -q HEAD~1 -- src",
  "git switch -q other && echo x > more.txt",
  "echo dirty >> src/f1.ts && git checkout -q -- src/f1.ts && rm src/f2.ts",
  "git reset -q --hard HEAD~1",
  "git reset -q --hard other",
  "git clean -fdq",
  "git stash -q -u",
  "echo more >> docs/a.md && git stash -q && git stash pop -q",
  "git merge -q other --no-edit",
  "git stash -q; git rebase -q other",
  "git revert --no-edit HEAD",
  "git cherry-pick other",
  "git restore --source HEAD~1 .",
  "git worktree add -q wt other",
  "git init -q nested && echo in > nested/in.txt",
  "git apply <<'EOF'\n--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1 @@\n-doc\n+DOC\nEOF",
  "git gc -q --prune=now && rm -rf src",
  "git commit -qam all && git filter-branch -f --tree-filter 'rm -f docs/a.md' HEAD",
  "git clean -fdxq",
  "rm -rf inner",
  "cd inner && git checkout -q -b more && echo more > in.txt && git commit -qam more",
  "rm -rf module",
  "cd module && echo changed > part.txt && rm -f other.txt",
  "git submodule deinit -q -f module",
  "git submodule foreach -q 'git checkout -q HEAD~1'",
  "cd tree && rm -rf src && git reset -q --hard HEAD~1",
  "git worktree remove --force tree",
];

type Tree = Readonly<Record<string, string>>;

/** Every name with its kind, mode and content, without `.git`. */
function treeOf(folder: string): Tree {
  const tree: Record<string, string> = {};
  const visit = (path: string): void => {
    for (const name of fs.readdirSync(path).sort()) {
      if (name === ".git") continue;
      const full = nodePath.join(path, name);
      const stat = fs.lstatSync(full);
      const mode = (stat.mode & 0o7777).toString(8);
      const key = nodePath.relative(folder, full);
      if (stat.isSymbolicLink()) tree[key] = `link ${fs.readlinkSync(full)}`;
      else if (stat.isDirectory()) {
        tree[key] = `folder ${mode}`;
        visit(full);
      } else if (stat.isFile()) tree[key] = `file ${mode} ${fs.readFileSync(full).toString("base64")}`;
      else tree[key] = "special";
    }
  };
  visit(folder);
  return tree;
}

const differences = (a: Tree, b: Tree): readonly string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter((key) => a[key] !== b[key])
    .map((key) => `${key}: ${a[key]?.slice(0, 60) ?? "absent"} -> ${b[key]?.slice(0, 60) ?? "absent"}`);

/** A FIFO is nothing that a history could keep: it is left where it is. */
const withoutSpecial = (tree: Tree): Tree =>
  Object.fromEntries(Object.entries(tree).filter(([, value]) => value !== "special"));

let undoneCount = 0;
/** By the last part of the name, what the product said that it cannot bring back. */
const notCovered = new Map<string, number>();
/** Commands that changed nothing of what is compared: there was nothing to undo. */
const unchanged: string[] = [];

async function undone(command: string, work: string, state: string): Promise<void> {
  const open = () => {
    // Two sessions of two toolkits, as two processes have them.
    const filehand = createFilehand({ roots: [work], stateDir: state, ask: "yes" });
    return filehand.session({ dialect: "claude", id: "shell", client: "Test" });
  };
  const before = treeOf(work);
  const noted = await open().observe({ command: { id: "c1", title: command, does: "begins" } });
  deepEqual(noted, { observed: 0, notCovered: [], complete: true });
  shell(command, work);
  const after = treeOf(work);
  const session = open();
  const observed = await session.observe({ command: { id: "c1", title: command, does: "ends" } });
  const isChanged = differences(withoutSpecial(before), withoutSpecial(after)).length > 0;
  equal(observed.turn, isChanged ? "c1" : undefined, "a command that changes something is a turn");
  if (!isChanged) return void unchanged.push(command);
  const [turn] = (await session.history())?.turns() ?? [];
  equal(turn?.title, command);
  await session.undo();
  // What is not covered stays, and the folders around it: the product says so.
  for (const path of observed.notCovered) {
    const name = nodePath.basename(path);
    notCovered.set(name, (notCovered.get(name) ?? 0) + 1);
  }
  const left = observed.notCovered.map((path) => nodePath.relative(work, path));
  const stays = (key: string): boolean =>
    left.some((path) => path === key || path.startsWith(`${key}/`) || key.startsWith(`${path}/`));
  const now = Object.fromEntries(Object.entries(treeOf(work)).filter(([key]) => key in before || !stays(key)));
  deepEqual(differences(before, withoutSpecial(now)), [], "undo");
  await session.redo();
  deepEqual(differences(withoutSpecial(after), withoutSpecial(treeOf(work))), [], "redo");
  undoneCount += 1;
}

describe.skipIf(onWindows || !has("bash"))("shell commands", () => {
  const [plain, checkout] = [place("plain"), place("checkout")];
  let count = 0;
  beforeAll(() => {
    fs.mkdirSync(plain, { recursive: true });
    shell(makeTree, plain);
    if (!has("git")) return;
    fs.mkdirSync(checkout, { recursive: true });
    shell(
      `git init -q -b main . && ${makeTree}
       git add -A && git commit -qm one
       printf 'second\\n' > src/second.ts; rm src/f30.ts; chmod 755 src/f29.ts; git add -A; git commit -qm two
       git checkout -q -b other HEAD~1; printf 'other\\n' > src/other.ts; git rm -q docs/b.md; git commit -qam other
       git checkout -q main
       git init -q inner && (cd inner && printf 'in\\n' > in.txt && git add -A && git commit -qm inner)
       git init -q ../source && (cd ../source && printf 'one\\n' > part.txt && printf 'o\\n' > other.txt && git add -A &&
         git commit -qm one && printf 'two\\n' > part.txt && git commit -qam two)
       git -c protocol.file.allow=always submodule add -q ../source module && git commit -qm module
       git worktree add -q tree -b treeish
       printf 'dirty\\n' >> src/f9.ts; printf 'untracked\\n' > untracked.txt; git status -s > /dev/null`,
      checkout,
    );
    // Git's own index is used only for files that have rested for a moment.
    shell("sleep 1.1; git status", checkout);
  });
  afterAll(() => {
    const none = unchanged.map((command) => JSON.stringify(command)).join(", ");
    process.stdout.write(`${undoneCount} of ${count} shell commands undone and redone; changed nothing: ${none}\n`);
    const left = [...notCovered].map(([name, times]) => `${name} (${times} times)`).join(", ");
    process.stdout.write(`not covered, and said so: ${left}\n`);
  });

  const work = (from: string): readonly [string, string] => {
    const at = place(`run-${(count += 1)}`);
    fs.mkdirSync(at);
    shell(`cp -a ${JSON.stringify(from)} ${JSON.stringify(nodePath.join(at, "w"))}`, at);
    return [nodePath.join(at, "w"), nodePath.join(at, "state")];
  };

  for (const command of commands) {
    const [program = ""] = /\b(rsync|patch|gzip|perl|python3|vim|ed)\b/.exec(command) ?? [];
    test.skipIf(program !== "" && !has(program))(`is undone: ${command}`, async () => {
      await undone(command, ...work(plain));
    });
  }

  for (const command of [...gitCommands, ...commands.slice(0, 20)]) {
    test.skipIf(!has("git"))(`is undone in a checkout: ${command}`, async () => {
      await undone(command, ...work(checkout));
    });
  }

  test.skipIf(!has("ed"))(
    "a file that an editor saves after the command is left alone, all others come back",
    async () => {
      const [at, state] = work(plain);
      count -= 1; // it is not one of those that are counted
      const file = nodePath.join(at, "src/f1.ts");
      // It has the file in its buffer, with a change that is not saved yet.
      const editor = spawn("ed", [file], { stdio: ["pipe", "pipe", "inherit"] });
      const ended = once(editor, "close");
      const typed = new Promise<void>((resolve) => {
        editor.stdout.on("data", (said) => void (String(said).includes("typed") && resolve()));
      });
      editor.stdin.write("1s/line/typed/p\n");
      await typed;
      const before = treeOf(at);
      const session = createFilehand({ roots: [at], stateDir: state, ask: "yes" }).session({ dialect: "claude" });
      const command = { id: "c1", title: "sed", does: "begins" } as const;
      await session.observe({ command });
      shell("sed -i 's/two/2/' src/*.ts; rm -rf docs", at);
      await session.observe({ command: { ...command, does: "ends" } });
      editor.stdin.end("w\nq\n");
      await ended;
      const saved = "typed one of 1\nline two\nline three\n";
      equal(fs.readFileSync(file, "utf8"), saved);
      const { files } = await session.undo();
      const left = files.filter(({ came }) => came !== "done").map(({ path }) => nodePath.relative(at, path));
      deepEqual(left, ["src/f1.ts"], "the product names it");
      equal(fs.readFileSync(file, "utf8"), saved);
      deepEqual(
        differences(before, treeOf(at)).map((line) => line.slice(0, line.indexOf(":"))),
        ["src/f1.ts"],
      );
    },
  );

  test("there are enough of them", () => ok(commands.length + gitCommands.length > 100));
});
