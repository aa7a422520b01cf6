/** What the server is doing, in the status bar. */

/** The notification that tells it. */
export const STATUS = "fimlsp/status";

/** The server's states as `lsp_server/session/status.py` has them, and the extension's own. */
export type State = "loading" | "idle" | "thinking" | "suggestion" | "none" | "stopped" | "missing";

/** The payload of `fimlsp/status`. What an older server leaves out is unknown. */
export interface Status {
  readonly state: State;
  readonly reason?: string | null;
  /** How far loading has come, 0 to 100. */
  readonly percent?: number | null;
  /** A short name of the model, once it is loaded. */
  readonly model?: string | null;
  /** The document that it is about, if it is about one. */
  readonly uri?: string | null;
  /** Whether completions are made while typing. */
  readonly automatic?: boolean;
  /** Why another model is used than the user wants, as long as that is so. */
  readonly problem?: string | null;
  /** The extra that the wanted model needs, if it is not installed. */
  readonly missing?: string | null;
  /** Why the last completion was made without knowing which names there are, if so. */
  readonly names?: string | null;
}

/** The document that the user looks at. */
export interface Active {
  readonly uri: string;
  /** Why the extension does not ask in it, if so. */
  readonly offBecause?: string | undefined;
}

/** What the status bar shows. */
export interface Look {
  readonly text: string;
  readonly tooltip: string;
  readonly isProblem: boolean;
}

const LOOKS: Record<State, { readonly icon: string; readonly meaning: string }> = {
  loading: { icon: "$(loading~spin)", meaning: "Getting ready" },
  idle: { icon: "$(check)", meaning: "Ready" },
  thinking: { icon: "$(loading~spin)", meaning: "Making a suggestion" },
  suggestion: { icon: "$(sparkle)", meaning: "Suggestion given" },
  none: { icon: "$(circle-slash)", meaning: "No suggestion" },
  stopped: { icon: "$(error)", meaning: "The server does not run" },
  missing: { icon: "$(warning)", meaning: "No server" },
};

const LONGEST_REASON = 50;

/** How *status* looks while *active* is in front. A state that only a newer server knows is shown by its name. */
export function lookOf(status: Status, active?: Active): Look {
  const told = aboutActive(status, active);
  const look = LOOKS[told.state] ?? { icon: "$(info)", meaning: told.state };
  return {
    text: `${look.icon} fimlsp${detailOf(told)}${told.problem ? " $(warning)" : ""}`,
    tooltip: [sentence(look.meaning, told), ...factsOf(told), "Click for the menu."].join("\n"),
    isProblem: told.state === "stopped" || told.state === "missing" || Boolean(told.problem),
  };
}

/** The one sentence that says what is the matter. */
export function summaryOf(status: Status, active?: Active): string {
  const told = aboutActive(status, active);
  return sentence(LOOKS[told.state]?.meaning ?? told.state, told);
}

/** What *status* means for *active*: the outcome of a request in another document is no news here. */
function aboutActive(status: Status, active: Active | undefined): Status {
  const isOutcome = status.state === "none" || status.state === "suggestion" || status.state === "thinking";
  if (active?.offBecause !== undefined && (isOutcome || status.state === "idle")) {
    return { ...status, state: "none", reason: active.offBecause };
  }
  const isElsewhere = active !== undefined && status.uri != null && status.uri !== active.uri;
  return isOutcome && isElsewhere ? { ...status, state: "idle", reason: null, names: null } : status;
}

function detailOf(status: Status): string {
  if (status.state === "loading" && status.percent != null) {
    return ` ${status.percent}%`;
  }
  if (status.state === "none" && status.reason) {
    return `: ${shortened(status.reason)}`;
  }
  return status.automatic === false ? ": by hand" : "";
}

function sentence(meaning: string, status: Status): string {
  return status.reason ? `${meaning}: ${status.reason}` : meaning;
}

function factsOf(status: Status): string[] {
  const facts = status.model ? [`Model: ${status.model}`] : [];
  if (status.problem && status.problem !== status.reason) {
    facts.push(status.problem);
  }
  if (status.names) {
    facts.push(`Names were not looked up: ${status.names}`);
  }
  return status.automatic === false ? [...facts, "Suggestions while typing are off."] : facts;
}

/** A reason in a few words; the whole of it is in the tooltip. */
function shortened(reason: string): string {
  return reason.length <= LONGEST_REASON ? reason : `${reason.slice(0, LONGEST_REASON - 1).trimEnd()}…`;
}
