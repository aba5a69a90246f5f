/** What a request must look like before anybody reads it: addressed to us, and not sent by a stranger's web page. */

/** Names by which this machine calls itself. */
export const localNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** A page of another site can make a browser send requests here, under any name that leads here; this it cannot change. */
export const isOurHost = (header: string | undefined, names: readonly string[]): boolean => {
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^:@/\s]+)(?::(\d{1,5}))?$/i.exec(header ?? "") ?? [];
  return host !== undefined && isPort(port) && names.includes(host.toLowerCase());
};

/** Of several, Node shows the first and a proxy may have judged by the last. Names and values take turns in the list. */
export const hasTwoHosts = (rawHeaders: readonly string[]): boolean => {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === "host") hosts += 1;
  return hosts > 1;
};

/** With a larger number the whole is no URL, and it is made one later. */
const isPort = (digits = "80"): boolean => Number(digits) <= 65_535;

/** Programs send no origin; browsers do, and `null` is that of a page that hides where it comes from. */
export function isOurOrigin(header: string | undefined, names: readonly string[]): boolean {
  if (header === undefined) return true;
  const [, host, port] = /^https?:\/\/(\[[0-9a-f:.]+\]|[^:@/?#\s]+)(?::(\d{1,5}))?$/i.exec(header) ?? [];
  return host !== undefined && isPort(port) && names.includes(host.toLowerCase());
}
