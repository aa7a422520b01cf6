/** The place where the cursor rests: a slow model reads the text around it before it is asked for a suggestion. */

/** The server's command that takes the place. */
export const REST = "fimlsp.server.rest";

const REST_MS = 300;

/** Tells the last place of each movement. */
export class Resting<Place> {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly tell: (place: Place) => void) {}

  /** The cursor has come to *place*, and may go on. */
  move(place: Place): void {
    this.end();
    this.timer = setTimeout(() => this.tell(place), REST_MS);
  }

  /** A document came to the front with the cursor at *place*. */
  enter(place: Place): void {
    this.end();
    this.tell(place);
  }

  /** The cursor does not rest. */
  end(): void {
    clearTimeout(this.timer);
  }
}
