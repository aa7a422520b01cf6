import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { LANGUAGES, OWN_SETTINGS, SERVER_OPTIONS } from "../../src/settings";
import { commands, manifest, properties } from "./manifest";

const { keybindings, walkthroughs } = manifest.contributes;
const sources = readdirSync("src").map((name) => readFileSync(`src/${name}`, "utf8"));

test("the manifest offers the server's settings and the extension's own", () => {
  const names = [...SERVER_OPTIONS, ...OWN_SETTINGS].map((name) => `fimlsp.${name}`);
  assert.deepEqual(Object.keys(properties).sort(), names.sort());
});

test("every setting says what it means", () => {
  for (const [name, property] of Object.entries(properties)) {
    assert.ok("description" in property || "markdownDescription" in property, name);
  }
});

test("the table of the README has every setting with its default", () => {
  const readme = readFileSync("README.md", "utf8");
  for (const [name, { default: value }] of Object.entries(properties)) {
    const shown = value === "" ? "" : `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
    assert.ok(readme.includes(`| \`${name}\` | ${shown}${shown && " "}|`), name);
  }
});

test("every command of ours that is named anywhere is in the manifest, and the other way round", () => {
  const block = /const commands:[^]*?\n {2}};/.exec(readFileSync("src/commands.ts", "utf8"))?.[0] ?? "";
  const registered = [...block.matchAll(/^ {4}(\w+)[:,]/gm)];
  assert.deepEqual(registered.map(([, name]) => `fimlsp.${name}`).sort(), [...commands].sort());
  const texts = [JSON.stringify([keybindings, walkthroughs]), ...sources];
  const named = texts.flatMap((text) => [
    ...text.matchAll(/(?:command:|"command":"|executeCommand\(")(fimlsp\.\w+)/g),
  ]);
  assert.ok(named.length > 5);
  for (const [, name] of named) {
    assert.ok(name !== undefined && commands.includes(name), name);
  }
});

test("the extension is there for languages that only the settings name, too", () => {
  const events: string[] = manifest.activationEvents;
  assert.deepEqual(events, [...LANGUAGES.map((id) => `onLanguage:${id}`), "onStartupFinished"]);
});

test("the pages of the walkthrough are there", () => {
  const pages = walkthroughs[0].steps.map((step: { media: { markdown: string } }) => step.media.markdown);
  assert.ok(pages.length > 0 && pages.every((page: string) => existsSync(page)));
});

test("what a workspace that is not trusted may not say is restricted", () => {
  const restricted: string[] = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  for (const name of ["interpreter", "installFrom", "wheelhouse", "model"]) {
    assert.ok(restricted.includes(`fimlsp.${name}`), name);
  }
});
