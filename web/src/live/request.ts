/** Requests to the page's own server, and to no other. */

import type { Exchanged, Refused } from "../../../src/surfaces/inspector/wire.ts";

const storageName = "filehand-page";
const pageHeader = "Filehand-Page";

/** The server refused, or could not be reached (`code` is then `UNREACHABLE`). */
export class RequestError extends Error {
  readonly code: string;
  readonly refused: Refused["error"] | undefined;
  constructor(code: string, message: string, refused?: Refused["error"]) {
    super(message);
    this.name = "RequestError";
    this.code = code;
    this.refused = refused;
  }
}

/** Takes the key out of the address, before anything else can see it; undefined if there is none. */
export function takeKey(): string | undefined {
  const key = /^#key=([\w.~-]+)$/.exec(location.hash)?.[1];
  if (key !== undefined) history.replaceState(null, "", `${location.pathname}${location.search}`);
  return key;
}

export async function exchange(key: string): Promise<void> {
  const { page } = await post<Exchanged>("/api/exchange", { key });
  localStorage.setItem(storageName, page);
}

/** The server forgets this browser, and the page its key. */
export async function leaveServer(): Promise<void> {
  await post("/api/leave", {});
  localStorage.removeItem(storageName);
}

export const get = <Answer>(path: string, signal?: AbortSignal): Promise<Answer> =>
  request(path, signal === undefined ? {} : { signal });

export function post<Answer>(path: string, body: object, signal?: AbortSignal): Promise<Answer> {
  return request(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function request<Answer>(path: string, options: RequestInit): Promise<Answer> {
  const response = await send(path, options);
  // The server has the same version, so its types hold.
  return (await response.json()) as Answer;
}

/** Throws a RequestError for a refusal. An abort is passed on. */
export async function send(path: string, options: RequestInit): Promise<Response> {
  const headers = new Headers(options.headers);
  const page = localStorage.getItem(storageName);
  if (page !== null) headers.set(pageHeader, page);
  let response: Response;
  try {
    response = await fetch(path, { ...options, headers, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw new RequestError("UNREACHABLE", "Cannot reach the server: it has ended, or the network is down");
  }
  if (response.ok) return response;
  const refused = (await response.json().catch(() => undefined)) as Refused | undefined;
  const error = refused?.error;
  throw new RequestError(
    error?.code ?? String(response.status),
    error?.message ?? `The server answered with ${response.status}`,
    error,
  );
}

/** A sentence for the person. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
