/**
 * What the MCP SDK loads by platform, without its JSON Schema validator: 300 KB that would be read at every start. The
 * server brings its own judgement of arguments and answers, so nothing asks for this one.
 */

import process from "node:process";

export { process };

export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error("there is no JSON Schema validator in this build");
  }
}
