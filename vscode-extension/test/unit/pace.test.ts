import assert from "node:assert/strict";
import { test } from "node:test";

import { Pace } from "../../src/pace";

function after(...gaps: number[]): Pace {
  const pace = new Pace();
  let now = 0;
  pace.press(now);
  for (const gap of gaps) {
    now += gap;
    pace.press(now);
  }
  return pace;
}

const STEADY = (gap: number) => Array.from({ length: 20 }, () => gap);

const CASES: [name: string, pace: Pace, floor: number, pause: number][] = [
  ["nothing typed yet: the setting", new Pace(), 150, 150],
  ["one key: the setting", after(), 150, 150],
  ["a fast typist: the setting", after(...STEADY(80)), 150, 150],
  ["a slow typist: a little longer than the usual gap", after(...STEADY(200)), 150, 260],
  ["a very slow one: not for ever", after(...STEADY(900)), 150, 600],
  ["but never shorter than the setting", after(...STEADY(900)), 2000, 2000],
  ["a rest is no part of the rhythm", after(...STEADY(80), 30_000, 80), 100, 104],
  ["no pause wanted: still none between the keys of a burst", after(...STEADY(100)), 0, 130],
];

for (const [name, pace, floor, pause] of CASES) {
  test(name, () => assert.equal(pace.pause(floor), pause));
}

test("the rhythm follows the typist", () => {
  assert.ok(after(...STEADY(300), ...STEADY(100)).pause(0) < 140);
});
