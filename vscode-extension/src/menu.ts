/** The entries of the menu behind the status bar item. */

import type { State } from "./status";

/** What the menu depends on. */
export interface Situation {
  readonly state: State;
  /** The extra that the user's model needs, if it is not installed. */
  readonly missing?: string | null | undefined;
  readonly automatic: boolean;
  /** The language of the document in front, and whether it is completed; undefined without a document. */
  readonly language?: { readonly id: string; readonly isOn: boolean } | undefined;
  /** Whether the file in front is left out by an entry of its own; undefined when it is no file. */
  readonly isHereOff?: boolean | undefined;
}

/** An entry: what it says, and the command it runs. */
export interface Entry {
  readonly label: string;
  readonly command: string;
}

/** The entries for *situation*; those that need a running server only when there is one. */
export function entriesOf(situation: Situation): Entry[] {
  const runs = situation.state !== "stopped" && situation.state !== "missing";
  return [
    ...(situation.state === "missing" ? [entry("$(cloud-download) Install the server…", "install")] : []),
    ...(situation.missing ? [entry("$(cloud-download) Install what the model needs…", "installExtra")] : []),
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
  const entries = [entry(`${toward(automatic)} suggestions while typing`, "toggleAutomatic")];
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
