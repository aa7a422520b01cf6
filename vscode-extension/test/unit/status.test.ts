import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { ListStatus, lookOf, type State, STATUS, type Status, summaryOf, yielding } from "../../src/status";

const A = { uri: "file:///a.py" };

const CASES: [
  name: string,
  status: Status,
  active: { uri: string; offBecause?: string },
  text: string,
  summary: string,
][] = [
  ["ready", { state: "idle", model: "small" }, A, "$(check) fimlsp", "Ready"],
  [
    "loading",
    { state: "loading", reason: "reading", percent: 40 },
    A,
    "$(loading~spin) fimlsp 40%",
    "Loading: reading",
  ],
  [
    "an older server has no per cent",
    { state: "loading", reason: "reading" },
    A,
    "$(loading~spin) fimlsp",
    "Loading: reading",
  ],
  ["thinking", { state: "thinking", uri: A.uri }, A, "$(loading~spin) fimlsp", "Making a suggestion"],
  [
    "no suggestion, because",
    { state: "none", reason: "nothing fits", uri: A.uri },
    A,
    "$(circle-slash) fimlsp: nothing fits",
    "No suggestion: nothing fits",
  ],
  [
    "elsewhere there is none",
    { state: "none", reason: "nothing fits", uri: "file:///b.py" },
    A,
    "$(check) fimlsp",
    "Ready",
  ],
  ["elsewhere there is one", { state: "suggestion", uri: "file:///b.py" }, A, "$(check) fimlsp", "Ready"],
  [
    "a model that is missing concerns all",
    { state: "none", reason: "no model" },
    A,
    "$(circle-slash) fimlsp: no model",
    "No suggestion: no model",
  ],
  ["by hand", { state: "idle", automatic: false }, A, "$(check) fimlsp: invoked only", "Ready"],
  [
    "a language that is off",
    { state: "idle" },
    { ...A, offBecause: "toml is off" },
    "$(circle-slash) fimlsp: toml is off",
    "No suggestion: toml is off",
  ],
  [
    "that it does not run is told anywhere",
    { state: "stopped", reason: "why" },
    { ...A, offBecause: "toml is off" },
    "$(error) fimlsp",
    "The server is not running: why",
  ],
  ["a state of a newer server", { state: "dreaming" as State }, A, "$(info) fimlsp", "dreaming"],
];

for (const [name, status, active, text, summary] of CASES) {
  test(`shown: ${name}`, () => {
    assert.equal(lookOf(status, active).text, text);
    assert.equal(summaryOf(status, active), summary);
  });
}

test("a long reason is cut in the bar and whole in the tooltip", () => {
  const reason = "the file is larger than the largest that is read, which has five hundred thousand bytes";
  const look = lookOf({ state: "none", reason }, A);
  assert.match(look.text, /^\$\(circle-slash\) fimlsp: the file is larger .*…$/);
  assert.ok(look.text.length < 75);
  assert.ok(look.tooltip.includes(reason));
});

test("only what the user has to do something about is a problem", () => {
  const states: State[] = ["loading", "idle", "thinking", "suggestion", "none", "stopped", "missing"];
  const problems = states.filter((state) => lookOf({ state }).isProblem);
  assert.deepEqual(problems, ["stopped", "missing"]);
});

test("names that were not known are told in the tooltip, for the document they concern", () => {
  const names = "they are still being looked up";
  const status: Status = { state: "suggestion", uri: "file:///a.py", names };
  assert.match(lookOf(status, { uri: "file:///a.py" }).tooltip, /^Names in scope are unknown: they are still/m);
  assert.doesNotMatch(lookOf(status, { uri: "file:///b.py" }).tooltip, /Names/);
  assert.doesNotMatch(lookOf({ ...status, names: null }).tooltip, /Names/);
  assert.equal(lookOf(status).isProblem, false);
});

test("a file that was left out is named in the tooltip, for the document that it concerns", () => {
  const status: Status = { state: "suggestion", uri: "file:///a.py", files: "b.py is left out." };
  assert.match(lookOf(status, { uri: "file:///a.py" }).tooltip, /^b.py is left out\.$/m);
  assert.doesNotMatch(lookOf(status, { uri: "file:///c.py" }).tooltip, /left out/);
});

test("the tooltip says how many places the estimate has learnt from", () => {
  const status: Status = { state: "idle", model: "bundled", learnt: "learnt from 212 places" };
  assert.match(lookOf(status).tooltip, /^Model: bundled \(learnt from 212 places\)$/m);
  assert.match(lookOf({ ...status, learnt: null }).tooltip, /^Model: bundled$/m);
});

test("every state of the server has a look, and the notification its name", () => {
  const source = readFileSync("../lsp_server/session/status.py", "utf8");
  const states = /^State = Literal\[(.*)\]$/m.exec(source)?.[1]?.match(/\w+/g) ?? [];
  assert.ok(states.length > 0);
  for (const state of states) {
    assert.doesNotMatch(lookOf({ state: state as State }).text, /info/, state);
  }
  assert.match(source, new RegExp(`^STATUS = "${STATUS}"$`, "m"));
});

const YIELDING: [name: string, status: Status, text: string][] = [
  ["ready", { state: "idle" }, "$(circle-slash) fimlsp: VS Code's list is open (Escape closes it)"],
  [
    "a reason of before",
    { state: "none", reason: "nothing fits", uri: A.uri, problem: "no such model" },
    "$(circle-slash) fimlsp: VS Code's list is open (Escape closes it) $(warning)",
  ],
  ["loading", { state: "loading", percent: 40 }, "$(loading~spin) fimlsp 40%"],
];

for (const [name, status, text] of YIELDING) {
  test(`VS Code's own list is open: ${name}`, () => {
    assert.equal(lookOf(yielding(status, A.uri), A).text, text);
  });
}

test("VS Code's own list is open until the server's next request, also after the end of one before", () => {
  const list = new ListStatus();
  const states = (["idle", "idle", "thinking", "idle"] as const).map((state) => list.next({ state }).state);
  assert.deepEqual(states, ["idle", "idle", "thinking", "idle"]);
  list.opened({ state: "idle" }, A.uri);
  assert.equal(list.next({ state: "idle" }).reason, "VS Code's list is open (Escape closes it)");
  assert.equal(list.next({ state: "loading" }).state, "loading");
  assert.equal(list.next({ state: "idle" }).state, "idle");
  list.opened({ state: "idle" }, A.uri);
  assert.equal(list.next({ state: "suggestion", uri: A.uri }).state, "suggestion");
  assert.equal(list.next({ state: "idle" }).state, "idle");
});
