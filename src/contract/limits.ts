/** Every limit in one place. Unit, then `Max`, last in the name. A settings key may change those marked so. */

export const limits = {
  /** Tokens of one `claude` page (settable). */
  pageTokensMax: 25_000,
  /** The least that the bytes of one answer may be set to: the notes below a page need room, too. */
  answerBytesMin: 1_000,
  /** UTF-8 bytes of one page in dialects that have no byte cap of their own. */
  pageBytesMax: 1_048_576,
  /** UTF-16 units of one line in dialects that have no line cap of their own. */
  lineCharsMax: 100_000,
  /** The same where a token budget ends a page long before. */
  budgetedPageBytesMax: 8_388_608,
  budgetedLineCharsMax: 1_000_000,
  /** UTF-16 units of the part of a line that a call asks for by its column; the limits of the page hold as well. */
  linePartCharsMax: 1_000_000,
  /** First bytes looked at to tell text from binary and to find the encoding. */
  headBytesMax: 65_536,
  /** Bytes of a file that can only be read whole: images, documents, notebooks. */
  imageBytesMax: 67_108_864,
  documentBytesMax: 104_857_600,
  /** Pixels that are decoded at all, and sides of the picture that is handed out. */
  imagePixelsMax: 100_000_000,
  imageLongEdgeMax: 1_568,
  imageSideMax: 2_000,
  /** Pages of a PDF read without being chosen, and in one call. */
  pdfWholePagesMax: 10,
  pdfPagesMax: 20,
  pdfMsMax: 20_000,
  pdfMegabytesMax: 256,
  /** How long an office document is read, a notebook is parsed, an encoding is looked for, tokens are counted. */
  officeMsMax: 20_000,
  notebookMsMax: 20_000,
  encodingMsMax: 5_000,
  tokensMsMax: 10_000,
  /** Megabytes of a worker thread: of a library in WebAssembly, and of its own heap, which is larger for a notebook. */
  workerMegabytesMax: 256,
  workerHeapMegabytesMax: 192,
  notebookMegabytesMax: 1_024,
  /** Bytes of a file that are parsed for its outline, for how long (less where it stands for a page), and with how much memory. */
  outlineBytesMax: 4_194_304,
  /** Characters that are tried again where all of it took too long or too much memory. */
  outlineAgainCharsMax: 524_288,
  outlineMsMax: 10_000,
  outlineInsteadMsMax: 3_000,
  outlineMegabytesMax: 192,
  /** Items of an outline that are found at all and that are shown, levels that can be asked for, characters of a name. */
  outlineItemsFoundMax: 20_000,
  outlineItemsMax: 400,
  outlineDepthMax: 20,
  outlineNameCharsMax: 120,
  /** Results of one question to a language server that an answer shows, characters of a line in it, and of what a hover says. */
  lspResultsMax: 100,
  lspLineCharsMax: 200,
  lspHoverCharsMax: 8_000,
  /** Characters of a new name. */
  nameCharsMax: 200,
  /** Bytes of a file that is handed out as an attachment. */
  attachmentBytesMax: 7_340_032,
  /** Characters of one output of a notebook's cell, outputs of a cell, cells: a file with more of them is read and edited as text. */
  notebookOutputCharsMax: 10_000,
  notebookOutputsMax: 50,
  notebookCellsMax: 10_000,
  /** Pixels of a notebook's pictures that are decoded for one answer. */
  notebookPixelsMax: 200_000_000,
  /** Bytes up to which a file's content is hashed when it is read, to know it again when only its time has changed. */
  hashedBytesMax: 1_048_576,
  /** The same while a file's times are too coarse to tell whether it changed again. */
  coarseHashedBytesMax: 268_435_456,
  /** Bytes of a file that can be edited at all (settable). */
  editBytesMax: 1_073_741_824,
  /** Bytes of a file that is held in memory while it is edited; larger ones are searched for the very letters only. */
  editInMemoryBytesMax: 33_554_432,
  /** Bytes from which a file is first searched for the very letters without being held. MUST be more than `hashedBytesMax`. */
  editPassedBytesMin: 2_097_152,
  /** Characters of a field in the reply to a change, and of its diff. */
  changeCharsMax: 100_000,
  /** Turns, or files of one turn, that History shows at once; files of each turn in a list. */
  historyItemsMax: 100,
  historyFilesMax: 10,
  /** Characters of one answer of History, and of one line of a diff in it. */
  historyCharsMax: 40_000,
  historyLineCharsMax: 1_000,
  /** Bytes of one version that is compared for History, and of all that one call compares. */
  historyVersionBytesMax: 4_194_304,
  historyBytesMax: 33_554_432,
  /** Files that the answer to a rewind names one by one. */
  rewindFilesMax: 200,
  /** Turns that a refusal names. */
  turnsNamedMax: 10,
  /** Suggestions for a path that does not exist. */
  suggestionsMax: 3,
  /** Milliseconds in which folders are gone through for suggestions. */
  suggestionMsMax: 3_000,
  /** Links followed on the way to one file. */
  linkHopsMax: 40,
  /** Bytes of a path and of one of its names, as the kernel has them. */
  pathBytesMax: 4_096,
  nameBytesMax: 255,
  /** Times a lookup starts over because the tree changes under it. */
  lookupTriesMax: 3,
  /** Folders opened in one lookup: `x/../` in a deep folder, again and again, goes down from the root each time. */
  lookupOpensMax: 20_000,
  /** Folders above a path that are looked up because the path itself leads nowhere. */
  lookupsAboveMax: 64,
  /** Files of a folder that is deleted or moved as a whole: each is held until all are done. */
  folderFilesMax: 500,
  /** Milliseconds that the host's formatter may take for a file, whose lock is held meanwhile (settable). */
  formatterMsMax: 10_000,
  /** Bytes of the journal of several files that are changed together. */
  setJournalBytesMax: 33_554_432,
  /** Folders that are made for one new file. */
  foldersMadeMax: 100,
  /** Milliseconds of a search (settable). */
  searchMsMax: 20_000,
  /** What an operator may make of that: less would find nothing, and a timer of the system knows no more than 24 days. */
  searchMsLeast: 100,
  searchMsMost: 600_000,
  /**
   * What is looked up besides a search: files that rules hide and links, among the first so many entries, and ignored
   * files that match, if no other does. After a search that was not quick, in a folder that could not be listed so far, this has a tenth of its time.
   */
  searchQuickMsMax: 400,
  searchExtraMsMax: 2_000,
  searchListedMax: 4_000,
  /** Matching lines of one file that are counted where lines are shown. */
  searchFileLinesMax: 1_000_000,
  /** Entries that the answer to a search can have, and that can be skipped. */
  searchEntriesMax: 10_000,
  searchSkipMax: 100_000,
  /** UTF-16 units of all lines in the answer to a search. */
  searchCharsMax: 60_000,
  /** UTF-16 units of a pattern. */
  patternCharsMax: 10_000,
  /** Lines of context on each side. */
  contextLinesMax: 1_000,
  /** Bytes of a UTF-16 file whose lines a search shows: it is decoded whole. */
  wideTextBytesMax: 33_554_432,
  /** Entries of a folder held at once. */
  folderEntriesMax: 1_000_000,
  /** Characters of a list of globs. */
  searchGlobsCharsMax: 2_048,
  /** Characters of a glob, texts that its braces stand for, groups in one name, names in one text and in all. */
  globCharsMax: 2_000,
  globChoicesMax: 1_000,
  globGroupsMax: 20,
  globDepthMax: 200,
  globNamesMax: 10_000,
  /** Instructions that all names of a glob are compiled to, and characters of groups `!(…)` in a name that repeat something. */
  globInstructionsMax: 10_000,
  globExcludedCharsMax: 256,
  /** Steps of comparing one name with ignore files, and one path with the rules of one source. */
  ignoreStepsMax: 1_000_000,
  ruleStepsMax: 1_000_000,
  /** How long a search for names goes on, and how many ignored or hidden entries are looked at to count those that match. */
  globMsMax: 30_000,
  globCountedEntriesMax: 10_000,
  /** Files that one answer of Glob names. */
  globFilesMax: 100,
  /** Entries of one tree below its first level, and levels of a tree. */
  treeEntriesMax: 500,
  treeDepthMax: 20,
  /** Levels that a tree for a model has. */
  treeLevels: 3,
  /** Entries of the first level of a list that names no limit. */
  listEntriesMax: 2_000,
  /** Patterns of what a list leaves out. */
  listIgnoreMax: 100,
  /** Bytes of an ignore file, and characters of one of its lines. */
  ignoreFileBytesMax: 1_048_576,
  ignoreLineCharsMax: 8_192,
  /** Objects and lists of a JSON text from outside (arguments, messages), and different keys. A call of 20,000 edits has 20,001 of the first. */
  jsonContainersMax: 70_000,
  jsonKeysMax: 10_000,
  /** Bytes of one line of `filehand batch`. */
  batchLineBytesMax: 67_108_864,
  /** Bytes of one message from an MCP client over stdio, and of one to it: clients hang up above 10 MiB. */
  mcpLineBytesMax: 67_108_864,
  mcpResultBytesMax: 10_000_000,
  /** Bytes of a server's log that wait in memory for a reader; what comes then is counted and left out. */
  logBytesMax: 1_048_576,
  /** Bytes of a settings file. It is parsed in one turn of the event loop, which takes up to 35 ms for so many. */
  settingsBytesMax: 32_768,
  /** Milliseconds that the answer to a change waits for what language servers say of it (settable). */
  languageWaitMsMax: 1_500,
  /** The same for a question to a server, for its start, for its shutdown, and until it is killed after that. */
  languageAnswerMsMax: 10_000,
  languageStartMsMax: 30_000,
  languageShutdownMsMax: 1_000,
  languageExitMsMax: 500,
  /** Milliseconds of silence after which pushed diagnostics count as complete: with a version, and without one. */
  languageSettleMs: 60,
  languageUnversionedSettleMs: 250,
  /** The same where it is not even known that the server has read the change. */
  languageUnreadSettleMs: 1_000,
  /** Bytes of the header and of the body of one message from a language server. */
  languageHeaderBytesMax: 65_536,
  languageBodyBytesMax: 33_554_432,
  /** Bytes that a server has not read yet, requests that it has not answered. */
  languageUnreadBytesMax: 67_108_864,
  languageRequestsMax: 200,
  /** Documents that one server has open, files of which its errors are remembered, servers of one toolkit, starts of one server before it is given up. */
  languageDocumentsMax: 50,
  languageKnownFilesMax: 200,
  languageServersMax: 16,
  languageStartsMax: 4,
  languageBackOffMs: 250,
  /** Bytes of a file that a server gets to see. */
  languageFileBytesMax: 4_194_304,
  /** Diagnostics of one file that are kept, errors and warnings that one answer shows, characters of a message. */
  languageDiagnosticsMax: 2_000,
  languageErrorsShownMax: 20,
  languageWarningsShownMax: 10,
  languageMessageCharsMax: 1_000,
  /** Places, symbols or edits of one answer, characters of what is said of a symbol. */
  languageItemsMax: 10_000,
  languageHoverCharsMax: 20_000,
  /** The last characters of a server's standard error that are kept. */
  languageComplaintCharsMax: 4_096,
  /** Files whose diagnostics are still owed to a session, and sessions that something is owed to. */
  languageLateFilesMax: 50,
  languageLateSessionsMax: 100,
  /** Paths of one call that the call queue tells apart, and names of each; beyond that calls wait for more than they need to. */
  callClaimsMax: 256,
  claimNamesMax: 64,
  /** Parts of a file that edits would change and that were not shown; beyond that no more are looked for. */
  unshownPartsMax: 1_000,
  /** Lines of a diff that are shown with an answer, and so count as seen. */
  changeLinesMax: 30,
} as const satisfies Record<string, number>;
