#!/usr/bin/env node
// ES5 only: a Node that is too old must be able to parse this file. The program is in main.cjs.
"use strict";

try {
  require("./node-version.cjs");
} catch (error) {
  process.stderr.write(error.message + "\n");
  process.exit(1);
}
// The size of the thread pool must be set before anything uses it: four reads that hang would stop all others.
process.env.UV_THREADPOOL_SIZE = process.env.UV_THREADPOOL_SIZE || "16";
require("./main.cjs");
