/** Parses `text/event-stream` from chunks that may be cut anywhere. */

export interface ServerEvent {
  readonly id: string | undefined;
  readonly data: string;
}

export function createEventReader() {
  let rest = "";
  let id: string | undefined;
  let data: string[] = [];
  const take = (line: string): ServerEvent | undefined => {
    if (line === "") {
      const event = data.length === 0 ? undefined : { id, data: data.join("\n") };
      data = [];
      return event;
    }
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "data") data.push(value);
    if (field === "id") id = value;
    return undefined;
  };
  return {
    /** The events that this chunk completes. */
    feed(piece: string): readonly ServerEvent[] {
      const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      return lines.flatMap((line) => take(line) ?? []);
    },
  };
}
