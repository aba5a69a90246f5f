import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { test } from "vitest";
import usingContext from "../scripts/using-context.js";

/** A resource that writes down its name when it is closed. */
const resource = (name: string, closed: string[], fault?: Error) => ({
  [Symbol.dispose]: () => {
    closed.push(name);
    if (fault !== undefined) throw fault;
  },
});

test("resources are closed from the last to the first, and nothing is thrown", () => {
  const closed: string[] = [];
  const context = usingContext();
  context.u(resource("first", closed));
  equal(context.u(undefined), undefined);
  context.u(resource("last", closed));
  equal(context.d(), undefined);
  deepEqual(closed, ["last", "first"]);
});

test("what the block threw is thrown after closing, with a close that failed on top of it", () => {
  const closed: string[] = [];
  const [thrown, failed] = [new Error("of the block"), new Error("of a close")];
  const context = usingContext();
  context.u(resource("first", closed));
  context.u(resource("last", closed, failed));
  context.e = thrown;
  throws(
    () => context.d(),
    (error: Error) => error.name === "SuppressedError" && Reflect.get(error, "error") === failed,
  );
  deepEqual(closed, ["last", "first"]);
});

test("a block that throws undefined throws it on", () => {
  const context = usingContext();
  context.e = undefined;
  let thrown: unknown = "nothing";
  try {
    void context.d();
  } catch (error) {
    thrown = error;
  }
  equal(thrown, undefined);
});

test("an asynchronous close is awaited before the next one", async () => {
  const closed: string[] = [];
  const context = usingContext();
  context.u(resource("first", closed));
  context.a({
    [Symbol.asyncDispose]: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      closed.push("last");
    },
  });
  await context.d();
  deepEqual(closed, ["last", "first"]);
});

test("a failed asynchronous close rejects", async () => {
  const context = usingContext();
  context.a({ [Symbol.asyncDispose]: () => Promise.reject(new Error("of a close")) });
  await rejects(async () => context.d(), /of a close/);
});

test("a value that nothing closes is refused", () => {
  throws(() => usingContext().u({}), TypeError);
});
