/** The status bar item: what the server does for the document in front. */

import * as vscode from "vscode";

import { languagesOf, SCHEMES, SECTION } from "./settings";
import { type Active, lookOf, type Status, summaryOf } from "./status";

const PROBLEM = new vscode.ThemeColor("statusBarItem.warningBackground");

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
    this.item.show();
  }

  get status(): Status {
    return this.latest;
  }

  /** One sentence: what is the matter. */
  get summary(): string {
    return summaryOf(this.latest, active());
  }

  show(status: Status): void {
    this.latest = status;
    this.draw();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private draw(): void {
    const look = lookOf(this.latest, active());
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
  const isOn = languagesOf(vscode.workspace.getConfiguration(SECTION)).includes(document.languageId);
  const offBecause = isOn ? undefined : `${document.languageId} is not in the setting languages`;
  return { uri: document.uri.toString(), offBecause };
}
