// ES5 only: a Node that is too old must be able to parse this file and say so.
"use strict";

var needed = "NODE_NEEDED".split(".");
var found = process.versions.node.split(".");
// Bun and Deno name the version of Node whose interface they offer.
var isNode = process.versions.bun === undefined && process.versions.deno === undefined;
var isOld = +found[0] < +needed[0] || (+found[0] === +needed[0] && +found[1] < +needed[1]);

if (isNode && isOld) {
  var message = "Filehand needs Node " + needed[0] + "." + needed[1] + " or newer, and this is Node " + found.join(".");
  message += ": install the current one from https://nodejs.org/en/download, or with a version manager";
  message += " (nvm install 24, fnm install 24, volta install node@24)";
  var error = new Error(message);
  error.code = "FILEHAND_NODE_TOO_OLD";
  throw error;
}
