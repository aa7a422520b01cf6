/** The language client: what it watches, what it sends, and when it asks for a suggestion. */

import * as vscode from "vscode";
import {
  ErrorAction,
  type ErrorHandler,
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
  type StaticFeature,
  TransportKind,
} from "vscode-languageclient/node";

import { isQuietFor } from "./debounce";
import { Pace } from "./pace";
import type { Command } from "./python";
import {
  debounceOf,
  languageOf,
  SECTION,
  selectorOf,
  toInitializationOptions,
  withOwnServer,
  withStoredKey,
} from "./settings";
import { cursorAt, type Shown } from "./shown";

/** The server's command that comes with each suggestion and says that it was taken. */
const ACCEPT = "fimlsp.server.accept";

type Yields = (document: vscode.TextDocument) => void;

/**
 * A client for the server that *command* starts, not yet started itself; *key* is added to its environment. It calls
 * *yields* with a document while VS Code's own list is open there, so that no suggestion is requested.
 */
export function createClient(
  command: Command,
  folder: string,
  key: Readonly<Record<string, string>>,
  log: vscode.LogOutputChannel,
  shown: Shown,
  yields: Yields,
): LanguageClient {
  const executable = {
    command: command.command,
    args: [...command.args],
    options: { cwd: folder, env: { ...process.env, ...key } },
    transport: TransportKind.stdio,
  };
  const hasKey = Object.keys(key).length > 0;
  const usual = (): ErrorHandler => client.createDefaultErrorHandler();
  const options = { ...optionsOf(hasKey, log, shown, yields), errorHandler: withQuietPipe(usual) };
  const client = new LanguageClient(SECTION, "fimlsp", executable, options);
  client.registerFeature(SNIPPETS);
  return client;
}

/**
 * As the *usual* handler, which starts a server that ended again; but an error of its pipe, which comes before its
 * end, is in the log alone.
 */
function withQuietPipe(usual: () => ErrorHandler): ErrorHandler {
  let made: ErrorHandler | undefined; // it counts the ends
  return {
    async error(error, message, count) {
      made ??= usual();
      const result = await made.error(error, message, count);
      return result.action === ErrorAction.Continue ? { ...result, handled: true } : result;
    },
    closed() {
      made ??= usual();
      return made.closed();
    },
  };
}

/** Tells the server that a text may say where the cursor is to stay in it; the protocol has no capability for that. */
const SNIPPETS: StaticFeature = {
  fillClientCapabilities(capabilities) {
    capabilities.experimental = { ...capabilities.experimental, inlineCompletionSnippets: true };
  },
  initialize() {},
  getState: () => ({ kind: "static" }),
  clear() {},
};

function optionsOf(
  hasKey: boolean,
  log: vscode.LogOutputChannel,
  shown: Shown,
  yields: Yields,
): LanguageClientOptions {
  const settings = vscode.workspace.getConfiguration(SECTION);
  return {
    documentSelector: selectorOf(settings),
    initializationOptions: withStoredKey(
      hasKey,
      withOwnServer(toInitializationOptions(settings), settings.inspect("model")?.globalValue),
    ),
    outputChannel: log,
    middleware: {
      didOpen: (document, next) => next(withLanguage(document)),
      provideInlineCompletionItems: asking(new Pace(), shown, yields),
      executeCommand: (command, args, next) => {
        if (command === ACCEPT) {
          shown.take(args[0]);
        }
        return next(command, args);
      },
    },
  };
}

/** *document* with the language that it is to have for the server. */
function withLanguage(document: vscode.TextDocument): vscode.TextDocument {
  const language = languageOf(document, vscode.workspace.getConfiguration(SECTION));
  return language === document.languageId
    ? document
    : (Object.create(document, { languageId: { value: language } }) as vscode.TextDocument);
}

/**
 * Asks when the typing has paused; at once when asked by hand, or when the user types what is suggested anyway. While
 * an entry of the suggest widget is selected nothing is asked for: VS Code would show only what begins with that entry.
 * After the widget is closed, VS Code asks again.
 */
function asking(pace: Pace, shown: Shown, yields: Yields): NonNullable<Middleware["provideInlineCompletionItems"]> {
  return async (document, position, context, token, next) => {
    pace.press(performance.now());
    const cursor = cursorAt(document, position); // now, as the document changes while this waits
    if (context.selectedCompletionInfo !== undefined) {
      yields(document);
      return [];
    }
    const isAutomatic = context.triggerKind === vscode.InlineCompletionTriggerKind.Automatic;
    if (isAutomatic && !shown.isTypedThrough(document, position)) {
      const floor = debounceOf(vscode.workspace.getConfiguration(SECTION, document));
      if (!(await isQuietFor(pace.pause(floor), token))) {
        return [];
      }
    }
    const answer = await next(document, position, context, token);
    if (!token.isCancellationRequested) {
      shown.remember(cursor, itemsOf(answer));
    }
    return answer;
  };
}

function itemsOf(
  answer: vscode.InlineCompletionItem[] | vscode.InlineCompletionList | null | undefined,
): readonly vscode.InlineCompletionItem[] {
  return Array.isArray(answer) ? answer : (answer?.items ?? []);
}
