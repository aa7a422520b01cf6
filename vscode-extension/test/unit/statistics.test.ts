import assert from "node:assert/strict";
import { test } from "node:test";

import { linesOf, type Statistics } from "../../src/statistics";

const STATISTICS: Statistics = {
  requests: 40,
  shown: 30,
  accepted: 9,
  acceptedPartly: 2,
  acceptedCharacters: 250,
  typedThrough: 5,
  dismissed: 1,
  cached: 4,
  prefetched: 3,
  tokens: 300,
  rejectedTokens: 12,
  noSuggestion: { rare: 1, often: 7 },
  latencyMs: { model: { median: 80, p95: 200, count: 21 }, reused: { median: null, p95: null, count: 0 } },
};

test("statistics in words", () => {
  const lines = linesOf(STATISTICS).map(({ label, description }) => `${label}: ${description}`);
  assert.deepEqual(lines, [
    "Suggestions: 30 for 40 requests",
    "Accepted: 9 whole, 2 in part; 250 characters",
    "Dismissed: 1",
    "Answered without the model: 5 typed through, 4 remembered, 3 made ahead",
    "Tokens: 300 written, 12 rejected as they would not connect",
    "Time with the model: 80 ms at the median, 200 ms at p95, of 21 answers",
    "Time when reused: no answer yet",
    "No suggestion: 7 times: often",
    "No suggestion: 1 times: rare",
  ]);
});
