/** The plugin: settings, status, commands and the provider, put together. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { Dialog, ICommandPalette, InputDialog, Notification, showDialog } from "@jupyterlab/apputils";
import type { CodeEditor } from "@jupyterlab/codeeditor";
import type { CodeMirrorEditor } from "@jupyterlab/codemirror";
import { ICompletionProviderManager } from "@jupyterlab/completer";
import { PageConfig, URLExt } from "@jupyterlab/coreutils";
import { IEditorTracker } from "@jupyterlab/fileeditor";
import { INotebookTracker } from "@jupyterlab/notebook";
import { ServerConnection } from "@jupyterlab/services";
import { ISettingRegistry } from "@jupyterlab/settingregistry";
import { IStatusBar } from "@jupyterlab/statusbar";
import { CommandRegistry } from "@lumino/commands";
import { Widget } from "@lumino/widgets";

import { entriesOfModels, type Model } from "../../../vscode-extension/src/models";
import { Resting, REST } from "../../../vscode-extension/src/resting";
import { linesOf, type Statistics } from "../../../vscode-extension/src/statistics";
import { factsOf, type Status, summaryOf } from "../../../vscode-extension/src/status";
import { Connection, type Socket } from "./connection";
import { Documents } from "./documents";
import { cursorIn, Provider } from "./provider";
import { firstLine, firstWord } from "./suggestion";
import { type Place, Tracking } from "./tracking";

const PLUGIN = "jupyterlab-fimlsp:plugin";
const ACCEPT = "fimlsp.server.accept";
const LONGEST_STATUS = 60;
const NOTICE_MS = 4_000;

/** Settings that need a new server, as it takes them from its start only. */
const AT_START = ["model", "apiKeyVariable", "typescript"];

/** A setting of the page itself. */
const KERNEL = "kernelVariables";

/** The class of an editor with ghost text. */
const ACTIVE = ".jp-mod-inline-completer-active";

const JUPYTER = {
  accept: "inline-completer:accept",
  next: "inline-completer:next",
  previous: "inline-completer:previous",
};
const COMMANDS = {
  word: "fimlsp:accept-word",
  line: "fimlsp:accept-line",
  toggle: "fimlsp:toggle-automatic",
  model: "fimlsp:choose-model",
  reload: "fimlsp:reload-model",
  restart: "fimlsp:restart",
  statistics: "fimlsp:show-statistics",
  doctor: "fimlsp:run-doctor",
};

const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN,
  description: "Inline completions that connect to the text after the cursor, made on the Jupyter server's machine",
  autoStart: true,
  requires: [ICompletionProviderManager, ISettingRegistry],
  optional: [INotebookTracker, IEditorTracker, IStatusBar, ICommandPalette],
  activate: (app, manager, registry, notebooks, editors, statusBar, palette) => {
    const extension = new Extension(app, manager, notebooks, editors, statusBar);
    extension.addCommands(palette);
    void registry.load(PLUGIN).then(
      (settings: ISettingRegistry.ISettings) => extension.start(settings),
      (error: unknown) => extension.fail(`Cannot read the settings of fimlsp: ${error}.`),
    );
  },
};

export default plugin;

/** See the module. */
class Extension {
  private readonly server = ServerConnection.makeSettings();
  private readonly connection: Connection;
  private readonly documents: Documents;
  private readonly provider: Provider;
  private readonly tracking: Tracking;
  private readonly item: StatusItem | undefined;
  private settings: ISettingRegistry.ISettings | undefined;
  private status: Status = { state: "loading" };
  private started: Record<string, unknown> = {};
  private readonly resting = new Resting<void>(() => this.rest());

  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly manager: ICompletionProviderManager,
    notebooks: INotebookTracker | null,
    editors: IEditorTracker | null,
    statusBar: IStatusBar | null,
  ) {
    const root = PageConfig.getOption("fimlspRootUri");
    this.connection = new Connection(() => this.connect(), {
      parameters: () => this.parameters(root),
      onReady: () => {
        this.documents.reopen();
        this.rest();
      },
      onStatus: (status) => this.show(status),
      onLog: (line, isProblem) => this.log(line, isProblem),
    });
    this.documents = new Documents(this.connection);
    this.tracking = new Tracking(this.documents, root, () => this.settings?.composite[KERNEL] === true, notebooks, editors);
    this.provider = new Provider(this.connection, this.documents, this.tracking, {
      pause: () => Number(this.settings?.composite["debounceMs"] ?? 0),
      isLater: (uri) => this.status.later === true && this.status.uri === uri,
      onNothing: (isInvoked, reason) => this.explain(isInvoked, reason),
    });
    manager.registerInlineProvider(this.provider);
    if (statusBar !== null) {
      this.item = new StatusItem(() => void app.commands.execute(COMMANDS.model));
      statusBar.registerStatusItem(PLUGIN, { item: this.item, align: "right", rank: 600 });
    }
    app.commands.commandExecuted.connect((_, { id }) => this.follow(id));
    document.addEventListener("keydown", (event) => this.press(event), true);
    document.addEventListener("selectionchange", () => this.resting.move());
  }

  /** Use *settings*, and connect. */
  start(settings: ISettingRegistry.ISettings): void {
    this.settings = settings;
    settings.changed.connect(() => this.configure());
    this.started = this.options;
    this.tracking.configure();
    this.connection.start();
  }

  /** Nothing works, because of *reason*. */
  fail(reason: string): void {
    this.show({ state: "stopped", reason });
  }

  addCommands(palette: ICommandPalette | null): void {
    const add = (id: string, label: string, execute: () => unknown, look: { isToggled?: () => boolean } = {}) => {
      this.app.commands.addCommand(id, { label: `fimlsp: ${label}`, execute, ...look });
      palette?.addItem({ command: id, category: "Inline Completer" });
    };
    add(COMMANDS.word, "Accept the Next Word", () => this.acceptPart(firstWord));
    add(COMMANDS.line, "Accept the Next Line", () => this.acceptPart(firstLine));
    add(COMMANDS.toggle, "Suggest While Typing", () => this.settings?.set("automatic", !this.isAutomatic), {
      isToggled: () => this.isAutomatic,
    });
    add(COMMANDS.model, "Choose the Model", () => this.chooseModel());
    add(COMMANDS.reload, "Load the Model Again", () => this.connection.command("fimlsp.server.reload"));
    add(COMMANDS.restart, "Restart the Server", () => this.connection.start());
    add(COMMANDS.statistics, "Show Statistics", () => this.showStatistics());
    add(COMMANDS.doctor, "Run the Doctor", () => this.runDoctor());
  }

  private connect(): Socket {
    const { wsUrl, token, appendToken } = this.server;
    const query = appendToken && token !== "" ? `?token=${encodeURIComponent(token)}` : "";
    return new this.server.WebSocket(URLExt.join(wsUrl, "fimlsp", "lsp") + query);
  }

  private parameters(root: string): object {
    return {
      processId: null,
      clientInfo: { name: this.app.name, version: this.app.version },
      rootUri: root,
      workspaceFolders: [{ uri: root, name: "Jupyter" }],
      capabilities: { general: { positionEncodings: ["utf-16"] } },
      initializationOptions: this.options,
    };
  }

  /** The settings that are the server's options. */
  private get options(): Record<string, unknown> {
    const { [KERNEL]: _, ...options } = { ...this.settings?.composite };
    return options;
  }

  private get isAutomatic(): boolean {
    return this.settings?.composite["automatic"] !== false;
  }

  private configure(): void {
    this.tracking.configure();
    const now = this.options;
    const isNew = AT_START.some((name) => now[name] !== this.started[name]);
    this.started = now;
    if (isNew) {
      this.connection.start();
    } else {
      this.connection.notify("workspace/didChangeConfiguration", { settings: { fimlsp: now } });
    }
  }

  // The screen

  private show(status: Status): void {
    this.status = status;
    this.item?.display(status);
  }

  private log(line: string, isProblem: boolean): void {
    console.info(`fimlsp: ${line}`);
    if (isProblem) {
      Notification.warning(`fimlsp: ${line}`, { autoClose: 3 * NOTICE_MS });
    }
  }

  /** Say why there is nothing: in the status bar, or for a moment where there is none. */
  private explain(isInvoked: boolean, reason: string | undefined): void {
    if (reason !== undefined && this.status.state !== "stopped" && this.status.state !== "loading") {
      this.show({ ...this.status, state: "none", reason });
    }
    if (isInvoked && this.item === undefined) {
      Notification.info(`fimlsp: ${summaryOf(this.status)}`, { autoClose: NOTICE_MS });
    }
  }

  // Suggestions

  private get place(): Place | undefined {
    const widget = this.app.shell.currentWidget;
    return widget === null ? undefined : this.tracking.find(widget);
  }

  /** Tell the server where the cursor rests. */
  private rest(): void {
    const { place } = this;
    if (place?.editor.hasFocus() === true) {
      const { line, column } = place.editor.getCursorPosition();
      this.documents.flush();
      void this.connection.command(REST, place.uri, line, column);
    }
  }

  /** Accept a part by its key before the editor, which moves the cursor by these keys, has seen it. */
  private press(event: KeyboardEvent): void {
    const { target } = event;
    if (!(target instanceof Element) || target.closest(ACTIVE) === null) {
      return;
    }
    const keystroke = CommandRegistry.keystrokeForKeydownEvent(event);
    const binding = this.app.commands.keyBindings.find(
      ({ command, keys, selector }) =>
        (command === COMMANDS.word || command === COMMANDS.line) &&
        keys.length === 1 &&
        keys[0] === keystroke &&
        target.closest(selector) !== null,
    );
    if (binding !== undefined) {
      event.preventDefault();
      event.stopImmediatePropagation();
      void this.app.commands.execute(binding.command);
    }
  }

  private follow(command: string): void {
    const { place } = this;
    if (place === undefined) {
      return;
    }
    const { suggestions } = this.provider;
    if (command === JUPYTER.accept && suggestions.last?.id !== undefined) {
      void this.connection.command(ACCEPT, suggestions.last.id);
    } else if (command === JUPYTER.next || command === JUPYTER.previous) {
      suggestions.turn(cursorIn(place), command === JUPYTER.next ? 1 : -1);
    }
  }

  /** Insert a *part* of the suggestion as if it were typed, so that Jupyter goes on to show the rest. */
  private acceptPart(part: (text: string) => string): void {
    const { place } = this;
    const text = place === undefined ? undefined : this.provider.suggestions.current(cursorIn(place))?.text;
    if (place === undefined || text === undefined) {
      return;
    }
    const accepted = part(text);
    insert(place.editor, accepted);
    const { left } = cursorIn(place);
    const id = this.app.shell.currentWidget?.id;
    if (accepted !== text && id !== undefined && /(?:^|\n)[ \t]*$/.test(left)) {
      this.provider.continue(); // where a line starts, Jupyter makes no request by itself
      this.manager.inline?.invoke(id);
    }
  }

  // Commands

  private async chooseModel(): Promise<void> {
    const answer = await this.connection.command<{ models: Model[] }>("fimlsp.server.models");
    if (answer === undefined) {
      Notification.error("fimlsp: Cannot list the models. Restart the server, or run the doctor.", { autoClose: 5_000 });
      return;
    }
    const now = String(this.settings?.composite["model"] ?? "");
    const usable = entriesOfModels(answer.models.filter(({ fills_in }) => fills_in !== false), now);
    const items = usable.map(({ label, description }) => `${withoutIcon(label)} (${description})`);
    const current = usable.findIndex(({ model }) => model === now);
    const choice = await InputDialog.getItem({
      title: "Model of fimlsp",
      label: "Models on the machine of the Jupyter server",
      items,
      current: Math.max(0, current),
    });
    const chosen = choice.value === null ? undefined : usable[items.indexOf(choice.value)];
    if (choice.button.accept && chosen !== undefined) {
      await this.settings?.set("model", chosen.model);
    }
  }

  private async showStatistics(): Promise<void> {
    const statistics = await this.connection.command<Statistics>("fimlsp.server.statistics");
    if (statistics !== undefined) {
      await showText("fimlsp since its start", linesOf(statistics).map(({ label, description }) => `${label}: ${description}`).join("\n"));
    }
  }

  private async runDoctor(): Promise<void> {
    const url = URLExt.join(this.server.baseUrl, "fimlsp", "doctor");
    const body = JSON.stringify({ model: this.settings?.composite["model"] ?? "" });
    const working = Notification.emit("fimlsp: the doctor is at work", "in-progress", { autoClose: false });
    let report: string;
    try {
      const response = await ServerConnection.makeRequest(url, { method: "POST", body }, this.server);
      report = response.ok ? (await response.json()).report : `Cannot run the doctor: ${response.statusText}.`;
    } catch (error) {
      report = `Cannot run the doctor: ${error}.`;
    }
    Notification.dismiss(working);
    await showText("fimlsp doctor", report);
  }
}

/** The item in the status bar. */
class StatusItem extends Widget {
  constructor(onClick: () => void) {
    super({ node: document.createElement("span") });
    this.addClass("jp-StatusBar-TextItem");
    this.addClass("jp-mod-highlighted");
    this.id = "fimlsp-status";
    this.node.style.cursor = "pointer";
    this.node.addEventListener("click", onClick);
    this.display({ state: "loading" });
  }

  /** Show *status*, as far as there is room; the tooltip has all of it. */
  display(status: Status): void {
    const summary = status.automatic === false ? `${summaryOf(status)}, on request only` : summaryOf(status);
    const isLong = summary.length > LONGEST_STATUS;
    this.node.textContent = `fimlsp: ${isLong ? `${summary.slice(0, LONGEST_STATUS - 1).trimEnd()}…` : summary}`;
    this.node.title = [summaryOf(status), ...factsOf(status)].join("\n");
  }
}

/**
 * Insert *text* at the cursor, which is after it in the same change. `replaceSelection` moves the cursor afterwards, so
 * that Jupyter would request a completion for a cursor before the text.
 */
function insert(editor: CodeEditor.IEditor, text: string): void {
  const from = editor.getOffsetAt(editor.getCursorPosition());
  const view = (editor as Partial<CodeMirrorEditor>).editor;
  view?.dispatch({
    changes: { from, insert: text },
    selection: { anchor: from + text.length },
    userEvent: "input.complete",
  });
}

function withoutIcon(label: string): string {
  return label.replace(/^\$\([\w-]+\) /, "");
}

async function showText(title: string, text: string): Promise<void> {
  const body = new Widget({ node: document.createElement("pre") });
  body.node.textContent = text;
  body.node.style.whiteSpace = "pre-wrap";
  await showDialog({ title, body, buttons: [Dialog.okButton()] });
}
