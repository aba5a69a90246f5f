/** Long work gives the event loop its turns: counted, with a clock on which every look is a time slice later. */

import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { createFilehand } from "../../src/index.ts";

const folder = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), "filehand-turns-"));
afterEach(() => {
  vi.restoreAllMocks();
  fs.rmSync(folder, { recursive: true, force: true });
});

test("a Read of a line of a megabyte yields to the event loop between its steps", async () => {
  fs.writeFileSync(join(folder, "long.txt"), "(".repeat(900_000));
  fs.writeFileSync(join(folder, "short.txt"), "hello\n");
  const filehand = createFilehand({ roots: [folder], reminder: false });
  const session = filehand.session();
  let ms = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (ms += 20));
  const yields = vi.spyOn(globalThis, "setImmediate");
  const turnsOf = async (name: string): Promise<number> => {
    yields.mockClear();
    const { isError } = await session.call("Read", { file_path: name });
    expect(isError).toBe(false);
    return yields.mock.calls.length;
  };
  const short = await turnsOf("short.txt");
  expect(await turnsOf("long.txt")).toBeGreaterThanOrEqual(short + 4);
  await filehand.close();
});
