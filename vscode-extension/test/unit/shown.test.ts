import assert from "node:assert/strict";
import { test } from "node:test";

import { type Item, type Lines, type Place, Shown } from "../../src/shown";

function document(text: string, uri = "file:///a.py"): Lines {
  return { uri, lineAt: (line) => ({ text: text.split("\n")[line] ?? "" }) };
}

const ITEM: Item = { insertText: "not in self.items", command: { arguments: ["7"] } };
const AT: Place = { line: 0, character: 3 };

const CASES: [name: string, items: Item[], now: Lines, at: Place, through: boolean][] = [
  ["the first letters", [ITEM], document("if no:"), { line: 0, character: 5 }, true],
  ["another letter", [ITEM], document("if x:"), { line: 0, character: 4 }, false],
  ["the second candidate", [{ insertText: "x" }, ITEM], document("if no:"), { line: 0, character: 5 }, true],
  ["a snippet's escapes", [{ insertText: { value: "no\\$($0)" } }], document("if no$(:"), { line: 0, character: 7 }, true],
  ["a snippet", [{ insertText: { value: "no" } }], document("if n:"), { line: 0, character: 4 }, true],
  ["nothing typed", [ITEM], document("if :"), AT, false],
  ["backwards", [ITEM], document("if:"), { line: 0, character: 2 }, false],
  ["another line", [ITEM], document("\nif no"), { line: 1, character: 5 }, false],
  ["another file", [ITEM], document("if no:", "file:///b.py"), { line: 0, character: 5 }, false],
  ["nothing was shown", [], document("if no:"), { line: 0, character: 5 }, false],
];

for (const [name, items, now, at, through] of CASES) {
  test(`typed through: ${name}`, () => {
    const shown = new Shown();
    shown.remember(document("if :"), AT, items);
    assert.equal(shown.isTypedThrough(now, at), through);
  });
}

test("what is dismissed has the server's name for it, once", () => {
  const shown = new Shown();
  shown.remember(document("if :"), AT, [ITEM]);
  assert.equal(shown.forget(), "7");
  assert.equal(shown.forget(), undefined);
});

test("a server without names", () => {
  const shown = new Shown();
  shown.remember(document("if :"), AT, [{ insertText: "x" }]);
  assert.equal(shown.forget(), undefined);
});
