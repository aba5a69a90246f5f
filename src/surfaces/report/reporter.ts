/** Reports calls to inspectors in other processes. Without one it keeps nothing; a new file announces one. */

import type { Filehand } from "../../options.ts";
import type { Answer } from "../../contract/ask.ts";
import type { Program } from "../../contract/event.ts";
import { inspectorsFor, watchInspectors } from "../../state/state.ts";
import type { Board } from "../inspector/questions.ts";
import type { Link } from "./link.ts";

export interface Reporter {
  /** Asks on the pages of those inspectors, for calls of clients that cannot ask. */
  readonly board: Board;
  /** `on`: also reports to inspectors that start later. `once`: only to those that run now. */
  start(filehand: Filehand, stateDir: string | undefined, how: "on" | "once"): void;
  /** Resolves when everything was sent, or after a time limit. */
  end(): Promise<void>;
}

export function createReporter(program: Program): Reporter {
  const links = new Map<string, Promise<Link>>();
  let watched: { readonly filehand: Filehand; readonly stateDir: string } | undefined;
  let unlisten: (() => void) | undefined;
  let stopWatching: (() => void) | undefined;

  const look = (): void => {
    if (watched === undefined) return;
    const { filehand, stateDir } = watched;
    for (const inspector of inspectorsFor(stateDir, filehand.roots)) {
      if (links.has(inspector.name)) continue;
      const onOver = (): void => {
        links.delete(inspector.name);
        if (links.size > 0) return;
        unlisten?.();
        unlisten = undefined;
      };
      const { roots } = filehand;
      const link = import("./link.ts").then(({ openLink }) => openLink({ inspector, roots, program, onOver }));
      links.set(inspector.name, link);
    }
    if (links.size > 0) unlisten ??= listen(filehand);
  };
  const listen = (filehand: Filehand): (() => void) =>
    filehand.listen((event, detail) => {
      for (const link of links.values()) void link.then((ready) => ready.tell(event, detail));
    });

  return {
    board: {
      get isWatched() {
        look();
        return links.size > 0;
      },
      async ask(asked, signal): Promise<Answer> {
        // The first inspector with an open page answers; one without a page says so at once.
        for (const link of links.values()) {
          const answer = await (await link).ask(asked, signal);
          if (answer.reply !== "nobody") return answer;
        }
        return { reply: "nobody" };
      },
      // A client that can ask does so itself.
      show: () => "",
      settle: (_id, said) => said,
      drop: () => undefined,
      approve: () => undefined,
      approved: () => false,
    },
    start(filehand, stateDir, how) {
      if (stateDir === undefined) return;
      watched = { filehand, stateDir };
      look();
      if (how === "once") return;
      // The client's handshake comes first.
      setImmediate(() => {
        if (watched === undefined) return;
        const watching = watchInspectors(stateDir, look);
        stopWatching = () => watching?.stop();
        look();
      });
    },
    async end() {
      watched = undefined;
      stopWatching?.();
      await Promise.all([...links.values()].map(async (link) => (await link).end()));
    },
  };
}
