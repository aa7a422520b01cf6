import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { Resting } from "../../src/resting";

type Step = [move: "move" | "enter" | "end", place: number] | number;

const CASES: Record<string, [steps: Step[], told: number[]]> = {
  "a place where the cursor rests": [[["move", 1], 300], [1]],
  "not on the way": [[["move", 1], 299], []],
  "only the last place of a movement": [[["move", 1], 200, ["move", 2], 200, ["move", 3], 300], [3]],
  "each place where it rests": [[["move", 1], 300, ["move", 2], 300], [1, 2]],
  "a document that comes to the front, at once": [[["enter", 1]], [1]],
  "the place in that document, not the one before": [[["move", 1], 200, ["enter", 2], 300], [2]],
  "nothing that ended": [[["move", 1], 200, ["end", 0], 300], []],
};

for (const [name, [steps, told]] of Object.entries(CASES)) {
  test(`told: ${name}`, (context: TestContext) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const places: number[] = [];
    const resting = new Resting<number>((place) => places.push(place));
    for (const step of steps) {
      if (typeof step === "number") {
        context.mock.timers.tick(step);
      } else {
        resting[step[0]](step[1]);
      }
    }
    assert.deepEqual(places, told);
  });
}
