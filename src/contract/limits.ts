/** Limits that several rooms share, or that an operator can change (marked "settable"). Unit, then `Max`, last in the name. */

export const limits = {
  /** Tokens of one `claude` page (settable). */
  pageTokensMax: 25_000,
  /** The smallest value that an operator may set for the bytes of one answer: the notes below a page need room. */
  answerBytesMin: 1_000,
  /** UTF-8 bytes of one page in dialects that have no byte cap of their own. */
  pageBytesMax: 1_048_576,
  /** UTF-16 units of one line in dialects that have no line cap of their own. */
  lineCharsMax: 100_000,
  /** The same two for dialects with a token budget, which ends a page long before. */
  budgetedPageBytesMax: 8_388_608,
  budgetedLineCharsMax: 1_000_000,
  /** UTF-16 units of the part of a line that a call selects by `column`; the limits of a page apply as well. */
  linePartCharsMax: 1_000_000,
  /** Bytes at the start of a file that are sampled to detect binary content and the encoding. */
  headBytesMax: 65_536,
  /** Bytes of a file that must be read whole: images; PDF and office documents, notebooks. */
  imageBytesMax: 67_108_864,
  documentBytesMax: 104_857_600,
  /** Pixels of an image that is decoded; longest edge and side of the image in the reply. */
  imagePixelsMax: 100_000_000,
  imageLongEdgeMax: 1_568,
  imageSideMax: 2_000,
  /** Memory of the library that decodes HEIC: 176 MB for 24 megapixels in 4:2:0, for which the whole call takes 272 MB. */
  imageMegabytesMax: 200,
  /** Pages of a PDF that a call without `pages` reads, and pages of any call. */
  pdfWholePagesMax: 10,
  pdfPagesMax: 20,
  pdfMsMax: 20_000,
  pdfMegabytesMax: 256,
  /** CPU time of a worker, where the system tells it: extract an office document, parse a notebook, detect an encoding, count tokens. */
  officeMsMax: 20_000,
  notebookMsMax: 20_000,
  encodingMsMax: 5_000,
  tokensMsMax: 10_000,
  /** Memory of a worker thread: of a WebAssembly library, and of its JavaScript heap, which is larger for a notebook. */
  workerMegabytesMax: 256,
  workerHeapMegabytesMax: 192,
  notebookMegabytesMax: 1_024,
  outlineBytesMax: 4_194_304,
  /** Characters of the second attempt, after parsing the whole text ran out of time or memory. */
  outlineAgainCharsMax: 524_288,
  /** Wall-clock time of an Outline call, and of an outline that replaces a page of Read; memory of both. */
  outlineMsMax: 60_000,
  outlineInsteadMsMax: 3_000,
  outlineMegabytesMax: 192,
  /** Characters for each millisecond of CPU time that parsing may take (code takes less than half); the least time. */
  outlineCharsPerCpuMs: 600,
  outlineCpuMsMin: 700,
  /** Items of an outline: collected, shown; the largest `depth`; characters of a name. */
  outlineItemsFoundMax: 20_000,
  outlineItemsMax: 400,
  outlineDepthMax: 20,
  outlineNameCharsMax: 120,
  /** Results of one LSP query that a reply shows, characters of a source line in it, and of a hover text. */
  lspResultsMax: 100,
  lspLineCharsMax: 200,
  lspHoverCharsMax: 8_000,
  /** Characters of the new name in a Rename. */
  nameCharsMax: 200,
  attachmentBytesMax: 7_340_032,
  /** Characters of a cell output, outputs of a cell, cells. A notebook with more cells is read and edited as text. */
  notebookOutputCharsMax: 10_000,
  notebookOutputsMax: 50,
  notebookCellsMax: 10_000,
  /** Pixels of a notebook's images that are decoded for one reply. */
  notebookPixelsMax: 200_000_000,
  /** Bytes up to which a file's content is hashed on read, to recognise it when only its mtime has changed. */
  hashedBytesMax: 1_048_576,
  /** The same while the mtime is too coarse to show a second change. */
  coarseHashedBytesMax: 268_435_456,
  /** Bytes of a file that can be edited (settable). */
  editBytesMax: 1_073_741_824,
  /** Bytes of a file that an edit loads into memory; larger files are searched for exact matches only. */
  editInMemoryBytesMax: 33_554_432,
  /** Bytes from which an edit first streams a file, looking for an exact match. MUST be more than `hashedBytesMax`. */
  editPassedBytesMin: 2_097_152,
  /** Characters of a field in the reply to a change, and of its diff. */
  changeCharsMax: 100_000,
  /** Characters of all diffs in the reply to a patch: the reply is made in one turn of the event loop. */
  patchCharsMax: 200_000,
  /** Turns, or files of one turn, that History shows at once; files of each turn in a list of turns. */
  historyItemsMax: 100,
  historyFilesMax: 10,
  /** Characters of one History reply, and of one diff line in it. */
  historyCharsMax: 40_000,
  historyLineCharsMax: 1_000,
  /** Bytes of one version that History compares, and of all versions that one call compares. */
  historyVersionBytesMax: 4_194_304,
  historyBytesMax: 33_554_432,
  /** Files that the reply to a rewind lists one by one. */
  rewindFilesMax: 200,
  turnsNamedMax: 10,
  suggestionsMax: 3,
  /** Milliseconds that a search for suggestions may walk folders. */
  suggestionMsMax: 3_000,
  /** Symlinks followed on the way to one file, as in Linux. */
  linkHopsMax: 40,
  /** Bytes of a path and of one of its names, as in the kernel (PATH_MAX, NAME_MAX). */
  pathBytesMax: 4_096,
  nameBytesMax: 255,
  /** Times that a lookup starts over because the tree changed under it. */
  lookupTriesMax: 3,
  /** Folders opened in one lookup: each `x/../` in a deep folder walks down from the root again. */
  lookupOpensMax: 20_000,
  /** Ancestors of a missing path that are looked up to find one that exists. */
  lookupsAboveMax: 64,
  /** Files, links and folders in a folder that is deleted, moved or copied as a whole: each is locked until all are done. */
  wholeTreeEntriesMax: 20_000,
  /** Those that an outcome lists one by one. */
  wholeTreeFilesListedMax: 50,
  /** Milliseconds that the host's formatter may take for a file, which stays locked meanwhile (settable). */
  formatterMsMax: 10_000,
  /** Bytes of the journal of a change of several files. */
  setJournalBytesMax: 33_554_432,
  foldersMadeMax: 100,
  /** Milliseconds without a call, after which the next one looks for what others changed. */
  quietMsMin: 200,
  /** Milliseconds of a search (settable). */
  searchMsMax: 20_000,
  /** The range that an operator may set: less finds nothing. */
  searchMsLeast: 100,
  searchMsMost: 600_000,
  /**
   * Lookups besides a search: files hidden by rules and links among the first `searchListedMax` entries, and ignored
   * files that match if no other file does. They get `searchExtraMsMax`, or a tenth of the search's time if it was
   * slower than `searchQuickMsMax` and the folder has not been listed.
   */
  searchQuickMsMax: 400,
  searchExtraMsMax: 2_000,
  searchListedMax: 4_000,
  /** Matching lines counted in one file in a search that shows lines. */
  searchFileLinesMax: 1_000_000,
  /** Entries of one reply to a search, and entries that a call may skip. */
  searchEntriesMax: 10_000,
  searchSkipMax: 100_000,
  /** UTF-16 units of all lines in the reply to a search. */
  searchCharsMax: 60_000,
  patternCharsMax: 10_000,
  contextLinesMax: 1_000,
  /** Bytes of a UTF-16 file whose lines a search shows: the file is decoded as a whole. */
  wideTextBytesMax: 33_554_432,
  folderEntriesMax: 1_000_000,
  searchGlobsCharsMax: 2_048,
  /** Characters of a glob, expansions of its braces, groups in one name, names in one expansion and in all of them. */
  globCharsMax: 2_000,
  globChoicesMax: 1_000,
  globGroupsMax: 20,
  globDepthMax: 200,
  globNamesMax: 10_000,
  /** Instructions of a compiled glob, and characters of `!(…)` groups that contain wildcards in one name. */
  globInstructionsMax: 10_000,
  globExcludedCharsMax: 256,
  /** Matching steps of one name against ignore files, and of one path against the rules of one source. */
  ignoreStepsMax: 1_000_000,
  ruleStepsMax: 1_000_000,
  /** Characters of all rules together; those that take long to compile count several times. */
  ruleCharsMax: 500_000,
  /** Time limit of a Glob, and ignored or hidden entries that it visits to count those that match. */
  globMsMax: 30_000,
  globCountedEntriesMax: 10_000,
  globFilesMax: 100,
  /** Entries of one tree below its first level, and the largest depth of a tree. */
  treeEntriesMax: 500,
  treeDepthMax: 20,
  /** Depth of the tree that a model gets by default. */
  treeLevels: 3,
  /** Entries of the first level of a listing whose call sets no limit. */
  listEntriesMax: 2_000,
  listIgnoreMax: 100,
  /** Bytes of an ignore file, and characters of one of its lines. */
  ignoreFileBytesMax: 1_048_576,
  ignoreLineCharsMax: 8_192,
  /** Objects and arrays (20,001 in a call of 20,000 edits) and distinct keys in JSON from outside. */
  jsonContainersMax: 70_000,
  jsonKeysMax: 10_000,
  batchLineBytesMax: 67_108_864,
  /** Bytes of one message from an MCP client over stdio, and of one to it: clients disconnect above 10 MiB. */
  mcpLineBytesMax: 67_108_864,
  mcpResultBytesMax: 10_000_000,
  /** Bytes of a server's log that wait in memory for a reader; later lines are counted and dropped. */
  logBytesMax: 1_048_576,
  /**
   * The call log: bytes and age of all that it keeps (settable; 64 MiB and 30 days), bytes of one of its files, of one record, changed
   * files of one record.
   */
  callLogBytesMax: 67_108_864,
  callLogAgeMsMax: 2_592_000_000,
  callLogFileBytesMax: 4_194_304,
  callLogLineBytesMax: 65_536,
  callLogChangesMax: 50,
  /** Records that wait in memory to be written, and those that one write takes; milliseconds that they wait for others. */
  callLogPendingMax: 10_000,
  callLogBatchMax: 200,
  callLogBatchMs: 250,
  /** Milliseconds that a question counts as open after its call has left to be repeated with the answer. */
  callLogLeftMsMax: 300_000,
  /** Bytes of the log that one request of the inspector's page searches, and bytes at its end that may have open questions. */
  callLogPageBytesMax: 8_388_608,
  callLogOpenBytesMax: 1_048_576,
  /** Bytes of a settings file. It is parsed in one turn of the event loop: up to 35 ms for this size. */
  settingsBytesMax: 32_768,
  /** Milliseconds that the reply to a change waits for diagnostics (settable). */
  languageWaitMsMax: 1_500,
  /** Waiting for a server: for a reply, its start, its shutdown, and its exit before it is killed. */
  languageAnswerMsMax: 10_000,
  languageStartMsMax: 30_000,
  languageShutdownMsMax: 1_000,
  languageExitMsMax: 500,
  /** Milliseconds of silence after which pushed diagnostics count as complete: versioned, and unversioned. */
  languageSettleMs: 60,
  languageUnversionedSettleMs: 250,
  /** The same while it is unknown whether the server has read the change. */
  languageUnreadSettleMs: 1_000,
  /** Bytes of the header and of the body of one message from a language server; it is parsed in one turn of the event loop. */
  languageHeaderBytesMax: 65_536,
  languageBodyBytesMax: 8_388_608,
  /** Objects and lists in it: 50 ms of parsing, far more than in an answer of `languageItemsMax` items. */
  languageContainersMax: 250_000,
  /** Bytes that a server has not read yet, and requests that it has not answered yet. */
  languageUnreadBytesMax: 67_108_864,
  languageRequestsMax: 200,
  /** Open documents of a server, files whose errors are remembered, servers of a toolkit, starts before giving up. */
  languageDocumentsMax: 50,
  languageKnownFilesMax: 200,
  languageServersMax: 16,
  languageStartsMax: 4,
  languageBackOffMs: 250,
  languageFileBytesMax: 4_194_304,
  /** Diagnostics of one file in memory, errors and warnings in one reply, characters of a message. */
  languageDiagnosticsMax: 2_000,
  languageErrorsShownMax: 20,
  languageWarningsShownMax: 10,
  languageMessageCharsMax: 1_000,
  /** Locations, symbols or edits of one reply of a server, characters of a hover. */
  languageItemsMax: 10_000,
  languageHoverCharsMax: 20_000,
  /** Characters at the end of a server's stderr that are kept. */
  languageComplaintCharsMax: 4_096,
  /** Files whose diagnostics are pending for a session, and sessions with pending diagnostics. */
  languageLateFilesMax: 50,
  languageLateSessionsMax: 100,
  /** Paths of one call that the call queue distinguishes, and names of each; calls with more wait longer than necessary. */
  callClaimsMax: 256,
  claimNamesMax: 64,
  /** Unread parts of a file that an edit's error lists. */
  unshownPartsMax: 1_000,
  /** Lines of a diff that a reply shows; the session then counts as having read them. */
  changeLinesMax: 30,
} as const satisfies Record<string, number>;
