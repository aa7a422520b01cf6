/** The language client: starts the server that was found and asks it, once the typing has paused. */

import * as vscode from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
  State,
  TransportKind,
} from "vscode-languageclient/node";

import { isQuietFor } from "./debounce";
import {
  activeInterpreter,
  candidates,
  type Command,
  firstWorking,
  isInstalled,
  notFoundMessage,
  type Places,
} from "./python";
import { debounceOf, interpreterOf, SECTION, toInitializationOptions } from "./settings";
import { STATUS, type Status } from "./status";

/** The one server of this window. */
export class Server {
  private client: LanguageClient | undefined;
  private turn: Promise<void> = Promise.resolve();

  /** *folder* is where the server runs; *tell* is called with each status. */
  constructor(
    private readonly folder: string,
    private readonly log: vscode.LogOutputChannel,
    private readonly tell: (status: Status) => void,
  ) {}

  /** Start the server, anew if it runs; when it cannot be found, tell why and what to do. */
  restart(): Promise<void> {
    return this.inTurn(async () => {
      this.tell({ state: "loading", reason: "looking for fimlsp" });
      const places = await findPlaces();
      const command = await firstWorking(candidates(places), (each) => isInstalled(each, this.folder));
      await this.end();
      if (command === undefined) {
        this.fail(notFoundMessage(places));
      } else {
        await this.begin(command);
      }
    });
  }

  /** Stop the server, if it runs. */
  stop(): Promise<void> {
    return this.inTurn(() => this.end());
  }

  /** A client can only be stopped when it has started: one thing after the other. */
  private inTurn(step: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(step).catch((error) => this.fail(`The server cannot be started: ${error}`));
    return this.turn;
  }

  private async begin(command: Command): Promise<void> {
    this.log.info(`starting ${[command.command, ...command.args].join(" ")}`);
    this.client = this.clientOf(command);
    await this.client.start();
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose();
  }

  private clientOf(command: Command): LanguageClient {
    const executable = {
      command: command.command,
      args: [...command.args],
      options: { cwd: this.folder },
      transport: TransportKind.stdio,
    };
    const client = new LanguageClient(SECTION, "fimlsp", executable, clientOptions(this.log));
    client.onNotification(STATUS, this.tell);
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Stopped) {
        this.tell({ state: "stopped", reason: "the log says why" });
      }
    });
    return client;
  }

  private fail(reason: string): void {
    this.log.error(reason);
    this.tell({ state: "stopped", reason });
    void vscode.window.showErrorMessage(reason, "Open Settings").then((answer) => {
      if (answer !== undefined) {
        void vscode.commands.executeCommand("workbench.action.openSettings", `${SECTION}.interpreter`);
      }
    });
  }
}

function clientOptions(log: vscode.LogOutputChannel): LanguageClientOptions {
  return {
    documentSelector: [
      { language: "python", scheme: "file" },
      { language: "python", scheme: "untitled" },
    ],
    initializationOptions: toInitializationOptions(vscode.workspace.getConfiguration(SECTION)),
    outputChannel: log,
    middleware,
  };
}

const middleware: Middleware = {
  async provideInlineCompletionItems(document, position, context, token, next) {
    const isAutomatic = context.triggerKind === vscode.InlineCompletionTriggerKind.Automatic;
    const pause = debounceOf(vscode.workspace.getConfiguration(SECTION, document));
    if (isAutomatic && !(await isQuietFor(pause, token))) {
      return [];
    }
    return next(document, position, context, token);
  },
};

async function findPlaces(): Promise<Places> {
  return {
    setting: interpreterOf(vscode.workspace.getConfiguration(SECTION)),
    folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
    active: await activeInterpreter(vscode.extensions),
  };
}
