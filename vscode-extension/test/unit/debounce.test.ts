import assert from "node:assert/strict";
import { test } from "node:test";

import { type Cancellation, isQuietFor } from "../../src/debounce";

const A_DAY_MS = 86_400_000;

class Token implements Cancellation {
  isCancellationRequested = false;
  readonly listeners = new Set<() => void>();

  onCancellationRequested(listener: () => void) {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  cancel(): void {
    this.isCancellationRequested = true;
    this.listeners.forEach((listener) => listener());
  }
}

test("nobody types: the wait ends quietly and nothing is left behind", async () => {
  const token = new Token();
  assert.equal(await isQuietFor(0, token), true);
  assert.equal(token.listeners.size, 0);
});

test("a keystroke ends the wait at once", async () => {
  const token = new Token();
  const quiet = isQuietFor(A_DAY_MS, token);
  token.cancel();
  assert.equal(await quiet, false);
  assert.equal(token.listeners.size, 0);
});

test("a request that is stale already does not wait", async () => {
  const token = new Token();
  token.cancel();
  assert.equal(await isQuietFor(A_DAY_MS, token), false);
});
