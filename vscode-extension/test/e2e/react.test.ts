/**
 * A small React project, in which somebody types with VS Code's own closing of brackets, quotes and tags. The bundled
 * model as a GGUF file knows nothing of TypeScript, so the texts are poor; each has to connect, or has a reason.
 * `build/react.json` and the pictures show each place.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { after, before } from "node:test";

import { PYTHON, scene, until, VSCode } from "./vscode";

const PROJECT = "test/e2e/react";
const LOAD_MS = 300_000;
const ANSWER_MS = 20_000;

/** A place: the text up to `after` in a file stands, `removed` after it is missing, and `typed` is typed there. */
interface Stop {
  readonly file: string;
  readonly after: string;
  readonly removed: string;
  readonly typed: string;
  /** Another fault of the file: a text that is left out. */
  readonly lost?: string;
  /** What a person expects to be allowed, as far as the grammar alone decides. */
  readonly expected?: RegExp;
}

const STOPS: Readonly<Record<string, Stop>> = {
  "closing tag": {
    file: "TaskRow.tsx",
    after: "<span onDoubleClick={() => setEdited(true)}>{task.title}",
    removed: "</span>",
    typed: "</",
    expected: /^span>/,
  },
  "closing tag of lines": {
    file: "App.tsx",
    after: "      </button>\n    ",
    removed: "</header>",
    typed: "</",
    expected: /^header>/,
  },
  "closing tag of a provider": {
    file: "Theme.tsx",
    after: "<ThemeContext.Provider value={theme}>{children}",
    removed: "</ThemeContext.Provider>",
    typed: "</",
    expected: /^ThemeContext\.Provider>/,
  },
  "name of an attribute": {
    file: "TaskRow.tsx",
    after: '<input type="checkbox" checked={task.done}',
    removed: " onChange={toggle}",
    typed: " onCh",
  },
  "value of an attribute": {
    file: "TaskRow.tsx",
    after: '<input type="checkbox" checked={task.done}',
    removed: " onChange={toggle}",
    typed: " onChange={",
  },
  "arrow as a value": {
    file: "App.tsx",
    after: "<TaskRow key={task.id} task={task} onToggle={",
    removed: '(id) => dispatch({ type: "toggled", id })',
    typed: "(id) => ",
  },
  "parameters of an arrow": {
    file: "App.tsx",
    after: "<TaskRow key={task.id} task={task} onToggle={",
    removed: '(id) => dispatch({ type: "toggled", id })',
    typed: "(id) ",
    expected: /^=>/,
  },
  "type of a state": {
    file: "TaskRow.tsx",
    after: "const [isEdited, setEdited] = useState",
    removed: "(false)",
    typed: "<",
  },
  "template with a hole": {
    file: "api.ts",
    after: "const response = await fetch(",
    removed: "`${BASE}?order=due`",
    typed: "`${",
  },
  "text of a template": {
    file: "styles.ts",
    after: "  padding: ${space / 2}px ",
    removed: "${space}px;",
    typed: "${sp",
  },
  "an open template above": {
    file: "styles.ts",
    after: "export const list = css`\n  list-style: none;\n",
    removed: "  margin: 0 ${2 * space}px;",
    typed: "  margin: ${",
    lost: "    background: #eee;\n  }\n`;",
  },
  "no semicolon above": {
    file: "App.tsx",
    after: "const [state, dispatch] = useReducer(reduce, initial)",
    removed: ";",
    typed: "\nconst count = ",
  },
  "an open tag above": {
    file: "App.tsx",
    after: "<Badge ",
    removed: "count={count} ",
    typed: "co",
    lost: "</h1>",
  },
  "an open tag above, without its bracket": {
    file: "TaskRow.tsx",
    after: '<input type="checkbox" ',
    removed: "checked={task.done} onChange={toggle} ",
    typed: "checked={",
    lost: "(task.done)}>",
  },
  "a callback that is not closed": {
    file: "App.tsx",
    after: "{shown.map((task) => (\n          <TaskRow key={task.id} ",
    removed: 'task={task} onToggle={(id) => dispatch({ type: "toggled", id })} />\n        ))}',
    typed: "task={",
  },
  "names of an import": {
    file: "App.tsx",
    after: "import { useEffect, ",
    removed: "useReducer ",
    typed: "use",
  },
  "module of an import": {
    file: "App.tsx",
    after: "import { list } ",
    removed: 'from "./styles";',
    typed: 'from "',
  },
  "body of a case": {
    file: "reducer.ts",
    after: '    case "failed":',
    removed: "\n      return { ...state, error: action.message };",
    typed: "\n",
  },
  "next case": {
    file: "reducer.ts",
    after: "error: action.message };\n    ",
    removed: "default:\n      return state;",
    typed: "cas",
  },
  "element of a condition": {
    file: "App.tsx",
    after: "{state.error !== null && ",
    removed: '<p role="alert">{state.error}</p>',
    typed: "<",
  },
  "a new child": {
    file: "App.tsx",
    after: "<h1>Tasks</h1>",
    removed: "",
    typed: "\n<",
  },
  "a new child with its end": {
    file: "App.tsx",
    after: "<h1>Tasks</h1>",
    removed: "",
    typed: "\n<p>",
  },
  "text with a hole": {
    file: "Badge.jsx",
    after: '{isMany ? "99+" : count} ',
    removed: "{label}",
    typed: "{la",
  },
  "a member of a type": {
    file: "types.ts",
    after: "onRemove?: (id: number) => void;",
    removed: "",
    typed: "\nonRename: (",
  },
  "a new test": {
    file: "App.test.tsx",
    after: "expect(onToggle).toHaveBeenCalledWith(1);\n  });",
    removed: "",
    typed: '\n\nit("',
  },
  "an expectation": {
    file: "App.test.tsx",
    after: 'fireEvent.click(screen.getByRole("checkbox"));\n    ',
    removed: "expect(onToggle).toHaveBeenCalledWith(1);",
    typed: "expect(onT",
  },
};

/** A component from nothing; a list has the keys of a line, and the picture of a rest after it has its name. */
const FROM_NOTHING: ReadonlyArray<readonly [keys: string, rest?: string]> = [
  ['import { useState } from "react";\n\n'],
  ["export function Counter({ start }: { start: number }) {\n", "the body of a component"],
  ["const [count, setCount] = useState<", "the type of the first state"],
  ["number>(start);\n", "the next statement"],
  ["const add = () =", "half an arrow"],
  ["> ", "the body of an arrow"],
  ["setCount(count + 1);\n"],
  ["return (\n", "what is returned"],
  ["<div className=", "a value of an attribute"],
  ['"counter"', "after a value"],
  [">\n", "the first child"],
  ["<button onClick={add", "the end of a value"],
  ["}>{count", "the hole of a text"],
  ["}</", "the end of a child"],
];

const stops = Object.entries(STOPS).map(([name, stop], number) => ({ name, stop, path: pathOf(number, stop) }));
const folder = mkdtempSync(join(tmpdir(), "fimlsp-react-"));
const model = join(folder, "own.gguf");
const code = new VSCode(
  {
    ...Object.fromEntries(readdirSync(PROJECT).map((name) => [name, source(name)])),
    ...Object.fromEntries(stops.map(({ path, stop }) => [path, cut(stop)])),
    "Counter.tsx": "<|>",
  },
  { "fimlsp.minLength": 0, "fimlsp.oneLine": "auto" },
  { "fimlsp.model": model, "fimlsp.threads": 1, "fimlsp.logLevel": "debug" },
);
const seen: object[] = [];

before(async () => {
  execFileSync(PYTHON, ["-m", "fimlsp", "models", "export", "bundled", "--gguf", model], { stdio: "pipe" });
  await code.start();
  await code.page.setViewportSize({ width: 1000, height: 1500 }); // the explorer draws only the files that fit
  await code.open("types.ts");
  await code.isReady(LOAD_MS);
});
after(async () => {
  mkdirSync("build", { recursive: true });
  writeFileSync("build/react.json", JSON.stringify(seen, null, 1));
  writeFileSync("build/react.log", code.log());
  await code.stop();
  rmSync(folder, { recursive: true, force: true });
});

function source(name: string): string {
  return readFileSync(join(PROJECT, name), "utf8");
}

/** The file of a place: it begins with its number, so that the explorer lists all of them apart. */
function pathOf(number: number, stop: Stop): string {
  return `at${number}${basename(stop.file, extname(stop.file)).replace(".", "")}${extname(stop.file)}`;
}

/** The text of a place, `<|>` at the cursor. */
function cut(stop: Stop): string {
  const text = source(stop.file);
  assert.ok(text.includes(stop.after + stop.removed), stop.after);
  const left = text.slice(0, text.indexOf(stop.after + stop.removed) + stop.after.length);
  const whole = `${left}<|>${text.slice(left.length + stop.removed.length)}`;
  assert.ok(stop.lost === undefined || whole.includes(stop.lost), stop.lost);
  return stop.lost === undefined ? whole : whole.replace(stop.lost, "");
}

interface Answer {
  readonly ghost: string;
  readonly status: string;
}

/** The grey text, or the reason for none, as soon as one of both is there. */
async function answer(): Promise<Answer> {
  let now: Answer = { ghost: "", status: "" };
  const isThere = async () => {
    now = { ghost: await code.ghost(), status: await code.status() };
    return now.ghost !== "" || /^fimlsp: ./.test(now.status);
  };
  await until(isThere, () => `neither text nor reason: ${JSON.stringify(now)}`, ANSWER_MS);
  await code.rests();
  return { ghost: await code.ghost(), status: await code.tooltip() };
}

/** What comes by itself at a place, and what on request; each with a picture. VS Code's own list is closed. */
async function look(name: string): Promise<{ readonly typing: Answer; readonly asked: Answer }> {
  const typing = await answer();
  await code.screenshot(`react ${name}`);
  if ((await code.page.locator(".suggest-widget.visible").count()) > 0) {
    await code.press("Escape");
    await code.rests();
  }
  await code.press("Alt+\\");
  const asked = await answer();
  await code.screenshot(`react ${name} asked`);
  seen.push({ name, typing, asked });
  return { typing, asked };
}

for (const { name, stop, path } of stops) {
  scene(code, name, async () => {
    await code.open(path);
    await code.type(stop.typed);
    const { asked } = await look(name);
    if (stop.expected !== undefined) {
      assert.match(asked.ghost, stop.expected);
    }
    await code.press("Escape");
  });
}

scene(code, "a component from nothing", async () => {
  await code.open("Counter.tsx");
  for (const [keys, rest] of FROM_NOTHING) {
    await code.type(keys);
    if (rest !== undefined) {
      await look(rest);
      await code.press("Escape");
    }
  }
  assert.doesNotMatch(code.log(), /is restarted|unexpectedly/);
});
