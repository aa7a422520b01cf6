/** Installing the server into the extension's own environment, with the user. */

import * as vscode from "vscode";

import { bases, firstSuitable, install, InstallationError, stepOf } from "./environment";
import { activeInterpreter } from "./python";
import { installFromOf, SECTION } from "./settings";

const CPU = "For this computer's processor";
const CUDA = "For an NVIDIA graphics card, too";

const CHOICES: vscode.QuickPickItem[] = [
  { label: CPU, detail: "Enough for the model that comes with fimlsp." },
  { label: CUDA, detail: "For larger models. PyTorch's libraries for it are a download of gigabytes." },
];

/** Installs into *folder* after asking for what; true when the server is there. */
export async function installWithUser(folder: string, log: vscode.LogOutputChannel): Promise<boolean> {
  const choice = await vscode.window.showQuickPick(CHOICES, {
    title: "fimlsp: install the server into an environment of its own",
  });
  if (choice === undefined) {
    return false;
  }
  const base = await firstSuitable(bases(await activeInterpreter(vscode.extensions)));
  if (base === undefined) {
    void vscode.window.showErrorMessage(
      "fimlsp needs Python 3.10 or newer with its venv module: install it, and try again.",
    );
    return false;
  }
  const what = installFromOf(vscode.workspace.getConfiguration(SECTION));
  const options = { location: vscode.ProgressLocation.Notification, title: "fimlsp", cancellable: true };
  return vscode.window.withProgress(options, (progress, token) => {
    const abort = new AbortController();
    token.onCancellationRequested(() => abort.abort());
    const listener = (line: string): void => {
      log.info(line);
      const message = stepOf(line);
      if (message !== undefined) {
        progress.report({ message });
      }
    };
    progress.report({ message: "making the environment" });
    return succeeds(
      install({ base, folder, what, cpuOnly: choice.label === CPU }, listener, abort.signal),
      log,
    );
  });
}

async function succeeds(installing: Promise<string>, log: vscode.LogOutputChannel): Promise<boolean> {
  try {
    await installing;
    return true;
  } catch (error) {
    const reason = error instanceof InstallationError ? error.message : String(error);
    log.error(reason);
    void vscode.window
      .showErrorMessage(`fimlsp could not be installed: ${reason}`, "Show the Log")
      .then((answer) => answer && log.show());
    return false;
  }
}
