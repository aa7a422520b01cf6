/** Choosing the model. */

import * as vscode from "vscode";

import { isHubName, SECTION } from "./settings";

const BUNDLED = "$(package) The small model that comes with fimlsp";
const FOLDER = "$(folder) A folder…";
const HUB = "$(cloud) A model of the hub that is on this machine…";

/** Asks which model is to write, and sets it. */
export async function chooseModel(): Promise<void> {
  const now = vscode.workspace.getConfiguration(SECTION).get("model", "");
  const kind = await vscode.window.showQuickPick([BUNDLED, FOLDER, HUB], {
    title: "fimlsp: which model writes the suggestions?",
    placeHolder: now === "" ? "now: the bundled one" : `now: ${now}`,
  });
  const model =
    kind === BUNDLED
      ? ""
      : kind === FOLDER
        ? await askFolder()
        : kind === HUB
          ? await askName(now)
          : undefined;
  if (model !== undefined) {
    await vscode.workspace
      .getConfiguration(SECTION)
      .update("model", model, vscode.ConfigurationTarget.Global);
  }
}

async function askFolder(): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title: "The folder with the model's config.json",
    canSelectFiles: false,
    canSelectFolders: true,
  });
  return chosen?.[0]?.fsPath;
}

async function askName(now: string): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title: "The model's name on the hub",
    prompt: "It has to be in the local cache: nothing is downloaded.",
    placeHolder: "bigcode/gpt_bigcode-santacoder",
    value: isHubName(now) ? now : "",
    validateInput: (text) => (isHubName(text.trim()) ? undefined : "A name looks like owner/name."),
  });
  return name?.trim();
}
