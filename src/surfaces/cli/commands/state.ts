/** `filehand state`, `audit` and `token`: what operators do with the state, in a folder or in a database. */

import { createHash, randomBytes } from "node:crypto";
import { auditIn } from "../../../filehand.ts";
import { checkAudit } from "../../../state/state.ts";
import { escapeName } from "../../../text/text.ts";
import { tokenScopes } from "../../mcp/names.ts";
import { type Command, type ExitCode, type Given, type Host, notEmpty, option, UsageError } from "../command.ts";
import { textFrom } from "../input.ts";
import { type Opened, openSession } from "../open-session.ts";
import { oneOf, shared } from "../parse.ts";
import { orJsonFailure, print, printJson } from "../print.ts";
import {
  asFailure,
  createSharedStates,
  openDatabaseState,
  type SharedStates,
  stateAddress,
  tokensOf,
} from "../shared-state.ts";

const places = {
  ...shared("state", "tenant"),
  "workspace-name": option.text(
    "NAME",
    "The name that filehand serve --workspace gave it (default: its roots)",
    notEmpty,
  ),
};

export const state: Command = {
  name: "state",
  summary: "Look at what is kept between runs, and make or update the tables of a database",
  parameters: ["<migrate|status|verify|gc>"],
  options: places,
  details: [
    "migrate makes the tables in the database of --state, or brings them up to date. It never goes back to an older form.",
    "status says which state is used and how large its history is; verify reads every record and every content; gc removes what",
    "no record needs. Without --state they are about the state folder.",
  ].join("\n"),
  examples: [
    "filehand state status",
    "filehand state migrate --state postgres://filehand@db/filehand",
    "filehand state verify",
  ],
  run: (given, host) => orJsonFailure(given, host, () => orStateFailure(() => runState(given, host))),
};

async function runState(given: Given, host: Host): Promise<ExitCode> {
  const does = oneOf("part of filehand state", given.parameters[0] ?? "", [
    "migrate",
    "status",
    "verify",
    "gc",
  ] as const);
  if (does === "migrate") return migrate(given, host);
  return withState(given, host, async (opened) => {
    const history = await opened.filehand.history();
    if (history === undefined) throw new UsageError("There is no state folder and no --state, so nothing is kept");
    switch (does) {
      case "status": {
        const usage = await history.usage();
        const place = stateAddress(given, host) === undefined ? opened.stateDir : "database";
        if (given.flag("json")) return printJson({ state: place, ...usage }, host);
        const { sessions, contents, bytes } = usage;
        print(
          `State: ${escapeName(place ?? "")}\nHistory: ${sessions} sessions, ${contents} contents, ${bytes} bytes`,
          host,
        );
        return 0;
      }
      case "verify": {
        const found = await history.verify();
        if (given.flag("json")) printJson(found, host);
        else print(`${found.records} records and ${found.contents} contents read, ${found.faults.length} faults`, host);
        return found.faults.length === 0 ? 0 : 1;
      }
      case "gc": {
        const collected = await history.gc();
        if (given.flag("json")) return printJson(collected, host);
        if (collected !== "not due")
          print(`${collected.sessionsRemoved} sessions and ${collected.contentsRemoved} contents removed`, host);
        return 0;
      }
    }
  });
}

async function migrate(given: Given, host: Host): Promise<ExitCode> {
  const address = stateAddress(given, host);
  if (address === undefined) throw new UsageError("A state folder needs no tables: name a database with --state");
  const database = await openDatabaseState(address, given);
  try {
    const applied = await database.migrate();
    const { found } = await database.version();
    if (given.flag("json")) return printJson({ applied, version: found }, host);
    print(
      applied.length === 0 ? `The tables have version ${found} already` : `The tables have version ${found} now`,
      host,
    );
    return 0;
  } finally {
    await database.close();
  }
}

export const audit: Command = {
  name: "audit",
  summary: "Check or print the audit: who changed which file, when, and what allowed it",
  parameters: ["<verify|export>"],
  options: {
    ...places,
    jsonl: option.flag("Print one JSON object per line, as they are stored"),
    "public-key": option.text("FILE", "Every entry must be signed with this Ed25519 key (PEM)", notEmpty),
    anchor: option.text(
      "SEQ:HASH",
      "A number and hash that an earlier verify printed: entries up to it must be the same",
      notEmpty,
    ),
  },
  details: [
    "There is an audit in a database (--state), and in the state folder with --audit. Each entry has the hash of the one before it: verify finds an entry that was",
    "changed, removed or put elsewhere. Note the hash that it prints outside of the database; with --anchor a later verify also",
    "finds a chain that was made anew from the beginning.",
  ].join("\n"),
  examples: ["filehand audit verify --state postgres://filehand@db/filehand", "filehand audit export --jsonl"],
  run: (given, host) => orJsonFailure(given, host, () => orStateFailure(() => runAudit(given, host))),
};

async function runAudit(given: Given, host: Host): Promise<ExitCode> {
  const does = oneOf("part of filehand audit", given.parameters[0] ?? "", ["verify", "export"] as const);
  return withState(given, host, async ({ stateDir, filehand }, states) => {
    const chain = states.workspace?.audit ?? auditIn(stateDir, filehand.roots);
    if (chain === undefined) throw new UsageError("There is no state folder and no --state, so there is no audit");
    if (does === "export") {
      for await (const record of chain.records()) {
        const { seq, body, hash } = record;
        print(given.flag("jsonl") ? JSON.stringify(record) : `${seq} ${hash.slice(0, 12)} ${escapeName(body)}`, host);
      }
      return 0;
    }
    const keyFile = given.text("public-key");
    const publicKey = keyFile === undefined ? undefined : await textFrom(keyFile, host);
    const { entries, hash, faults } = await checkAudit(chain, { publicKey, anchor: anchorOf(given) });
    if (given.flag("json")) printJson({ entries, hash, faults }, host);
    else {
      for (const { seq, fault } of faults) print(`Entry ${seq}: ${fault}`, host);
      print(
        faults.length > 0 ? "The audit is not as it was written" : `${entries} entries are intact, ${entries}:${hash}`,
        host,
      );
    }
    return faults.length === 0 ? 0 : 1;
  });
}

function anchorOf(given: Given): { readonly seq: number; readonly hash: string } | undefined {
  const text = given.text("anchor");
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text ?? "") ?? [];
  if (text !== undefined && hash === undefined) throw new UsageError("--anchor must be as verify printed it, SEQ:HASH");
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash };
}

export const token: Command = {
  name: "token",
  summary: "Make, list and revoke the tokens that filehand serve --stored-tokens admits",
  parameters: ["<create|list|revoke>", "[name]"],
  options: {
    ...shared("state", "tenant"),
    "read-only": option.flag("The token may read files and not change them"),
    workspace: option.list("NAME", "Only for this workspace; may be given several times (default: all)"),
    days: option.integer("Days until the token ends (default: it does not end)", { min: 1, max: 36_500 }),
  },
  details: [
    "The token is shown once, by create. Only its hash is kept: in the state folder, or in the database of --state.",
    "A token that is revoked is refused from then on, by every node.",
  ].join("\n"),
  examples: ["filehand token create ci --read-only --days 90", "filehand token list", "filehand token revoke ci"],
  run: (given, host) => orJsonFailure(given, host, () => orStateFailure(() => runToken(given, host))),
};

const nameShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const dayMs = 86_400_000; // a unit, no limit

async function runToken(given: Given, host: Host): Promise<ExitCode> {
  const [what = "", name] = given.parameters;
  const does = oneOf("part of filehand token", what, ["create", "list", "revoke"] as const);
  const { tokens, close } = await tokensOf(given, host);
  try {
    if (does === "list") {
      const list = await tokens.list();
      if (given.flag("json")) return printJson(list, host);
      for (const { id, scopes, workspaces, expiresMs } of list) {
        const until = expiresMs === undefined ? "no end" : `until ${new Date(expiresMs).toISOString()}`;
        print(`${id}\t${scopes.join(",")}\t${workspaces.join(",") || "all workspaces"}\t${until}`, host);
      }
      return 0;
    }
    if (name === undefined || !nameShape.test(name)) {
      throw new UsageError(`filehand token ${does} needs a name of letters, digits, dots and dashes`);
    }
    if (does === "revoke") {
      if (!(await tokens.revoke(name))) throw new UsageError(`There is no token "${name}", see filehand token list`);
      print(`The token "${name}" is revoked`, host);
      return 0;
    }
    const secret = randomBytes(32).toString("base64url");
    const days = given.integer("days");
    const nowMs = Date.now();
    await tokens.add(createHash("sha256").update(secret).digest("hex"), {
      id: name,
      principal: `token-${name}`,
      scopes: given.flag("read-only") ? [tokenScopes.read] : Object.values(tokenScopes),
      workspaces: given.list("workspace"),
      createdMs: nowMs,
      expiresMs: days === undefined ? undefined : nowMs + days * dayMs,
    });
    return given.flag("json") ? printJson({ name, token: secret }, host) : (print(secret, host), 0);
  } finally {
    await close();
  }
}

async function withState(
  given: Given,
  host: Host,
  work: (opened: Opened, states: SharedStates) => Promise<ExitCode>,
): Promise<ExitCode> {
  const states = createSharedStates(given, host);
  const open = (address: string, roots: readonly string[]) => states.open(address, given.text("workspace-name"), roots);
  try {
    return await work(await openSession(given, host, "people", { state: open }), states);
  } finally {
    await states.close();
  }
}

async function orStateFailure(work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    throw asFailure("use", error);
  }
}
