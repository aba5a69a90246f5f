/**
 * Access to the page. The key in the address is exchanged for a cookie and a key of the page; every request needs both: other
 * local servers may get the cookie, since all ports share it, and scripts can read a header. Only hashes are kept here.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { dropOldest } from "../../contract/common.ts";

interface Browser {
  readonly cookie: Buffer;
  readonly page: Buffer;
  lastMs: number;
}

const keyMsMax = 3_600_000; // an hour: a key seen in an old scrollback must not work
const idleMsMax = 43_200_000; // 12 hours: a page may stay open overnight
const browsersMax = 64; // the least recently seen one is logged out

const secret = (): string => randomBytes(32).toString("base64url");
const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

export function createLogin(nowMs: () => number = Date.now) {
  let current: { readonly hash: Buffer; readonly atMs: number } | undefined;
  /** By random id, least recently seen first. */
  const browsers = new Map<string, Browser>();
  return {
    /** A key for the address; the previous one stops working. */
    newKey(): string {
      const key = secret();
      current = { hash: hashOf(key), atMs: nowMs() };
      return key;
    },
    /** Undefined if the key is unknown, used already, or too old. */
    exchange(key: string): { readonly cookie: string; readonly page: string } | undefined {
      if (current === undefined || nowMs() - current.atMs > keyMsMax) return undefined;
      if (!timingSafeEqual(hashOf(key), current.hash)) return undefined;
      current = undefined;
      const [cookie, page] = [secret(), secret()];
      browsers.set(randomBytes(9).toString("base64url"), {
        cookie: hashOf(cookie),
        page: hashOf(page),
        lastMs: nowMs(),
      });
      dropOldest(browsers, browsersMax);
      return { cookie, page };
    },
    /** The id of the browser; undefined if it is not logged in. */
    browser(cookie: string | undefined, page: string | undefined): string | undefined {
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
    leave: (browser: string): void => void browsers.delete(browser),
  };
}

/** The ports of a machine share their cookies, so the name contains the port: two servers must not overwrite each other's. */
export const cookieName = (port: number): string => `filehand-${port}`;

/** `origin`: if it is https, the browser must send the cookie over TLS only. */
export const setCookie = (name: string, value: string, maxSeconds: number, origin: string | undefined): string =>
  `${name}=${value}; Path=/api; HttpOnly; SameSite=Strict; Max-Age=${maxSeconds}${origin?.startsWith("https:") === true ? "; Secure" : ""}`;

export const cookieSeconds = idleMsMax / 1_000;

/** Undefined if there are several with the same name: one of them was set by another server. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  const values = (header ?? "").split(";").flatMap((part) => {
    const [key, value] = part.trim().split("=", 2);
    return key === name && value !== undefined ? [value] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}
