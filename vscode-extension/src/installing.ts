/** Installing the server into the extension's own environment, with progress that the user can end. */

import * as vscode from "vscode";

import {
  bases,
  CalledOffError,
  currentIn,
  install,
  InstallationError,
  type Listener,
  type Supplies,
} from "./environment";
import { activeInterpreter } from "./python";
import { installFromOf, SECTION, wheelhouseOf } from "./settings";

/** What came of it: the server is there, or why it is not. */
export type Installed =
  | { readonly isThere: true }
  | { readonly isThere: false; readonly reason: string; readonly isCalledOff: boolean };

const CPU = "For this computer's processor";
const CUDA = "For an NVIDIA graphics card, too";

const BUILDS: vscode.QuickPickItem[] = [
  { label: CPU, detail: "PyTorch without CUDA, from download.pytorch.org: 1 GB on the disk." },
  { label: CUDA, detail: "PyTorch as the package index has it: with CUDA, several GB." },
];

/** What the extras are for, by name. */
const EXTRAS: Readonly<Record<string, string>> = {
  checkpoints: "checkpoints of transformers",
  gguf: "models in GGUF files",
  quantized: "models in 8 or 4 bits on a graphics card",
  sentencepiece: "tokenizers of SentencePiece",
};

/** Installs the server into *folder*, with *extra* beside the extras that are there. */
export async function installWithProgress(
  folder: string,
  supplies: Supplies,
  log: vscode.LogOutputChannel,
  extra?: string,
  cpuOnly = false,
): Promise<Installed> {
  const settings = vscode.workspace.getConfiguration(SECTION);
  const extras = new Set(currentIn(folder)?.extras ?? []);
  if (extra !== undefined) {
    extras.add(extra);
  }
  const programs = bases(await activeInterpreter(vscode.extensions));
  const title = extra === undefined ? "Setting up fimlsp" : `fimlsp: what ${EXTRAS[extra] ?? extra} need`;
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return vscode.window.withProgress(options, async (progress, token) => {
    const abort = new AbortController();
    token.onCancellationRequested(() => abort.abort());
    const listener: Listener = {
      step: (message) => progress.report({ message }),
      log: (line) => log.info(line),
    };
    try {
      const source = installFromOf(settings) ?? supplies.wheel;
      const wanted = { folder, source, extras: [...extras], wheelhouse: wheelhouseOf(settings), cpuOnly };
      await install(programs, supplies, wanted, listener, abort.signal);
      return { isThere: true };
    } catch (error) {
      const reason = error instanceof InstallationError ? error.message : String(error);
      log.error(reason);
      return { isThere: false, reason, isCalledOff: error instanceof CalledOffError };
    }
  });
}

/** Asks which PyTorch is wanted where that makes a difference; undefined when the user wants none. */
export async function isCpuOnly(extra: string): Promise<boolean | undefined> {
  if (extra !== "checkpoints" || process.platform === "darwin") {
    return false;
  }
  const choice = await vscode.window.showQuickPick(BUILDS, { title: "fimlsp: PyTorch, which runs checkpoints" });
  return choice && choice.label === CPU;
}

/** Offers to install *extra*, which the user's model needs; whether it is wanted. */
export async function isExtraWanted(extra: string): Promise<boolean> {
  const needs = EXTRAS[extra] ?? extra;
  const message = `fimlsp has not installed what ${needs} need. Until then the bundled model is used.`;
  return (await vscode.window.showInformationMessage(message, "Install", "Not Now")) === "Install";
}
