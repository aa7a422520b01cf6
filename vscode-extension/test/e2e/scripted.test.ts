/** What VS Code does with suggestions that are known: those of a scripted server, written in the file itself. */

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before } from "node:test";

import { PYTHON, scene, VSCode } from "./vscode";

function script(candidates: string[], text: string): string {
  return `# ${JSON.stringify(candidates)}\n${text}`;
}

const FILES = {
  "cycle.py": script(["one", "two", "three"], "f(<|>)\n"),
  "lines.py": script(["if a:\n    b\nc", "d"], "<|>\nend\n"),
  "popup.py": script(["onerous"], "onerous = 1\nf(<|>)\n"),
  "reason.py": script([], "f(<|>)\n"),
  "unicode.py": script(["é = '😋'"], "f('éß', <|>)\n"),
  "through.py": script(["one + two"], "f(<|>)\n"),
  "word.py": script(["one + two()"], "f(<|>)\n"),
};

const folder = mkdtempSync(join(tmpdir(), "fimlsp-scripted-"));
const interpreter = join(folder, "python");
writeFileSync(
  interpreter,
  `#!/bin/sh\ncase "$*" in *--version*) exit 0;; esac\nexec ${PYTHON} ${resolve("../tests/editors/suggesting_server.py")}\n`,
);
chmodSync(interpreter, 0o755);

const code = new VSCode(FILES, {}, { "fimlsp.interpreter": interpreter });

before(async () => {
  await code.start();
  await code.open("cycle.py");
  await code.isReady();
});
after(async () => {
  await code.stop();
  rmSync(folder, { recursive: true });
});

/** Asks by hand, so that nothing needs to be typed. */
async function asks(): Promise<void> {
  await code.press("Alt+\\");
}

scene(code, "next and previous go through all candidates", async () => {
  const { left, right } = await code.open("cycle.py");
  await asks();
  assert.equal(await code.ghostAppears(), "one");
  for (const [key, expected] of [["]", "two"], ["]", "three"], ["]", "one"], ["[", "three"]] as const) {
    await code.press(`Alt+${key}`);
    await code.ghostIs(expected);
  }
  await code.press("Tab");
  assert.equal(await code.saved("cycle.py"), `${left}three${right}`);
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

scene(code, "no suggestion, because: the reason is in the status bar, whole in its tooltip, and gone in another file", async () => {
  await code.open("reason.py");
  await asks();
  await code.statusSays("fimlsp: the script has nothing to say", "circle-slash");
  assert.match(await code.tooltip(), /^No suggestion: the script has nothing to say\s+Model: scripted/);
  await code.screenshot("because");
  await code.open("cycle.py");
  await code.statusSays("fimlsp", "check");
});

scene(code, "nothing while an entry of the suggest widget is selected", async () => {
  await code.open("popup.py");
  await code.press("Control+Space");
  await code.page.locator(".suggest-widget.visible .monaco-list-row", { hasText: "onerous" }).first().waitFor();
  await code.rests();
  assert.equal(await code.ghost(), "");
  await code.press("Escape");
  await asks();
  await code.ghostIs("onerous");
});
