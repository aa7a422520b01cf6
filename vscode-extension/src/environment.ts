/** The extension's own Python environment, made by the program that comes with it in `server/environment`. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import type { Command } from "./python";

/** What is installed, and where. */
export interface Wanted {
  /** Where the environments of the extension lie. */
  readonly folder: string;
  /** The wheel, or a folder of fimlsp. */
  readonly source: string;
  /** The extras, such as `checkpoints`. */
  readonly extras: readonly string[];
  /** A folder of wheels that is used instead of the network. */
  readonly wheelhouse?: string | undefined;
  /** Whether PyTorch comes without its gigabytes for graphics cards. */
  readonly cpuOnly?: boolean;
}

/** The environment in use, as `current.json` in the folder tells it. */
export interface Environment {
  readonly python: string;
  /** What it was made of; see `identityOf`. */
  readonly identity: string;
  readonly extras: readonly string[];
}

/** Hears of steps for a progress bar, and of each line for the log. */
export interface Listener {
  step(words: string): void;
  log(line: string): void;
}

/** Installing failed, or was called off; the message is for the user. */
export class InstallationError extends Error {}

/** The user called the installation off. */
export class CalledOffError extends InstallationError {}

/** No program is a Python that can make an environment; the message says what each of them is. */
export class NoPythonError extends InstallationError {}

/** What comes with the extension, in its folder. */
export class Supplies {
  private readonly server: string;

  constructor(extension: string) {
    this.server = join(extension, "server");
  }

  get wheel(): string {
    const name = readdirSync(this.server).find((each) => each.endsWith(".whl"));
    if (name === undefined) {
      throw new InstallationError(`There is no wheel in ${this.server}: install the extension again.`);
    }
    return join(this.server, name);
  }

  get constraints(): string {
    return join(this.server, "constraints.txt");
  }

  /** The program that makes environments. */
  get maker(): string {
    return join(this.server, "environment");
  }
}

const MOST_MINOR = 14;
const OLDEST_MINOR = 10;
const PATIENCE_MS = 20_000;

/** The programs that may be a Python on this machine, best first; *active* is the one that the user works with. */
export function bases(active: string | undefined, platform: NodeJS.Platform = process.platform): string[] {
  const versions = Array.from(
    { length: MOST_MINOR - OLDEST_MINOR + 1 },
    (_, index) => `python3.${MOST_MINOR - index}`,
  );
  const elsewhere = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"];
  const known =
    platform === "win32" ? ["py", "python", "python3"] : ["python3", "python", ...versions, ...elsewhere];
  return active ? [active, ...known] : known;
}

/** The environment in use in *folder*, if there is one. */
export function currentIn(folder: string): Environment | undefined {
  try {
    const told = JSON.parse(readFileSync(join(folder, "current.json"), "utf8"));
    return typeof told.python === "string" && Array.isArray(told.extras) ? told : undefined;
  } catch {
    return undefined;
  }
}

/** What an environment of a wheel and the locked versions is made of, as the maker tells it. */
export function identityOf(wheel: string, constraints: string): string {
  return createHash("sha256").update(readFileSync(wheel)).update(readFileSync(constraints)).digest("hex");
}

/**
 * Makes the environment with the first of *programs* that can, unless it is there; its interpreter.
 *
 * Throws `InstallationError`. The environment that was in use stays so until the new one is whole.
 */
export async function install(
  programs: readonly string[],
  supplies: Supplies,
  wanted: Wanted,
  listener: Listener,
  signal: AbortSignal,
): Promise<string> {
  const args = [supplies.maker, ...argumentsOf(wanted, supplies.constraints)];
  const unsuitable: string[] = [];
  for (const program of programs) {
    const outcome = await run(program, args, listener, signal);
    if ("python" in outcome) {
      return outcome.python;
    }
    if ("error" in outcome) {
      throw new InstallationError(outcome.error);
    }
    listener.log(`${program}: ${outcome.unsuitable}`);
    unsuitable.push(`${program}: ${outcome.unsuitable}`);
  }
  throw new NoPythonError(noPython(unsuitable));
}

/** The options of the maker. */
export function argumentsOf(wanted: Wanted, constraints: string): string[] {
  const { folder, source, extras, wheelhouse, cpuOnly } = wanted;
  return [
    ...["--folder", folder, "--source", source, "--constraints", constraints],
    ...extras.flatMap((extra) => ["--extra", extra]),
    ...(wheelhouse ? ["--wheelhouse", wheelhouse] : []),
    ...(cpuOnly ? ["--cpu-only"] : []),
  ];
}

/** Why *program*, which does not run the server, does not; a part of a sentence. */
export async function whyNot(program: string, supplies: Supplies): Promise<string> {
  const listener = { step: () => {}, log: () => {} };
  const outcome = await run(program, [supplies.maker, "--help"], listener, new AbortController().signal);
  return "unsuitable" in outcome && outcome.unsuitable !== "" ? outcome.unsuitable : "it has no fimlsp";
}

/** The command of the server in an environment. Isolated: nothing that the user's variables name gets in its way. */
export function serverIn(environment: Environment): Command {
  return { command: environment.python, args: ["-I", "-m", "fimlsp"] };
}

type Outcome = { readonly python: string } | { readonly error: string } | { readonly unsuitable: string };

function noPython(unsuitable: readonly string[]): string {
  const told = unsuitable.filter((each) => !each.endsWith(NOT_THERE));
  const found = told.length > 0 ? ` (${told.join("; ")})` : "";
  return `No suitable Python was found${found}: install Python 3.10 or newer, and try again.`;
}

const NOT_THERE = "it is not there";

/** Runs *program* to its end, and tells what came of it. */
function run(
  program: string,
  args: readonly string[],
  listener: Listener,
  signal: AbortSignal,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(new CalledOffError("the installation was called off"));
      return;
    }
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    const calledOff = (): void => end(child);
    signal.addEventListener("abort", calledOff);
    let outcome: Outcome | undefined;
    let last = "";
    const silence = setTimeout(() => end(child), PATIENCE_MS);
    createInterface({ input: child.stdout }).on("line", (line) => {
      clearTimeout(silence);
      const told = toldIn(line);
      if (told.step !== undefined) {
        listener.step(told.step);
      } else if (told.log !== undefined) {
        listener.log(told.log);
      } else if (told.python !== undefined || told.error !== undefined || told.unsuitable !== undefined) {
        outcome = told as Outcome;
      }
    });
    createInterface({ input: child.stderr }).on("line", (line) => {
      last = line.trim() || last;
      listener.log(line);
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(silence);
      signal.removeEventListener("abort", calledOff);
      resolve({ unsuitable: error.code === "ENOENT" ? NOT_THERE : `it cannot be run (${error.message})` });
    });
    child.on("close", (code, killedBy) => {
      clearTimeout(silence);
      signal.removeEventListener("abort", calledOff);
      if (signal.aborted) {
        reject(new CalledOffError("the installation was called off"));
      } else if (outcome === undefined && code === 0) {
        resolve({ unsuitable: "" }); // it only showed its options
      } else {
        const end = killedBy === null ? `exit status ${code}` : `it was ended by ${killedBy}`;
        resolve(outcome ?? { unsuitable: `it cannot be run (${last || end})` });
      }
    });
  });
}

function toldIn(line: string): Readonly<Record<string, string | undefined>> {
  try {
    const told: unknown = JSON.parse(line);
    return typeof told === "object" && told !== null ? (told as Record<string, string>) : { log: line };
  } catch {
    return { log: line };
  }
}

/** Ends the maker with what it has started; where that cannot be told to end by itself, with a stroke. */
function end(child: ChildProcess): void {
  if (process.platform === "win32" && child.pid !== undefined) {
    execFile("taskkill", ["/pid", String(child.pid), "/t", "/f"], { timeout: PATIENCE_MS }, () => undefined);
  } else {
    child.kill();
  }
}
