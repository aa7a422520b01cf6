/**
 * TypeScript's checker, from a folder that the user names: a text with another name for a member is cut before it.
 * It checks JavaScript too.
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { after, before } from "node:test";

import { scene, until, VSCode } from "./vscode";

const SETTINGS = { "fimlsp.deadlineMs": 30_000, "fimlsp.minLength": 0, "fimlsp.confidence": 0.02 };
const WRITTEN = "order.byer;";
const FILES = {
  "shop.ts": `export interface Order {
  id: number;
  buyer: string;
}

export function load(id: number): Order {
  return { id, buyer: "" };
}
`,
  "main.ts": `import { load } from "./shop";

export function show(id: number): string {
  const order = load(id);
  return <|>
}
`,
  "basket.js": `class Order {
  buyer = "";
}

export function load(id) {
  return new Order();
}
`,
  "main.js": `import { load } from "./basket.js";

export function show(id) {
  const order = load(id);
  return <|>
}
`,
};

/** A model that always writes the same after `return`, as llama.cpp and vLLM serve one. */
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    const { prompt = "", n = 1 } = body === "" ? {} : JSON.parse(body);
    const typed = String(prompt).match(/return (\w*)$/)?.[1] ?? "";
    const choice = { text: WRITTEN.startsWith(typed) ? WRITTEN.slice(typed.length) : "", finish_reason: "stop" };
    const choices = Array.from({ length: n }, (_, index) => ({ index, ...choice }));
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ id: "one", model: "one", data: [{ id: "one", object: "model" }], choices }));
  });
});
const code = new VSCode(FILES);
let machine = {};

before(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  machine = { "fimlsp.model": `http://127.0.0.1:${port}`, "fimlsp.api": "texts" };
  code.configure(SETTINGS, machine);
  await code.start();
  await code.open("main.ts");
  await isServed();
});
after(async () => {
  await code.stop();
  server.close();
});

/** Wait until the model of the server is the one that writes. */
async function isServed(): Promise<void> {
  let text = "";
  await until(
    async () => (text = await code.tooltip()).includes("Model: one"),
    () => `it says ${JSON.stringify(text)}`,
  );
}

/** Write the first letter of the value, and wait for the grey text after it. */
async function suggests(expected: string): Promise<void> {
  await code.open("main.ts");
  await code.type("o");
  await code.ghostIs(expected);
}

/** Write the first letter again, as the checker may not have read the file before; the grey text after it. */
async function retyped(): Promise<string> {
  await code.press("Backspace");
  await code.rests();
  await code.type("o");
  return code.ghostAppears();
}

scene(code, "without a checker the text is shown as the model writes it", async () => {
  await suggests(WRITTEN.slice(1));
  await code.screenshot("types unknown");
  await code.press("Backspace");
});

scene(code, "with the folder of TypeScript named, it ends before the member that the type lacks", async () => {
  code.configure(SETTINGS, { ...machine, "fimlsp.typescript": resolve(".") });
  await code.rests();
  await isServed();
  await code.open("main.ts");
  await code.type("o");
  await until(async () => (await retyped()) === "rder", () => "it is shown to its end");
  await code.screenshot("types known");
});

scene(code, "so it does in JavaScript", async () => {
  await code.open("main.js");
  await code.type("o");
  await until(async () => (await retyped()) === "rder", () => "it is shown to its end");
  await code.screenshot("types known in JavaScript");
});
