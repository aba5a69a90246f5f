import { expect, test } from "vitest";
import { filesArguments, type GrepQuery, grepArguments } from "./grep-arguments.ts";

const query: GrepQuery = {
  pattern: "x",
  mode: "content",
  before: 0,
  after: 0,
  letterCase: "exact",
  reach: "line",
  types: [],
};
const folder = {
  in: "folder",
  names: undefined,
  leftOut: [],
  ignored: { parents: false, repository: true, exclude: false },
} as const;

test("whatever is searched for is one word with its option, and the path is ours", () => {
  for (const hostile of ["--pre=sh", "-f/etc/passwd", "--", "-e", "\n--files"]) {
    const args = grepArguments({ ...query, pattern: hostile, types: [hostile] }, folder);
    expect(args).toContain(`--regexp=${hostile}`);
    expect(args).toContain(`--type=${hostile}`);
    expect(args.filter((arg) => arg === hostile && arg !== "--")).toEqual([]);
    expect(args.slice(-2)).toEqual(["--", "./"]);
  }
});

test("links are not followed, nothing is run or unpacked, in every way to search", () => {
  const ways = [
    ...(["content", "files", "count"] as const).map((mode) => grepArguments({ ...query, mode }, folder)),
    grepArguments(query, { in: "input" }),
    filesArguments([], folder),
  ];
  for (const args of ways) {
    expect(args).toEqual(expect.arrayContaining(["--no-follow", "--no-pre", "--no-search-zip", "--engine=default"]));
  }
});

test("names choose files only where no type does, since two types would add up", () => {
  const names = { ...folder, names: ["*.ts"] };
  expect(grepArguments(query, names).join(" ")).toContain("--type-add=filehandnames:*.ts --type=filehandnames");
  expect(grepArguments({ ...query, types: ["py"] }, names).join(" ")).not.toContain("filehandnames");
});

test("one thread is asked for where a search is a small one", () => {
  expect(grepArguments(query, { ...folder, threads: 1 })).toContain("--threads=1");
  expect(grepArguments(query, folder).join(" ")).not.toContain("--threads");
});
