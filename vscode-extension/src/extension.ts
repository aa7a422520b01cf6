/** The extension's two ends. */

import * as vscode from "vscode";

import { Server } from "./client";
import { registerCommands, SHOW_LOG } from "./commands";
import { SECTION } from "./settings";
import { show } from "./status";

let server: Server | undefined;

/** Called by VS Code when the first Python file is opened. */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("fimlsp", { log: true });
  const item = vscode.window.createStatusBarItem("fimlsp.status", vscode.StatusBarAlignment.Right);
  item.name = "fimlsp";
  item.command = SHOW_LOG;
  item.show();
  const only = new Server(context.extensionPath, log, (status) => show(item, status));
  server = only;
  const settingsChanged = vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration(`${SECTION}.interpreter`)) {
      void only.restart();
    }
  });
  context.subscriptions.push(log, item, registerCommands(only, log), settingsChanged);
  void only.restart();
}

/** Called by VS Code when it closes: the server is given the time to end. */
export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}
