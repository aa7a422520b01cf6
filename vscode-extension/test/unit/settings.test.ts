import assert from "node:assert/strict";
import { test } from "node:test";

import {
  LANGUAGES,
  debounceOf,
  installFromOf,
  interpreterOf,
  isHubName,
  languageOf,
  languagesOf,
  patternOf,
  selectorOf,
  toggled,
  toInitializationOptions,
  wheelhouseOf,
  withOwnServer,
} from "../../src/settings";
import { properties, settings } from "./manifest";

const OPTIONS: [name: string, given: Record<string, unknown>, expected: Record<string, unknown>][] = [
  ["nothing set", {}, {}],
  ["unset model is left to the server", { model: undefined, maxTokens: 32 }, { maxTokens: 32 }],
  ["an emptied text field is unset", { model: "", oneLine: "never" }, { oneLine: "never" }],
  ["null is unset", { deadlineMs: null }, {}],
  ["false is set", { automatic: false }, { automatic: false }],
  ["no language is set, too", { languages: [] }, { languages: [] }],
  ["zero is set, and the server's to refuse", { maxTokens: 0 }, { maxTokens: 0 }],
  ["the editor's own settings stay here", { installFrom: "x", interpreter: "/bin/python" }, {}],
];

for (const [name, given, expected] of OPTIONS) {
  test(`options: ${name}`, () => assert.deepEqual(toInitializationOptions(settings(given)), expected));
}

const HERE = "http://127.0.0.1:8012";
const ELSEWHERE = "https://models.example.org";
const OWN: [model: unknown, own: unknown, used: unknown][] = [
  [HERE, undefined, HERE],
  ["http://[::1]:1", undefined, "http://[::1]:1"],
  ["owner/name", ELSEWHERE, "owner/name"],
  [ELSEWHERE, undefined, undefined],
  [ELSEWHERE, "owner/name", "owner/name"],
  [ELSEWHERE, ELSEWHERE, ELSEWHERE],
  ["http://127.0.0.1.example.org", HERE, HERE],
  ["http://", undefined, undefined],
];

for (const [model, own, used] of OWN) {
  test(`a server of a workspace's settings: ${model} beside ${own}`, () => {
    assert.equal(withOwnServer({ model, threads: 1 }, own).model, used);
    assert.equal(withOwnServer({ model, threads: 1 }, own).threads, 1);
  });
}

test("what is read here has the manifest's default", () => {
  assert.equal(debounceOf(settings({})), properties["fimlsp.debounceMs"]?.default);
  assert.equal(debounceOf(settings({ debounceMs: 0 })), 0);
  assert.deepEqual(languagesOf(settings({})), properties["fimlsp.languages"]?.default);
  assert.equal(installFromOf(settings({})), properties["fimlsp.installFrom"]?.default || undefined);
  assert.equal(installFromOf(settings({ installFrom: " " })), undefined);
  assert.equal(wheelhouseOf(settings({ wheelhouse: " /w " })), "/w");
});

const OWN_GRAMMARS = {
  languages: ["python", "query", "a*b"],
  grammars: { query: "query.lark", calc: "calc.lark", "a*b": "x.lark" },
};

const DOCUMENTS: [languageId: string, fileName: string, language: string][] = [
  ["plaintext", "/project/a.query", "query"],
  ["plaintext", "c:\\project\\a.query", "query"],
  ["plaintext", "/project/a.calc", "calc"],
  ["plaintext", "/project/a.txt", "plaintext"],
  ["plaintext", "/project/query", "plaintext"],
  ["plaintext", "/project/a.a*b", "plaintext"],
  ["plaintext", "/project/a.constructor", "plaintext"],
  ["query", "/project/a.sql", "query"],
  ["python", "/project/a.query", "python"],
];

for (const [languageId, fileName, language] of DOCUMENTS) {
  test(`${languageId} document ${fileName} is of the language ${language}`, () => {
    assert.equal(languageOf({ languageId, fileName }, settings(OWN_GRAMMARS)), language);
  });
}

test("documents are selected by their language, and where VS Code has no such language by their file", () => {
  const selector = selectorOf(settings(OWN_GRAMMARS));
  const schemes = ["file", "untitled", "vscode-notebook-cell"];
  assert.deepEqual(selector, [
    ...OWN_GRAMMARS.languages.flatMap((language) => schemes.map((scheme) => ({ language, scheme }))),
    { language: "plaintext", scheme: "file", pattern: "**/*.query" }, // calc is not in languages
  ]);
  assert.equal(selectorOf(settings({})).length, LANGUAGES.length * schemes.length);
});

test("grammars that are no object select nothing", () => {
  assert.deepEqual(selectorOf(settings({ languages: [], grammars: null })), []);
  assert.deepEqual(selectorOf(settings({ languages: ["x"], grammars: "x" })).length, 3);
});

test("an interpreter of blanks is none", () => {
  assert.equal(interpreterOf(settings({ interpreter: " " })), undefined);
  assert.equal(interpreterOf(settings({ interpreter: " /bin/python " })), "/bin/python");
});

test("toggling twice changes nothing", () => {
  assert.deepEqual(toggled(["a"], "b"), ["a", "b"]);
  assert.deepEqual(toggled(["a", "b"], "b"), ["a"]);
});

const PATTERNS: [path: string, folder: string | undefined, pattern: string][] = [
  ["/project/pkg/a.py", "/project", "**/pkg/a.py"],
  ["/project/pkg/a.py", "/project/", "**/pkg/a.py"],
  ["/elsewhere/a.py", "/project", "/elsewhere/a.py"],
  ["/projects/a.py", "/project", "/projects/a.py"],
  ["/a.py", undefined, "/a.py"],
  ["c:\\work\\pkg\\a.py", "c:\\work", "**/pkg/a.py"],
];

for (const [path, folder, pattern] of PATTERNS) {
  test(`pattern of ${path} in ${folder}`, () => assert.equal(patternOf(path, folder), pattern));
}

const NAMES: [text: string, isName: boolean][] = [
  ["bigcode/gpt_bigcode-santacoder", true],
  ["gpt2", true],
  ["a/b/c", false],
  ["", false],
  ["..", false],
  ["with blank", false],
];

for (const [text, isName] of NAMES) {
  test(`hub name: ${text}`, () => assert.equal(isHubName(text), isName));
}
