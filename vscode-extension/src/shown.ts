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

/** What is needed of VS Code's `InlineCompletionItem`. */
export interface Item {
  readonly insertText: string | { readonly value: string };
  readonly command?: { readonly arguments?: readonly unknown[] };
}

/** Remembers the last answer that had a suggestion in it. */
export class Shown {
  private last: { readonly uri: string; readonly at: Place; readonly items: readonly Item[] } | undefined;

  /** *items* were given for *at* in *document*; none: nothing is shown any more. */
  remember(document: Lines, at: Place, items: readonly Item[]): void {
    this.last = items.length > 0 ? { uri: document.uri.toString(), at, items } : undefined;
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
    if (last === undefined || last.uri !== document.uri.toString() || last.at.line !== at.line) {
      return false;
    }
    const typed = document.lineAt(at.line).text.slice(last.at.character, at.character);
    return typed !== "" && last.items.some((item) => textOf(item).startsWith(typed));
  }
}

function textOf(item: Item): string {
  const { insertText } = item;
  return typeof insertText === "string" ? insertText : insertText.value.replace("$0", "").replace(/\\([\\$}])/g, "$1");
}
