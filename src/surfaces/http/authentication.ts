/** Authenticates HTTP requests by the operator's token, or by tokens of an authorisation server. Tokens are not passed on. */

import { createHash, timingSafeEqual } from "node:crypto";
import { tokenScopes } from "../mcp/names.ts";

/** The authenticated sender of a request. */
export interface Guest {
  readonly principal: string;
  readonly scopes: readonly string[];
  /** The workspaces that it may enter; undefined for all. */
  readonly workspaces?: readonly string[];
  /** In seconds since 1970; undefined if the token does not expire. */
  readonly expiresAt?: number;
}

export interface Authentication {
  /** Undefined if the request is not authenticated. */
  admit(authorization: string | undefined): Promise<Guest | undefined>;
  /** The value of `WWW-Authenticate` for requests that are refused. */
  challenge(fault?: { readonly error: string; readonly scope?: string }): string;
  /** RFC 9728: where to get a token; undefined if there is only the operator's. */
  metadata(): object | undefined;
}

const allScopes = Object.values(tokenScopes);

/** Hashes are compared, because they are equally long: the time of the comparison reveals nothing. */
export function tokenAuthentication(token: string): Authentication {
  const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();
  const expected = hashOf(token);
  // Another token is another principal, with a history of its own.
  const principal = `token-${hashOf(`principal\0${token}`).toString("hex").slice(0, 12)}`;
  return {
    admit: async (authorization) =>
      timingSafeEqual(hashOf(bearerOf(authorization) ?? ""), expected) ? { principal, scopes: allScopes } : undefined,
    challenge: () => 'Bearer realm="filehand"',
    metadata: () => undefined,
  };
}

/** A token as `filehand token create` stores it, found by its hash. */
export interface TokenFinder {
  readonly find: (hash: string) => Promise<(Guest & { readonly expiresMs: number | undefined }) | undefined>;
}

/** Each request asks the store, so that a token is refused as soon as it is revoked. If the store fails, nobody is admitted. */
export function storedAuthentication(tokens: TokenFinder, nowMs: () => number = Date.now): Authentication {
  return {
    async admit(authorization) {
      const token = bearerOf(authorization);
      if (token === undefined) return undefined;
      const found = await tokens.find(createHash("sha256").update(token).digest("hex")).catch(() => undefined);
      if (found === undefined || (found.expiresMs ?? Number.POSITIVE_INFINITY) <= nowMs()) return undefined;
      const { principal, scopes, workspaces = [] } = found;
      return { principal, scopes, ...(workspaces.length === 0 ? {} : { workspaces }) };
    },
    challenge: () => 'Bearer realm="filehand"',
    metadata: () => undefined,
  };
}

/** The interface of the operator's module, which knows the authorisation server. */
export interface TokenVerifier {
  /** Rejects an invalid token. */
  verifyAccessToken(token: string): Promise<VerifiedToken>;
}

export interface VerifiedToken {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** In seconds since 1970. A token that does not expire is refused. */
  readonly expiresAt?: number;
  /** The server that it was issued for. */
  readonly resource?: URL | string;
  /** The person, if the token names one. */
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
      // A token that was issued for another server must not work here.
      if (!sameResource(verified.resource, resource)) return undefined;
      const principal = JSON.stringify([verified.clientId, verified.subject ?? ""]);
      return { principal, scopes: verified.scopes, expiresAt: verified.expiresAt };
    },
    challenge: ({ error, scope } = { error: "invalid_token" }) =>
      `Bearer error="${error}", resource_metadata="${metadataUrl}"${scope === undefined ? "" : `, scope="${scope}"`}`,
    metadata: () => ({
      resource,
      authorization_servers: [issuer],
      scopes_supported: allScopes,
      bearer_methods_supported: ["header"],
    }),
  };
}

/** The module is not ours: if it throws, or answers with another shape, the token is refused. */
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
  } = answer as Partial<Record<keyof VerifiedToken, unknown>>; // each is checked
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

/** Admits every request: for tests, and for operators who switch authentication off. */
export const openAuthentication: Authentication = {
  admit: async () => ({ principal: "anybody", scopes: allScopes }),
  challenge: () => "",
  metadata: () => undefined,
};

const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization ?? "")?.[1];

const sameResource = (named: URL | string, ours: string): boolean => plain(String(named)) === plain(ours);

const plain = (url: string): string => url.replace(/#.*$/s, "").replace(/\/$/, "");
