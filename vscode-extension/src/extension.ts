/** The extension's two ends. */

import * as vscode from "vscode";

import { registerCommands } from "./commands";
import { onKeyChange } from "./key";
import { onActiveInterpreterChange } from "./python";
import { Server } from "./server";
import { isServerElsewhere, SECTION, selectorOf } from "./settings";
import { StatusBar } from "./statusbar";

/** Settings that the running server cannot take over. */
const NEED_RESTART = [`${SECTION}.interpreter`, `${SECTION}.languages`, `${SECTION}.grammars`];

let server: Server | undefined;

/**
 * Called by VS Code when the first file of a language that it knows to be completed is opened, and at the latest when
 * it has started: other languages are in the settings only. The server waits for a document that is completed.
 */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("fimlsp", { log: true });
  const bar = new StatusBar();
  const environments = context.globalStorageUri.fsPath;
  const only = new Server(
    { extension: context.extensionPath, environments },
    context.globalState,
    context.secrets,
    log,
    (status) => bar.show(status),
  );
  server = only;
  context.subscriptions.push(
    log,
    bar,
    registerCommands(only, bar, log),
    onKeyChange(context.secrets, () => only.renew()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => only.renew()),
    vscode.workspace.onDidOpenTextDocument(() => wakeIfNeeded(only)),
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
