/** The one server of this window: found or installed, started, stopped, asked. */

import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient, State } from "vscode-languageclient/node";

import { createClient } from "./client";
import { currentIn, identityOf, serverIn, Supplies, whyNot } from "./environment";
import { installWithProgress, isCpuOnly, isExtraWanted } from "./installing";
import { keyIn } from "./key";
import {
  activeInterpreter,
  candidates,
  type Command,
  firstWorking,
  isInstalled,
  type Places,
  unusableMessage,
} from "./python";
import { REST } from "./resting";
import { installFromOf, interpreterOf, SECTION, selectorOf } from "./settings";
import { Shown } from "./shown";
import { ListStatus, STATUS, type Status } from "./status";

/** Where things are that belong to the extension. */
export interface Folders {
  /** The extension's own folder, where the server runs: no module of the user's lies there. */
  readonly extension: string;
  /** Where its own Python environments lie. */
  readonly environments: string;
}

/** True while a server runs, for the walkthrough. */
const RUNNING = "fimlsp.running";
/** Remembered when the user called the installation off: it is not begun again unasked. */
const CALLED_OFF = "installationCalledOff";

/** See the module. */
export class Server {
  readonly shown = new Shown();
  private readonly supplies: Supplies;
  private client: LanguageClient | undefined;
  private command: Command | undefined;
  private turn: Promise<void> = Promise.resolve();
  private offered: string | undefined;
  private latest: Status = { state: "loading" };
  private readonly list = new ListStatus();
  private isAwake = false;

  /** *tell* is called with each status; *memory* outlives the window, *secrets* hold a key. */
  constructor(
    readonly folders: Folders,
    private readonly memory: vscode.Memento,
    readonly secrets: vscode.SecretStorage,
    private readonly log: vscode.LogOutputChannel,
    private readonly tell: (status: Status) => void,
  ) {
    this.supplies = new Supplies(folders.extension);
  }

  /** The program that runs, or ran last. */
  get program(): Command | undefined {
    return this.command;
  }

  /** Start the server unless that was asked for before. */
  wake(): void {
    if (!this.isAwake) {
      void this.restart();
    }
  }

  /** Start the server, anew if it runs. Where there is none it is installed; or else it is told why not, and what to do. */
  restart(): Promise<void> {
    this.isAwake = true;
    return this.inTurn(async () => {
      this.tell({ state: "loading", reason: "looking for fimlsp" });
      const places = await this.findPlaces();
      this.command = await this.find(places);
      await this.end();
      if (this.command !== undefined) {
        await this.begin(this.command);
        await this.renewIfOld();
      } else if (places.setting !== undefined) {
        this.misname(places.setting, await whyNot(places.setting, this.supplies));
      } else if (this.memory.get(CALLED_OFF, false)) {
        this.miss("fimlsp is not installed: the installation was cancelled");
      } else {
        await this.installAndBegin();
      }
    });
  }

  /** Start the server anew, if it was started, for other settings. */
  renew(): void {
    if (this.isAwake) {
      void this.restart();
    }
  }

  /** Start the server anew if another program is to be taken by now. */
  async reconsider(): Promise<void> {
    if (!this.isAwake) {
      return;
    }
    const found = await this.find(await this.findPlaces());
    if (found !== undefined && JSON.stringify(found) !== JSON.stringify(this.command)) {
      await this.restart();
    }
  }

  /** Install into the extension's own environment, with *extra* if one is named, and run what is there. */
  async install(extra?: string): Promise<void> {
    const cpuOnly = extra === undefined ? false : await isCpuOnly(extra);
    if (cpuOnly !== undefined) {
      await this.memory.update(CALLED_OFF, undefined);
      await this.inTurn(() => this.installAndBegin(extra, cpuOnly));
    }
  }

  /** Stop the server, if it runs. */
  stop(): Promise<void> {
    return this.inTurn(() => this.end());
  }

  /** The result of the server's *command*; undefined when the server does not run or has no such command. */
  async execute<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
    const known = this.client?.initializeResult?.capabilities.executeCommandProvider?.commands ?? [];
    if (this.client === undefined || !known.includes(command)) {
      return undefined;
    }
    return (await this.client.sendRequest(ExecuteCommandRequest.type, { command, arguments: args })) as T;
  }

  /** The cursor rests at *at* in *document*; a server that does not run is told when it starts. */
  async rest(document: vscode.TextDocument, at: vscode.Position): Promise<void> {
    const uri = this.client?.code2ProtocolConverter.asUri(document.uri);
    const selector = selectorOf(vscode.workspace.getConfiguration(SECTION));
    if (uri !== undefined && vscode.languages.match(selector, document) > 0) {
      await this.execute(REST, uri, at.line, at.character).catch((error) => this.log.debug(`${REST}: ${error}`));
    }
  }

  private find(places: Places): Promise<Command | undefined> {
    return firstWorking(candidates(places), (each) => isInstalled(each, this.folders.extension));
  }

  /** A workspace that is not trusted does not say which program is run. */
  private async findPlaces(): Promise<Places> {
    const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
    return {
      setting: interpreterOf(vscode.workspace.getConfiguration(SECTION)),
      folders: folders.map((folder) => folder.uri.fsPath),
      active: await activeInterpreter(vscode.extensions),
      own: this.own(),
    };
  }

  /** The server in the extension's own environment, if there is one. */
  private own(): Command | undefined {
    const environment = currentIn(this.folders.environments);
    return environment && serverIn(environment);
  }

  private get isOwn(): boolean {
    return this.command !== undefined && JSON.stringify(this.command) === JSON.stringify(this.own());
  }

  /** A client can only be stopped when it has started: one thing after the other. */
  private inTurn(step: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(step).catch((error) => this.fail(`The server cannot be started: ${error}`));
    return this.turn;
  }

  private async begin(command: Command): Promise<void> {
    this.log.info(`starting ${[command.command, ...command.args].join(" ")}`);
    const key = await keyIn(this.secrets);
    const client = createClient(command, this.folders.extension, key, this.log, this.shown, (document) =>
      this.yieldTo(document),
    );
    client.onNotification(STATUS, (status: Status) => this.take(status));
    client.onDidChangeState(({ newState }) => {
      void vscode.commands.executeCommand("setContext", RUNNING, newState === State.Running);
      if (newState === State.Stopped) {
        this.tell({ state: "stopped", reason: "the log has the reason" });
      }
    });
    this.client = client;
    await client.start();
    const editor = vscode.window.activeTextEditor;
    if (editor !== undefined) {
      void this.rest(editor.document, editor.selection.active);
    }
  }

  /** The server says what it does; an extra that its model needs is offered once. */
  private take(status: Status): void {
    this.latest = status;
    this.tell(this.list.next(status));
    const { missing } = status;
    if (missing != null && missing !== this.offered && this.isOwn) {
      this.offered = missing;
      void isExtraWanted(missing).then((isWanted) => (isWanted ? this.install(missing) : undefined));
    }
  }

  /** VS Code's own list is open in *document*; the server's next request replaces this. */
  private yieldTo(document: vscode.TextDocument): void {
    this.tell(this.list.opened(this.latest, document.uri.toString()));
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.shown.forget();
    await client?.dispose();
  }

  private async installAndBegin(extra?: string, cpuOnly = false): Promise<void> {
    if (this.client === undefined) {
      this.tell({ state: "loading", reason: "setting up the server" });
    }
    const installed = await installWithProgress(
      this.folders.environments,
      this.supplies,
      this.log,
      extra,
      cpuOnly,
    );
    const own = this.own();
    if (installed.isThere && own !== undefined) {
      await this.end();
      this.command = own;
      await this.begin(own);
    } else if (!installed.isThere) {
      await this.memory.update(CALLED_OFF, installed.isCalledOff);
      this.miss(`fimlsp was not installed: ${installed.reason}`);
    }
  }

  /** The extension was updated, and its own environment is of the one before: the new one is made meanwhile. */
  private async renewIfOld(): Promise<void> {
    const environment = currentIn(this.folders.environments);
    if (!this.isOwn || installFromOf(vscode.workspace.getConfiguration(SECTION)) !== undefined) {
      return;
    }
    if (environment?.identity !== identityOf(this.supplies.wheel, this.supplies.constraints)) {
      await this.installAndBegin();
    }
  }

  /** The server was not installed; one that runs goes on. */
  private miss(reason: string): void {
    if (this.client === undefined) {
      this.tell({ state: "missing", reason });
    }
    void vscode.window.showErrorMessage(reason, "Install", "Show the Log").then((answer) => {
      if (answer === "Install") {
        void this.install();
      } else if (answer !== undefined) {
        this.log.show();
      }
    });
  }

  /** The setting names an interpreter that does not run fimlsp. */
  private misname(interpreter: string, because: string): void {
    const reason = unusableMessage(interpreter, because);
    this.log.error(reason);
    this.tell({ state: "missing", reason });
    void vscode.window.showErrorMessage(reason, "Use Its Own", "Open Settings").then(async (answer) => {
      if (answer === "Use Its Own") {
        await forgetInterpreter();
      } else if (answer !== undefined) {
        void vscode.commands.executeCommand("workbench.action.openSettings", `${SECTION}.interpreter`);
      }
    });
  }

  private fail(reason: string): void {
    this.log.error(reason);
    this.tell({ state: "stopped", reason });
    void vscode.window.showErrorMessage(reason, "Show the Log").then((answer) => answer && this.log.show());
  }
}

/** Takes the setting back wherever it is made; the server is started anew by that. */
async function forgetInterpreter(): Promise<void> {
  const settings = vscode.workspace.getConfiguration(SECTION);
  const made = settings.inspect("interpreter");
  const targets: [unknown, vscode.ConfigurationTarget][] = [
    [made?.globalValue, vscode.ConfigurationTarget.Global],
    [made?.workspaceValue, vscode.ConfigurationTarget.Workspace],
    [made?.workspaceFolderValue, vscode.ConfigurationTarget.WorkspaceFolder],
  ];
  for (const [value, target] of targets) {
    if (value !== undefined) {
      await settings.update("interpreter", undefined, target);
    }
  }
}
