/** What the server is doing, in the status bar. */

/** The notification that tells it. */
export const STATUS = "fimlsp/status";

/** The server's states as `lsp_server/status.py` has them, and `stopped` for when it does not run. */
export type State = "loading" | "idle" | "thinking" | "suggestion" | "none" | "stopped";

export interface Status {
  readonly state: State;
  readonly reason?: string | null;
}

/** What is needed of VS Code's `StatusBarItem`. */
export interface Item {
  text: string;
  tooltip?: unknown;
}

const LOOKS: Record<State, { readonly icon: string; readonly meaning: string }> = {
  loading: { icon: "$(loading~spin)", meaning: "Getting ready" },
  idle: { icon: "$(check)", meaning: "Ready" },
  thinking: { icon: "$(loading~spin)", meaning: "Making a completion" },
  suggestion: { icon: "$(sparkle)", meaning: "Completion given" },
  none: { icon: "$(circle-slash)", meaning: "No completion" },
  stopped: { icon: "$(error)", meaning: "The server does not run" },
};

/** Show *status* in *item*. A state that a newer server knows and we do not is shown by its name. */
export function show(item: Item, status: Status): void {
  const look = LOOKS[status.state] ?? { icon: "$(info)", meaning: status.state };
  item.text = `${look.icon} fimlsp`;
  item.tooltip = status.reason ? `${look.meaning}: ${status.reason}` : look.meaning;
}
