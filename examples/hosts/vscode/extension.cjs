// @ts-check
// Filehand's tools as language-model tools of VS Code, for every chat that may use tools. The manifest lists them; `npm run generate`
// writes it. The person is asked in the chat before a file is changed.

const vscode = require("vscode");

/** @type {Promise<import("filehand").Session> | undefined} */
let opened;

/** @param {import("vscode").ExtensionContext} context */
exports.activate = (context) => {
  /** @type {readonly { readonly name: string }[]} */
  const listed = context.extension.packageJSON.contributes.languageModelTools;
  for (const { name } of listed) {
    const tool = name.slice("filehand_".length);
    context.subscriptions.push(
      vscode.lm.registerTool(name, {
        invoke: (options, token) => invoke(tool, options.input, token),
        prepareInvocation: ({ input }) => prepare(tool, input),
      }),
    );
  }
};

/** @param {string} tool @param {unknown} input @param {import("vscode").CancellationToken} token */
async function invoke(tool, input, token) {
  opened ??= openSession();
  const session = await opened;
  const controller = new AbortController();
  token.onCancellationRequested(() => controller.abort());
  const reply = await session.call(tool, input, { signal: controller.signal });
  const parts = reply.content.map((part) =>
    part.type === "text"
      ? new vscode.LanguageModelTextPart(part.text)
      : vscode.LanguageModelDataPart.image(Buffer.from(part.data, "base64"), part.mimeType),
  );
  return new vscode.LanguageModelToolResult(parts);
}

/** What VS Code asks before a call that changes something. @param {string} tool @param {unknown} input */
async function prepare(tool, input) {
  opened ??= openSession();
  const definition = (await opened).definitions().find(({ name }) => name === tool);
  if (definition === undefined || definition.readOnly) return undefined;
  const { file_path } = /** @type {{ file_path?: unknown }} */ (input);
  return {
    confirmationMessages: { title: `${tool} "${String(file_path)}"?`, message: JSON.stringify(input, null, 2) },
  };
}

async function openSession() {
  const { createFilehand } = await import("filehand");
  const roots = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  // The chat has asked, so Filehand asks only about secrets and protected files; those calls are refused here.
  return createFilehand({ roots, mode: "accept-edits", reminder: false }).session({ dialect: "claude" });
}
