import assert from "node:assert/strict";
import { test } from "node:test";

import { entriesOf, type Situation } from "../../src/menu";
import { commands } from "./manifest";

const READY: Situation = {
  state: "idle",
  automatic: true,
  language: { id: "python", isOn: true },
  isHereOff: false,
};

function labels(situation: Situation): string {
  return entriesOf(situation)
    .map((entry) => entry.label)
    .join("\n");
}

test("every entry runs a command of the manifest", () => {
  for (const state of ["idle", "missing"] as const) {
    const named = entriesOf({ ...READY, state }).map((entry) => entry.command);
    assert.deepEqual(
      named.filter((command) => !commands.includes(command)),
      [],
    );
    assert.equal(new Set(named).size, named.length);
  }
});

const CASES: [name: string, situation: Situation, there: RegExp][] = [
  [
    "on: can be turned off",
    READY,
    /Turn off automatic suggestions\n.*Turn off .* python\n.*Turn off .* this file/,
  ],
  [
    "off: can be turned on",
    { ...READY, automatic: false, isHereOff: true },
    /Turn on automatic suggestions\n.*Turn off .* python\n.*Turn on .* this file/,
  ],
  [
    "a language that is off",
    { ...READY, language: { id: "toml", isOn: false } },
    /Turn on suggestions for the language toml/,
  ],
  ["not installed: that first", { ...READY, state: "missing" }, /^\S+ Install the server…/],
];

for (const [name, situation, there] of CASES) {
  test(name, () => assert.match(labels(situation), there));
}

test("without a document only what concerns all", () => {
  assert.doesNotMatch(labels({ state: "idle", automatic: true }), /language|this file/);
});

test("what needs a running server is there only with one", () => {
  assert.match(labels(READY), /statistics/);
  assert.doesNotMatch(labels({ ...READY, state: "stopped" }), /statistics|Load the model/);
  assert.match(labels({ ...READY, state: "stopped" }), /Restart[^]*doctor[^]*log/);
});
