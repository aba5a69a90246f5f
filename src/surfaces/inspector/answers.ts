/** Answers of the interface: JSON, with the headers that all of them have. */

import type { ServerResponse } from "node:http";
import type { Refused } from "../../contract/inspector.ts";
import { apiHeaders } from "./headers.ts";
import type { Refusal } from "./refusal.ts";

export function refuse(res: ServerResponse, { status, code, message, more }: Refusal): void {
  const told: Refused = { error: { code, message, ...more } };
  const close = status === 413 ? { connection: "close" } : {};
  sendJson(res, status, told, { ...close, ...(status === 429 ? { "retry-after": "1" } : {}) });
}

export function sendJson(
  res: ServerResponse,
  status: number,
  value: object,
  more: Readonly<Record<string, string>> = {},
): void {
  const body = Buffer.from(JSON.stringify(value));
  const own = { "content-type": "application/json; charset=utf-8", "content-length": body.length };
  res.writeHead(status, { ...apiHeaders, ...more, ...own }).end(body);
}
