/** The extension's own Python environment, for those who have none with fimlsp in it. */

import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

import { interpreterIn } from "./python";

/** What is installed, where, and how. */
export interface Installation {
  /** The Python that makes the environment. */
  readonly base: string;
  /** The environment's folder; made, or made good if it is there. */
  readonly folder: string;
  /** What pip installs: a package's name, a folder, or a wheel. */
  readonly what: string;
  /** Whether PyTorch comes without its gigabytes for graphics cards. */
  readonly cpuOnly: boolean;
}

/** Hears of each line that the programs print. */
export type Listener = (line: string) => void;

/** Installing failed, or was called off; the message is for the user. */
export class InstallationError extends Error {}

const TORCH_FOR_CPU = ["torch", "--index-url", "https://download.pytorch.org/whl/cpu"];
const OLDEST_MINOR = 10;

/** The programs that may be a Python on this machine, best first; *active* is the one that the user works with. */
export function bases(active: string | undefined, platform: NodeJS.Platform = process.platform): string[] {
  const known = platform === "win32" ? ["py", "python"] : ["python3", "python"];
  return active ? [active, ...known] : known;
}

/** The first of *programs* that is a Python which fimlsp runs on. */
export async function firstSuitable(programs: readonly string[]): Promise<string | undefined> {
  for (const program of programs) {
    if (await isSuitable(program)) {
      return program;
    }
  }
  return undefined;
}

/** The arguments of each call of the environment's Python, in order. */
export function pipCalls({ what, cpuOnly }: Installation): string[][] {
  const pip = ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", "--no-input"];
  return [...(cpuOnly ? [[...pip, ...TORCH_FOR_CPU]] : []), [...pip, "--upgrade", what]];
}

/**
 * Makes the environment; its interpreter.
 *
 * Throws `InstallationError`. What was made until then is used again by the next attempt.
 */
export async function install(
  installation: Installation,
  listener: Listener,
  signal: AbortSignal,
): Promise<string> {
  const interpreter = interpreterIn(installation.folder);
  await run(installation.base, ["-m", "venv", installation.folder], listener, signal);
  for (const args of pipCalls(installation)) {
    await run(interpreter, args, listener, signal);
  }
  return interpreter;
}

/** A line of pip's as a step of a progress bar; undefined for lines that say nothing to the user. */
export function stepOf(line: string): string | undefined {
  const words =
    /^\s*(Collecting|Downloading|Using cached|Processing|Building wheel for|Installing collected packages|Successfully installed)\b:?\s*(\S+)?/.exec(
      line,
    );
  if (words === null) {
    return undefined;
  }
  const [, step = "", name = ""] = words;
  if (step === "Installing collected packages") {
    return "unpacking what was downloaded";
  }
  return step === "Successfully installed" ? "done" : `${step.toLowerCase()} ${fileName(name)}`;
}

function fileName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

function isSuitable(program: string): Promise<boolean> {
  const check = `import sys, venv, ensurepip; sys.exit(sys.version_info < (3, ${OLDEST_MINOR}))`;
  return new Promise((resolve) => {
    execFile(program, ["-c", check], { timeout: 20_000 }, (error) => resolve(error === null));
  });
}

/** Runs *program* to its end; the last line of a failure is its message. */
function run(
  program: string,
  args: readonly string[],
  listener: Listener,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], signal });
    let last = "";
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: Readable.from(stream) }).on("line", (line) => {
        last = line.trim() || last;
        listener(line);
      });
    }
    child.on("error", (error) =>
      reject(new InstallationError(signal.aborted ? "called off" : error.message)),
    );
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new InstallationError(last || `exit status ${code}`)),
    );
  });
}
