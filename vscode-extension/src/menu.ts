/** The entries of the menu of the status bar item. */

import type { State } from "./status";

/** The inputs of the menu. */
export interface Situation {
  readonly state: State;
  /** The extra that the configured model needs, if it is not installed. */
  readonly missing?: string | null | undefined;
  readonly automatic: boolean;
  /** The language of the active document, and true if it is completed; undefined without a document. */
  readonly language?: { readonly id: string; readonly isOn: boolean } | undefined;
  /** True if the active file has its own entry in `exclude`; undefined if it is not a file. */
  readonly isHereOff?: boolean | undefined;
}

/** An entry: its label, and the command that it runs. */
export interface Entry {
  readonly label: string;
  readonly command: string;
}

/** The entries for *situation*. Some need a running server. */
export function entriesOf(situation: Situation): Entry[] {
  const runs = situation.state !== "stopped" && situation.state !== "missing";
  return [
    ...(situation.state === "missing" ? [entry("$(cloud-download) Install the server…", "install")] : []),
    ...(situation.missing ? [entry("$(cloud-download) Install the extra for the model…", "installExtra")] : []),
    ...switchesOf(situation),
    entry("$(file-code) Choose the model…", "chooseModel"),
    ...(runs ? [entry("$(refresh) Load the model again", "reloadModel")] : []),
    ...(runs ? [entry("$(graph) Show statistics", "showStatistics")] : []),
    entry("$(debug-restart) Restart the server", "restart"),
    entry("$(pulse) Run the doctor", "doctor"),
    entry("$(output) Show the log", "showLog"),
    entry("$(gear) Open the settings", "openSettings"),
  ];
}

function switchesOf({ automatic, language, isHereOff }: Situation): Entry[] {
  const entries = [entry(`${toward(automatic)} automatic suggestions`, "toggleAutomatic")];
  if (language !== undefined) {
    entries.push(
      entry(`${toward(language.isOn)} suggestions for the language ${language.id}`, "toggleLanguage"),
    );
  }
  if (isHereOff !== undefined) {
    entries.push(entry(`${toward(!isHereOff)} suggestions in this file`, "toggleHere"));
  }
  return entries;
}

function toward(isOn: boolean): string {
  return isOn ? "$(circle-slash) Turn off" : "$(check) Turn on";
}

function entry(label: string, name: string): Entry {
  return { label, command: `fimlsp.${name}` };
}
