/** The key of a model server, in the editor's secret store: it is in no setting and no log. */

import * as vscode from "vscode";

const NAME = "modelServerKey";
/** The environment variable in which the server gets it. */
const VARIABLE = "FIMLSP_API_KEY";

/** The key that is stored, as the environment of a program that is to know it; nothing if there is none. */
export async function keyIn(secrets: vscode.SecretStorage): Promise<Record<string, string>> {
  const key = await secrets.get(NAME);
  return key === undefined ? {} : { [VARIABLE]: key };
}

/** Asks for a key, and stores it; what is empty takes the stored one away. */
export async function askKey(secrets: vscode.SecretStorage): Promise<void> {
  const key = await vscode.window.showInputBox({
    title: "The key of your model server",
    prompt: "It is kept in the secret store of the editor. Empty: the one that is kept is forgotten.",
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) =>
      /^[\x21-\x7e]*$/.test(text.trim()) ? undefined : "A key has neither spaces nor letters with accents.",
  });
  if (key?.trim()) {
    await secrets.store(NAME, key.trim());
  } else if (key !== undefined) {
    await secrets.delete(NAME);
  }
}

/** Calls *changed* when a key was stored or forgotten, in any window. */
export function onKeyChange(secrets: vscode.SecretStorage, changed: () => void): vscode.Disposable {
  return secrets.onDidChange(({ key }) => {
    if (key === NAME) {
      changed();
    }
  });
}
