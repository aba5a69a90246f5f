/** Who may come in: one token of the operator's, or those of an authorisation server. Tokens go no further than this. */

import { createHash, timingSafeEqual } from "node:crypto";
import { tokenScopes } from "../mcp/names.ts";

/** Somebody who is let in. */
export interface Guest {
  readonly principal: string;
  readonly scopes: readonly string[];
  /** In seconds; undefined for what does not expire. */
  readonly expiresAt?: number;
}

export interface Authentication {
  /** Undefined: not let in. */
  admit(authorization: string | undefined): Promise<Guest | undefined>;
  /** For the answer to those who are not. */
  challenge(fault?: { readonly error: string; readonly scope?: string }): string;
  /** RFC 9728: where to get a token; undefined where there is only the operator's. */
  metadata(): object | undefined;
}

const every = Object.values(tokenScopes);

/** The hash makes both sides equally long, so that the time of the comparison tells nothing. */
export function tokenAuthentication(token: string): Authentication {
  const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();
  const expected = hashOf(token);
  // Of another server with another token it is somebody else, whose history is none of this one's business.
  const principal = `token-${hashOf(`principal\0${token}`).toString("hex").slice(0, 12)}`;
  return {
    admit: async (authorization) =>
      timingSafeEqual(hashOf(bearerOf(authorization) ?? ""), expected) ? { principal, scopes: every } : undefined,
    challenge: () => 'Bearer realm="filehand"',
    metadata: () => undefined,
  };
}

/** What the operator's module brings: it knows the authorisation server. */
export interface TokenVerifier {
  /** Rejects a token that is not good. */
  verifyAccessToken(token: string): Promise<VerifiedToken>;
}

export interface VerifiedToken {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** In seconds. A token without an end is not taken. */
  readonly expiresAt?: number;
  /** For whom it was made. */
  readonly resource?: URL | string;
  /** The person, where the token names one. */
  readonly subject?: string;
}

export interface OAuthOptions {
  readonly verifier: TokenVerifier;
  readonly issuer: string;
  /** The address by which clients know this server. */
  readonly resource: string;
}

export function oauthAuthentication(
  { verifier, issuer, resource }: OAuthOptions,
  nowMs: () => number = Date.now,
): Authentication {
  const metadataUrl = new URL("/.well-known/oauth-protected-resource", resource).href;
  return {
    async admit(authorization) {
      const token = bearerOf(authorization);
      if (token === undefined) return undefined;
      const verified = await verify(verifier, token);
      if (verified === undefined || verified.expiresAt * 1_000 <= nowMs()) return undefined;
      // A token for another server must not work here, whoever passes it on.
      if (!sameResource(verified.resource, resource)) return undefined;
      const principal = JSON.stringify([verified.clientId, verified.subject ?? ""]);
      return { principal, scopes: verified.scopes, expiresAt: verified.expiresAt };
    },
    challenge: ({ error, scope } = { error: "invalid_token" }) =>
      `Bearer error="${error}", resource_metadata="${metadataUrl}"${scope === undefined ? "" : `, scope="${scope}"`}`,
    metadata: () => ({
      resource,
      authorization_servers: [issuer],
      scopes_supported: every,
      bearer_methods_supported: ["header"],
    }),
  };
}

/** The module is somebody else's: what it throws, and an answer of another shape than was agreed on, is a no. */
async function verify(verifier: TokenVerifier, token: string): Promise<Verified | undefined> {
  try {
    const answer: unknown = await verifier.verifyAccessToken(token);
    return isVerified(answer) ? answer : undefined;
  } catch {
    return undefined;
  }
}

type Verified = VerifiedToken & { readonly expiresAt: number; readonly resource: URL | string };

function isVerified(answer: unknown): answer is Verified {
  if (typeof answer !== "object" || answer === null) return false;
  const {
    clientId,
    scopes: given,
    expiresAt,
    resource,
    subject,
  } = answer as Partial<Record<keyof VerifiedToken, unknown>>; // each is looked at
  return (
    typeof clientId === "string" &&
    clientId !== "" &&
    Array.isArray(given) &&
    given.every((scope) => typeof scope === "string") &&
    Number.isFinite(expiresAt) &&
    (typeof resource === "string" || resource instanceof URL) &&
    (subject === undefined || typeof subject === "string")
  );
}

/** Everybody; for tests, and for those who insist. */
export const openAuthentication: Authentication = {
  admit: async () => ({ principal: "anybody", scopes: every }),
  challenge: () => "",
  metadata: () => undefined,
};

const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization ?? "")?.[1];

const sameResource = (named: URL | string, ours: string): boolean => plain(String(named)) === plain(ours);

const plain = (url: string): string => url.replace(/#.*$/s, "").replace(/\/$/, "");
