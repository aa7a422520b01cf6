/** What a user sees of a suggestion and does with it. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before } from "node:test";

import { parses, scene, VSCode } from "./vscode";

const INVENTORY = readFileSync("../examples/inventory.py", "utf8");

/** The sample file without what stands in *line* behind *kept*, and the cursor there; *rest* follows it. */
function cut(line: number, kept: string, rest: string): string {
  const lines = INVENTORY.split("\n");
  const text = lines[line - 1] ?? "";
  const indentation = text.slice(0, text.length - text.trimStart().length);
  return [...lines.slice(0, line - 1), `${indentation}${kept}<|>${rest}`, ...lines.slice(line)].join("\n");
}

const FILES = {
  "midline.py": cut(36, "if name n", ":"),
  "block.py":
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):<|>\n",
  "word.py": cut(36, "if name n", ":"),
  "through.py": cut(36, "if name n", ":"),
  "cancel.py": cut(36, "if name n", ":"),
  "cycle.py": "import os\n\n\ndef size(path):\n    return os<|>\n",
  "inventory.py": cut(42, "if name", ":"),
  "brackets.py": "def total(items):\n    return sum(item.value for item in<|>)\n",
};

const code = new VSCode(FILES);

before(async () => {
  await code.start();
  await code.open("midline.py");
  await code.isReady();
});
after(() => code.stop());

scene(code, "the picture of the README", async () => {
  await code.open("inventory.py");
  await code.command("View: Toggle Primary Side Bar Visibility");
  await code.type(" ");
  await code.ghostAppears();
  await code.page.setViewportSize({ width: 900, height: 430 });
  await code.screenshot("readme");
  await code.page.setViewportSize({ width: 1000, height: 640 });
  await code.press("Escape");
  await code.command("View: Toggle Primary Side Bar Visibility");
});

scene(code, "ghost text appears in front of what follows, connects, and is accepted", async () => {
  const { left, right } = await code.open("midline.py");
  await code.type("o");
  const ghost = await code.ghostAppears();
  await code.screenshot("midline");
  await code.press("Tab");
  await code.ghostVanishes();
  const text = await code.saved("midline.py");
  assert.equal(text, `${left}o${ghost}${right}`);
  assert.ok(parses(text));
});

scene(code, "a block is begun below its header", async () => {
  const { left, right } = await code.open("block.py");
  await code.press("Enter");
  const ghost = await code.ghostAppears();
  await code.screenshot("block");
  await code.press("Tab");
  const text = await code.saved("block.py");
  assert.equal(text, `${left}\n        ${ghost}${right}`);
  assert.ok(parses(text));
});

scene(code, "nothing is doubled: the brackets that are there close what is suggested", async () => {
  const { left } = await code.open("brackets.py");
  await code.type(" ");
  const ghost = await code.ghostAppears();
  await code.press("Tab");
  const text = await code.saved("brackets.py");
  assert.equal(text, `${left} ${ghost})\n`);
  assert.ok(parses(text));
});

scene(code, "accepted by word, then the rest", async () => {
  const { left, right } = await code.open("word.py");
  await code.type("o");
  const ghost = await code.ghostAppears();
  await code.press("Control+ArrowRight");
  const rest = await code.ghostAppears(ghost);
  assert.ok(rest.length < ghost.length && ghost.endsWith(rest), rest);
  assert.equal(await code.saved("word.py"), `${left}o${ghost.slice(0, -rest.length)}${right}`);
  await code.screenshot("word");
  await code.press("Tab");
  assert.equal(await code.saved("word.py"), `${left}o${ghost}${right}`);
});

scene(code, "typed through: what is typed as suggested leaves the rest, and Tab takes that", async () => {
  const { left, right } = await code.open("through.py");
  await code.type("o");
  const ghost = await code.ghostAppears();
  for (const end of [1, 2, 3]) {
    await code.type(ghost.slice(end - 1, end));
    assert.equal(await code.ghost(), ghost.slice(end));
  }
  await code.rests();
  assert.equal(await code.ghost(), ghost.slice(3));
  await code.press("Tab");
  const text = await code.saved("through.py");
  assert.equal(text, `${left}o${ghost}${right}`);
  assert.ok(parses(text));
});

scene(code, "Escape takes it away for good, and leaves the text alone", async () => {
  const { left, right } = await code.open("cancel.py");
  await code.type("o");
  await code.ghostAppears();
  await code.press("Escape");
  await code.ghostVanishes();
  await code.rests();
  assert.equal(await code.ghost(), "");
  assert.equal(await code.saved("cancel.py"), `${left}o${right}`);
});

scene(code, "another suggestion by hand connects as well", async () => {
  const { left, right } = await code.open("cycle.py");
  await code.type(".");
  const first = await code.ghostAppears();
  await code.press("Alt+]");
  const second = await code.ghostAppears(first);
  await code.screenshot("cycle");
  await code.press("Tab");
  const text = await code.saved("cycle.py");
  assert.equal(text, `${left}.${second}${right}`);
  assert.ok(parses(text));
});
