/** Gives JupyterLab's inline completer the suggestions of the language server. */

import type {
  CompletionHandler,
  IInlineCompletionContext,
  IInlineCompletionList,
  IInlineCompletionProvider,
} from "@jupyterlab/completer";
import { type CancellationToken, CancellationTokenSource } from "vscode-jsonrpc/browser";
import type { InlineCompletionList, Position } from "vscode-languageserver-protocol";

import { Pace } from "../../../vscode-extension/src/pace";
import type { Connection } from "./connection";
import { type Documents, positionAt } from "./documents";
import { type Cursor, type Suggested, Suggestions, toUnits } from "./suggestion";
import type { Place, Tracking } from "./tracking";

/** Triggers, as JupyterLab has them and as LSP does. */
const INVOKED_BY_USER = 0;
const [INVOKED, AUTOMATIC] = [1, 2];

/** The default of the inline completer's settings: all is shown, within a line as well. */
const DEFAULTS = { enabled: true, autoFillInMiddle: true, debouncerDelay: 0, timeout: 30_000 };

/** The time for a late answer, less than the time-out above; and the pause before it is requested again. */
const LATEST_MS = 25_000;
const READ_ON_MS = 300;

/** The parts of the page that the provider needs. */
export interface Surroundings {
  /** The shortest pause before an automatic request, in milliseconds. */
  pause(): number;
  /** True if the server reads on, so that the last request for *uri* may soon have a suggestion. */
  isLater(uri: string): boolean;
  /** There is no suggestion; *reason* is one that the server does not know. *isInvoked*: the user wanted one. */
  onNothing(isInvoked: boolean, reason?: string): void;
}

/** See the module. */
export class Provider implements IInlineCompletionProvider {
  readonly identifier = "fimlsp";
  readonly name = "fimlsp";
  readonly schema = { default: DEFAULTS };
  /** The suggestions on the screen. */
  readonly suggestions = new Suggestions();
  private readonly pace = new Pace();
  private running = new CancellationTokenSource();
  private isContinued = false;

  constructor(
    private readonly connection: Connection,
    private readonly documents: Documents,
    private readonly tracking: Tracking,
    private readonly around: Surroundings,
  ) {}

  /** The next request is for the rest of an accepted part, although Jupyter will call it the user's. */
  continue(): void {
    this.isContinued = true;
  }

  async fetch(
    request: CompletionHandler.IRequest,
    context: IInlineCompletionContext,
  ): Promise<IInlineCompletionList> {
    const isInvoked = context.triggerKind === INVOKED_BY_USER && !this.isContinued;
    this.isContinued = false;
    this.running.cancel();
    const { token } = (this.running = new CancellationTokenSource());
    const place = this.tracking.find(context.widget);
    if (place === undefined) {
      return this.nothing(isInvoked, this.tracking.whyUnknown(context.widget));
    }
    const offset = toUnits(request.text, request.offset);
    this.pace.press(performance.now());
    if (context.triggerKind !== INVOKED_BY_USER) {
      await new Promise((resolve) => setTimeout(resolve, this.pace.pause(this.around.pause())));
      if (token.isCancellationRequested) {
        return { items: [] };
      }
    }
    this.documents.flush();
    const items = await this.ask(place.uri, positionAt(request.text, offset), isInvoked, token);
    if (token.isCancellationRequested) {
      return { items: [] };
    }
    const cursor = { uri: place.uri, left: request.text.slice(0, offset), right: request.text.slice(offset) };
    this.suggestions.remember(cursor, items);
    if (items.length === 0) {
      return this.nothing(isInvoked);
    }
    return { items: items.map(({ text }) => ({ insertText: text })) };
  }

  /** The answer. While the server reads on, the request is repeated, for almost as long as Jupyter waits. */
  private async ask(
    uri: string,
    position: Position,
    isInvoked: boolean,
    token: CancellationToken,
  ): Promise<Suggested[]> {
    const end = performance.now() + LATEST_MS;
    const context = { triggerKind: isInvoked ? INVOKED : AUTOMATIC };
    const params = { textDocument: { uri }, position, context };
    while (!token.isCancellationRequested) {
      const answer = await this.connection.request<InlineCompletionList>("textDocument/inlineCompletion", params, token);
      const items = (answer?.items ?? []).map(toSuggested);
      if (items.length > 0 || !this.around.isLater(uri) || performance.now() > end) {
        return items;
      }
      await new Promise((resolve) => setTimeout(resolve, READ_ON_MS));
    }
    return [];
  }

  private nothing(isInvoked: boolean, reason?: string): IInlineCompletionList {
    this.around.onNothing(isInvoked, reason);
    return { items: [] };
  }
}

function toSuggested({ insertText, command }: InlineCompletionList["items"][number]): Suggested {
  const id: unknown = command?.arguments?.[0];
  return {
    text: typeof insertText === "string" ? insertText : insertText.value,
    id: typeof id === "string" ? id : undefined,
  };
}

/** The cursor in the editor of *place*. */
export function cursorIn({ uri, editor }: Place): Cursor {
  const text = editor.model.sharedModel.getSource();
  const offset = editor.getOffsetAt(editor.getCursorPosition());
  return { uri, left: text.slice(0, offset), right: text.slice(offset) };
}
