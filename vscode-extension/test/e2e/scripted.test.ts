/** What VS Code does with suggestions that are known: those of a scripted server, written in the file itself. */

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before } from "node:test";

import { makeWheel } from "../wheel";
import { PYTHON, scene, until, VSCode } from "./vscode";

function script(candidates: string[], text: string): string {
  return `# ${JSON.stringify(candidates)}\n${text}`;
}

function notebook(source: string): string {
  const cell = { cell_type: "code", execution_count: null, metadata: {}, outputs: [], source };
  const metadata = { language_info: { name: "python" } };
  return JSON.stringify({ cells: [cell], metadata, nbformat: 4, nbformat_minor: 5 });
}

const FILES = {
  "cycle.py": script(["one", "two", "three"], "f(<|>)\n"),
  "lines.py": script(["if a:\n    b\nc", "d"], "<|>\nend\n"),
  "popup.py": script(["onerous"], "onerous = 1\nf(<|>)\n"),
  "closed.py": script(["erous + two"], "onerous = 1\nf(<|>)\n"),
  "reason.py": script([], "f(<|>)\n"),
  "dismiss.py": script(["one"], "f(<|>)\n"),
  "cells.ipynb": notebook(script(["one"], "f()")),
  "unicode.py": script(["é = '😋'"], "f('éß', <|>)\n"),
  "through.py": script(["one + two"], "f(<|>)\n"),
  "call.py": script(["total($0)"], "f(<|>)\n"),
  "header.py": script(["isinstance($0):"], "if <|>\n    pass\n"),
  "word.py": script(["one + two()"], "f(<|>)\n"),
};

const folder = mkdtempSync(join(tmpdir(), "fimlsp-scripted-"));
const HEARD = join(folder, "heard");
process.env["FIMLSP_HEARD"] = HEARD; // for the server, which VS Code starts
const SERVER = [PYTHON, resolve("../tests/editors/suggesting_server.py")];
const INTERPRETER = join(folder, "python");
writeFileSync(INTERPRETER, `#!/bin/sh\ncase "$*" in *--version*) exit 0;; esac\nexec ${SERVER.join(" ")}\n`);
chmodSync(INTERPRETER, 0o755);

const code = new VSCode(FILES, {}, { "fimlsp.interpreter": INTERPRETER });

before(async () => {
  await code.start();
  await code.open("cycle.py");
  await code.isReady();
});
after(async () => {
  await code.stop();
  rmSync(folder, { recursive: true });
});

/** Waits until the server has heard of *event*. */
async function hears(event: unknown[]): Promise<void> {
  const heard = () => readFileSync(HEARD, "utf8").split("\n");
  await until(
    async () => heard().includes(JSON.stringify(event)),
    () => heard().join("\n"),
  );
}

/** Asks by hand, so that nothing needs to be typed. */
async function asks(): Promise<void> {
  await code.press("Alt+\\");
}

scene(code, "next and previous go through all candidates", async () => {
  const { left, right } = await code.open("cycle.py");
  await asks();
  assert.equal(await code.ghostAppears(), "one");
  for (const [key, expected] of [
    ["]", "two"],
    ["]", "three"],
    ["]", "one"],
    ["[", "three"],
  ] as const) {
    await code.press(`Alt+${key}`);
    await code.ghostIs(expected);
  }
  await code.press("Tab");
  assert.equal(await code.saved("cycle.py"), `${left}three${right}`);
  await hears(["accepted", "2"]);
});

scene(code, "several lines, accepted line by line", async () => {
  const { left, right } = await code.open("lines.py");
  await asks();
  assert.equal(await code.ghostAppears(), "if a:\n    b\nc");
  await code.screenshot("lines");
  await code.press("Control+Alt+ArrowRight");
  await code.ghostIs("    b\nc");
  assert.equal(await code.saved("lines.py"), `${left}if a:\n${right}`);
  await code.press("Control+Alt+ArrowRight");
  await code.ghostIs("c");
  await code.press("Tab");
  assert.equal(await code.saved("lines.py"), `${left}if a:\n    b\nc${right}`);
});

scene(code, "a call that is left open: the cursor stays between its brackets", async () => {
  const { left, right } = await code.open("call.py");
  await asks();
  await code.ghostIs("total()");
  await code.type("to");
  await code.ghostIs("tal()");
  await code.press("Tab");
  await code.type("1)");
  assert.equal(await code.saved("call.py"), `${left}total(1)${right}`);
  await hears(["accepted", "0"]);
});

scene(code, "a header that is left open: its bracket and its colon are typed over", async () => {
  const { left, right } = await code.open("header.py");
  await asks();
  await code.ghostIs("isinstance():");
  await code.press("Tab");
  await code.type("a):");
  assert.equal(await code.saved("header.py"), `${left}isinstance(a):${right}`);
  await code.press("Control+z");
  assert.equal(await code.saved("header.py"), `${left}isinstance():${right}`);
  await code.press("Control+Shift+z");
  assert.equal(await code.saved("header.py"), `${left}isinstance(a):${right}`);
});

scene(code, "word by word", async () => {
  const { left, right } = await code.open("word.py");
  await asks();
  await code.ghostIs("one + two()");
  await code.press("Control+ArrowRight");
  await code.ghostIs(" + two()");
  assert.equal(await code.saved("word.py"), `${left}one${right}`);
});

scene(code, "typed through, letter by letter", async () => {
  const { left, right } = await code.open("through.py");
  await asks();
  await code.ghostIs("one + two");
  await code.type("one");
  await code.ghostIs(" + two");
  await code.rests();
  await code.ghostIs(" + two");
  await code.press("Tab");
  assert.equal(await code.saved("through.py"), `${left}one + two${right}`);
});

scene(code, "characters of any width", async () => {
  const { left, right } = await code.open("unicode.py");
  await asks();
  await code.ghostIs("é = '😋'");
  await code.press("Tab");
  assert.equal(await code.saved("unicode.py"), `${left}é = '😋'${right}`);
});

scene(
  code,
  "no suggestion, because: the reason is in the status bar, whole in its tooltip, and gone in another file",
  async () => {
    await code.open("reason.py");
    await asks();
    await code.statusSays("fimlsp: the script has nothing to say", "circle-slash");
    assert.match(await code.tooltip(), /^No suggestion: the script has nothing to say\s+Model: scripted/);
    await code.screenshot("because");
    await code.open("cycle.py");
    await code.statusSays("fimlsp", "check");
  },
);

scene(code, "nothing while an entry of the suggest widget is selected", async () => {
  await code.open("popup.py");
  await code.press("Control+Space");
  await code.page
    .locator(".suggest-widget.visible .monaco-list-row", { hasText: "onerous" })
    .first()
    .waitFor();
  await code.rests();
  assert.equal(await code.ghost(), "");
  await code.statusSays("fimlsp: VS Code's list is open (Escape closes it)", "circle-slash");
  await code.press("Escape");
  await asks();
  await code.ghostIs("onerous");
  await code.statusSays("fimlsp", "sparkle");
});

scene(code, "a suggestion again after the suggest widget is closed", async () => {
  const { left, right } = await code.open("closed.py");
  await code.type("on");
  await code.ghostIs("erous + two");
  await code.press("Control+Space");
  await code.statusSays("fimlsp: VS Code's list is open (Escape closes it)", "circle-slash");
  await code.ghostVanishes();
  await code.press("Escape");
  await code.ghostIs("erous + two");
  await code.press("Tab");
  assert.equal(await code.saved("closed.py"), `${left}onerous + two${right}`);
});

scene(code, "what is dismissed is told to the server", async () => {
  const { left, right } = await code.open("dismiss.py");
  await asks();
  await code.ghostIs("one");
  await code.press("Escape");
  await code.ghostVanishes();
  await hears(["dismissed", "0"]);
  assert.equal(await code.saved("dismiss.py"), `${left}${right}`);
});

scene(code, "a cell of a notebook", async () => {
  await code.page
    .locator(".explorer-folders-view .monaco-list-row", { hasText: "cells.ipynb" })
    .first()
    .dblclick();
  const cell = code.page.locator(".notebook-editor .cell .view-line", { hasText: "f()" }).first();
  await cell.click();
  await code.press("Control+End");
  await code.press("ArrowLeft");
  await asks();
  await code.ghostIs("one");
  await code.screenshot("notebook");
  await code.press("Tab");
  await code.page.locator(".notebook-editor .view-line", { hasText: "f(one)" }).waitFor();
});

scene(code, "a file without a name", async () => {
  await code.command("File: New Untitled Text File");
  await code.command("Change Language Mode");
  await code.page.keyboard.type("python");
  await code.row("Python").click();
  await code.type(script(["nameless"], "f("));
  await asks();
  await code.ghostIs("nameless");
  await code.press("Tab");
  await code.page.locator(".view-line", { hasText: "f(nameless)" }).waitFor();
});

scene(code, "the walkthrough", async () => {
  await code.command("fimlsp: Get Started");
  await code.page.locator(".gettingStarted", { hasText: "Set up the server" }).waitFor();
  await code.screenshot("walkthrough");
  await code.press("Control+w");
});

scene(
  code,
  "the server is installed into an environment of its own, with progress, and started",
  async () => {
    const main = `import os, sys\nif "--version" in sys.argv: print("fimlsp, version 9.9.9")\nelse: os.execv(${JSON.stringify(PYTHON)}, ${JSON.stringify(SERVER)})\n`;
    const wheel = makeWheel(PYTHON, folder, main);
    code.configure(
      {},
      { "fimlsp.interpreter": "", "fimlsp.installFrom": wheel, "fimlsp.wheelhouse": folder },
    );
    await code.page.locator(".notification-list-item", { hasText: "Setting up fimlsp" }).waitFor();
    await code.screenshot("installing");
    await code.isReady();
    await code.open("through.py");
  },
);
