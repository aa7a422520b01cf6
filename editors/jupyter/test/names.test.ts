import assert from "node:assert/strict";
import { test } from "node:test";

import { cellUri, fileUri, kernelLanguage, languageOfMime } from "../src/names";

const ROOT = "file:///home/me/work";

const URIS: [path: string, root: string, uri: string][] = [
  ["a.ipynb", ROOT, "file:///home/me/work/a.ipynb"],
  ["my notes/größe #1.ipynb", ROOT, "file:///home/me/work/my%20notes/gr%C3%B6%C3%9Fe%20%231.ipynb"],
  ["RTC:sub/a.ipynb", ROOT, "file:///home/me/work/sub/a.ipynb"],
  ["s3:bucket/a.py", ROOT, "untitled:s3/bucket/a.py"],
  ["a/b:c.py", ROOT, "file:///home/me/work/a/b%3Ac.py"],
  ["a.py", "file:///", "file:///a.py"],
  ["a.py", "file:///C:/work/", "file:///C:/work/a.py"],
];

for (const [path, root, uri] of URIS) {
  test(`the URI of ${path}`, () => assert.equal(fileUri(root, path), uri));
}

test("URIs of cells", () => {
  assert.equal(cellUri(ROOT, "a b.ipynb", 7), "vscode-notebook-cell:/home/me/work/a%20b.ipynb#7");
  assert.equal(cellUri(ROOT, "s3:a.ipynb", 7), "untitled:s3/a.ipynb#7");
});

const KERNELS: [name: string, info: unknown, spec: unknown, language: string][] = [
  ["has run", { name: "python" }, { name: "x", language: "r" }, "python"],
  ["R", { name: "R" }, { name: "ir", language: "R" }, "r"],
  ["new, with a language", undefined, { name: "venv", language: "python" }, "python"],
  ["new, without", undefined, { name: "python3", display_name: "Python 3" }, "python"],
  ["new, another", undefined, { name: "ir" }, ""],
  ["nothing is known", undefined, undefined, ""],
  ["nonsense", 3, { language: 4, name: null }, ""],
];

for (const [name, info, spec, language] of KERNELS) {
  test(`the language of a kernel: ${name}`, () => assert.equal(kernelLanguage(info, spec), language));
}

const MIMES: [mime: string, extension: string, language: string][] = [
  ["text/x-python", ".py", "python"],
  ["text/x-ipython", ".py", "python"],
  ["application/json", ".json", "json"],
  ["text/x-lua", ".lua", "lua"],
  ["text/x-go", ".go", "go"],
  ["text/plain", ".slua", "slua"],
  ["text/plain", "", "plaintext"],
  ["text/markdown", ".md", "markdown"],
];

for (const [mime, extension, language] of MIMES) {
  test(`the language of ${mime} ${extension}`, () => assert.equal(languageOfMime(mime, extension), language));
}
