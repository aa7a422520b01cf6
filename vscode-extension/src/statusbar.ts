/** The status bar item: the status of the server for the active document. */

import * as vscode from "vscode";

import { languageOf, languagesOf, SCHEMES, SECTION } from "./settings";
import { type Active, lookOf, type Status, summaryOf } from "./status";

const PROBLEM = new vscode.ThemeColor("statusBarItem.warningBackground");

/** True in a document of a language that is completed, for the keys of languages that only the settings name. */
const IS_COMPLETED = "fimlsp.isCompleted";

/** See the module. */
export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("fimlsp.status", vscode.StatusBarAlignment.Right);
  private readonly subscriptions: vscode.Disposable[];
  private latest: Status = { state: "loading" };

  constructor() {
    this.item.name = "fimlsp";
    this.item.command = "fimlsp.showMenu";
    this.subscriptions = [
      this.item,
      vscode.window.onDidChangeActiveTextEditor(() => this.draw()),
      vscode.workspace.onDidChangeConfiguration(() => this.draw()),
    ];
    this.draw();
  }

  get status(): Status {
    return this.latest;
  }

  /** The status in one sentence. */
  get summary(): string {
    return summaryOf(this.latest, active());
  }

  /** Show *status*; before the first one nothing is shown. */
  show(status: Status): void {
    this.latest = status;
    this.draw();
    this.item.show();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private draw(): void {
    const now = active();
    const isCompleted = now !== undefined && now.offBecause === undefined;
    void vscode.commands.executeCommand("setContext", IS_COMPLETED, isCompleted);
    const look = lookOf(this.latest, now);
    this.item.text = look.text;
    this.item.tooltip = look.tooltip;
    this.item.backgroundColor = look.isProblem ? PROBLEM : undefined;
    this.item.accessibilityInformation = { label: `fimlsp. ${this.summary}`, role: "button" };
  }
}

function active(): Active | undefined {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined || !SCHEMES.includes(document.uri.scheme)) {
    return undefined;
  }
  const settings = vscode.workspace.getConfiguration(SECTION);
  const language = languageOf(document, settings);
  const isOn = languagesOf(settings).includes(language);
  const offBecause = isOn ? undefined : `${language} is not in setting languages`;
  return { uri: document.uri.toString(), offBecause };
}
