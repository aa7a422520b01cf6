/** What only a language that knows types can suggest, in a script for a program that says what it is given. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before } from "node:test";

import { PYTHON, scene, VSCode } from "./vscode";

const INTERFACE = `--- Somebody who acts.
object Actor {
    name: string;
    mutable health: number;
    Hit: (amount: number, by: Actor) -> void;
};

--- What an effect does when something happens.
interface Effect {
    id: string;
    OnTurn: (Actor) -> void;
    optional Describe: () -> string;
};

global WithActorAt: (x: number, y: number, body: (Actor) -> void) -> void;
global NewEffect: (Effect) -> void;
`;
const FILES = {
  "game.txt": INTERFACE,
  "field.slua": `NewEffect({
  id = "poison",
  OnTurn = function(victim)
    victim.health = victim.<|>
  end
});
`,
};

const code = new VSCode(FILES, { "fimlsp.interface": "game.txt", "fimlsp.oneLine": "always" });

before(async () => {
  await code.start();
  await code.open("field.slua");
  await code.isReady();
});
after(() => code.stop());

scene(code, "of all fields only one from which a number comes", async () => {
  const { left, right } = await code.open("field.slua");
  await code.press("Alt+\\");
  assert.match(await code.ghostAppears(), /^health/);
  await code.screenshot("slua-field");
  await code.press("Tab");
  const text = await code.saved("field.slua");
  assert.ok(text.startsWith(left) && text.endsWith(right), text);
  const files = [join(code.folder, "field.slua"), "--interface", join(code.folder, "game.txt")];
  execFileSync(PYTHON, ["-P", "-m", "fimlsp", "check", ...files], { stdio: "pipe" });
});
