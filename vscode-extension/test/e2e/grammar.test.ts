/** A language that nobody but the user knows: files of its name, a grammar, and two settings. */

import assert from "node:assert/strict";
import { after, before } from "node:test";

import { scene, VSCode } from "./vscode";

const FILES = {
  "order.lark": `start: "order" NUMBER ("apples" | "pears") ";"
NUMBER: /[1-9]/
%ignore /[ \\n]+/
`,
  "monday.order": "order 3 <|>;\n",
};
const SETTINGS = { "fimlsp.grammars": { order: "order.lark" }, "fimlsp.languages": ["order"] };

const code = new VSCode(FILES, { ...SETTINGS, "fimlsp.oneLine": "always" });

before(async () => {
  await code.start();
  await code.open("monday.order");
  await code.isReady();
});
after(() => code.stop());

scene(code, "a file that is plain text to VS Code is completed in the grammar", async () => {
  const { left, right } = await code.open("monday.order");
  await code.press("Alt+\\");
  assert.match(await code.ghostAppears(), /^ *(?:apples|pears)/);
  await code.press("Tab");
  const text = await code.saved("monday.order");
  assert.match(text.slice(left.length, text.length - right.length), /^ *(?:apples|pears)\s*$/);
});
