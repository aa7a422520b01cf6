/** How long to wait for the next keystroke: a little longer than this user's usual gap between two. */

const SAME_BURST_MS = 1000;
const LONGEST_PAUSE_MS = 600;
const MEMORY = 0.8;
const SLACK = 1.3;

/**
 * The rhythm of typing. A fixed pause that is shorter than the gaps of a slow typist asks in vain after every key, and
 * one that fits them keeps a fast typist waiting.
 */
export class Pace {
  private last = Number.NEGATIVE_INFINITY;
  private gap: number | undefined;

  /** A key was pressed at *now*, in milliseconds of any clock. A longer rest is no part of the rhythm. */
  press(now: number): void {
    const gap = now - this.last;
    this.last = now;
    if (gap > 0 && gap <= SAME_BURST_MS) {
      this.gap = this.gap === undefined ? gap : MEMORY * this.gap + (1 - MEMORY) * gap;
    }
  }

  /** Milliseconds to wait: at least *floor*, and more than that only as far as the rhythm asks for it. */
  pause(floor: number): number {
    return Math.max(floor, Math.min(LONGEST_PAUSE_MS, Math.round(SLACK * (this.gap ?? 0))));
  }
}
