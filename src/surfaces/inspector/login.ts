/**
 * Who may see the page. The address holds a key that works once; it is exchanged for a cookie and for a key of the page, and
 * every request needs both. Browsers send a cookie to all ports of a machine, so that another local server could get it; a
 * header can be read by scripts. Neither is of use alone. Only hashes are held here.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export interface Entrance {
  /** A key for the address; the one that was given before is of no more use. */
  newKey(): string;
  /** Undefined: not a key that was given, or used already, or too old. */
  exchange(key: string): { readonly cookie: string; readonly page: string } | undefined;
  /** Which browser it is; undefined if it was not let in. */
  browser(cookie: string | undefined, page: string | undefined): string | undefined;
  leave(browser: string): void;
}

interface Browser {
  readonly cookie: Buffer;
  readonly page: Buffer;
  lastMs: number;
}

const keyMsMax = 3_600_000;
const idleMsMax = 43_200_000;
const browsersMax = 64;

const secret = (): string => randomBytes(32).toString("base64url");
const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

export function createEntrance(nowMs: () => number = Date.now): Entrance {
  let current: { readonly hash: Buffer; readonly atMs: number } | undefined;
  /** By a name that tells nothing; the least recently seen first. */
  const browsers = new Map<string, Browser>();
  return {
    newKey() {
      const key = secret();
      current = { hash: hashOf(key), atMs: nowMs() };
      return key;
    },
    exchange(key) {
      if (current === undefined || nowMs() - current.atMs > keyMsMax) return undefined;
      if (!timingSafeEqual(hashOf(key), current.hash)) return undefined;
      current = undefined;
      const [cookie, page] = [secret(), secret()];
      browsers.set(randomBytes(9).toString("base64url"), {
        cookie: hashOf(cookie),
        page: hashOf(page),
        lastMs: nowMs(),
      });
      const [oldest] = browsers.keys();
      if (browsers.size > browsersMax && oldest !== undefined) browsers.delete(oldest);
      return { cookie, page };
    },
    browser(cookie, page) {
      const [cookieHash, pageHash] = [hashOf(cookie ?? ""), hashOf(page ?? "")];
      for (const [name, known] of browsers) {
        if (nowMs() - known.lastMs > idleMsMax) {
          browsers.delete(name);
          continue;
        }
        const isCookie = timingSafeEqual(known.cookie, cookieHash);
        const isPage = timingSafeEqual(known.page, pageHash);
        if (!isCookie || !isPage) continue;
        known.lastMs = nowMs();
        browsers.delete(name);
        browsers.set(name, known);
        return name;
      }
      return undefined;
    },
    leave: (browser) => void browsers.delete(browser),
  };
}

/** By the port, since the ports of a machine share their cookies and two servers must not overwrite each other's. */
export const cookieName = (port: number): string => `filehand-${port}`;

/** `origin`: behind something that speaks TLS the browser must not send it otherwise. */
export const setCookie = (name: string, value: string, maxSeconds: number, origin: string | undefined): string =>
  `${name}=${value}; Path=/api; HttpOnly; SameSite=Strict; Max-Age=${maxSeconds}${origin?.startsWith("https:") === true ? "; Secure" : ""}`;

export const cookieSeconds = idleMsMax / 1_000;

/** Of several with the same name none: one of them is somebody else's. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  const values = (header ?? "").split(";").flatMap((part) => {
    const [key, value] = part.trim().split("=", 2);
    return key === name && value !== undefined ? [value] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}
