import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createEventReader } from "./event-stream.ts";

const stream = [
  ": a comment\n\n",
  'id: 7\nevent: call\ndata: {"a":1}\n\n',
  "data: one\r\ndata: two\r\nid: 8\r\n\r\n",
  "event: nothing\n\n",
  "data:no blank\n\n",
  "data: not finished",
].join("");

const events = [
  { id: "7", data: '{"a":1}' },
  { id: "8", data: "one\ntwo" },
  { id: "8", data: "no blank" },
];

test("events are read, comments and what is not finished are not", () => {
  expect(createEventReader().feed(stream)).toEqual(events);
});

test("it does not matter where the stream is cut", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length), { maxLength: 8 }), (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
      const reader = createEventReader();
      const read = places.slice(1).flatMap((end, index) => reader.feed(stream.slice(places[index], end)));
      expect(read).toEqual(events);
    }),
  );
});
