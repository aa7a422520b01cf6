/** The settings, and what the server gets of them. */

export const SECTION = "fimlsp";

/** The server's options; they mean what `lsp_server/settings.py` says. */
const SERVER_OPTIONS = ["model", "maxTokens", "deadlineMs", "oneLine", "automatic"] as const;

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

/** How long to wait after a keystroke, in milliseconds. */
export function debounceOf(settings: Settings): number {
  return settings.get("debounceMs", 150);
}

/** The interpreter that the user chose, if any. */
export function interpreterOf(settings: Settings): string | undefined {
  return settings.get("interpreter", "").trim() || undefined;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
