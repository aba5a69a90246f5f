/** A link is not what is deleted or moved by its name, so neither is done: what it leads to has a name of its own. */

import { deepEqual, equal, match } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { openWorkspace } from "./history/desk.ts";
import { onWindows, workspace } from "./support/workspace.ts";

const { path: place } = workspace({});
let desks = 0;

function linked(permissions: { readonly deny?: readonly string[] } = {}) {
  const desk = openWorkspace(place(`desk-${(desks += 1)}`), { permissions });
  fs.mkdirSync(desk.at("real"));
  desk.stranger("real/t.txt", "one\n");
  fs.symlinkSync("real/t.txt", desk.at("link.txt"));
  fs.symlinkSync("real", desk.at("folder"));
  return desk;
}

describe.skipIf(onWindows)("a patch", () => {
  for (const [title, ...lines] of [
    ["that deletes a link", "*** Delete File: link.txt"],
    ["that moves a link", "*** Update File: link.txt", "*** Move to: moved.txt"],
    ["that changes and moves a link", "*** Update File: link.txt", "*** Move to: m.txt", "@@", "-one", "+two"],
  ] as const) {
    test(`${title} is refused, and told what it leads to`, async () => {
      const desk = linked();
      const said = await desk.patch(...lines).catch(String);
      match(
        said,
        /"?link\.txt"?: it is a link, and what would be (deleted|moved) is "real\/t\.txt", name that by its own/,
      );
      deepEqual([desk.read("real/t.txt"), fs.readlinkSync(desk.at("link.txt"))], ["one\n", "real/t.txt"]);
    });
  }

  test("where a rule denies what the link leads to, that is not told", async () => {
    const said = await linked({ deny: ["Read(real/**)"] })
      .patch("*** Delete File: link.txt")
      .catch(String);
    equal(said.includes("t.txt,"), false);
    match(said, /ACCESS_DENIED/);
  });

  test("a link above the file is a spelling of its folder", async () => {
    const desk = linked();
    await desk.patch("*** Delete File: folder/t.txt");
    equal(fs.existsSync(desk.at("real/t.txt")), false);
  });

  test("a change through a link is made, as ever", async () => {
    const desk = linked();
    await desk.patch("*** Update File: link.txt", "@@", "-one", "+two");
    equal(desk.read("real/t.txt"), "two\n");
  });
});
