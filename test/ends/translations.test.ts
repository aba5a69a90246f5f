/** The check that keeps translated pages in step with their originals. */

import { expect, test } from "vitest";
import { differences, outOfStep } from "../../scripts/translations.js";

const original =
  "# A\n\nUse `filehand read`, in 12 ms.\n\n```sh\nfilehand ls   # lists\n```\n\n## B\n\n[more](b.md#part)\n";

for (const [name, translation, found] of [
  [
    "a translation of the words alone",
    "# 甲\n\n用 `filehand read`，12 ms。\n\n```sh\nfilehand ls   # 列出\n```\n\n## 乙\n\n[更多](b.zh-CN.md#部分)\n",
    0,
  ],
  ["another command", original.replace("`filehand read`", "`filehand grep`"), 2],
  ["another figure", original.replace("12 ms", "13 ms"), 2],
  ["another block", original.replace("filehand ls", "filehand glob"), 2],
  ["a heading that is missing", original.replace("## B", "B"), 1],
  ["a heading of another level", original.replace("## B", "### B"), 1],
  ["another link", original.replace("b.md", "c.md"), 2],
  ["a figure in another section", original.replace(", in 12 ms", "").replace("[more]", "12 ms [more]"), 2],
] as const) {
  test(name, () => expect(differences(original, translation)).toHaveLength(found));
}

test("the translated pages are in step", () => expect(outOfStep()).toEqual([]));
