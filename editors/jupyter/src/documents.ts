/**
 * The documents of the page as the language server has them, and the messages that bring it up to date.
 *
 * The texts are shared with other users and tabs, so edits come from everywhere. They only mark a text as changed.
 * Before each request, and soon after each edit, the change is computed from the text that the server has.
 */

import type {
  NotebookCellArrayChange,
  NotebookDocumentChangeEvent,
  Position,
  TextDocumentContentChangeEvent,
} from "vscode-languageserver-protocol";

/** Sends notifications to the server. */
export interface Link {
  notify(method: string, params: unknown): void;
}

/** A text of the page: a file, or a cell. */
export interface Source {
  readonly uri: string;
  /** The identifier of its language. */
  readonly language: string;
  text(): string;
}

/** A notebook of the page, with the cells that the server is to know. */
export interface NotebookSource {
  readonly uri: string;
  cells(): readonly Source[];
}

const NOTEBOOK_TYPE = "jupyter-notebook";
const CODE_CELL = 2;
const [LINE_FEED, RETURN] = [10, 13];

/** The place of *offset* in *text*, in UTF-16 units. O(offset). */
export function positionAt(text: string, offset: number): Position {
  let [line, start] = [0, 0];
  for (let at = 0; at < offset; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED || (code === RETURN && text.charCodeAt(at + 1) !== LINE_FEED)) {
      line++;
      start = at + 1;
    }
  }
  return { line, character: offset - start };
}

/** The smallest edit from *before* to *after*, in whole characters. O(length). */
export function difference(before: string, after: string): TextDocumentContentChangeEvent {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) {
    start++;
  }
  if (isWithin(before, start) || isWithin(after, start)) {
    start--;
  }
  let same = 0;
  while (same < shorter - start && before.at(-same - 1) === after.at(-same - 1)) {
    same++;
  }
  if (isWithin(before, before.length - same) || isWithin(after, after.length - same)) {
    same--;
  }
  return {
    range: { start: positionAt(before, start), end: positionAt(before, before.length - same) },
    text: after.slice(start, after.length - same),
  };
}

/** True if *offset* is between the halves of a surrogate pair, or of a line end. */
function isWithin(text: string, offset: number): boolean {
  const [left, right] = [text.charCodeAt(offset - 1), text.charCodeAt(offset)];
  return (right >= 0xdc00 && right <= 0xdfff) || (left === RETURN && right === LINE_FEED);
}

/** The change of a list of cells: the first number that differs, so many cells less, and the cells in their place. */
export function arrayChange(before: readonly Source[], after: readonly Source[]): NotebookCellArrayChange {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSame(before[start], after[start])) {
    start++;
  }
  let same = 0;
  while (same < shorter - start && isSame(before.at(-same - 1), after.at(-same - 1))) {
    same++;
  }
  const cells = after.slice(start, after.length - same).map(cellOf);
  return { start, deleteCount: before.length - same - start, cells };
}

function isSame(one: Source | undefined, other: Source | undefined): boolean {
  return one?.uri === other?.uri && one?.language === other?.language;
}

function cellOf(cell: Source) {
  return { kind: CODE_CELL as 2, document: cell.uri };
}

/** A text, and the version of it that the server has. */
class Copy {
  private version = 1;
  private text: string;

  constructor(readonly source: Source) {
    this.text = source.text();
  }

  get item() {
    return {
      uri: this.source.uri,
      languageId: this.source.language,
      version: this.version,
      text: this.text,
    };
  }

  /** The edit that the server lacks, if any; it counts as sent. */
  edit() {
    const text = this.source.text();
    if (text === this.text) {
      return undefined;
    }
    const changes = [difference(this.text, text)];
    this.text = text;
    this.version++;
    return { document: { uri: this.source.uri, version: this.version }, changes };
  }
}

/** A notebook, and the cells of it that the server has. */
class NotebookCopy {
  private copies: Map<string, Copy>;
  private version = 1;
  private isRestructured = false;
  private readonly changed = new Set<string>();

  constructor(private readonly source: NotebookSource) {
    this.copies = copiesOf(source.cells());
  }

  private get cells(): Source[] {
    return [...this.copies.values()].map((copy) => copy.source);
  }

  open(link: Link): void {
    const notebookDocument = {
      uri: this.source.uri,
      notebookType: NOTEBOOK_TYPE,
      version: this.version,
      cells: this.cells.map(cellOf),
    };
    const cellTextDocuments = [...this.copies.values()].map((copy) => copy.item);
    link.notify("notebookDocument/didOpen", { notebookDocument, cellTextDocuments });
  }

  mark(cell: string | undefined): void {
    if (cell === undefined) {
      this.isRestructured = true;
    } else {
      this.changed.add(cell);
    }
  }

  flush(link: Link): void {
    if (this.isRestructured) {
      this.isRestructured = false;
      this.restructure(link);
    }
    const edits = [...this.changed].flatMap((uri) => this.copies.get(uri)?.edit() ?? []);
    this.changed.clear();
    if (edits.length > 0) {
      this.send(link, { cells: { textContent: edits } });
    }
  }

  private restructure(link: Link): void {
    const [before, after] = [this.cells, this.source.cells()];
    const array = arrayChange(before, after);
    if (array.deleteCount === 0 && array.cells?.length === 0) {
      return;
    }
    const kept = new Set(after.filter((cell) => isSame(cell, this.copies.get(cell.uri)?.source)));
    const copies = copiesOf(after, (cell) => (kept.has(cell) ? this.copies.get(cell.uri) : undefined));
    const didOpen = after.filter((cell) => !kept.has(cell)).flatMap((cell) => copies.get(cell.uri)?.item ?? []);
    const stays = new Set([...kept].map(({ uri }) => uri));
    const didClose = before.filter(({ uri }) => !stays.has(uri)).map(({ uri }) => ({ uri }));
    this.copies = copies;
    this.send(link, { cells: { structure: { array, didOpen, didClose } } });
  }

  private send(link: Link, change: NotebookDocumentChangeEvent): void {
    this.version++;
    const notebookDocument = { uri: this.source.uri, version: this.version };
    link.notify("notebookDocument/didChange", { notebookDocument, change });
  }

  close(link: Link): void {
    link.notify("notebookDocument/didClose", {
      notebookDocument: { uri: this.source.uri },
      cellTextDocuments: this.cells.map(({ uri }) => ({ uri })),
    });
  }
}

function copiesOf(
  cells: readonly Source[],
  known: (cell: Source) => Copy | undefined = () => undefined,
): Map<string, Copy> {
  return new Map(cells.map((cell) => [cell.uri, known(cell) ?? new Copy(cell)]));
}

/** All open documents. `reopen` sends them to a new server. */
export class Documents {
  private readonly files = new Map<Source, Copy>();
  private readonly notebooks = new Map<NotebookSource, NotebookCopy>();
  private readonly changedFiles = new Set<Source>();
  private readonly changedNotebooks = new Set<NotebookSource>();

  constructor(private readonly link: Link) {}

  openFile(source: Source): void {
    const copy = new Copy(source);
    this.files.set(source, copy);
    this.link.notify("textDocument/didOpen", { textDocument: copy.item });
  }

  openNotebook(source: NotebookSource): void {
    const copy = new NotebookCopy(source);
    this.notebooks.set(source, copy);
    copy.open(this.link);
  }

  changeFile(source: Source): void {
    this.changedFiles.add(source);
  }

  /** A *cell* has changed; without one, the list of cells. */
  changeNotebook(source: NotebookSource, cell?: string): void {
    this.notebooks.get(source)?.mark(cell);
    this.changedNotebooks.add(source);
  }

  closeFile(source: Source): void {
    if (this.files.delete(source)) {
      this.link.notify("textDocument/didClose", { textDocument: { uri: source.uri } });
    }
  }

  closeNotebook(source: NotebookSource): void {
    this.notebooks.get(source)?.close(this.link);
    this.notebooks.delete(source);
  }

  /** Send all changes. */
  flush(): void {
    for (const source of this.changedFiles) {
      const edit = this.files.get(source)?.edit();
      if (edit !== undefined) {
        const { document, changes } = edit;
        this.link.notify("textDocument/didChange", { textDocument: document, contentChanges: changes });
      }
    }
    for (const source of this.changedNotebooks) {
      this.notebooks.get(source)?.flush(this.link);
    }
    this.changedFiles.clear();
    this.changedNotebooks.clear();
  }

  /** Send all documents to a new server. */
  reopen(): void {
    for (const source of [...this.files.keys()]) {
      this.openFile(source);
    }
    for (const source of [...this.notebooks.keys()]) {
      this.openNotebook(source);
    }
    this.changedFiles.clear();
    this.changedNotebooks.clear();
  }
}
