/** The connection to PostgreSQL: a bounded pool, a time limit on everything, one kind of failure. */

import type * as Pg from "pg";
import type { Client, ClientConfig, Pool, PoolClient } from "pg";
import { StateFailed } from "../../contract/state.ts";

export interface Database {
  readonly tenant: string;
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** All statements of `work` in one transaction, on one connection. */
  transaction<Result>(work: (query: Database["query"]) => Promise<Result>): Promise<Result>;
  /** A connection of its own that listens; comes back after it was lost. Returns a function that ends it. */
  listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of libpq. */
  readonly url: string;
  readonly tenant?: string | undefined;
  readonly timeouts?: Partial<typeof databaseLimits>;
}

/** Local: what one node may ask of a database, and how long a call may wait for it. */
export const databaseLimits = {
  connectionsMax: 8,
  connectMsMax: 3_000,
  /** The server ends a statement after this time, … */
  statementMsMax: 5_000,
  /** … and we give up a little later, in case the server or the network does not answer at all. */
  answerMsMax: 6_000,
  idleMsMax: 30_000,
};

const tenantShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** The pause before a lost listener connects again. */
const listenAgainMs = 500;

export async function openDatabase({ url, tenant = "default", timeouts = {} }: DatabaseOptions): Promise<Database> {
  if (!tenantShape.test(tenant)) {
    throw new StateFailed(`Cannot use the tenant "${tenant}": use letters, digits, dots, dashes and underscores`);
  }
  const limits = { ...databaseLimits, ...timeouts };
  const pg = await loadDriver();
  const config: ClientConfig = {
    connectionString: url,
    application_name: "filehand",
    connectionTimeoutMillis: limits.connectMsMax,
    statement_timeout: limits.statementMsMax,
    query_timeout: limits.answerMsMax,
    keepAlive: true,
    // Row-level security compares with this setting.
    options: `-c search_path=filehand -c filehand.tenant=${tenant}`,
  };
  const pool: Pool = new pg.Pool({
    ...config,
    max: limits.connectionsMax,
    idleTimeoutMillis: limits.idleMsMax,
    allowExitOnIdle: true,
  });
  // A connection that breaks while it is idle: the next query opens another one.
  pool.on("error", () => undefined);
  // One that breaks while a statement is on it: the statement fails, and without a listener the whole process would end.
  pool.on("connect", (client) => client.on("error", () => undefined));

  const withClient = async <Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> => {
    let client: PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw failure(error);
    }
    let isBroken = false;
    try {
      return await work(client);
    } catch (error) {
      if (error instanceof StateFailed) throw error;
      // After a time limit the answer may still come, and must not be taken for that of the next statement.
      isBroken = !isAnswer(error);
      throw failure(error);
    } finally {
      client.release(isBroken);
    }
  };

  const queryOn =
    (client: PoolClient): Database["query"] =>
    async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows;

  return {
    tenant,
    query: <Row extends object>(text: string, values?: readonly unknown[]) =>
      withClient((client) => queryOn(client)<Row>(text, values)),
    transaction: (work) =>
      withClient(async (client) => {
        await client.query("begin");
        try {
          const result = await work(queryOn(client));
          await client.query("commit");
          return result;
        } catch (error) {
          if (isAnswer(error) || error instanceof StateFailed) await client.query("rollback");
          throw error;
        }
      }),
    listen: (channel, listener) => listen(() => new pg.Client(config), channel, listener),
    close: () => pool.end(),
  };
}

/** An optional peer: only operators of a fleet need it. */
async function loadDriver(): Promise<Pick<typeof Pg, "Client" | "Pool">> {
  try {
    return (await import("pg")).default;
  } catch {
    throw new StateFailed('Cannot use a state in PostgreSQL: the package "pg" is missing, install it beside filehand');
  }
}

/** The server answered, with an error of SQL: the connection can be used again. Class 57: it ends the statement or the connection. */
const isAnswer = (error: unknown): boolean => {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith("57P") && !code.startsWith("08");
};

/** As words that follow "Cannot …: ". Never contains the address, which may have a password. */
function failure(error: unknown): StateFailed {
  const { code, message = "" } = (error ?? {}) as { readonly code?: string; readonly message?: string };
  if (isAnswer(error)) {
    if (code === "57014") return new StateFailed("the database took too long to answer", { cause: error });
    if (code === "42P01" || code === "3F000") {
      return new StateFailed("the database has no tables of Filehand yet, run filehand state migrate", {
        cause: error,
      });
    }
    if (code === "FH001")
      return new StateFailed("this node was too slow and lost its lock on the file", { cause: error });
    return new StateFailed(`the database refuses it: ${message} (${code})`, { cause: error });
  }
  const isLate = /timeout/i.test(message);
  return new StateFailed(isLate ? "the database does not answer in time" : "the database cannot be reached", {
    cause: error,
  });
}

async function listen(
  connect: () => Client,
  channel: string,
  listener: (payload: string) => void,
): Promise<() => Promise<void>> {
  let isOver = false;
  let current: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  const begin = async (): Promise<void> => {
    const client = connect();
    current = client;
    client.on("notification", ({ payload = "" }) => listener(payload));
    let isLost = false;
    const lost = (): void => {
      if (isLost) return;
      isLost = true;
      client.end().catch(() => undefined);
      if (!isOver) timer = setTimeout(() => void begin().catch(() => undefined), listenAgainMs).unref();
    };
    client.on("error", lost).on("end", lost);
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch (error) {
      lost();
      throw failure(error);
    }
  };
  await begin();
  return async () => {
    isOver = true;
    clearTimeout(timer);
    await current?.end().catch(() => undefined);
  };
}
