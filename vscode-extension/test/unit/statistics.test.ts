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
    "Answered without the model: 5 type-through, 4 cached, 3 prefetched",
    "Tokens: 300 decoded, 12 rejected because they cannot connect",
    "Latency with the model: median 80 ms, p95 200 ms, 21 answers",
    "Latency without the model: no answers yet",
    "No suggestion: 7 times: often",
    "No suggestion: 1 times: rare",
  ]);
});
