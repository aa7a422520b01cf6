/** The commands of the palette. */

import * as vscode from "vscode";

import type { Server } from "./client";
import { SECTION } from "./settings";

export const SHOW_LOG = "fimlsp.showLog";

/** Register the commands; dispose of what is given back to take them away. */
export function registerCommands(server: Server, log: vscode.LogOutputChannel): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("fimlsp.restart", () => server.restart()),
    vscode.commands.registerCommand(SHOW_LOG, () => log.show()),
    vscode.commands.registerCommand("fimlsp.toggleAutomatic", toggleAutomatic),
  );
}

/** Turns completions while typing on or off, where the setting was made; the server is told by the client. */
async function toggleAutomatic(): Promise<void> {
  const settings = vscode.workspace.getConfiguration(SECTION);
  const isOn = settings.get("automatic", true);
  const isOfWorkspace = settings.inspect("automatic")?.workspaceValue !== undefined;
  await settings.update("automatic", !isOn, !isOfWorkspace);
  vscode.window.setStatusBarMessage(`fimlsp: completions while typing are ${isOn ? "off" : "on"}`, 3000);
}
