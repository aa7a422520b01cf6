/** Follows the notebooks and files that are open in the page, and finds the one that a request is about. */

import { PathExt } from "@jupyterlab/coreutils";
import type { ICellModel } from "@jupyterlab/cells";
import type { CodeEditor } from "@jupyterlab/codeeditor";
import type { DocumentRegistry } from "@jupyterlab/docregistry";
import type { IEditorTracker } from "@jupyterlab/fileeditor";
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";

import type { Documents, NotebookSource, Source } from "./documents";
import { answersOf, follow, Variables } from "./kernel";
import { cellUri, fileUri, kernelLanguage, languageOfMime } from "./names";

/** An editor that a request is about. */
export interface Place {
  readonly uri: string;
  readonly editor: CodeEditor.IEditor;
}

/** See the module. *root* is the URI of the Jupyter server's folder; *asksKernels* is true if the user allows it. */
export class Tracking {
  private readonly cells = new WeakMap<ICellModel, number>();
  private nextCell = 1;
  private readonly notebooks = new Map<DocumentRegistry.Context, Notebook>();
  private readonly files = new Map<DocumentRegistry.Context, File>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly documents: Documents,
    private readonly root: string,
    private readonly asksKernels: () => boolean,
    notebooks: INotebookTracker | null,
    editors: IEditorTracker | null,
  ) {
    notebooks?.forEach((panel) => void this.addNotebook(panel));
    notebooks?.widgetAdded.connect((_, panel) => void this.addNotebook(panel));
    editors?.forEach((widget) => void this.addFile(widget.context, widget.content.model));
    editors?.widgetAdded.connect((_, widget) => void this.addFile(widget.context, widget.content.model));
  }

  /** The editor of *widget* in which the user is; undefined if the server does not know its document. */
  find(widget: object): Place | undefined {
    const context = contextOf(widget);
    if (context === undefined) {
      return undefined;
    }
    const notebook = this.notebooks.get(context);
    if (notebook !== undefined) {
      const cell = (widget as NotebookPanel).content.activeCell;
      const uri = cell === null ? undefined : notebook.uriOf(cell.model);
      return cell?.editor == null || uri === undefined ? undefined : { uri, editor: cell.editor };
    }
    const file = this.files.get(context);
    const editor = (widget as { content?: { editor?: CodeEditor.IEditor } }).content?.editor;
    return file === undefined || editor === undefined ? undefined : { uri: file.source.uri, editor };
  }

  /** The reason that the server does not know the document of *widget*, in words. */
  whyUnknown(widget: object): string {
    const context = contextOf(widget);
    const language = context && this.notebooks.get(context)?.language;
    if (language === "") {
      return "the kernel of this notebook has not told its language yet";
    }
    return language === undefined || language === "python"
      ? "the cursor is not in a code cell or a file"
      : `the kernel of this notebook runs ${language}; only Python is completed`;
  }

  /** Follow a change of the settings. */
  configure(): void {
    for (const notebook of this.notebooks.values()) {
      notebook.variables.refresh();
    }
  }

  private async addNotebook(panel: NotebookPanel): Promise<void> {
    const { context } = panel;
    await context.ready;
    if (this.notebooks.has(context) || context.isDisposed) {
      return; // another tab of the same notebook
    }
    const notebook = new Notebook(
      context,
      panel,
      this.root,
      (cell) => (cell === undefined ? this.nextCell++ : this.numberOf(cell)),
      this.documents,
      () => this.asksKernels(),
      () => this.soon(),
    );
    this.notebooks.set(context, notebook);
    context.disposed.connect(() => {
      this.notebooks.delete(context);
      notebook.close();
    });
  }

  private async addFile(context: DocumentRegistry.Context, model: CodeEditor.IModel): Promise<void> {
    await context.ready;
    if (this.files.has(context) || context.isDisposed) {
      return;
    }
    const file = new File(context, model, this.root, this.documents, () => this.soon());
    this.files.set(context, file);
    context.disposed.connect(() => {
      this.files.delete(context);
      file.close();
    });
  }

  private numberOf(cell: ICellModel): number {
    const number = this.cells.get(cell) ?? this.nextCell++;
    this.cells.set(cell, number);
    return number;
  }

  /** Send the changes after the event that has made them, so that those of one key go together. */
  private soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.documents.flush();
    });
  }
}

/** A notebook with its code cells, for as long as any tab shows it. */
class Notebook {
  private source: NotebookSource;
  private known = new Map<ICellModel["sharedModel"], Source>();
  /** Those of its kernel, if the user allows it. */
  readonly variables: Variables;
  private readonly numberOfVariables: number;

  constructor(
    private readonly context: DocumentRegistry.Context,
    panel: NotebookPanel,
    private readonly root: string,
    private readonly numberOf: (cell?: ICellModel) => number,
    private readonly documents: Documents,
    private readonly asksKernel: () => boolean,
    private readonly soon: () => void,
  ) {
    const model = panel.context.model;
    this.numberOfVariables = numberOf();
    this.variables = new Variables(
      () => this.kernel(),
      () => this.variablesChanged(),
    );
    this.source = this.sourceNow(panel.context.path);
    this.cellsOf = () => [...model.cells];
    this.metadata = (key) => model.getMetadata(key);
    documents.openNotebook(this.source);
    follow(context.sessionContext, this.variables);
    this.variables.refresh();
    model.cells.changed.connect(this.restructured, this);
    model.metadataChanged.connect(this.restructured, this);
    context.pathChanged.connect(this.renamed, this);
  }

  private cellsOf: () => ICellModel[] = () => [];
  private metadata: (key: string) => unknown = () => undefined;

  /** The language of the kernel; empty if it is not known yet. */
  get language(): string {
    return kernelLanguage(this.metadata("language_info"), this.metadata("kernelspec"));
  }

  uriOf(cell: ICellModel): string | undefined {
    return this.known.get(cell.sharedModel)?.uri;
  }

  close(): void {
    for (const shared of this.known.keys()) {
      shared.changed.disconnect(this.edited, this);
    }
    this.variables.clear();
    this.documents.closeNotebook(this.source);
  }

  private kernel() {
    const kernel = this.context.sessionContext.session?.kernel;
    return kernel && this.asksKernel() && this.language === "python" ? answersOf(kernel) : undefined;
  }

  private variablesChanged(): void {
    this.documents.changeNotebook(this.source);
    this.documents.changeNotebook(this.source, this.uriOfVariables);
    this.soon();
  }

  private get uriOfVariables(): string {
    return cellUri(this.root, this.context.path, this.numberOfVariables);
  }

  private sourceNow(path: string): NotebookSource {
    return { uri: fileUri(this.root, path), cells: () => [...this.kernelCell(), ...this.follow(path)] };
  }

  /** The variables of the kernel, above all cells; the cells' own names come after them. */
  private kernelCell(): Source[] {
    const { variables } = this;
    return variables.text === ""
      ? []
      : [{ uri: this.uriOfVariables, language: "python", text: () => variables.text }];
  }

  /** The cells as they are now. Edits of new ones are followed from here on. */
  private follow(path: string): readonly Source[] {
    const isPython = this.language === "python";
    const cells = isPython ? this.cellsOf().filter((cell) => cell.type === "code") : [];
    const before = this.known;
    this.known = new Map(
      cells.map((cell) => [cell.sharedModel, before.get(cell.sharedModel) ?? this.sourceOf(cell, path)]),
    );
    for (const shared of this.known.keys()) {
      if (!before.has(shared)) {
        shared.changed.connect(this.edited, this);
      }
    }
    for (const shared of before.keys()) {
      if (!this.known.has(shared)) {
        shared.changed.disconnect(this.edited, this);
      }
    }
    return [...this.known.values()];
  }

  private sourceOf(cell: ICellModel, path: string): Source {
    const uri = cellUri(this.root, path, this.numberOf(cell));
    return { uri, language: "python", text: () => cell.sharedModel.getSource() };
  }

  private edited(shared: ICellModel["sharedModel"], change: { sourceChange?: unknown }): void {
    const cell = this.known.get(shared);
    if (change.sourceChange !== undefined && cell !== undefined) {
      this.documents.changeNotebook(this.source, cell.uri);
      this.soon();
    }
  }

  private restructured(): void {
    this.documents.changeNotebook(this.source);
    this.soon();
  }

  private renamed(): void {
    this.close();
    this.known = new Map();
    this.source = this.sourceNow(this.context.path);
    this.documents.openNotebook(this.source);
    this.variables.refresh();
  }
}

/** A file in the file editor, for as long as any tab shows it. */
class File {
  source: Source;

  constructor(
    private readonly context: DocumentRegistry.Context,
    private readonly model: CodeEditor.IModel,
    private readonly root: string,
    private readonly documents: Documents,
    private readonly soon: () => void,
  ) {
    this.source = this.sourceNow();
    documents.openFile(this.source);
    model.sharedModel.changed.connect(this.edited, this);
    model.mimeTypeChanged.connect(this.renamed, this);
    context.pathChanged.connect(this.renamed, this);
  }

  close(): void {
    this.model.sharedModel.changed.disconnect(this.edited, this);
    this.documents.closeFile(this.source);
  }

  private sourceNow(): Source {
    return {
      uri: fileUri(this.root, this.context.path),
      language: languageOfMime(this.model.mimeType, PathExt.extname(this.context.path)),
      text: () => this.model.sharedModel.getSource(),
    };
  }

  private edited(): void {
    this.documents.changeFile(this.source);
    this.soon();
  }

  private renamed(): void {
    this.documents.closeFile(this.source);
    this.source = this.sourceNow();
    this.documents.openFile(this.source);
  }
}

function contextOf(widget: object): DocumentRegistry.Context | undefined {
  return (widget as { context?: DocumentRegistry.Context }).context;
}
