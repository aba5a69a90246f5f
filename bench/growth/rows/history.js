/** The history: a change, a list, an undo, a diff, a collection and the start of a process, by turns, sessions and files; and scans. */

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";
import { mustSucceed, openToolkit, row } from "../row.js";

/** @typedef {import("../row.js").Place} Place */

const turnCounts = [100, 1_000, 10_000, 30_000, 100_000];
const quickTurns = [100, 300, 1_000, 3_000, 10_000];
const sessionCounts = [1, 10, 100, 1_000, 10_000];
const quickSessions = [1, 10, 100, 300, 1_000];
const fileCounts = [1, 10, 100, 1_000, 3_000, 10_000];
const quickFiles = [1, 10, 100, 300, 1_000];
/** So many turns are kept only if a host asks for it: by default a journal is shortened to 100. */
const kept = { snapshotsMax: 10_000_000, bytesMax: 1e12 };

/** The store of the history, bundled from the source, to write journals in its own format. @param {string} shared @param {string} state @returns {Promise<any>} */
async function openStore(shared, state) {
  const path = join(shared, "history-store.mjs");
  if (!existsSync(path)) {
    const making = mkdtempSync(join(shared, "making-"));
    await build({
      input: fileURLToPath(new URL("../../../src/state/folder/file-store.ts", import.meta.url)),
      platform: "node",
      transform: { target: "node20" },
      external: [/^(?!@oxc-project\/)[@a-z]/],
      output: { file: join(making, "store.mjs"), format: "es", codeSplitting: false },
      logLevel: "silent",
    });
    renameSync(join(making, "store.mjs"), path);
    rmSync(making, { recursive: true });
  }
  const { openFileStore } = await import(pathToFileURL(path).href);
  return openFileStore({ folder: join(state, "history") });
}

const version = (/** @type {number} */ at) => ({
  kind: "file",
  sizeBytes: 10,
  mode: 0o644,
  content: at.toString(16).padStart(64, "0"),
});

/** A session of so many turns of one file each, of a thousand files in all. @param {any} store @param {string} session @param {string} root @param {number} turns @param {number} timeMs */
function writeTurns(store, session, root, turns, timeMs) {
  const perAppend = 2_000;
  for (let from = 0; from < turns; from += perAppend) {
    const records = from === 0 ? [{ type: "start", session, roots: [root], dialect: "claude", timeMs }] : [];
    for (let at = from; at < Math.min(turns, from + perAppend); at += 1) {
      const messageId = `message-${at}`;
      const relative = `src/file-${at % 1_000}.ts`;
      const change = { before: version(at), after: version(at + 1_000), tool: "Edit", timeMs: timeMs + at };
      records.push(
        /** @type {any} */ ({ type: "turn", messageId, timeMs: timeMs + at }),
        /** @type {any} */ ({ type: "change", messageId, path: join(root, relative), relative, ...change }),
      );
    }
    store.append(session, records);
  }
}

/** A workspace, and a state folder with a session of so many turns. @param {number} turns @param {Place} place */
async function manyTurns(turns, { folder, shared }) {
  const [root, stateDir] = [join(folder, "work"), join(folder, "state")];
  mkdirSync(root);
  writeFileSync(join(root, "file.txt"), "value = 1;\n");
  writeTurns(await openStore(shared, stateDir), "bench", root, turns, Date.now() - 10_000_000);
  const open = async () =>
    (await openToolkit(root, { stateDir, history: kept, historyTools: true, callLog: false })).session({
      dialect: "claude",
      id: "bench",
    });
  return { root, stateDir, open };
}

const flip = (/** @type {number} */ call) =>
  call % 2 === 0 ? { old_string: "= 1;", new_string: "= 2;" } : { old_string: "= 2;", new_string: "= 1;" };

const ofTurns = {
  unit: "turns",
  sizes: turnCounts,
  quick: quickTurns,
  note: "Only for this row so many turns are kept: the default is 100. A million are a journal of 600 MB, which is read as a whole.",
};
const ofSessions = { unit: "sessions", sizes: sessionCounts, quick: quickSessions };

/** A workspace with so many sessions of ten turns each. @param {number} sessions @param {Place} place */
async function manySessions(sessions, { folder, shared }) {
  const [root, stateDir] = [join(folder, "work"), join(folder, "state")];
  mkdirSync(root);
  writeFileSync(join(root, "file.txt"), "value = 1;\n");
  const store = await openStore(shared, stateDir);
  for (let at = 0; at < sessions; at += 1) {
    writeTurns(store, `session-${at}`, root, 10, Date.now() - 20 * 86_400_000);
    // Not one of them was written to just now.
    const hourAgo = Date.now() / 1_000 - 86_400;
    utimesSync(join(stateDir, "history", "sessions", `s-session-${at}`, "log"), hourAgo, hourAgo);
  }
  const open = () => openToolkit(root, { stateDir, history: kept, callLog: false });
  return { root, stateDir, open };
}

/** A turn that changed so many files. @param {number} files @param {Place} place */
async function manyFiles(files, { folder }) {
  const [root, stateDir] = [join(folder, "work"), join(folder, "state")];
  const write = (/** @type {string} */ text) => {
    for (let at = 0; at < files; at += 1) {
      const place = join(root, `d${Math.floor(at / 50)}`);
      if (at % 50 === 0) mkdirSync(place, { recursive: true });
      writeFileSync(join(place, `file-${at}.txt`), `${at}\n${text}\nlast\n`);
    }
  };
  write("first");
  const observe = { copiedBytesMax: 1e9 };
  const filehand = await openToolkit(root, { stateDir, history: kept, historyTools: true, callLog: false, observe });
  const session = filehand.session({ dialect: "claude", id: "bench" });
  await session.observe();
  await session.checkpoint("asked");
  write("second");
  const { observed } = await session.observe();
  if (observed !== files) throw new Error(`${observed} files were observed`);
  return { root, session };
}

const done = (/** @type {any} */ outcome, /** @type {number} */ files) => {
  if (outcome.counts?.done !== undefined && outcome.counts.done !== files)
    throw new Error(JSON.stringify(outcome.counts));
  const wrong = outcome.files.find((/** @type {any} */ { came }) => came !== "done");
  if (wrong !== undefined) throw new Error(`a rewind failed: ${JSON.stringify(wrong)}`);
};

export const history = [
  row({
    ...ofTurns,
    name: "history-edit",
    title: "Edit of a small file in a session that goes on",
    grows: "constant",
    prepare: async (size, place) => {
      const { open } = await manyTurns(size, place);
      const session = await open();
      let call = 0;
      return {
        measure: async () => {
          mustSucceed(await session.call("Edit", { file_path: "file.txt", ...flip(call) }));
          call += 1;
        },
      };
    },
  }),
  row({
    ...ofTurns,
    name: "history-start",
    title: "a toolkit and its first Edit in a session with many turns",
    grows: "constant",
    prepare: async (size, place) => {
      const { open } = await manyTurns(size, place);
      let call = 0;
      return {
        measure: async () => {
          const session = await open();
          mustSucceed(await session.call("Edit", { file_path: "file.txt", ...flip(call) }));
          call += 1;
        },
      };
    },
  }),
  row({
    ...ofTurns,
    name: "history-list",
    title: "History: the newest 20 turns, in a new toolkit",
    grows: "linear",
    prepare: async (size, place) => {
      const { open } = await manyTurns(size, place);
      return { measure: async () => mustSucceed(await (await open()).call("History", {}), "message-") };
    },
  }),
  row({
    ...ofTurns,
    name: "history-undo",
    title: "undo of the last turn, in a new toolkit",
    grows: "linear",
    prepare: async (size, place) => {
      const { open } = await manyTurns(size, place);
      const edit = async () =>
        mustSucceed(
          await (await open()).call("Edit", { file_path: "file.txt", old_string: "= 1;", new_string: "= 2;" }),
        );
      await edit();
      return { calls: "once", measure: async () => done(await (await open()).undo(), 1), between: edit };
    },
  }),
  row({
    ...ofSessions,
    name: "history-sessions",
    title: "the list of all sessions, with the turns of the newest 20",
    grows: "linear",
    prepare: async (size, place) => {
      const { open } = await manySessions(size, place);
      return {
        measure: async () => {
          const history = await (await open()).history();
          const sessions = history.sessions();
          const turns = sessions
            .slice(0, 20)
            .reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.turns, 0);
          if (sessions.length !== size || turns !== 10 * Math.min(20, size))
            throw new Error(`${sessions.length}, ${turns}`);
        },
      };
    },
  }),
  row({
    ...ofSessions,
    name: "history-sessions-start",
    title: "a toolkit and its first Edit beside many sessions",
    grows: "constant",
    prepare: async (size, place) => {
      const { open } = await manySessions(size, place);
      let call = 0;
      return {
        measure: async () => {
          const session = (await open()).session({ dialect: "claude", id: "bench" });
          mustSucceed(await session.call("Edit", { file_path: "file.txt", ...flip(call) }));
          call += 1;
        },
      };
    },
  }),
  row({
    ...ofSessions,
    name: "history-gc",
    title: "a collection over many sessions",
    grows: "linear",
    prepare: async (size, place) => {
      const { open } = await manySessions(size, place);
      return { measure: async () => void (await (await (await open()).history()).gc()) };
    },
  }),
  row({
    ...ofTurns,
    name: "history-gc-turns",
    title: "a collection over one session",
    grows: "linear",
    prepare: async (size, { folder, shared }) => {
      const [root, stateDir] = [join(folder, "work"), join(folder, "state")];
      mkdirSync(root);
      writeTurns(await openStore(shared, stateDir), "bench", root, size, Date.now());
      const filehand = await openToolkit(root, { stateDir, history: kept, callLog: false });
      return { measure: async () => void (await (await filehand.history()).gc()) };
    },
  }),
  row({
    name: "history-undo-files",
    title: "undo of a turn that changed many files",
    unit: "files",
    sizes: fileCounts,
    quick: quickFiles,
    grows: "linear",
    note: "To make a turn of 100,000 files takes longer than the rest of the row.",
    prepare: async (size, place) => {
      const { session } = await manyFiles(size, place);
      return {
        calls: "once",
        measure: async () => done(await session.undo(), size),
        between: async () => done(await session.redo(), size),
      };
    },
  }),
  row({
    name: "history-diff",
    title: "the added and removed lines of a turn that changed many files",
    unit: "files",
    sizes: fileCounts,
    quick: quickFiles,
    grows: "linear",
    note: "To make a turn of 100,000 files takes longer than the rest of the row.",
    prepare: async (size, place) => {
      const { session } = await manyFiles(size, place);
      return {
        measure: async () => {
          const { insertions, filesChanged } = await (await session.history()).diffStats("asked");
          if (insertions !== size || filesChanged !== size)
            throw new Error(`${filesChanged} files, ${insertions} lines`);
        },
      };
    },
  }),
];

const observed = {
  unit: "files",
  sizes: [100, 1_000, 10_000, 30_000, 100_000],
  quick: [100, 300, 1_000, 3_000, 10_000],
  grows: /** @type {const} */ ("linear"),
};
const observedNote =
  "A scan covers at most 250,000 names by default; the first one copies every file, which for more than 100,000 takes minutes.";

/** @param {number} files @param {Place} place */
async function observedTree(files, { folder }) {
  const [root, stateDir] = [join(folder, "work"), join(folder, "state")];
  for (let at = 0; at < files; at += 1) {
    const place = join(root, `p${Math.floor(at / 2_500)}`, `d${Math.floor(at / 50)}`);
    if (at % 50 === 0) mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `f${at}.ts`), `export const value = ${at};\n`);
  }
  // As two processes have them. The copies of so many small files take time, and none may be left out for that.
  const scan = async (/** @type {string} */ id, /** @type {string} */ does) => {
    const filehand = await openToolkit(root, { stateDir, callLog: false, observe: { copyMsMax: 600_000 } });
    return filehand.session({ dialect: "claude", id: "bench" }).observe({ command: { id, title: "echo", does } });
  };
  return { root, stateDir, scan };
}

export const observe = [
  row({
    ...observed,
    name: "observe-first",
    title: "the first scan before a shell command",
    note: observedNote,
    prepare: async (size, place) => {
      const { scan, stateDir } = await observedTree(size, place);
      return {
        calls: "once",
        measure: async () => void (await scan("first", "begins")),
        between: async () => rmSync(stateDir, { recursive: true }),
      };
    },
  }),
  row({
    ...observed,
    name: "observe-command",
    title: "the scans before and after a shell command that changed one file",
    note: observedNote,
    prepare: async (size, place) => {
      const { root, scan } = await observedTree(size, place);
      await scan("first", "begins");
      await scan("first", "ends");
      let call = 0;
      return {
        calls: "once",
        measure: async () => {
          call += 1;
          await scan(`command-${call}`, "begins");
          writeFileSync(join(root, "p0", "d0", "f0.ts"), `export const value = "${call}";\n`);
          const { observed: found } = await scan(`command-${call}`, "ends");
          if (found !== 1) throw new Error(`${found} changes were found`);
        },
      };
    },
  }),
];
