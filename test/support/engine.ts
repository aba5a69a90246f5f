/** A call through a disk made by hand, for tests that replace the system: what `toolkit.ts` does, without the rest. */

import type { Asker } from "../../src/contract/ask.ts";
import type { Reply } from "../../src/contract/call.ts";
import { Problem } from "../../src/contract/problem.ts";
import type { RuleText } from "../../src/contract/permission.ts";
import { type DialectName, dialects } from "../../src/dialects/index.ts";
import type { Facts } from "../../src/dialects/dialect.ts";
import { createLocks } from "../../src/disk/lock/lock.ts";
import { createDisk, type Disk } from "../../src/disk/disk.ts";
import { createPageCache } from "../../src/kinds/page-cache.ts";
import { createLedger } from "../../src/session/ledger.ts";
import { createIndexStore } from "../../src/disk/lines/index-store.ts";
import type { System } from "../../src/disk/system.ts";
import { createGuard, type Guard } from "../../src/guard/guard.ts";
import { compileRestricted } from "../../src/kinds/restricted.ts";
import { runTool } from "../../src/tools/tools.ts";
import { readCalls } from "./reading.ts";

export interface EngineOptions {
  readonly roots: readonly string[];
  readonly system?: System;
  readonly base?: string;
  readonly rules?: readonly RuleText[];
  readonly secrets?: "ask" | "allow";
  readonly asker?: Asker | "yes";
}

export interface Engine {
  readonly disk: Disk;
  readonly guard: Guard;
  /** Reads a path; throws only what `session.call` would throw. */
  readonly read: (path: string, dialect?: DialectName, range?: Readonly<Record<string, number>>) => Promise<Reply>;
}

export function createEngine(options: EngineOptions): Engine {
  const disk = createDisk(options.roots, options.system);
  const guard = createGuard({
    disk,
    base: options.base ?? disk.roots[0]?.given ?? "",
    rules: options.rules ?? [],
    secrets: options.secrets ?? "ask",
    home: undefined,
    asker: options.asker,
  });
  const restricted = compileRestricted();
  const indexes = createIndexStore(undefined);
  const signal = new AbortController().signal;
  return {
    disk,
    guard,
    read: async (path, name = "claude", range = {}) => {
      const dialect = dialects[name];
      const input = { [readCalls[name].parameter]: path, ...range };
      const facts: Facts = {
        tool: readCalls[name].tool,
        verb: "read",
        full: false,
        input,
        elapsedMs: 0,
        cwd: ".",
        spell: guard.spell,
        reminder: false,
        numbers: dialect.profile.numbers,
        model: undefined,
        ids: { session: "s", message: "m", next: () => "p" },
      };
      const card = dialect.specs.find((one) => one.name === readCalls[name].tool);
      if (card === undefined) throw new Error(`there is no ${readCalls[name].tool} in ${name}`);
      try {
        const outcome = await runTool(card.toRequest(input, dialect.profile), {
          disk,
          guard,
          restricted,
          indexes,
          pages: createPageCache(),
          ledger: createLedger(),
          locks: createLocks({ folder: undefined }),
          leaveQueue: () => undefined,
          changes: {
            readFirst: "lines",
            staleness: "refuse",
            hardLinks: "separate",
            writeEol: "as sent",
            editBytesMax: 2 ** 30,
          },
          formatter: undefined,
          formatterMsMax: 10_000,
          languages: undefined,
          updateImports: true,
          warnings: false,
          session: "s",
          onChanged: undefined,
          dryRun: false,
          newId: () => "new",
          turn: async () => undefined,
          past: async () => undefined,
          dedup: false,
          offered: undefined,
          fit: (outcome) => outcome,
          searchMsMax: 20_000,
          onProgress: undefined,
          signal,
        });
        return dialect.render(outcome, facts);
      } catch (error) {
        if (error instanceof Problem) return dialect.renderProblem(error.data, facts);
        throw error;
      }
    },
  };
}
