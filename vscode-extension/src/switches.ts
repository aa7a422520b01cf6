/** Switches for automatic suggestions, a language, a file. All of them are kept in the settings. */

import * as vscode from "vscode";

import { languageOf, languagesOf, patternOf, SECTION, toggled } from "./settings";

/** The active document and its switches. */
export interface InFront {
  readonly language: { readonly id: string; readonly isOn: boolean };
  /** True if its file has its own pattern in `exclude`; undefined if it is not a file. */
  readonly isHereOff: boolean | undefined;
}

/** The switches of the active document, if there is one. */
export function inFront(): InFront | undefined {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined) {
    return undefined;
  }
  const pattern = patternFor(document);
  const id = languageOf(document, settings());
  return {
    language: { id, isOn: languagesOf(settings()).includes(id) },
    isHereOff: pattern === undefined ? undefined : excluded().includes(pattern),
  };
}

/** Turn automatic suggestions off or on. */
export async function toggleAutomatic(): Promise<void> {
  const isOn = settings().get("automatic", true);
  await update("automatic", !isOn);
  tell(`automatic suggestions are ${isOn ? "off" : "on"}`);
}

/** Turn the language of the active document off or on. */
export async function toggleLanguage(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document !== undefined) {
    const language = languageOf(document, settings());
    const languages = toggled(languagesOf(settings()), language);
    await update("languages", languages);
    tell(`suggestions for ${language} are ${languages.includes(language) ? "on" : "off"}`);
  }
}

/** Turn the active file off or on. */
export async function toggleHere(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const pattern = document && patternFor(document);
  if (pattern !== undefined) {
    const patterns = toggled(excluded(), pattern);
    await update("exclude", patterns);
    tell(`suggestions in this file are ${patterns.includes(pattern) ? "off" : "on"}`);
  }
}

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(SECTION);
}

function excluded(): readonly string[] {
  return settings().get<string[]>("exclude", []);
}

/** Changes a setting in the workspace if it is set there, or else for the user. */
async function update(name: string, value: unknown): Promise<void> {
  const isOfWorkspace = settings().inspect(name)?.workspaceValue !== undefined;
  const target = isOfWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await settings().update(name, value, target);
}

function patternFor(document: vscode.TextDocument): string | undefined {
  if (document.uri.scheme !== "file") {
    return undefined;
  }
  return patternOf(document.uri.fsPath, vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath);
}

function tell(news: string): void {
  vscode.window.setStatusBarMessage(`fimlsp: ${news}`, 3000);
}
