/** The door of dialects/: how a call is written and an answer is worded. Other rooms import from here and from nothing else in this room. */

import instructionsText from "./instructions.txt";

/** What a server says of itself to models. */
export const instructions: string = instructionsText;

export { answerBytes, type AnswerLimit, fittedOutcome, limitOf, pathsShownIn, withinLimit } from "./answer-size.ts";
export { described, type Dialect, type Facts, type OptIn, type ToolSpec, type Words } from "./dialect.ts";
export { exactText, type ExactText } from "./exact-text.ts";
export { isExemptModel } from "./exempt-models.ts";
export { defaultDialect, type DialectName, dialectNames, dialects, type DialectTools } from "./index.ts";
export { requestOf } from "./lenient-input.ts";
export { checkedFile, messageOf } from "./lsp-text.ts";
export { nearest } from "./parameters.ts";
export { patchOf, type PatchOperation } from "./patch-operation.ts";
export { type Line, person, personDialect, type Role, type View, viewOf } from "./person/index.ts";
export { sentenceForPage, sentenceForPerson } from "./person/problems.ts";
export { rewindHead, rewoundForPerson, type Way } from "./person/rewind.ts";
export { inBrackets } from "./rewind-text.ts";
export { type Command, type CommandName, commandOf } from "./text-editor.ts";
export { argumentFault } from "./words.ts";
export {
  type Flavour,
  cutTo,
  leftAlone,
  noHistory,
  notBelowMemories,
  refused,
  said,
  undone,
  wordsFor,
} from "./text-editor.ts";
