/**
 * The tables, in versions. A migration is never changed once it was released: a later one is added. Every table has the tenant and is
 * covered by row-level security, also for its owner; a connection says its tenant when it opens (`database.ts`).
 */

import { StateFailed } from "../../contract/state.ts";
import type { Database } from "./database.ts";

export interface StateVersion {
  /** 0 if there are no tables. */
  readonly found: number;
  readonly newest: number;
}

/** Contents, records and paths are bytes: PostgreSQL's text refuses NUL, and names need not be UTF-8. */
const migrations: readonly string[] = [
  `
create table workspace (
  tenant text not null, workspace text not null,
  collected_at timestamptz, collecting_at timestamptz,
  primary key (tenant, workspace));

create table content (
  tenant text not null, workspace text not null, sha256 bytea not null,
  size bigint not null, compressed boolean not null, bytes bytea not null,
  used_at timestamptz not null default now(),
  primary key (tenant, workspace, sha256));
alter table content alter column bytes set storage external;

create table journal (
  tenant text not null, workspace text not null, session text not null,
  version bigint not null, bytes bigint not null, last_at timestamptz not null, start bytea,
  primary key (tenant, workspace, session));

create table entry (
  tenant text not null, workspace text not null, session text not null, seq bigint not null,
  id text not null, body bytea not null,
  primary key (tenant, workspace, session, seq));

create table session (
  tenant text not null, workspace text not null, session text not null,
  version bigint not null, mode text, rules bytea not null, saved_at timestamptz not null default now(),
  primary key (tenant, workspace, session));

create table ledger (
  tenant text not null, workspace text not null, session text not null, path bytea not null,
  version bigint not null, entry bytea,
  primary key (tenant, workspace, session, path));
create index ledger_version on ledger (tenant, workspace, session, version);

create sequence fence;
create table lock (
  tenant text not null, workspace text not null, path bytea not null,
  holder uuid, fence bigint not null, until timestamptz not null,
  primary key (tenant, workspace, path));

create table approval (
  tenant text not null, workspace text not null, id text not null,
  value bytea not null, until timestamptz not null,
  primary key (tenant, workspace, id));

create table secret (
  tenant text not null, name text not null, bytes bytea not null,
  primary key (tenant, name));

create table audit (
  tenant text not null, workspace text not null, seq bigint not null,
  body bytea not null, previous bytea not null, hash bytea not null, signature bytea,
  primary key (tenant, workspace, seq));
create table audit_head (
  tenant text not null, workspace text not null, seq bigint not null, hash bytea not null,
  primary key (tenant, workspace));

create index audit_unsigned on audit (tenant, workspace, seq) where signature is null;

create table token (
  tenant text not null, hash bytea not null, id text not null, principal text not null,
  scopes text[] not null, workspaces text[] not null,
  created_at timestamptz not null default now(), expires_at timestamptz,
  primary key (tenant, hash), unique (tenant, id));

create table usage (
  tenant text not null, workspace text not null, number bigint generated always as identity,
  body bytea not null, primary key (tenant, workspace, number));

create table event (
  number bigint generated always as identity primary key,
  tenant text not null, workspace text not null, node text not null, topic text not null,
  body bytea not null, at timestamptz not null default now());
create index event_at on event (at);

do $$ declare name text; begin
  foreach name in array array['workspace','content','journal','entry','session','ledger','lock','approval','secret','audit',
      'audit_head','token','usage','event'] loop
    execute format('alter table %I alter column tenant set default current_setting(''filehand.tenant'')', name);
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy of_tenant on %I using (tenant = current_setting(''filehand.tenant'', true)) '
      'with check (tenant = current_setting(''filehand.tenant'', true))', name);
  end loop;
end $$;

-- Contents and records in one statement, so that they take one round trip and one sync of the database's log. The row of the
-- journal stays locked until the commit: the records of a session become visible in the order of their numbers.
create function append(p_workspace text, p_hashes bytea[], p_sizes bigint[], p_compressed boolean[], p_contents bytea[],
    p_sessions text[], p_ids text[], p_bodies bytea[], p_starts bytea[],
    p_paths bytea[], p_holder uuid, p_fences bigint[], p_audit bytea[]) returns table (session text, version bigint) language plpgsql as $$
#variable_conflict use_column
declare one record; held int;
begin
  if cardinality(p_paths) > 0 then
    select count(*) into held from (
      select 1 from lock l join unnest(p_paths, p_fences) as want(path, fence) on l.path = want.path and l.fence = want.fence
      where l.workspace = p_workspace and l.holder = p_holder and l.until > clock_timestamp() for update of l) as mine;
    if held < cardinality(p_paths) then
      raise exception 'the lease of a lock ran out' using errcode = 'FH001';
    end if;
  end if;
  if cardinality(p_hashes) > 0 then
    insert into content (workspace, sha256, size, compressed, bytes)
      select p_workspace, sha256, size, compressed, bytes
      from unnest(p_hashes, p_sizes, p_compressed, p_contents) as given(sha256, size, compressed, bytes) order by sha256
      on conflict (tenant, workspace, sha256) do update set used_at = now() where content.used_at < now() - interval '5 minutes';
  end if;
  for one in
    select s.session, count(*) as records, sum(length(s.body)) as bytes, (array_agg(s.start) filter (where s.start is not null))[1] as start
    from unnest(p_sessions, p_bodies, p_starts) as s(session, body, start) group by s.session order by s.session
  loop
    insert into journal as j (workspace, session, version, bytes, last_at, start)
      values (p_workspace, one.session, one.records, one.bytes, clock_timestamp(), one.start)
      on conflict (tenant, workspace, session) do update set version = j.version + one.records, bytes = j.bytes + one.bytes,
        last_at = clock_timestamp(), start = coalesce(j.start, one.start)
      returning j.version into version;
    session := one.session;
    insert into entry (workspace, session, seq, id, body)
      select p_workspace, one.session, version - one.records + row_number() over (order by s.place), s.id, s.body
      from unnest(p_sessions, p_ids, p_bodies) with ordinality as s(session, id, body, place) where s.session = one.session;
    return next;
  end loop;
  -- Last, since all nodes wait here for each other until the commit.
  if cardinality(p_audit) > 0 then perform append_audit(p_workspace, p_audit); end if;
end $$;

-- Nothing is lost with these if the database crashes but time: a ledger costs another read, a lock another wait.
create function save_session(p_workspace text, p_session text, p_version bigint, p_mode text, p_rules bytea,
    p_paths bytea[], p_entries bytea[]) returns bigint language plpgsql as $$
declare saved bigint;
begin
  perform set_config('synchronous_commit', 'off', true);
  if p_version = 0 then
    insert into session (workspace, session, version, mode, rules) values (p_workspace, p_session, 1, p_mode, p_rules)
      on conflict do nothing returning version into saved;
  else
    update session set version = version + 1, mode = p_mode, rules = p_rules, saved_at = now()
      where workspace = p_workspace and session = p_session and version = p_version returning version into saved;
  end if;
  if saved is null then return null; end if;
  insert into ledger as l (workspace, session, path, version, entry)
    select p_workspace, p_session, given.path, saved, given.entry from unnest(p_paths, p_entries) as given(path, entry)
    on conflict (tenant, workspace, session, path) do update set version = excluded.version, entry = excluded.entry;
  return saved;
end $$;

create function take_locks(p_workspace text, p_paths bytea[], p_holder uuid, p_ms int)
    returns table (path bytea, fence bigint) language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('synchronous_commit', 'off', true);
  return query insert into lock as l (workspace, path, holder, fence, until)
    select p_workspace, given.path, p_holder, nextval('fence'), clock_timestamp() + p_ms * interval '1 millisecond'
    from unnest(p_paths) as given(path) order by given.path
    on conflict (tenant, workspace, path) do update
      set holder = excluded.holder, fence = excluded.fence, until = excluded.until
      where l.holder is null or l.until < clock_timestamp()
    returning l.path, l.fence;
end $$;

create function release_locks(p_workspace text, p_paths bytea[], p_holder uuid, p_fences bigint[]) returns void
    language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  delete from lock l using unnest(p_paths, p_fences) as given(path, fence)
    where l.workspace = p_workspace and l.path = given.path and l.fence = given.fence and l.holder = p_holder;
end $$;

-- The hashes are made here, since only here the entry before is known: sha256 over previous hash, number and body.
create function append_audit(p_workspace text, p_bodies bytea[]) returns table (seq bigint, hash bytea) language plpgsql as $$
#variable_conflict use_column
declare previous bytea; body bytea;
begin
  insert into audit_head (workspace, seq, hash) values (p_workspace, 0, '\\x') on conflict do nothing;
  select h.seq, h.hash into seq, previous from audit_head h where h.workspace = p_workspace for update;
  foreach body in array p_bodies loop
    seq := seq + 1;
    hash := sha256(previous || convert_to(seq::text, 'UTF8') || body);
    insert into audit (workspace, seq, body, previous, hash) values (p_workspace, seq, body, previous, hash);
    previous := hash;
    return next;
  end loop;
  update audit_head h set seq = append_audit.seq, hash = previous where h.workspace = p_workspace;
end $$;
`,
];

/** Any number that no other program uses as the key of an advisory lock in this database. */
const migrationLock = 7_310_579;

export async function stateVersion(database: Database): Promise<StateVersion> {
  const newest = migrations.length;
  const [there] = await database.query<{ there: boolean }>(
    "select to_regclass('filehand.migration') is not null as there",
  );
  if (there?.there !== true) return { found: 0, newest };
  const [row] = await database.query<{ version: number }>(
    "select coalesce(max(version), 0)::int as version from filehand.migration",
  );
  return { found: row?.version ?? 0, newest };
}

/** Brings the tables to the newest version, all or nothing; never backwards. Returns the versions that were applied. */
export async function migrate(database: Database): Promise<readonly number[]> {
  return database.transaction(async (query) => {
    await query("select pg_advisory_xact_lock($1)", [migrationLock]);
    await query("create schema if not exists filehand");
    await query(
      "create table if not exists filehand.migration (version int primary key, at timestamptz default now())",
    );
    const [row] = await query<{ version: number }>(
      "select coalesce(max(version), 0)::int as version from filehand.migration",
    );
    const found = row?.version ?? 0;
    refuseNewer({ found, newest: migrations.length });
    const applied: number[] = [];
    for (const [index, text] of migrations.entries()) {
      const version = index + 1;
      if (version <= found) continue;
      await query(text);
      await query("insert into filehand.migration (version) values ($1)", [version]);
      applied.push(version);
    }
    return applied;
  });
}

/** Throws unless this version of the program knows the tables. */
export function requireCurrent(version: StateVersion): void {
  refuseNewer(version);
  if (version.found < version.newest) {
    throw new StateFailed(
      `the tables of the database have version ${version.found} of ${version.newest}, run filehand state migrate`,
    );
  }
}

function refuseNewer({ found, newest }: StateVersion): void {
  if (found <= newest) return;
  throw new StateFailed(
    `the tables of the database have version ${found}, and this program knows ${newest}: update filehand on this node`,
  );
}
