import { expect, test } from "vitest";
import { oauthAuthentication, tokenAuthentication, type VerifiedToken } from "./authentication.ts";

const token = "0123456789abcdef0123456789abcdef";

for (const [authorization, admitted] of [
  [`Bearer ${token}`, true],
  [`bearer  ${token}`, true],
  [undefined, false],
  ["", false],
  ["Bearer ", false],
  [token, false],
  [`Basic ${token}`, false],
  [`Bearer ${token}x`, false],
  [`Bearer ${token.slice(1)}`, false],
  [`Bearer ${token} ${token}`, false],
] as const) {
  test(`"${authorization}" is ${admitted ? "let in" : "not let in"}`, async () => {
    expect((await tokenAuthentication(token).admit(authorization)) !== undefined).toBe(admitted);
  });
}

const good: VerifiedToken = {
  clientId: "c",
  scopes: ["files:read"],
  expiresAt: 2_000,
  resource: "https://files.example/mcp/",
};

for (const [what, verified, admitted] of [
  ["a good token is let in", good, true],
  ["one that has ended is not", { ...good, expiresAt: 1_000 }, false],
  ["nor one without an end", { clientId: "c", scopes: [], resource: good.resource }, false],
  ["nor one for a list of servers", { ...good, resource: [good.resource] }, false],
  ["nor one for something without words", { ...good, resource: Object.create(null) }, false],
  ["nor one for another server", { ...good, resource: "https://other.example/mcp" }, false],
  ["nor one whose end is a word", { ...good, expiresAt: "never" }, false],
  ["nor one whose end is a number in a text", { ...good, expiresAt: "2000" }, false],
  ["nor one whose end is no number", { ...good, expiresAt: Number.NaN }, false],
  ["nor one that never ends", { ...good, expiresAt: Number.POSITIVE_INFINITY }, false],
  ["nor one without a list of rights", { ...good, scopes: undefined }, false],
  ["nor one whose rights are one text", { ...good, scopes: "files:read files:write" }, false],
  ["nor one of no client", { ...good, clientId: undefined }, false],
  ["nor one whose person is no name", { ...good, subject: { id: 1 } }, false],
  ["nor an answer that is none", null, false],
  ["nor one for nobody", { clientId: "c", scopes: [], expiresAt: 2_000 }, false],
] as const) {
  test(what, async () => {
    const access = oauthAuthentication(
      {
        verifier: { verifyAccessToken: async () => verified as unknown as VerifiedToken },
        issuer: "https://login.example",
        resource: "https://files.example/mcp",
      },
      () => 1_000_000,
    );
    expect((await access.admit("Bearer x")) !== undefined).toBe(admitted);
  });
}

test("a verifier that rejects is a no, and the challenge says where to go", async () => {
  const access = oauthAuthentication({
    verifier: { verifyAccessToken: () => Promise.reject(new Error("no")) },
    issuer: "https://login.example",
    resource: "https://files.example/mcp",
  });
  expect(await access.admit("Bearer x")).toBeUndefined();
  expect(access.challenge()).toContain(
    'resource_metadata="https://files.example/.well-known/oauth-protected-resource"',
  );
  expect(access.metadata()).toMatchObject({ authorization_servers: ["https://login.example"] });
});

for (const [what, verifyAccessToken, admitted] of [
  ["a verifier that throws before it promises anything is a no", () => raise("no"), false],
  ["one that answers at once is understood", () => good, true],
  ["one that answers with nothing is a no", () => undefined, false],
] as const) {
  test(what, async () => {
    const access = oauthAuthentication(
      {
        verifier: { verifyAccessToken: verifyAccessToken as unknown as () => Promise<VerifiedToken> },
        issuer: "https://login.example",
        resource: "https://files.example/mcp",
      },
      () => 1_000_000,
    );
    expect((await access.admit("Bearer x")) !== undefined).toBe(admitted);
  });
}

function raise(message: string): never {
  throw new Error(message);
}

test("two people with one client are two principals", async () => {
  let subject = "a";
  const access = oauthAuthentication(
    {
      verifier: { verifyAccessToken: async () => ({ ...good, subject }) },
      issuer: "https://login.example",
      resource: "https://files.example/mcp",
    },
    () => 0,
  );
  const one = await access.admit("Bearer x");
  subject = "b";
  expect((await access.admit("Bearer x"))?.principal).not.toBe(one?.principal);
});
