/** Numbers and times as people read them. */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const moment = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** Without fractions, which estimates have. */
export const count = (value: number): string => whole.format(value);

/** 940, 12.3k, 4.1M: for columns. */
export function short(value: number): string {
  if (value < 1_000) return String(Math.round(value));
  if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 100_000 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

export function duration(ms: number): string {
  if (ms < 1) return "<1 ms";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KiB`;
  return bytes < 1_073_741_824 ? `${(bytes / 1_048_576).toFixed(1)} MiB` : `${(bytes / 1_073_741_824).toFixed(1)} GiB`;
}

export const timeOfDay = (ms: number): string => clock.format(ms);

/** Without the date if it is today. */
export function time(ms: number): string {
  return new Date(ms).toDateString() === new Date().toDateString()
    ? clock.format(ms)
    : `${day.format(ms)} ${clock.format(ms)}`;
}

export const fullTime = (ms: number): string => moment.format(ms);

export const plural = (value: number, noun: string, ending = "s"): string =>
  `${count(value)} ${noun}${value === 1 ? "" : ending}`;

/** 4:07 */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** What a session is called in a list: its client, if that gave a name, and the beginning of its id. */
export const sessionWords = (id: string, client: string | null): string =>
  client === null ? shortId(id) : `${client} · ${shortId(id)}`;

/** The beginning of a session's id, enough to distinguish it. */
export const shortId = (id: string): string => (id.length <= 10 ? id : id.slice(0, 8));
