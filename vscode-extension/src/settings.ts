/** The settings, and what the server gets of them. */

export const SECTION = "fimlsp";

/** Where documents that are completed come from. */
export const SCHEMES: readonly string[] = ["file", "untitled", "vscode-notebook-cell"];

/** The settings that are the extension's own; all others of the manifest are the server's. */
export const OWN_SETTINGS = ["interpreter", "installFrom", "wheelhouse"] as const;

/** The server's options; they mean what `lsp_server/options.py` says. */
export const SERVER_OPTIONS = [
  "model",
  "api",
  "apiKeyVariable",
  "device",
  "revision",
  "precision",
  "family",
  "order",
  "threads",
  "pythonVersion",
  "check",
  "automatic",
  "debounceMs",
  "deadlineMs",
  "maxTokens",
  "oneLine",
  "candidates",
  "minLength",
  "confidence",
  "learn",
  "contextEscape",
  "steering",
  "relaxedContexts",
  "neighbourTokens",
  "languages",
  "grammars",
  "interface",
  "typescript",
  "exclude",
  "completion",
  "cacheSize",
  "logLevel",
] as const;

export type InitializationOptions = Partial<Record<(typeof SERVER_OPTIONS)[number], unknown>>;

/** Section `fimlsp` of a configuration, such as VS Code's `WorkspaceConfiguration`. */
export interface Settings {
  get<T>(name: string, otherwise: T): T;
}

/** Settings as the server expects them. Unset values are left out so that the server's own defaults apply. */
export function toInitializationOptions(settings: Settings): InitializationOptions {
  const given = SERVER_OPTIONS.map((name) => [name, settings.get<unknown>(name, undefined)] as const);
  return Object.fromEntries(given.filter(([, value]) => isSet(value)));
}

/**
 * *options* with the model of the user's *own* settings where others, such as a workspace's, name a server on another
 * machine: the server takes such a model from these options only.
 */
export function withOwnServer(options: InitializationOptions, own: unknown): InitializationOptions {
  if (!isServerElsewhere(options.model) || options.model === own) {
    return options;
  }
  const { model: _, ...others } = options;
  return isSet(own) ? { ...others, model: own } : others;
}

/** *options* without the name of another variable if a key is stored, which is given in the usual one. */
export function withStoredKey(hasKey: boolean, options: InitializationOptions): InitializationOptions {
  const { apiKeyVariable: _, ...others } = options;
  return hasKey ? others : options;
}

/** Whether *model* is the address of a model server that is not known to be on this machine. */
export function isServerElsewhere(model: unknown): boolean {
  if (typeof model !== "string" || !/^https?:\/\//i.test(model)) {
    return false;
  }
  try {
    return !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(model).hostname);
  } catch {
    return true;
  }
}

/** The shortest pause after a keystroke, in milliseconds. */
export function debounceOf(settings: Settings): number {
  return settings.get("debounceMs", 150);
}

/** The interpreter that the user chose, if any. */
export function interpreterOf(settings: Settings): string | undefined {
  return settings.get("interpreter", "").trim() || undefined;
}

/** The wheel or folder that is installed instead of the wheel that comes with the extension, if any. */
export function installFromOf(settings: Settings): string | undefined {
  return settings.get("installFrom", "").trim() || undefined;
}

/** The folder of wheels that is used instead of the network, if any. */
export function wheelhouseOf(settings: Settings): string | undefined {
  return settings.get("wheelhouse", "").trim() || undefined;
}

/** The languages of documents that the extension wakes up for, as the manifest and the server have them. */
export const LANGUAGES: readonly string[] = [
  "python",
  "json",
  "lua",
  "go",
  "typescript",
  "typescriptreact",
  "javascript",
  "javascriptreact",
  "toml",
  "slua",
];

/** The ids of the languages that are completed. */
export function languagesOf(settings: Settings): readonly string[] {
  return settings.get("languages", LANGUAGES);
}

/** What a document is called in VS Code: its language, and its file. */
export interface Named {
  readonly languageId: string;
  readonly fileName: string;
}

/** The language of a document that no extension knows anything of. */
const UNKNOWN = "plaintext";

/**
 * The language of *document*. To VS Code a language that no extension brings does not exist: its files are plain text.
 * So a file `*.query` is of the language `query` where the setting `grammars` has that.
 */
export function languageOf(document: Named, settings: Settings): string {
  const own = document.languageId === UNKNOWN ? ownOf(settings) : [];
  return own.find((id) => document.fileName.endsWith(`.${id}`)) ?? document.languageId;
}

/** A filter of documents, as VS Code has it. */
export interface Filter {
  readonly language: string;
  readonly scheme: string;
  readonly pattern?: string;
}

/** Which documents are completed, those of grammars of the user's own by their file names too. */
export function selectorOf(settings: Settings): Filter[] {
  const languages = languagesOf(settings);
  const own = ownOf(settings).filter((id) => languages.includes(id));
  return [
    ...languages.flatMap((language) => SCHEMES.map((scheme) => ({ language, scheme }))),
    ...own.map((id) => ({ language: UNKNOWN, scheme: "file", pattern: `**/*.${id}` })),
  ];
}

/** The ids of the setting `grammars` that may be the ending of a file's name. */
function ownOf(settings: Settings): string[] {
  const grammars = settings.get<unknown>("grammars", {});
  const ids = typeof grammars === "object" && grammars !== null ? Object.keys(grammars) : [];
  return ids.filter((id) => /^[\w.+#-]+$/.test(id));
}

/** *list* without *entry* if it is there, with it if not. */
export function toggled(list: readonly string[], entry: string): string[] {
  return list.includes(entry) ? list.filter((each) => each !== entry) : [...list, entry];
}

/** The pattern of `exclude` that means one file: below its workspace folder, or by its whole path. */
export function patternOf(path: string, folder: string | undefined): string {
  const slashed = path.replaceAll("\\", "/");
  const parent = folder?.replaceAll("\\", "/").replace(/\/?$/, "/");
  return parent !== undefined && slashed.startsWith(parent) ? `**/${slashed.slice(parent.length)}` : slashed;
}

/** Whether *text* can be the name of a model on the hub: `owner/name`, or an old name without an owner. */
export function isHubName(text: string): boolean {
  return /^(?:[\w.-]+\/)?[\w.-]+$/.test(text) && !/^\.+$/.test(text);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** Whether *text* is written like the address of a model server. */
export function isAddress(text: string): boolean {
  return /^https?:\/\/[^\s/]+/i.test(text);
}
