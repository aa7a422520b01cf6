/** Which program is the server: the first Python that has fimlsp. */

import { execFile } from "node:child_process";
import * as path from "node:path";
import type * as vscode from "vscode";

/** A program with its first arguments; `--stdio` makes it the server, `--version` shows that it works. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

/** Where a Python may be named. */
export interface Places {
  /** The setting `fimlsp.interpreter`. */
  readonly setting?: string | undefined;
  /** The folders of the workspace, if it is trusted. */
  readonly folders: readonly string[];
  /** The interpreter chosen in the Python extension. */
  readonly active?: string | undefined;
  /** The server in the environment that the extension made, if it did. */
  readonly own?: Command | undefined;
}

const PATIENCE_MS = 20_000;

/** The commands to try, best first. An interpreter that the user set is the only one. */
export function candidates(places: Places, platform: NodeJS.Platform = process.platform): Command[] {
  if (places.setting) {
    return [moduleOf(places.setting)];
  }
  const local = places.folders.map((folder) => interpreterIn(joined(folder, ".venv", platform), platform));
  const interpreters = places.active ? [...local, places.active] : local;
  const own = places.own ? [places.own] : [];
  return [...interpreters.map(moduleOf), { command: "fimlsp", args: [] }, ...own];
}

/** The first of *commands* that works. */
export async function firstWorking(
  commands: readonly Command[],
  works: (command: Command) => Promise<boolean>,
): Promise<Command | undefined> {
  for (const command of commands) {
    if (await works(command)) {
      return command;
    }
  }
  return undefined;
}

/** Whether *command* can be run. It is run in *folder*, where no module of the user's lies in the way. */
export function isInstalled(command: Command, folder: string): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { cwd: folder, timeout: PATIENCE_MS };
    execFile(command.command, [...command.args, "--version"], options, (error) => resolve(error === null));
  });
}

/** What to tell the user whose setting names an interpreter that does not run fimlsp, *because* of something. */
export function unusableMessage(interpreter: string, because: string): string {
  return `The setting fimlsp.interpreter names ${interpreter}, but ${because}: name one that has fimlsp, or let the extension use an environment of its own.`;
}

/** The interpreter chosen in the Python extension, if that is installed and works. */
export async function activeInterpreter(extensions: Extensions): Promise<string | undefined> {
  try {
    const environments = await environmentsOf(extensions);
    const environment = await environments?.resolveEnvironment(environments.getActiveEnvironmentPath());
    return environment?.executable.uri?.fsPath;
  } catch {
    return undefined;
  }
}

/** Calls *listener* whenever another interpreter is chosen in the Python extension; dispose of what is given to stop. */
export async function onActiveInterpreterChange(
  extensions: Extensions,
  listener: () => void,
): Promise<{ dispose(): unknown }> {
  const nothing = { dispose: () => undefined };
  try {
    return (await environmentsOf(extensions))?.onDidChangeActiveEnvironmentPath(listener) ?? nothing;
  } catch {
    return nothing;
  }
}

/** The interpreter of the virtual environment *environment*. */
export function interpreterIn(environment: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "win32"
    ? path.win32.join(environment, "Scripts", "python.exe")
    : path.posix.join(environment, "bin", "python");
}

type Extensions = Pick<typeof vscode.extensions, "getExtension">;

/** The part of the Python extension's public interface that is used here. */
interface Environments {
  getActiveEnvironmentPath(): unknown;
  resolveEnvironment(
    environment: unknown,
  ): Promise<{ readonly executable: { readonly uri: vscode.Uri | undefined } } | undefined>;
  onDidChangeActiveEnvironmentPath(listener: () => void): { dispose(): unknown };
}

async function environmentsOf(extensions: Extensions): Promise<Environments | undefined> {
  const extension = extensions.getExtension<{ readonly environments: Environments }>("ms-python.python");
  return (await extension?.activate())?.environments;
}

function moduleOf(interpreter: string): Command {
  return { command: interpreter, args: ["-m", "fimlsp"] };
}

function joined(folder: string, name: string, platform: NodeJS.Platform): string {
  return (platform === "win32" ? path.win32 : path.posix).join(folder, name);
}
