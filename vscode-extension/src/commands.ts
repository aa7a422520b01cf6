/** The commands of the palette and of the menu. */

import * as vscode from "vscode";

import { chooseModel } from "./choosing";
import { askKey, keyIn } from "./key";
import { entriesOf } from "./menu";
import type { Server } from "./server";
import { SECTION } from "./settings";
import { linesOf, type Statistics } from "./statistics";
import type { StatusBar } from "./statusbar";
import { inFront, toggleAutomatic, toggleHere, toggleLanguage } from "./switches";

const WALKTHROUGH = "fimlsp.fimlsp#fimlsp.start";

/** Register the commands; dispose of what is given back to take them away. */
export function registerCommands(
  server: Server,
  bar: StatusBar,
  log: vscode.LogOutputChannel,
): vscode.Disposable {
  const commands: Record<string, () => unknown> = {
    showMenu: () => showMenu(bar),
    restart: () => server.restart(),
    showLog: () => log.show(),
    openSettings: () => vscode.commands.executeCommand("workbench.action.openSettings", "@ext:fimlsp.fimlsp"),
    openWalkthrough: () => vscode.commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH),
    install: () => server.install(),
    installExtra: () => server.install(bar.status.missing ?? undefined),
    dismiss: () => dismiss(server),
    doctor: () => runDoctor(server),
    reloadModel: () => reloadModel(server),
    showStatistics: () => showStatistics(server),
    chooseModel: () => chooseModel(server),
    setKey: () => askKey(server.secrets),
    toggleAutomatic,
    toggleHere,
    toggleLanguage,
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, run]) =>
      vscode.commands.registerCommand(`${SECTION}.${name}`, () => {
        const answer = run();
        server.wake();
        return answer;
      }),
    ),
  );
}

async function showMenu(bar: StatusBar): Promise<void> {
  const { state, automatic, missing } = bar.status;
  const setting = vscode.workspace.getConfiguration(SECTION).get("automatic", true);
  const entries = entriesOf({ state, missing, automatic: automatic ?? setting, ...inFront() });
  const chosen = await vscode.window.showQuickPick(entries, { title: "fimlsp", placeHolder: bar.summary });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}

/** Hides the suggestion and tells the server, which does not suggest it here again by itself. */
async function dismiss(server: Server): Promise<void> {
  await vscode.commands.executeCommand("editor.action.inlineSuggest.hide");
  const id = server.shown.forget();
  if (id !== undefined) {
    await server.execute("fimlsp.server.dismiss", id);
  }
}

/** In a terminal, whatever the state of the server: the doctor is for when it does not run. */
async function runDoctor(server: Server): Promise<void> {
  const program = server.program;
  if (program === undefined) {
    await server.restart();
    return;
  }
  const model = vscode.workspace.getConfiguration(SECTION).get("model", "");
  const chosen = model === "" ? [] : ["--model", model];
  const execution = new vscode.ProcessExecution(program.command, [...program.args, "doctor", ...chosen], {
    cwd: server.folders.extension,
    env: await keyIn(server.secrets),
  });
  const task = new vscode.Task({ type: "process" }, vscode.TaskScope.Global, "doctor", "fimlsp", execution);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true };
  await vscode.tasks.executeTask(task);
}

async function reloadModel(server: Server): Promise<void> {
  if ((await server.execute("fimlsp.server.reload")) === undefined) {
    await server.restart();
  }
}

async function showStatistics(server: Server): Promise<void> {
  const statistics = await server.execute<Statistics>("fimlsp.server.statistics");
  if (statistics !== undefined) {
    await vscode.window.showQuickPick(linesOf(statistics), {
      title: "fimlsp: statistics since the start of the server, kept on this machine only",
    });
  }
}
