import assert from "node:assert/strict";
import { test } from "node:test";

import { type Cursor, firstLine, firstWord, Suggestions, toUnits } from "../src/suggestion";

const PARTS: [text: string, word: string, line: string][] = [
  ["tings(path)", "tings", "tings(path)"],
  ["(path)", "(", "(path)"],
  [" = größe + 1", " =", " = größe + 1"],
  ["\n    return x\n    y", "\n    return", "\n    return x"],
  ["return x\n    y", "return", "return x"],
  ["  ", "  ", "  "],
  ["\n", "\n", "\n"],
  ["名前 = 1", "名前", "名前 = 1"],
  ["\n\n\nx", "\n\n\nx", "\n\n\nx"],
  ["", "", ""],
];

for (const [text, word, line] of PARTS) {
  test(`parts of ${JSON.stringify(text)}`, () => assert.deepEqual([firstWord(text), firstLine(text)], [word, line]));
}

test("code points and units", () => {
  assert.deepEqual([0, 1, 2, 3, 9].map((offset) => toUnits("a😀b", offset)), [0, 1, 3, 4, 4]);
});

function cursor(marked: string, uri = "a"): Cursor {
  const [left = "", right = ""] = marked.split("|");
  return { uri, left, right };
}

// where two texts were suggested, the number of turns to the next, the cursor now, and what is on the screen
const SCREENS: [name: string, turns: number, now: Cursor, shown: string | undefined][] = [
  ["as given", 0, cursor("x = |)"), "one(1"],
  ["turned", 1, cursor("x = |)"), "only"],
  ["turned twice", 2, cursor("x = |)"), "one(1"],
  ["typed", 0, cursor("x = on|)"), "e(1"],
  ["turned and typed", 1, cursor("x = on|)"), "ly"],
  ["typed until the other one remains", 0, cursor("x = onl|)"), "y"],
  ["typed in full", 0, cursor("x = one(1|)"), undefined],
  ["something else typed", 0, cursor("x = a|)"), undefined],
  ["moved", 0, cursor("x |= )"), undefined],
  ["other text on the right", 0, cursor("x = |]"), undefined],
  ["another cell", 0, cursor("x = |)", "b"), undefined],
];

for (const [name, turns, now, shown] of SCREENS) {
  test(`on the screen: ${name}`, () => {
    const suggestions = new Suggestions();
    suggestions.remember(cursor("x = |)"), [
      { text: "one(1", id: "7.0" },
      { text: "only", id: "7.1" },
    ]);
    for (let turn = 0; turn < turns; turn++) {
      suggestions.turn(cursor("x = |)"), 1);
    }
    assert.equal(suggestions.current(now)?.text, shown);
  });
}

test("the chosen text stays when an answer has it as well", () => {
  const suggestions = new Suggestions();
  const items = ["one", "only"].map((text, number) => ({ text, id: `7.${number}` }));
  suggestions.remember(cursor("|"), items);
  suggestions.turn(cursor("|"), -1);
  suggestions.remember(cursor("o|"), [{ text: "ne", id: "8.0" }, { text: "nly", id: "8.1" }]);
  assert.equal(suggestions.current(cursor("o|"))?.id, "8.1");
});
