import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { type Item, show, type State, STATUS } from "../../src/status";

function shown(state: string, reason?: string | null): Item {
  const item: Item = { text: "" };
  show(item, { state: state as State, reason: reason ?? null });
  return item;
}

const CASES: [state: string, reason: string | null, text: string, tooltip: string][] = [
  ["idle", "small model", "$(check) fimlsp", "Ready: small model"],
  ["thinking", null, "$(loading~spin) fimlsp", "Making a completion"],
  ["none", "the model is not there", "$(circle-slash) fimlsp", "No completion: the model is not there"],
  ["dreaming", null, "$(info) fimlsp", "dreaming"],
];

for (const [state, reason, text, tooltip] of CASES) {
  test(`shown: ${state}`, () => assert.deepEqual(shown(state, reason), { text, tooltip }));
}

test("every state of the server has a look, and the notification its name", () => {
  const source = readFileSync("../lsp_server/status.py", "utf8");
  const states = /^State = Literal\[(.*)\]$/m.exec(source)?.[1]?.match(/\w+/g) ?? [];
  assert.ok(states.length > 0);
  for (const state of states) {
    assert.doesNotMatch(shown(state).text, /info/, state);
  }
  assert.match(source, new RegExp(`^STATUS = "${STATUS}"$`, "m"));
});
