/** What holds for the tools in every host: the same names, the same answers, the same refusals. Each adapter brings a driver. */

import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createFilehand, type FilehandOptions, type Session } from "../../src/index.ts";
import { type Workspace, workspace } from "../support/workspace.ts";

/** What the model gets to see of an answer. */
export interface Seen {
  readonly text: string;
  readonly images: readonly { readonly data: string; readonly mimeType: string }[];
  /** Does the host tell the model that it is a failure? */
  readonly failed: boolean;
}

export interface Offered {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly string[];
}

export interface Driver {
  /** As the host would tell the model. */
  list(): Promise<readonly Offered[]>;
  /** A call through the host, up to what the model would be sent. */
  call(tool: string, input: unknown): Promise<Seen>;
  /** A call that somebody may cancel. */
  cancellable?(tool: string, input: unknown, signal: AbortSignal): Promise<Seen>;
}

export interface AdapterSuite {
  readonly driver: (session: Session) => Driver;
  /** Hosts that have no way to tell the model that an answer is a failure but its words. */
  readonly failuresAreWords?: true;
  /** Hosts that pass no signal to their tools; their drivers cannot cancel. */
  readonly passesNoSignal?: true;
}

/** One red pixel. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

export const adapterFiles = (): Workspace =>
  workspace({
    "notes.txt": "one\ntwo\n",
    "pixel.png": Buffer.from(pixel, "base64"),
    private: { "diary.txt": "dear diary\n" },
  });

export const sessionIn = ({ top }: Workspace, options: Partial<FilehandOptions> = {}): Session =>
  createFilehand({
    roots: [top],
    reminder: false,
    ask: "yes",
    permissions: { deny: ["Read(/private/**)"] },
    ...options,
  }).session({ dialect: "claude" });

export function describeAdapter(name: string, { driver, failuresAreWords, passesNoSignal }: AdapterSuite): void {
  const failed = failuresAreWords !== true;

  describe(`${name}: the tools`, () => {
    test("are listed with names, descriptions and parameters", async () => {
      const session = sessionIn(adapterFiles());
      const listed = await driver(session).list();
      expect(listed).toEqual(
        session.definitions().map((tool) => ({
          name: tool.name,
          description: tool.description,
          parameters: Object.keys(tool.inputSchema.properties ?? {}),
        })),
      );
    });

    test("read text", async () => {
      const seen = await driver(sessionIn(adapterFiles())).call("Read", { file_path: "notes.txt" });
      expect(seen).toEqual({ text: "1\tone\n2\ttwo", images: [], failed: false });
    });

    test("read an image", async () => {
      const { images, failed: refused } = await driver(sessionIn(adapterFiles())).call("Read", {
        file_path: "pixel.png",
      });
      expect(refused).toBe(false);
      expect(images).toHaveLength(1);
      expect(images[0]?.mimeType).toBe("image/png");
      expect(
        Buffer.from(images[0]?.data ?? "", "base64")
          .subarray(1, 4)
          .toString(),
      ).toBe("PNG");
    });

    test("say what is wrong with arguments", async () => {
      const seen = await driver(sessionIn(adapterFiles())).call("Read", { path: "notes.txt" });
      expect(seen).toMatchObject({ failed, images: [] });
      expect(seen.text).toContain('"file_path" is missing');
      expect(seen.text).toContain('did you mean "file_path"');
    });

    test("take a number that came as a string", async () => {
      const seen = await driver(sessionIn(adapterFiles())).call("Read", { file_path: "notes.txt", limit: "1" });
      expect(seen.failed).toBe(false);
      expect(seen.text).toMatch(/^1\tone\n/);
    });

    test("refuse what a rule denies", async () => {
      const seen = await driver(sessionIn(adapterFiles())).call("Read", { file_path: "private/diary.txt" });
      expect(seen).toMatchObject({ failed, images: [] });
      expect(seen.text).toContain("the rule Read(/private/**)");
      expect(seen.text).not.toContain("dear");
    });

    test("edit what was read, and refuse lines that somebody else changed since", async () => {
      const files = adapterFiles();
      const host = driver(sessionIn(files));
      await host.call("Read", { file_path: "notes.txt" });
      const edit = { file_path: "notes.txt", old_string: "two", new_string: "three" };
      expect((await host.call("Edit", edit)).failed).toBe(false);
      expect(readFileSync(files.path("notes.txt"), "utf8")).toBe("one\nthree\n");

      writeFileSync(files.path("notes.txt"), "one\nthree\nfrom elsewhere\n");
      const stale = await host.call("Edit", { ...edit, old_string: "from elsewhere", new_string: "four" });
      expect(stale.failed).toBe(failed);
      expect(stale.text).toContain("somebody else changed");
      expect(readFileSync(files.path("notes.txt"), "utf8")).toBe("one\nthree\nfrom elsewhere\n");
    });

    if (passesNoSignal === true) return;

    test("are cancelled while somebody is being asked, and then change nothing", async () => {
      const files = adapterFiles();
      const controller = new AbortController();
      const ask: FilehandOptions["ask"] = async () => {
        controller.abort();
        return { reply: "once" };
      };
      const host = driver(sessionIn(files, { ask }));
      const seen = await host.cancellable?.("Write", { file_path: "new.txt", content: "x" }, controller.signal);
      expect(controller.signal.aborted).toBe(true);
      expect(seen?.text).toContain("was cancelled, nothing was changed");
      expect(() => readFileSync(files.path("new.txt"))).toThrow("ENOENT");
    });
  });
}
