import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { debounceOf, interpreterOf, type Settings, toInitializationOptions } from "../../src/settings";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const properties: Record<string, { default: unknown }> = manifest.contributes.configuration.properties;

function settings(values: Record<string, unknown>): Settings {
  return { get: <T>(name: string, otherwise: T) => (name in values ? (values[name] as T) : otherwise) };
}

const OPTIONS: [name: string, given: Record<string, unknown>, expected: Record<string, unknown>][] = [
  ["nothing set", {}, {}],
  ["unset model is left to the server", { model: undefined, maxTokens: 32 }, { maxTokens: 32 }],
  ["an emptied text field is unset", { model: "", oneLine: "never" }, { oneLine: "never" }],
  ["null is unset", { deadlineMs: null }, {}],
  ["false is set", { automatic: false }, { automatic: false }],
  ["zero is set, and the server's to refuse", { maxTokens: 0 }, { maxTokens: 0 }],
  ["the editor's own settings stay here", { debounceMs: 5, interpreter: "/bin/python" }, {}],
];

for (const [name, given, expected] of OPTIONS) {
  test(`options: ${name}`, () => assert.deepEqual(toInitializationOptions(settings(given)), expected));
}

test("the debounce has the manifest's default", () => {
  assert.equal(debounceOf(settings({})), properties["fimlsp.debounceMs"]?.default);
  assert.equal(debounceOf(settings({ debounceMs: 0 })), 0);
});

test("an interpreter of blanks is none", () => {
  assert.equal(interpreterOf(settings({ interpreter: " " })), undefined);
  assert.equal(interpreterOf(settings({ interpreter: " /bin/python " })), "/bin/python");
});

test("the manifest offers the server's options with the server's defaults, and the editor's own settings", () => {
  const source = readFileSync("../lsp_server/settings.py", "utf8");
  const names = [...source.matchAll(/ Option\(\s*"(\w+)",\s*"(\w+)"/g)].map(([, name, field]) => {
    const written = new RegExp(`^    ${field}: .* = (.*)$`, "m").exec(source)?.[1];
    assert.ok(written, name);
    assert.deepEqual(properties[`fimlsp.${name}`]?.default, valueOf(written), name);
    return `fimlsp.${name}`;
  });
  assert.deepEqual(Object.keys(properties).sort(), [...names, "fimlsp.debounceMs", "fimlsp.interpreter"].sort());
});

test("every option of the manifest that is the server's is sent", () => {
  const all = Object.keys(properties).map((name) => [name.slice("fimlsp.".length), "set"]);
  const { debounceMs, interpreter, ...sent } = Object.fromEntries(all);
  assert.deepEqual(toInitializationOptions(settings({ ...sent, debounceMs, interpreter })), sent);
});

/** A Python literal's value as the settings have it: no model is an empty field. */
function valueOf(literal: string): unknown {
  return literal === "None" ? "" : JSON.parse(literal.replace("True", "true").replace("False", "false"));
}
