/** Waiting until the typing has paused. */

/** What is needed of VS Code's `CancellationToken`. */
export interface Cancellation {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): { dispose(): unknown };
}

/** Waits *milliseconds*, or less when *token* is cancelled, as it is by the next keystroke. Tells whether it was not. */
export function isQuietFor(milliseconds: number, token: Cancellation): Promise<boolean> {
  if (token.isCancellationRequested) {
    return Promise.resolve(false);
  }
  return new Promise((resolve) => {
    const finish = (quiet: boolean) => {
      clearTimeout(timer);
      listener.dispose();
      resolve(quiet);
    };
    const timer = setTimeout(() => finish(true), milliseconds);
    const listener = token.onCancellationRequested(() => finish(false));
  });
}
