/** The extension's two ends. */

import * as vscode from "vscode";

import { offerModel } from "./choosing";
import { registerCommands } from "./commands";
import { onKeyChange } from "./key";
import { onActiveInterpreterChange } from "./python";
import { Resting } from "./resting";
import { Server } from "./server";
import { isServerElsewhere, SECTION, selectorOf } from "./settings";
import type { Shown } from "./shown";
import { StatusBar } from "./statusbar";

/** Settings that the running server cannot take over. */
/** Settings that the extension uses at the start, or that the server takes from its initialization alone. */
const NEED_RESTART = ["interpreter", "languages", "grammars", "apiKeyVariable", "typescript"].map(
  (name) => `${SECTION}.${name}`,
);

let server: Server | undefined;

/**
 * Called by VS Code when the first file of a language that it knows to be completed is opened, and at the latest when
 * it has started: other languages are in the settings only. The server waits for a document that is completed.
 */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("fimlsp", { log: true });
  const bar = new StatusBar();
  const environments = context.globalStorageUri.fsPath;
  let isOffering = false;
  const only: Server = new Server(
    { extension: context.extensionPath, environments },
    context.globalState,
    context.secrets,
    log,
    (status) => {
      bar.show(status);
      if (status.state === "idle" && !isOffering) {
        isOffering = true;
        void offerModel(only, context.globalState);
      }
    },
  );
  server = only;
  context.subscriptions.push(
    log,
    bar,
    registerCommands(only, bar, log),
    onKeyChange(context.secrets, () => only.renew()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => only.renew()),
    vscode.workspace.onDidOpenTextDocument(() => wakeIfNeeded(only)),
    vscode.workspace.onDidChangeTextDocument((change) => typeOver(only.shown, change)),
    watchCursor(only),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const model = vscode.workspace.getConfiguration(SECTION).get("model");
      const namesServer = change.affectsConfiguration(`${SECTION}.model`) && isServerElsewhere(model);
      if (namesServer || NEED_RESTART.some((setting) => change.affectsConfiguration(setting))) {
        only.renew();
      }
      wakeIfNeeded(only);
    }),
  );
  void onActiveInterpreterChange(vscode.extensions, () => void only.reconsider()).then((listening) =>
    context.subscriptions.push(listening),
  );
  wakeIfNeeded(only);
}

/** Delete the colon that was typed in front of the one that a suggestion had left there. */
function typeOver(shown: Shown, { document, contentChanges, reason }: vscode.TextDocumentChangeEvent): void {
  const colon = reason === undefined ? shown.doubledColon(document, contentChanges) : undefined; // or undone, redone
  const editor = vscode.window.activeTextEditor;
  if (colon !== undefined && editor?.document === document) {
    const range = new vscode.Range(colon.line, colon.character, colon.line, colon.character + 1);
    void editor.edit((edit) => edit.delete(range), { undoStopBefore: false, undoStopAfter: true });
  }
}

/** Tell the server where the cursor rests. */
function watchCursor(only: Server): vscode.Disposable {
  const resting = new Resting<vscode.TextEditor>((editor) => void only.rest(editor.document, editor.selection.active));
  return vscode.Disposable.from(
    { dispose: () => resting.end() },
    vscode.window.onDidChangeActiveTextEditor((editor) => editor !== undefined && resting.enter(editor)),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
      if (textEditor === vscode.window.activeTextEditor) {
        resting.move(textEditor);
      }
    }),
  );
}

/** Start the server if a document is open that is completed. */
function wakeIfNeeded(only: Server): void {
  const selector = selectorOf(vscode.workspace.getConfiguration(SECTION));
  if (vscode.workspace.textDocuments.some((document) => vscode.languages.match(selector, document) > 0)) {
    only.wake();
  }
}

/** Called by VS Code when it closes: the server is given the time to end. */
export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}
