/** The one server of this window: found, started, stopped, asked. */

import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient, State } from "vscode-languageclient/node";

import { createClient } from "./client";
import {
  activeInterpreter,
  candidates,
  type Command,
  firstWorking,
  isInstalled,
  notFoundMessage,
  type Places,
} from "./python";
import { interpreterOf, SECTION } from "./settings";
import { Shown } from "./shown";
import { STATUS, type Status } from "./status";

/** Where things are that belong to the extension. */
export interface Folders {
  /** The extension's own folder, where the server runs: no module of the user's lies there. */
  readonly extension: string;
  /** Its own Python environment, once there is one. */
  readonly environment: string;
}

/** See the module. */
export class Server {
  readonly shown = new Shown();
  private client: LanguageClient | undefined;
  private command: Command | undefined;
  private turn: Promise<void> = Promise.resolve();

  /** *tell* is called with each status. */
  constructor(
    readonly folders: Folders,
    private readonly log: vscode.LogOutputChannel,
    private readonly tell: (status: Status) => void,
  ) {}

  /** The program that runs, or ran last. */
  get program(): Command | undefined {
    return this.command;
  }

  /** Start the server, anew if it runs; when it cannot be found, tell why and what to do. */
  restart(): Promise<void> {
    return this.inTurn(async () => {
      this.tell({ state: "loading", reason: "looking for fimlsp" });
      const places = await findPlaces(this.folders.environment);
      this.command = await this.find(places);
      await this.end();
      if (this.command === undefined) {
        this.miss(notFoundMessage(places));
      } else {
        await this.begin(this.command);
      }
    });
  }

  /** Start the server anew if another program is to be taken by now. */
  async reconsider(): Promise<void> {
    const found = await this.find(await findPlaces(this.folders.environment));
    if (found !== undefined && JSON.stringify(found) !== JSON.stringify(this.command)) {
      await this.restart();
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

  private find(places: Places): Promise<Command | undefined> {
    return firstWorking(candidates(places), (each) => isInstalled(each, this.folders.extension));
  }

  /** A client can only be stopped when it has started: one thing after the other. */
  private inTurn(step: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(step).catch((error) => this.fail(`The server cannot be started: ${error}`));
    return this.turn;
  }

  private async begin(command: Command): Promise<void> {
    this.log.info(`starting ${[command.command, ...command.args].join(" ")}`);
    const client = createClient(command, this.folders.extension, this.log, this.shown);
    client.onNotification(STATUS, this.tell);
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Stopped) {
        this.tell({ state: "stopped", reason: "the log says why" });
      }
    });
    this.client = client;
    await client.start();
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.shown.forget();
    await client?.dispose();
  }

  private miss(reason: string): void {
    this.log.error(reason);
    this.tell({ state: "missing", reason });
    void vscode.window.showErrorMessage(reason, "Install", "Open Settings").then((answer) => {
      if (answer === "Install") {
        void vscode.commands.executeCommand("fimlsp.install");
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

/** A workspace that is not trusted does not say which program is run. */
async function findPlaces(own: string): Promise<Places> {
  const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
  return {
    setting: interpreterOf(vscode.workspace.getConfiguration(SECTION)),
    folders: folders.map((folder) => folder.uri.fsPath),
    active: await activeInterpreter(vscode.extensions),
    own,
  };
}
