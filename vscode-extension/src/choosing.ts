/** Choosing the model. */

import * as vscode from "vscode";

import { entriesOfModels, type Model, offerOf } from "./models";
import type { Server } from "./server";
import { isAddress, isHubName, SECTION } from "./settings";

const FOLDER = { label: "$(folder) A folder or a GGUF file…" };
const HUB = { label: "$(cloud) A model of the hub that is on this machine…" };
const USE = "Use it";
const LATER = "Not now";
const SERVER = { label: "$(server) A model server by its address…" };
const BUNDLED: Model = {
  name: "",
  program: "fimlsp",
  size: null,
  n_parameters: null,
  precision: "",
  family: "fimlsp",
  fills_in: true,
  remark: null,
};

/** Where it is remembered that a model was offered. */
const OFFERED = "modelOffered";

/** Offers, once, a usable model that *server* finds on this machine; nothing if the user has chosen one. */
export async function offerModel(server: Server, memory: vscode.Memento): Promise<void> {
  const { globalValue, workspaceValue } = vscode.workspace.getConfiguration(SECTION).inspect<string>("model") ?? {};
  if (memory.get(OFFERED, false) || globalValue !== undefined || workspaceValue !== undefined) {
    return;
  }
  const found = await server.execute<{ models: Model[] }>("fimlsp.server.models").catch(() => undefined);
  const offer = offerOf(found?.models ?? []);
  if (offer === undefined) {
    return;
  }
  await memory.update(OFFERED, true);
  if ((await vscode.window.showInformationMessage(offer.question, USE, LATER)) === USE) {
    await setModel(offer.model);
  }
}

/** Asks which model is to write, and sets it; shows those that *server* finds on this machine. */
export async function chooseModel(server: Server): Promise<void> {
  const now = vscode.workspace.getConfiguration(SECTION).get("model", "");
  const chosen = await vscode.window.showQuickPick(entries(server, now), {
    title: "fimlsp: which model writes the suggestions?",
    placeHolder: now === "" ? "now: the bundled one" : `now: ${now}`,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  const model =
    chosen === undefined
      ? undefined
      : "model" in chosen
        ? chosen.model
        : chosen === FOLDER
          ? await askFolder()
          : chosen === HUB
            ? await askName(now)
            : await askAddress(now);
  if (model !== undefined) {
    await setModel(model);
  }
}

async function setModel(model: string): Promise<void> {
  await vscode.workspace.getConfiguration(SECTION).update("model", model, vscode.ConfigurationTarget.Global);
}

/** Entries of what is found, which takes a second or several, and of what is not looked for. */
async function entries(server: Server, now: string) {
  const found = await server
    .execute<{ models: Model[] }>("fimlsp.server.models")
    .catch(() => undefined);
  return [...entriesOfModels(found?.models ?? [BUNDLED], now), FOLDER, HUB, SERVER];
}

async function askFolder(): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title: "The folder with the model's config.json, or a GGUF file",
    canSelectFiles: true,
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

async function askAddress(now: string): Promise<string | undefined> {
  const address = await vscode.window.showInputBox({
    title: "The address of a model server",
    prompt: "llama-server, vLLM and the like, or Ollama. If it has several models: the name of one behind a #.",
    placeHolder: "http://127.0.0.1:8012",
    value: isAddress(now) ? now : "",
    validateInput: (text) => (isAddress(text.trim()) ? undefined : "An address begins with http:// or https://."),
  });
  return address?.trim();
}
