/** What a typist saw, as a page with a picture of each suggestion. */

/** A suggestion when it was first seen. */
export interface Suggestion {
  readonly file: string;
  /** What stood there from the cursor on, up to the end of the suggestion's last line. */
  readonly truth: string;
  readonly ghost: string;
  /** It is what stood there, as far as it goes. */
  readonly isRight: boolean;
  /** Its picture's file, beside the report. */
  readonly picture: string;
}

/** What was written, and what was suggested meanwhile. */
export interface Sitting {
  readonly folder: string;
  readonly seed: number;
  readonly minutes: number;
  readonly lines: number;
  /** What was typed; each Tab is one. */
  readonly keys: number;
  /** What stands there now. */
  readonly characters: number;
  readonly suggestions: readonly Suggestion[];
}

/** The figures of *sitting* in a line. */
export function summary(sitting: Sitting): string {
  const { lines, keys, characters, suggestions, minutes } = sitting;
  const right = suggestions.filter((each) => each.isRight).length;
  const saved = characters - keys;
  return (
    `${lines} lines in ${minutes.toFixed(0)} minutes: ${suggestions.length} suggestions, ${right} right and taken, ` +
    `${keys} keys for ${characters} characters, ${saved} saved`
  );
}

/** The page. */
export function report(sitting: Sitting): string {
  const rows = sitting.suggestions.map(row).join("\n");
  return `<!doctype html>
<meta charset="utf-8">
<title>Suggestions while typing</title>
<style>
  body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; }
  td { border-top: 1px solid #ccc; padding: 0.6em; vertical-align: top; }
  img { max-width: 38em; }
  .right { color: #176f2c; }
  .wrong { color: #a3262b; }
</style>
<h1>Suggestions while typing</h1>
<p>${escaped(sitting.folder)}, seed ${sitting.seed}. ${summary(sitting)}.</p>
<table>
${rows}
</table>
`;
}

function row({ file, truth, ghost, isRight, picture }: Suggestion): string {
  const verdict = isRight ? '<td class="right">right</td>' : '<td class="wrong">wrong</td>';
  const texts = `<td>${escaped(file)}<pre>${escaped(ghost)}</pre>stood there: <pre>${escaped(truth)}</pre></td>`;
  return `<tr>${verdict}<td><img src="${picture}"></td>${texts}</tr>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
