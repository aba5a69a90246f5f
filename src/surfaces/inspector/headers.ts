/** What every answer of the inspector says to the browser about itself. */

/** Everything from this server, nothing inline, nothing framed. Pictures of replies are in the JSON. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const everywhere = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
} as const;

export const pageHeaders = { ...everywhere, "content-security-policy": policy } as const;

/** If somebody opens an answer as a page after all, it can do nothing. */
export const apiHeaders = {
  ...everywhere,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "cache-control": "no-store",
} as const;
