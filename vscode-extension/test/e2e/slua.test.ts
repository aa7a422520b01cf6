/** What only a language that knows types can suggest, in a script for a program that says what it is given. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
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
  "argument.slua": `NewEffect({
  id = "poison",
  OnTurn = function(victim)
    victim.Hit(1, <|>
  end
});
`,
  "result.slua": `local loss: number = 1;
local label: string = "poisoned";
NewEffect({
  id = "poison",
  OnTurn = function(victim)
    victim.Hit(loss, victim);
  end,
  Describe = function()
    <|>
  end
});
`,
  "declared.slua": `local strength: number = 3;
WithActorAt(0, 1, function(victim)
  <|>
  victim.Hit(damage, victim);
end);
`,
  "broken.slua": `local strength: number =
NewEffect({
  id = "poison",
  OnTurn = function(victim)
    victim.Hit(1, <|>
  end
  Describe = function()
    return "poison";
  end
});
`,
};

const code = new VSCode(FILES, { "fimlsp.interface": "game.txt", "fimlsp.oneLine": "always" });

before(async () => {
  await code.start();
  await code.open("argument.slua");
  await code.isReady();
});
after(() => code.stop());

/** Ask for a suggestion in *file*, keep its picture, and take it; the suggestion and the whole text then. */
async function accepted(file: string): Promise<{ ghost: string; text: string }> {
  const { left, right } = await code.open(file);
  await code.press("Alt+\\");
  const ghost = await code.ghostAppears();
  await code.screenshot(`slua-${file.replace(".slua", "")}`);
  await code.press("Tab");
  const text = await code.saved(file);
  assert.ok(text.startsWith(left) && text.endsWith(right), text);
  return { ghost, text };
}

/** Whether the script is right, by `fimlsp check`. */
function isRight(file: string): boolean {
  const files = [join(code.folder, file), "--interface", join(code.folder, "game.txt")];
  return spawnSync(PYTHON, ["-P", "-m", "fimlsp", "check", ...files]).status === 0;
}

scene(code, "of all that is in scope only what an argument has to be", async () => {
  const { ghost } = await accepted("argument.slua");
  assert.match(ghost, /^victim\);/);
  assert.ok(isRight("argument.slua"));
});

scene(code, "a function that gives a text has to return one", async () => {
  const { ghost } = await accepted("result.slua");
  assert.match(ghost, /^return .*;/);
  assert.ok(isRight("result.slua"));
});

scene(code, "what the lines below use is declared, with the type that they demand", async () => {
  const { ghost } = await accepted("declared.slua");
  assert.match(ghost, /^local damage ?: ?number ?= /);
  assert.ok(isRight("declared.slua"));
});

scene(code, "what is broken in other lines is passed over and told", async () => {
  const { ghost } = await accepted("broken.slua");
  assert.match(ghost, /^victim\);/);
  assert.ok(!isRight("broken.slua"));
});
