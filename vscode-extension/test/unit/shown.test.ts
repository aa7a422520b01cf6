import assert from "node:assert/strict";
import { test } from "node:test";

import { type Change, cursorAt, type Item, type Lines, type Place, Shown } from "../../src/shown";

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
  ["a snippet's own dollar", [{ insertText: { value: "no\\$0($0)" } }], document("if no$0(:"), { line: 0, character: 8 }, true],
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
    shown.remember(cursorAt(document("if :"), AT), items);
    assert.equal(shown.isTypedThrough(now, at), through);
  });
}

test("what is dismissed has the server's name for it, once", () => {
  const shown = new Shown();
  shown.remember(cursorAt(document("if :"), AT), [ITEM]);
  assert.equal(shown.forget(), "7");
  assert.equal(shown.forget(), undefined);
});

test("a server without names", () => {
  const shown = new Shown();
  shown.remember(cursorAt(document("if :"), AT), [{ insertText: "x" }]);
  assert.equal(shown.forget(), undefined);
});

const OPEN: Item = { insertText: { value: "isinstance($0):" }, command: { arguments: ["8"] } };
const DOUBLED = document("if isinstance(x)::");

function typed(text: string, character: number, line = 0): Change {
  return { text, rangeLength: 0, range: { start: { line, character } } };
}

const COLONS: [name: string, taken: string, now: Lines, changes: Change[], colon: number | undefined][] = [
  ["behind the bracket", "8", DOUBLED, [typed(":", 16)], 17],
  ["where the text was written out", "7", DOUBLED, [typed(":", 16)], undefined],
  ["where nothing was taken", "9", DOUBLED, [typed(":", 16)], undefined],
  ["another sign", "8", document("if isinstance(x)):"), [typed(")", 16)], undefined],
  ["within the brackets", "8", document("if isinstance(x[:):"), [typed(":", 16)], undefined],
  ["in another line", "8", document("\nif isinstance(x)::"), [typed(":", 16, 1)], undefined],
  ["in another file", "8", document("if isinstance(x)::", "file:///b.py"), [typed(":", 16)], undefined],
  ["with more behind", "8", document("if isinstance(x):: #"), [typed(":", 16)], undefined],
  ["at two places", "8", DOUBLED, [typed(":", 16), typed(":", 3)], undefined],
];

for (const [name, taken, now, changes, colon] of COLONS) {
  test(`a colon typed over: ${name}`, () => {
    const shown = new Shown();
    shown.remember(cursorAt(document("if "), AT), [ITEM, OPEN]);
    shown.take(taken);
    assert.deepEqual(shown.doubledColon(now, changes), colon && { line: 0, character: colon });
  });
}
