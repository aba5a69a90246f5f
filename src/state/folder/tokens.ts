/** Tokens in the state folder: a list with the hash of each, in one file that only its owner can read. */

import { openStoreFolder } from "../../disk/disk.ts";
import { StateFailed } from "../../contract/state.ts";
import { type StoredToken, type Tokens } from "../ports.ts";
import { exclusivelyIn } from "./exclusive.ts";

type Kept = StoredToken & { readonly hash: string };
const file = "list.json";

export function openFolderTokens(path: string, lockFolder?: string): Tokens {
  const folder = openStoreFolder(path, { durable: true });
  const exclusively = exclusivelyIn(path, lockFolder);
  const all = (): readonly Kept[] => {
    const text = folder.read(file)?.toString("utf8");
    if (text === undefined) return [];
    try {
      const list: unknown = JSON.parse(text);
      if (Array.isArray(list) && list.every(isKept)) return list;
    } catch {
      // The same as another shape.
    }
    // A list that cannot be read must not look like one without tokens.
    throw new StateFailed(`the list of tokens in "${path}" is damaged, remove it and make new tokens`);
  };
  const put = (list: readonly Kept[]): void => folder.put(file, Buffer.from(JSON.stringify(list)));
  return {
    add: (hash, token) =>
      exclusively(file, async () => {
        const list = all();
        if (list.some((one) => one.id === token.id || one.hash === hash)) {
          throw new StateFailed(`there is a token "${token.id}" already`);
        }
        put([...list, { ...token, hash }]);
      }),
    find: async (hash) => withoutHash(all().find((one) => one.hash === hash)),
    list: async () => all().flatMap((one) => withoutHash(one) ?? []),
    revoke: (id) =>
      exclusively(file, async () => {
        const list = all();
        const rest = list.filter((one) => one.id !== id);
        if (rest.length < list.length) put(rest);
        return rest.length < list.length;
      }),
  };
}

function withoutHash(kept: Kept | undefined): StoredToken | undefined {
  if (kept === undefined) return undefined;
  const { hash: _hash, ...token } = kept;
  return { ...token, expiresMs: token.expiresMs };
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== "object" || value === null) return false;
  const { hash, id, principal, scopes, workspaces, createdMs, expiresMs } = value as Partial<
    Record<keyof Kept, unknown>
  >;
  const isTexts = (list: unknown): boolean => Array.isArray(list) && list.every((one) => typeof one === "string");
  return (
    [hash, id, principal].every((text) => typeof text === "string") &&
    [scopes, workspaces].every(isTexts) &&
    typeof createdMs === "number" &&
    (expiresMs === undefined || typeof expiresMs === "number")
  );
}
