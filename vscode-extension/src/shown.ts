/** The suggestion that is on the screen, as far as the extension can know: the last one that was given. */

/** A position in a document, as in VS Code. */
export interface Place {
  readonly line: number;
  readonly character: number;
}

/** What is needed of VS Code's `TextDocument`. */
export interface Lines {
  readonly uri: { toString(): string };
  lineAt(line: number): { readonly text: string };
}

/** The signs of a snippet: one that is escaped, and the place for the cursor. */
const SIGNS = /\\([\\$}])|\$0/g;

/** What is needed of VS Code's `InlineCompletionItem`. */
export interface Item {
  readonly insertText: string | { readonly value: string };
  readonly command?: { readonly arguments?: readonly unknown[] };
}

/** What is needed of VS Code's `TextDocumentContentChangeEvent`. */
export interface Change {
  readonly text: string;
  readonly rangeLength: number;
  readonly range: { readonly start: Place };
}

/** A cursor, with what stands right of it in its line. */
export interface Cursor {
  readonly uri: string;
  readonly at: Place;
  readonly right: string;
}

/** The cursor *at* a place of *document*. */
export function cursorAt(document: Lines, at: Place): Cursor {
  return { uri: document.uri.toString(), at, right: document.lineAt(at.line).text.slice(at.character) };
}

/** Remembers the last answer that had a suggestion in it, and where one was taken that left the cursor inside. */
export class Shown {
  private last: { readonly cursor: Cursor; readonly items: readonly Item[] } | undefined;
  private inside: Cursor | undefined;

  /** *items* were given for *cursor*; none: nothing is shown any more. */
  remember(cursor: Cursor, items: readonly Item[]): void {
    this.last = items.length > 0 ? { cursor, items } : undefined;
  }

  /** The suggestion that the server calls *id* was taken. */
  take(id: unknown): void {
    const item = this.last?.items.find((each) => each.command?.arguments?.[0] === id);
    this.inside = item !== undefined && typeof item.insertText !== "string" ? this.last?.cursor : undefined;
  }

  /** Nothing is shown any more; the identity that the server gave to the first of what was. */
  forget(): string | undefined {
    const id = this.last?.items[0]?.command?.arguments?.[0];
    this.last = undefined;
    return typeof id === "string" ? id : undefined;
  }

  /**
   * Whether what was typed between the suggestion and *at* is how it begins. Then the server answers from memory, and
   * there is nothing to wait for.
   */
  isTypedThrough(document: Lines, at: Place): boolean {
    const last = this.last;
    if (last === undefined || !isInLine(last.cursor, document, at)) {
      return false;
    }
    const typed = document.lineAt(at.line).text.slice(last.cursor.at.character, at.character);
    return typed !== "" && last.items.some((item) => textOf(item).startsWith(typed));
  }

  /**
   * The place of the colon that *changes* of *document* doubled, because one was typed where a suggestion had left one
   * behind the cursor; undefined if they did not. Brackets can be typed over in VS Code anyway.
   */
  doubledColon(document: Lines, changes: readonly Change[]): Place | undefined {
    const [change, ...others] = changes;
    if (change?.text !== ":" || change.rangeLength > 0 || others.length > 0 || this.inside === undefined) {
      return undefined;
    }
    const { line, character } = change.range.start;
    const isDoubled = (inside: Cursor) => document.lineAt(line).text.slice(character) === `::${inside.right}`;
    return isInLine(this.inside, document, change.range.start) && isDoubled(this.inside)
      ? { line, character: character + 1 }
      : undefined;
  }
}

function isInLine(cursor: Cursor, document: Lines, at: Place): boolean {
  return cursor.uri === document.uri.toString() && cursor.at.line === at.line;
}

function textOf(item: Item): string {
  const { insertText } = item;
  return typeof insertText === "string" ? insertText : insertText.value.replace(SIGNS, "$1");
}
