/** The door of dialects/: how a call is written and an answer is worded. Other rooms import only this file. */

import instructionsText from "./instructions.txt";

/** The instructions that an MCP server sends to models. */
export const instructions: string = instructionsText;

export {
  answerBytes,
  type AnswerLimit,
  fittedOutcome,
  answerLimitOf,
  linesDelivered,
  pathsShownIn,
  withinLimit,
} from "./answer-size.ts";
export { linesOfRefusal } from "./change-words.ts";
export {
  callTitle,
  type HookClient,
  hookClients,
  hookDecision,
  isToolOf,
  messageToPerson,
  onlyLooks,
  ownFileToolsOf,
  ownToolRefusal,
  shellCommandOf,
  shellOutputOf,
} from "./client-tools.ts";
export { treeQuestionWords, treeVerb } from "./tree-words.ts";
export {
  descriptionFor,
  type Dialect,
  type Facts,
  type ToolSpec,
  type Words,
} from "./dialect.ts";
export { exactText, type ExactText } from "./exact-text.ts";
export { isExemptModel } from "./exempt-models.ts";
export { defaultDialect, type DialectName, dialectNames, dialects, type DialectTools } from "./index.ts";
export { choicesOfOlder, joinedChoices, offeredSpecs, toolChoice } from "./offered-tools.ts";
export { requestOf } from "./lenient-input.ts";
export { checkedFile, diagnosticMessage } from "./lsp-text.ts";
export { nearestWord } from "./parameters.ts";
export { patchForOperation, type PatchOperation } from "./patch-operation.ts";
export { type Line, person, personDialect, type Role, type View, viewOf } from "./person/index.ts";
export {
  confinementFinding,
  confinementWords,
  type Finding,
  folderFindings,
  machineFindings,
  settingsFindings,
} from "./person/findings.ts";
export {
  collectedLine,
  commandLineClient,
  madeBy,
  rewindNote,
  sessionTitle,
  sizeText,
  timeText,
  typedByPerson,
  usageLines,
  verifiedLines,
} from "./person/history.ts";
export { meanings, reasonText, remedyText, ruleText, verdictWords } from "./person/permissions.ts";
export { sentenceForPage, sentenceForPerson } from "./person/problems.ts";
export { rewindHead, rewoundForPerson, type RewindWay } from "./person/rewind.ts";
export { parenthesized } from "./rewind-text.ts";
export { type Command, type CommandName, commandOf } from "./text-editor.ts";
export { argumentFault, lostCallSentences, numberStyles } from "./words.ts";
export {
  type TextEditorFlavour,
  truncateReply,
  notUndoneSentence,
  noHistorySentence,
  outsideMemoriesSentence,
  errorReply,
  textReply,
  undoneSentence,
  textEditorWords,
} from "./text-editor.ts";
