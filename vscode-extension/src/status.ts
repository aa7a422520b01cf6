/** The status of the server for the status bar. */

/** The notification with the status. */
export const STATUS = "fimlsp/status";

/** The server's states as `lsp_server/session/status.py` has them, and the extension's own. */
export type State = "loading" | "idle" | "thinking" | "suggestion" | "none" | "stopped" | "missing";

/** The payload of `fimlsp/status`. Fields that an older server leaves out are unknown. */
export interface Status {
  readonly state: State;
  readonly reason?: string | null;
  /** Progress of loading, 0 to 100. */
  readonly percent?: number | null;
  /** A short name of the model, once it is loaded. */
  readonly model?: string | null;
  /** The document of the status, if it concerns a single one. */
  readonly uri?: string | null;
  /** False while only invoked completions are made. */
  readonly automatic?: boolean;
  /** The problem with the configured model, while another one is used. */
  readonly problem?: string | null;
  /** The extra that the configured model needs, if it is not installed. */
  readonly missing?: string | null;
  /** The reason that the last completion was made without the names in scope, if so. */
  readonly names?: string | null;
  /** A sentence about the files of the workspace that were left out of the last completion, if any were. */
  readonly files?: string | null;
  /** True if the server reads on, so that the same request may soon have a suggestion. */
  readonly later?: boolean;
  /** The number of places from which the estimate of the model has learnt. */
  readonly learnt?: string | null;
}

/** The active document. */
export interface Active {
  readonly uri: string;
  /** The reason that it is not completed, if so. */
  readonly offBecause?: string | undefined;
}

/** The appearance of the status bar item. */
export interface Look {
  readonly text: string;
  readonly tooltip: string;
  readonly isProblem: boolean;
}

const LOOKS: Record<State, { readonly icon: string; readonly meaning: string }> = {
  loading: { icon: "$(loading~spin)", meaning: "Loading" },
  idle: { icon: "$(check)", meaning: "Ready" },
  thinking: { icon: "$(loading~spin)", meaning: "Making a suggestion" },
  suggestion: { icon: "$(sparkle)", meaning: "Suggestion shown" },
  none: { icon: "$(circle-slash)", meaning: "No suggestion" },
  stopped: { icon: "$(error)", meaning: "The server is not running" },
  missing: { icon: "$(warning)", meaning: "No server" },
};

const LONGEST_REASON = 50;

/** The look of *status* for the document *active*. An unknown state of a newer server is shown by its name. */
export function lookOf(status: Status, active?: Active): Look {
  const shown = aboutActive(status, active);
  const look = LOOKS[shown.state] ?? { icon: "$(info)", meaning: shown.state };
  return {
    text: `${look.icon} fimlsp${detailOf(shown)}${shown.problem ? " $(warning)" : ""}`,
    tooltip: [sentence(look.meaning, shown), ...factsOf(shown), "Click for the menu."].join("\n"),
    isProblem: shown.state === "stopped" || shown.state === "missing" || Boolean(shown.problem),
  };
}

const IN_THE_LIST = "VS Code's list is open (Escape closes it)";

/** *status* while VS Code's own list is open in the document *uri*; a server that loads does so still. */
export function yielding(status: Status, uri: string): Status {
  const { state, later: _, names: __, files: ___, ...lasting } = status;
  return state === "loading" ? status : { ...lasting, state: "none", reason: IN_THE_LIST, uri };
}

/** The status while VS Code's own list is open. The end of a request from before the list opened is no news there. */
export class ListStatus {
  private uri: string | undefined;

  /** *status* as the list opens in the document *uri*. */
  opened(status: Status, uri: string): Status {
    this.uri = uri;
    return yielding(status, uri);
  }

  /** The next *status* of the server: its next request ends this. */
  next(status: Status): Status {
    if (status.state !== "idle") {
      this.uri = undefined;
    }
    return this.uri === undefined ? status : yielding(status, this.uri);
  }
}

/** The status in one sentence. */
export function summaryOf(status: Status, active?: Active): string {
  const shown = aboutActive(status, active);
  return sentence(LOOKS[shown.state]?.meaning ?? shown.state, shown);
}

/** *status* for the document *active*: the outcome of a request in another document is left out. */
function aboutActive(status: Status, active: Active | undefined): Status {
  const isOutcome = status.state === "none" || status.state === "suggestion" || status.state === "thinking";
  if (active?.offBecause !== undefined && (isOutcome || status.state === "idle")) {
    return { ...status, state: "none", reason: active.offBecause };
  }
  const isElsewhere = active !== undefined && status.uri != null && status.uri !== active.uri;
  return isOutcome && isElsewhere ? { ...status, state: "idle", reason: null, names: null, files: null } : status;
}

function detailOf(status: Status): string {
  if (status.state === "loading" && status.percent != null) {
    return ` ${status.percent}%`;
  }
  if (status.state === "none" && status.reason) {
    return `: ${shortened(status.reason)}`;
  }
  return status.automatic === false ? ": invoked only" : "";
}

function sentence(meaning: string, status: Status): string {
  return status.reason ? `${meaning}: ${status.reason}` : meaning;
}

/** Further facts of *status*, in sentences. */
export function factsOf(status: Status): string[] {
  const learnt = status.learnt ? ` (${status.learnt})` : "";
  const facts = status.model ? [`Model: ${status.model}${learnt}`] : [];
  if (status.problem && status.problem !== status.reason) {
    facts.push(status.problem);
  }
  if (status.names) {
    facts.push(`Names in scope are unknown: ${status.names}`);
  }
  if (status.files) {
    facts.push(status.files);
  }
  return status.automatic === false ? [...facts, "Automatic suggestions are off."] : facts;
}

/** The start of a reason; the tooltip has all of it. */
function shortened(reason: string): string {
  return reason.length <= LONGEST_REASON ? reason : `${reason.slice(0, LONGEST_REASON - 1).trimEnd()}…`;
}
