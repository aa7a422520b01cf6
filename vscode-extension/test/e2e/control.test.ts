/** Switches, reasons, and what to do when nothing happens. */

import assert from "node:assert/strict";
import { after, before } from "node:test";

import { killProcesses, PYTHON, scene, until, VSCode } from "./vscode";

// each with a word of its own, as what stands in one file is suggested in the others: here, nothing
const area = (side: string): string => `def area(${side}h, height):\n    return ${side}<|>\n`;
const FILES = {
  "automatic.py": area("widt"),
  "here.py": area("lengt"),
  "killed.py": area("girt"),
  "language.py": area("breadt"),
  "note.toml": "x = <|>\n",
  "other.py": area("dept"),
  "problem.py": area("strengt"),
};

const code = new VSCode(FILES);

before(async () => {
  await code.start();
  await code.open("automatic.py");
  await code.isReady();
});
after(() => code.stop());

async function suggestsNothing(): Promise<void> {
  await code.type("h");
  await code.page.locator(".tab.active.dirty").waitFor(); // the key arrived in the editor
  await code.rests();
  assert.equal(await code.ghost(), "");
  await code.press("Backspace");
}

scene(code, "by hand only: typing brings nothing, Alt+\\ does", async () => {
  await code.open("automatic.py");
  await code.command("Turn Automatic Suggestions On or Off");
  await code.statusSays("fimlsp: invoked only");
  await suggestsNothing();
  await code.press("Alt+\\");
  await code.ghostAppears();
  await code.press("ArrowLeft"); // which takes it away without dismissing it, as Escape would
  await code.press("ArrowRight");
  await code.command("Turn Automatic Suggestions On or Off");
  await code.statusSays("fimlsp");
  await code.type("h");
  await code.ghostAppears();
});

scene(code, "off for a file, and on again, from the menu", async () => {
  await code.open("here.py");
  await code.chooses("Turn off suggestions in this file");
  await until(async () => JSON.stringify(code.settings()["fimlsp.exclude"]) === '["**/here.py"]');
  await suggestsNothing();
  await code.type("h");
  await code.statusSays(/^fimlsp: completions are off for this file/, "circle-slash");
  await code.press("Backspace");
  await code.chooses("Turn on suggestions in this file");
  await code.type("h");
  await code.ghostAppears();
});

scene(code, "off for a language, and on again, from the menu", async () => {
  await code.open("language.py");
  await code.chooses("Turn off suggestions for the language python");
  await code.statusSays("fimlsp: python is not in setting languages");
  await suggestsNothing();
  await code.chooses("Turn on suggestions for the language python");
  await code.statusSays(/./, "loading");
  await code.isReady();
  await code.type("h");
  await code.ghostAppears();
});

scene(code, "another language says that it is none of those", async () => {
  await code.open("note.toml");
  await code.statusSays(/^fimlsp: (toml|plaintext) is not in setting languages/);
});

scene(code, "the menu", async () => {
  await code.open("other.py");
  await code.opensMenu();
  for (const label of ["Choose the model", "Restart the server", "Run the doctor", "Show the log"]) {
    await code.row(label).waitFor();
  }
  await code.screenshot("menu");
  await code.press("Escape");
});

scene(code, "a model that cannot be used is visible as long as that is so", async () => {
  await code.open("problem.py");
  code.configure({}, { "fimlsp.model": "/no/such/model" });
  await code.statusSays("fimlsp", "warning");
  await code.type("h");
  await code.ghostAppears();
  await code.statusSays("fimlsp", "warning");
  assert.match(await code.tooltip(), /Suggestion shown\s+Model: bundled\s+Cannot find a model '\/no\/such\/model'/);
  await code.screenshot("problem");
  await code.press("Escape");
  await code.statusSays("fimlsp", "check");
  code.configure();
  await code.statusSays(/./, "loading");
  await code.isReady();
});

scene(code, "statistics, from the menu", async () => {
  await code.open("other.py");
  await code.chooses("Show statistics");
  await code.row("Answered without the model").waitFor();
  await code.screenshot("statistics");
  await code.press("Escape");
});

scene(code, "the log, from the menu", async () => {
  await code.chooses("Show the log");
  await code.page.locator(".output-view .view-lines", { hasText: /starting|suggestion|model/ }).waitFor();
  await code.command("View: Toggle Panel Visibility");
});

scene(code, "a restart brings the server back", async () => {
  await code.open("other.py");
  await code.chooses("Restart the server");
  await code.statusSays(/./, "loading");
  await code.isReady();
});

scene(code, "the doctor speaks in a terminal", async () => {
  await code.chooses("Run the doctor");
  await code.page
    .locator(".terminal-wrapper .xterm-rows", { hasText: /next.completion/ })
    .waitFor({ timeout: 90_000 });
  await code.screenshot("doctor");
});

scene(code, "an interpreter that cannot be used is told as what it is", async () => {
  code.configure({}, { "fimlsp.interpreter": "/no/such/python" });
  await code.statusSays("fimlsp", "warning");
  const message = code.page.locator(".notification-list-item", {
    hasText: "The setting fimlsp.interpreter names /no/such/python, but it is not there",
  });
  await message.getByRole("button", { name: "Use Its Own" }).waitFor();
  await code.screenshot("missing");
  code.configure();
  await code.statusSays(/./, "loading");
  await code.isReady();
});

scene(code, "a killed server starts again without a message", async () => {
  await code.open("killed.py");
  assert.equal(
    killProcesses((command) => command.includes(PYTHON) && command.includes("--stdio")),
    1,
  );
  await code.statusSays(/./, "loading");
  await code.isReady();
  await code.type("h");
  await code.ghostAppears();
  await code.screenshot("killed");
  assert.equal(await code.page.locator(".notification-list-item").count(), 0);
});
