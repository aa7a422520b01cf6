import assert from "node:assert/strict";
import { test } from "node:test";
import type * as vscode from "vscode";

import {
  activeInterpreter,
  candidates,
  firstWorking,
  isInstalled,
  onActiveInterpreterChange,
  type Places,
  unusableMessage,
} from "../../src/python";

const NOWHERE: Places = { folders: [] };

const CANDIDATES: [name: string, places: Places, platform: NodeJS.Platform, expected: string[]][] = [
  ["nothing but the path", NOWHERE, "linux", ["fimlsp"]],
  [
    "workspace, then the Python extension, then the path",
    { folders: ["/a", "/b"], active: "/c/python" },
    "linux",
    ["/a/.venv/bin/python -m fimlsp", "/b/.venv/bin/python -m fimlsp", "/c/python -m fimlsp", "fimlsp"],
  ],
  [
    "the setting alone",
    { setting: "/s/python", folders: ["/a"], active: "/c/python" },
    "linux",
    ["/s/python -m fimlsp"],
  ],
  [
    "the extension's own environment last",
    { folders: [], own: { command: "/o/python", args: ["-I", "-m", "fimlsp"] } },
    "linux",
    ["fimlsp", "/o/python -I -m fimlsp"],
  ],
  ["Windows", { folders: ["C:\\a"] }, "win32", ["C:\\a\\.venv\\Scripts\\python.exe -m fimlsp", "fimlsp"]],
];

for (const [name, places, platform, expected] of CANDIDATES) {
  test(`candidates: ${name}`, () => {
    const shown = candidates(places, platform).map((each) => [each.command, ...each.args].join(" "));
    assert.deepEqual(shown, expected);
  });
}

test("the first that works is taken and no later one is tried", async () => {
  const tried: string[] = [];
  const commands = ["a", "b", "c"].map((command) => ({ command, args: [] }));
  const found = await firstWorking(commands, async ({ command }) => tried.push(command) === 2);
  assert.equal(found?.command, "b");
  assert.deepEqual(tried, ["a", "b"]);
});

test("none works", async () => {
  assert.equal(await firstWorking(candidates(NOWHERE), async () => false), undefined);
});

test("a program is installed when it can tell its version", async () => {
  assert.equal(await isInstalled({ command: process.execPath, args: [] }, "."), true);
  assert.equal(await isInstalled({ command: process.execPath, args: ["--no-such-option"] }, "."), false);
  assert.equal(await isInstalled({ command: "no-such-program-anywhere", args: [] }, "."), false);
});

test("a setting that cannot be used is told with the reason and the remedy", () => {
  assert.match(
    unusableMessage("/s/python", "it has no fimlsp"),
    /names \/s\/python, but it has no fimlsp: name one that has fimlsp, or let the extension use/,
  );
});

function pythonExtension(activate: () => Promise<unknown>): Pick<typeof vscode.extensions, "getExtension"> {
  return { getExtension: <T>() => ({ activate }) as unknown as vscode.Extension<T> };
}

test("the Python extension's environment is resolved to its executable", async () => {
  const environments = {
    getActiveEnvironmentPath: () => "chosen",
    resolveEnvironment: async (environment: unknown) => ({
      executable: { uri: { fsPath: `/${environment}/python` } },
    }),
  };
  assert.equal(await activeInterpreter(pythonExtension(async () => ({ environments }))), "/chosen/python");
});

test("without the Python extension, or with one that fails, there is no active interpreter", async () => {
  assert.equal(await activeInterpreter({ getExtension: () => undefined }), undefined);
  assert.equal(
    await activeInterpreter(pythonExtension(() => Promise.reject(new Error("broken")))),
    undefined,
  );
});

test("another choice in the Python extension is heard of", async () => {
  let choose = () => {};
  let heard = 0;
  const onDidChangeActiveEnvironmentPath = (listener: () => void) => {
    choose = listener;
    return { dispose: () => (choose = () => {}) };
  };
  const extensions = pythonExtension(async () => ({ environments: { onDidChangeActiveEnvironmentPath } }));
  const listening = await onActiveInterpreterChange(extensions, () => heard++);
  choose();
  listening.dispose();
  choose();
  assert.equal(heard, 1);
});

test("without the Python extension there is nothing to hear of", async () => {
  const listening = await onActiveInterpreterChange({ getExtension: () => undefined }, assert.fail);
  listening.dispose();
});
