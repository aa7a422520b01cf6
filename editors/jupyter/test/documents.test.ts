import assert from "node:assert/strict";
import { test } from "node:test";

import { arrayChange, Documents, difference, positionAt, type Source } from "../src/documents";

/** A language server as far as it keeps documents: texts, and the order of cells. */
class Server {
  readonly texts = new Map<string, string>();
  readonly languages = new Map<string, string>();
  readonly orders = new Map<string, string[]>();
  readonly methods: string[] = [];

  notify(method: string, params: any): void {
    this.methods.push(method);
    switch (method) {
      case "textDocument/didOpen":
        return this.open(params.textDocument);
      case "textDocument/didChange":
        return this.edit(params.textDocument.uri, params.contentChanges);
      case "textDocument/didClose":
        return this.close(params.textDocument);
      case "notebookDocument/didOpen":
        params.cellTextDocuments.forEach((cell: any) => this.open(cell));
        this.orders.set(params.notebookDocument.uri, params.notebookDocument.cells.map(documentOf));
        return;
      case "notebookDocument/didChange": {
        const { structure, textContent } = params.change.cells;
        if (structure !== undefined) {
          structure.didClose.forEach((cell: any) => this.close(cell));
          structure.didOpen.forEach((cell: any) => this.open(cell));
          const { start, deleteCount, cells } = structure.array;
          this.orders.get(params.notebookDocument.uri)?.splice(start, deleteCount, ...cells.map(documentOf));
        }
        for (const { document, changes } of textContent ?? []) {
          this.edit(document.uri, changes);
        }
        return;
      }
      case "notebookDocument/didClose":
        this.orders.delete(params.notebookDocument.uri);
        params.cellTextDocuments.forEach((cell: any) => this.close(cell));
    }
  }

  private open({ uri, text, languageId }: any): void {
    assert.ok(!this.texts.has(uri), `${uri} is open already`);
    this.texts.set(uri, text);
    this.languages.set(uri, languageId);
  }

  private close({ uri }: any): void {
    assert.ok(this.texts.delete(uri), `${uri} is not open`);
  }

  private edit(uri: string, changes: any[]): void {
    for (const { range, text } of changes) {
      const before = this.texts.get(uri);
      assert.ok(before !== undefined, `${uri} is not open`);
      const [start, end] = [range.start, range.end].map((at) => offsetOf(before, at));
      this.texts.set(uri, before.slice(0, start) + text + before.slice(end));
    }
  }
}

const documentOf = ({ document }: { document: string }) => document;

function offsetOf(text: string, { line, character }: { line: number; character: number }): number {
  const ends = [...text.matchAll(/\r\n?|\n/g)].map((end) => end.index + end[0].length);
  return ([0, ...ends][line] ?? 0) + character;
}

/** A notebook that a test changes; a cell is a letter for its name, and its text. */
class Notebook {
  readonly uri = "file:///n.ipynb";
  readonly texts = new Map<string, string>();

  constructor(public order: string) {}

  cells(): Source[] {
    return [...this.order].map((name) => ({
      uri: name.toLowerCase(),
      language: name === name.toLowerCase() ? "python" : "other",
      text: () => this.texts.get(name) ?? name,
    }));
  }
}

const ORDERS: [name: string, before: string, after: string][] = [
  ["no change", "abc", "abc"],
  ["added at the end", "abc", "abcd"],
  ["added in front", "abc", "dabc"],
  ["split", "abc", "abdc"],
  ["merged", "abc", "ac"],
  ["moved down", "abcd", "acbd"],
  ["moved to the end", "abcd", "bcda"],
  ["replaced", "abc", "xyz"],
  ["all deleted", "abc", ""],
  ["from nothing", "", "ab"],
  ["reversed", "abcdef", "fedcba"],
  ["another language", "abc", "aBc"],
  ["another language, moved", "abc", "Bac"],
];

for (const [name, before, after] of ORDERS) {
  test(`cells: ${name}`, () => {
    const [server, notebook] = [new Server(), new Notebook(before)];
    const documents = new Documents(server);
    documents.openNotebook(notebook);
    notebook.order = after;
    documents.changeNotebook(notebook);
    documents.flush();
    const uris = [...after.toLowerCase()];
    assert.deepEqual(server.orders.get(notebook.uri), uris);
    assert.deepEqual([...server.texts.keys()].sort(), [...uris].sort());
    for (const cell of notebook.cells()) {
      assert.equal(server.languages.get(cell.uri), cell.language);
    }
    documents.closeNotebook(notebook);
    assert.equal(server.texts.size + server.orders.size, 0);
  });
}

test("cells that stay are named in no change", () => {
  const of = (order: string) => new Notebook(order).cells();
  assert.deepEqual(arrayChange(of("abcd"), of("axd")), {
    start: 1,
    deleteCount: 2,
    cells: [{ kind: 2, document: "x" }],
  });
});

test("a cell is edited and moved at once", () => {
  const [server, notebook] = [new Server(), new Notebook("abc")];
  const documents = new Documents(server);
  documents.openNotebook(notebook);
  notebook.texts.set("a", "new");
  notebook.order = "bca";
  documents.changeNotebook(notebook, "a");
  documents.changeNotebook(notebook);
  documents.flush();
  assert.deepEqual([...server.texts].sort(), [["a", "new"], ["b", "b"], ["c", "c"]]);
  const sent = server.methods.length;
  documents.changeNotebook(notebook, "a");
  documents.changeNotebook(notebook);
  documents.flush();
  assert.equal(server.methods.length, sent, "nothing new is sent again");
});

test("a new server gets everything as it is now", () => {
  const [server, notebook] = [new Server(), new Notebook("ab")];
  const documents = new Documents(server);
  let text = "x";
  const file = { uri: "file:///a.py", language: "python", text: () => text };
  documents.openFile(file);
  documents.openNotebook(notebook);
  text = "y";
  notebook.order = "bc";
  documents.changeFile(file);
  server.texts.clear();
  documents.reopen();
  assert.deepEqual([...server.texts.keys()].sort(), ["b", "c", "file:///a.py"]);
  assert.equal(server.texts.get(file.uri), "y");
});

const EDITS: [before: string, after: string][] = [
  ["", "a"],
  ["a", ""],
  ["aaa", "aa"],
  ["aa", "aaa"],
  ["a\nb\nc", "a\nB\nc"],
  ["a\r\nb", "a\nb"],
  ["a\r\n\r\nb", "a\r\nb"],
  ["a\rb", "a\rxb"],
  ["x = '😀'", "x = '😁'"],
  ["😀😀", "😀"],
  ["😀", "x😀"],
  ["größe\n", "größer\n"],
  ["abcabc", "abc"],
];

for (const [before, after] of EDITS) {
  test(`edit: ${JSON.stringify(before)} to ${JSON.stringify(after)}`, () => {
    const [server, source] = [new Server(), { uri: "a", language: "python", text: () => before }];
    const documents = new Documents(server);
    documents.openFile(source);
    source.text = () => after;
    documents.changeFile(source);
    documents.flush();
    assert.equal(server.texts.get("a"), after);
    const { text } = difference(before, after);
    assert.ok(text.isWellFormed(), "no half of a pair");
  });
}

test("places", () => {
  const text = "a\nbc\r\nd\re";
  const places = [0, 1, 2, 4, 6, 7, 8].map((offset) => positionAt(text, offset));
  const expected = [[0, 0], [0, 1], [1, 0], [1, 2], [2, 0], [2, 1], [3, 0]];
  assert.deepEqual(places.map(({ line, character }) => [line, character]), expected);
});
