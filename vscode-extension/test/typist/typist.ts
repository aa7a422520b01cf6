/** Functions of a folder's Python files are written anew in a real VS Code, key by key; each suggestion is kept with its picture.
 *
 *    npm run typist -- FOLDER [--minutes 60] [--seed 1]
 *
 *  A suggestion that is what stood there, as far as it goes, is taken with Tab; past any other the typist goes on. What was
 *  closed behind the cursor is deleted and typed like all else. build/typist
 *  gets suggestions.json, the pictures and report.html. Files that lie in FOLDER itself are written, those below it are there too; the
 *  model should never have seen them. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { PYTHON, VSCode } from "../e2e/vscode";
import { report, type Sitting, type Suggestion, summary } from "./report";

const OUT = "build/typist";
/** Milliseconds after a letter, after a sign or blank, and at the beginning of a line, where people think. */
const PAUSE = { letter: 100, sign: 250, line: 900 };
const PICTURE = { above: 76, height: 150 };
const SETTINGS = {
  "fimlsp.confidence": 0.5,
  // Brackets and quotes are typed as they stand in the text, so none is closed by the editor.
  "editor.autoClosingBrackets": "never",
  "editor.autoClosingQuotes": "never",
  "editor.stickyScroll.enabled": false,
};

/** A function's body: lines of a file, counted from 1. */
interface Body {
  readonly file: string;
  readonly first: number;
  readonly last: number;
}

class Typist {
  readonly suggestions: Suggestion[] = [];
  lines = 0;
  keys = 0;
  characters = 0;
  private refused = "";

  constructor(
    private readonly code: VSCode,
    private readonly end: number,
  ) {}

  get isDone(): boolean {
    return Date.now() > this.end;
  }

  /** Delete *body*, whose lines are *text*, and write it again. */
  async rewrites({ file, first, last }: Body, text: string): Promise<void> {
    await this.code.goTo(file, first, 1);
    for (let line = first; line < last; line += 1) {
      await this.code.press("Shift+ArrowDown");
    }
    await this.code.press("Shift+End");
    await this.code.press("Delete");
    await this.code.press("Backspace"); // to the end of the line above
    await this.code.press("Control+s");
    let rest = `\n${text}`;
    while (rest !== "" && !this.isDone) {
      rest = rest.startsWith("\n") ? await this.beginsLine(rest) : await this.strikes(rest);
      rest = await this.looks(file, rest);
    }
    await this.code.press("Control+s");
  }

  private async cursor(): Promise<{ line: number; column: number }> {
    const item = this.code.page.locator(".statusbar-item", { hasText: /Ln \d+, Col \d+/ });
    const [line = 0, column = 0] = (await item.innerText()).match(/\d+/g)?.map(Number) ?? [];
    return { line, column };
  }

  /** Enter, and what the line's indentation asks for beside what the editor makes of it; the rest. */
  private async beginsLine(rest: string): Promise<string> {
    await this.presses("Enter");
    const [blanks] = /^\n */.exec(rest) ?? [""];
    const behind = rest.slice(blanks.length);
    this.lines += 1;
    this.characters += 1; // an indentation counts for nothing on either side
    if (behind.startsWith("\n")) {
      return behind;
    }
    await pause(PAUSE.letter);
    const wanted = blanks.length;
    for (let { column } = await this.cursor(); column > wanted; { column } = await this.cursor()) {
      await this.code.press("Backspace");
      await pause(PAUSE.letter);
    }
    await this.code.type(" ".repeat(Math.max(0, wanted - (await this.cursor()).column)), 5);
    await pause(PAUSE.line);
    return behind;
  }

  private async strikes(rest: string): Promise<string> {
    const [key = ""] = rest;
    await this.code.type(key, 0);
    this.keys += 1;
    this.characters += key.length;
    await pause(/\w/.test(key) ? PAUSE.letter : PAUSE.sign);
    return rest.slice(key.length);
  }

  private async presses(key: string): Promise<void> {
    await this.code.press(key);
    this.keys += 1;
  }

  /** Look whether there is a suggestion, and take it if it is right; the rest. */
  private async looks(file: string, rest: string): Promise<string> {
    const ghost = (await this.code.ghost()).trimEnd();
    if (ghost === "" || this.refused.endsWith(ghost)) {
      return rest;
    }
    const picture = await this.pictures();
    const taken = await this.takes(ghost, rest);
    this.keeps(file, ghost, rest, taken !== "", picture);
    this.refused = taken === "" ? ghost : "";
    this.lines += taken.split("\n").length - 1;
    this.characters += taken.replaceAll(/\n */g, "\n").length;
    return rest.slice(taken.length);
  }

  /** Take *ghost* if it is right, as far as it goes; what it wrote of *rest*. Where the cursor is then tells how far that is. */
  private async takes(ghost: string, rest: string): Promise<string> {
    if (!rest.startsWith(ghost.replace(/[)\]}:]*$/, ""))) {
      return "";
    }
    const before = await this.cursor();
    await this.presses("Tab");
    await pause(PAUSE.line); // the status bar tells the column a moment later
    const behind = ghost.includes("\n") ? 0 : before.column + ghost.length - (await this.cursor()).column;
    const said = ghost.slice(0, ghost.length - behind);
    const isWhole = rest.startsWith(ghost);
    if (!rest.startsWith(said)) {
      await this.code.press("Control+z");
      return "";
    }
    for (const _ of ghost.slice(said.length)) {
      await this.presses(isWhole ? "ArrowRight" : "Delete");
    }
    return isWhole ? ghost : said;
  }

  private async pictures(): Promise<string> {
    const picture = `${String(this.suggestions.length + 1).padStart(3, "0")}.png`;
    const cursor = await this.code.page.locator(".monaco-editor .cursor").first().boundingBox();
    const top = Math.max(0, (cursor?.y ?? 0) - PICTURE.above);
    const clip = { x: 0, y: top, width: 1000, height: PICTURE.height };
    await this.code.page.screenshot({ path: join(OUT, picture), clip });
    return picture;
  }

  private keeps(file: string, ghost: string, rest: string, isRight: boolean, picture: string): void {
    const truth = rest.split("\n").slice(0, ghost.split("\n").length).join("\n");
    this.suggestions.push({ file, truth, ghost, isRight, picture });
    process.stderr.write(`${isRight ? "right" : "wrong"} ${JSON.stringify(ghost)}\n`);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

/** *bodies* in an order that *seed* chooses (Fisher and Yates, over a linear congruential generator). */
function shuffled(bodies: readonly Body[], seed: number): readonly Body[] {
  const found = [...bodies];
  let state = seed;
  for (let index = found.length - 1; index > 0; index -= 1) {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    const other = Math.floor((state / 2 ** 32) * (index + 1));
    [found[index], found[other]] = [found[other] as Body, found[index] as Body];
  }
  return found;
}

/** The Python files below *folder* by their names there. */
function project(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const sources = names.filter((name) => name.endsWith(".py"));
  return Object.fromEntries(sources.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

function bodiesOf(folder: string): readonly Body[] {
  const found = execFileSync(PYTHON, ["-P", "test/typist/functions.py", folder], { encoding: "utf8" });
  return JSON.parse(found);
}

async function main(): Promise<void> {
  const options = { minutes: { type: "string", default: "60" }, seed: { type: "string", default: "1" } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [folder] = positionals;
  if (folder === undefined) {
    throw new Error("npm run typist -- FOLDER [--minutes 60] [--seed 1]");
  }
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const files = project(folder);
  const code = new VSCode(files, SETTINGS);
  const [seed, minutes] = [Number(values.seed), Number(values.minutes)];
  const typist = new Typist(code, Date.now() + minutes * 60_000);
  try {
    await code.start();
    for (const body of shuffled(bodiesOf(folder), seed)) {
      const lines = (files[body.file] ?? "").split("\n").slice(body.first - 1, body.last);
      await typist.rewrites(body, lines.map((line) => line.trimEnd()).join("\n"));
      process.stderr.write(`${body.file}:${body.first} is written\n`);
      if (typist.isDone) {
        break;
      }
    }
  } finally {
    await code.stop();
  }
  const { lines, keys, characters, suggestions } = typist;
  const sitting: Sitting = { folder: basename(resolve(folder)), seed, minutes, lines, keys, characters, suggestions };
  writeFileSync(join(OUT, "suggestions.json"), JSON.stringify(sitting, undefined, 1));
  writeFileSync(join(OUT, "report.html"), report(sitting));
  console.log(summary(sitting));
}

await main();
