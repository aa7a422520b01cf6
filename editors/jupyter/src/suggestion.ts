/** The suggestions on the screen: Jupyter shows them itself and tells nobody which one, and how far it is typed. */

/** A text, and the name that the server has for it. */
export interface Suggested {
  readonly text: string;
  readonly id: string | undefined;
}

/** A cursor: a document, and its text on both sides. */
export interface Cursor {
  readonly uri: string;
  readonly left: string;
  readonly right: string;
}

/** White space and one word, or white space and one run of signs. */
const WORD = /^\s*(?:[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]+)?/u;
/** The rest of a line, or a line end and the next line. */
const LINE = /^\s*?\n?[^\n]+|^\s+/;

/** The first word of *text*, with the white space before it. */
export function firstWord(text: string): string {
  return WORD.exec(text)?.[0] ?? "";
}

/** The first line of *text*; if that is empty, the next one as well. */
export function firstLine(text: string): string {
  return LINE.exec(text)?.[0] ?? "";
}

/** The cursor at *offset*, which counts code points as Jupyter's requests do, in UTF-16 units. O(text). */
export function toUnits(text: string, offset: number): number {
  let units = 0;
  for (let left = offset; left > 0 && units < text.length; left--) {
    const code = text.codePointAt(units) ?? 0;
    units += code > 0xffff ? 2 : 1;
  }
  return units;
}

/** Remembers the last answer, and the one of its texts that the user has turned to. */
export class Suggestions {
  private cursor: Cursor | undefined;
  private items: readonly Suggested[] = [];
  private number = 0;

  /** *items* are shown for *cursor*. As Jupyter does, it stays with the same text, if that is still there. */
  remember(cursor: Cursor, items: readonly Suggested[]): void {
    const now = this.current(cursor)?.text;
    const same = items.findIndex((item) => item.text === now);
    this.cursor = cursor;
    this.items = items;
    this.number = Math.max(0, same);
  }

  /** The user has turned to the next (1) or previous (-1) one; *cursor* is where it is. */
  turn(cursor: Cursor, step: 1 | -1): void {
    const left = this.remaining(cursor);
    this.remember(cursor, left);
    this.number = left.length === 0 ? 0 : (this.number + step + left.length) % left.length;
  }

  /** The rest of the text on the screen, if there is one at *cursor*. */
  current(cursor: Cursor): Suggested | undefined {
    const chosen = this.items[this.number];
    const left = this.remaining(cursor);
    return left.find((item) => item.id === chosen?.id) ?? left[0];
  }

  /** The last answer, as it was given. */
  get last(): Suggested | undefined {
    return this.items[this.number];
  }

  /** What is left of the texts after the typing between the answer and *cursor*. */
  private remaining(cursor: Cursor): Suggested[] {
    const before = this.cursor;
    if (
      before === undefined ||
      before.uri !== cursor.uri ||
      before.right !== cursor.right ||
      !cursor.left.startsWith(before.left)
    ) {
      return [];
    }
    const typed = cursor.left.slice(before.left.length);
    return this.items
      .filter(({ text }) => text.startsWith(typed) && text !== typed)
      .map(({ text, id }) => ({ text: text.slice(typed.length), id }));
  }
}
