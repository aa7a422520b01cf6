/**
 * A model that is slow on this machine: minutes of typing. Then it runs on a server, which is stopped and replaced by a
 * router, and that by a server of texts. The model has random weights in the size of Qwen2.5-Coder 0.5B, or in
 * $FIMLSP_SLOW_SIZE; $FIMLSP_SLOW_MINUTES are two by default. The others are stand-ins of tests/models/remote.
 */

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";

import { PYTHON, scene, until, VSCode } from "./vscode";

const SIZE = process.env["FIMLSP_SLOW_SIZE"] ?? "0.5B";
const MINUTES = Number(process.env["FIMLSP_SLOW_MINUTES"] ?? 2);
const LOAD_MS = 300_000;
const ROOT = "..";
const WRITE = `
import sys; from pathlib import Path; from benchmarks.models.random_gguf import SIZES, write_random
write_random(Path(sys.argv[1]), SIZES[sys.argv[2]])`;
const LLAMA_SERVER = `
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_ctx, params.verbosity = sys.argv[1], int(sys.argv[2]), 1024, -1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
time.sleep(3600)`;
/** Before a real server; it listens where that one did. */
const ROUTER = `
import sys; from http.server import ThreadingHTTPServer; from tests.models.remote.test_routers import Router
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Router)
server.upstream, server.loaded, server.asked = sys.argv[2], set(), []
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()`;
const TEXTS = `
import time; from tests.models.remote.documented_servers import start
print(start("LM Studio").address, flush=True)
time.sleep(3600)`;

/** Lines that are typed, with a rest after each. */
const LINES = [
  "    for item in items:",
  "    total = total + item.price",
  "    if total > limit:",
  "    return total",
  "",
  "def describe(items):",
  "    names = [item.name for item in items]",
  "    return ', '.join(names)",
  "",
];
const PROGRAM = Array.from({ length: 60 }, (_, number) =>
  [`def step_${number}(items, limit):`, `    chosen = items[${number}:]`, "    return chosen, limit", "", ""].join("\n"),
).join("\n");

const folder = mkdtempSync(join(tmpdir(), "fimlsp-slow-"));
const slow = join(folder, "slow.gguf");
const own = join(folder, "own.gguf");
const code = new VSCode(
  { "slow.py": `${PROGRAM}\ndef total_of(items, limit):\n    total = 0<|>\n\n\n${PROGRAM}` },
  { "fimlsp.minLength": 0 },
  { "fimlsp.model": slow, "fimlsp.threads": 1 },
);
const running: ChildProcess[] = [];

before(async () => {
  execFileSync(PYTHON, ["-c", WRITE, slow, SIZE], { cwd: ROOT, stdio: "pipe" });
  execFileSync(PYTHON, ["-m", "fimlsp", "models", "export", "bundled", "--gguf", own], { stdio: "pipe" });
  await code.start();
  await code.open("slow.py");
  await code.isReady(LOAD_MS);
});
after(async () => {
  running.forEach((each) => each.kill("SIGKILL"));
  await code.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The address that a Python program prints first. */
function serves(program: string, ...args: string[]): Promise<string> {
  const child = spawn(PYTHON, ["-c", program, ...args], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  running.push(child);
  return new Promise((resolve, reject) => {
    child.stdout.once("data", (data: Buffer) => resolve(data.toString().trim()));
    child.once("exit", (status) => reject(new Error(`a server has ended with ${status}`)));
  });
}

/** All texts of the status bar, which shows progress as well. */
async function bar(): Promise<string> {
  return (await code.page.locator(".part.statusbar").innerText()).replaceAll("\u00a0", " ");
}

async function tells(words: string, patience?: number): Promise<void> {
  let told = "";
  await until(
    async () => (told = await code.tooltip()).includes(words),
    () => `it says ${JSON.stringify(told)}`,
    patience,
  );
}

scene(code, `minutes of typing with a slow model of the size ${SIZE}`, async () => {
  const end = Date.now() + MINUTES * 60_000;
  const seen = { lines: 0, rests: 0, ghosts: 0, progress: 0 };
  for (let at = 0; Date.now() < end; at += 1) {
    await code.press("Enter");
    await code.press("Home");
    await code.press("Home");
    await code.type(LINES[at % LINES.length] ?? "", 120);
    seen.lines += 1;
    const rest = Date.now() + (at % 3 === 2 ? 40_000 : 8_000);
    let isShown = false;
    let isRead = false;
    while (Date.now() < rest && !isShown) {
      isShown = (await code.ghost()) !== "";
      if (!isRead && (await bar()).includes("the model reads the code")) {
        isRead = true;
        await code.screenshot(`slow ${at} reads`);
      }
      await new Promise((done) => setTimeout(done, 250));
    }
    seen.rests += 1;
    seen.ghosts += Number(isShown);
    seen.progress += Number(isRead);
    if (isShown || at % 5 === 0) {
      await code.screenshot(`slow ${at} ${isShown ? "shown" : "none"}`);
    }
    await code.press("Escape");
  }
  console.log(JSON.stringify(seen));
  const log = code.log();
  assert.doesNotMatch(log, /too slow|is restarted|Until then the bundled model/);
  assert.ok(seen.progress > 0, "no progress was seen");
  assert.ok(seen.ghosts > 0, "no suggestion was seen");
  assert.ok((await code.tooltip()).includes("Model: slow.gguf"), "another model is used");
});

scene(code, "a server has the model, is stopped, and is replaced by a router", async () => {
  const address = await serves(LLAMA_SERVER, own, "0");
  code.configure({}, { "fimlsp.model": address, "fimlsp.deadlineMs": 30_000 });
  await tells("own.gguf (llama-server)", LOAD_MS);
  running.pop()?.kill("SIGKILL");
  await code.press("Enter");
  await code.type("    count = len(");
  await tells("Until then the bundled model is used", LOAD_MS);
  const upstream = await serves(LLAMA_SERVER, own, "0");
  const router = await serves(ROUTER, new URL(address).port, upstream);
  assert.equal(router, address);
  await tells("it has own/bundled:Q8_0", LOAD_MS);
  await code.screenshot("slow router");
  code.configure({}, { "fimlsp.model": `${router}#own/bundled:Q8_0`, "fimlsp.deadlineMs": 30_000 });
  await tells("Model: bundled:Q8_0 (llama-server", LOAD_MS);
  await code.type("ite");
  await code.ghostAppears();
  await code.press("Escape");
  await code.type("ms)");
});

scene(code, "and that by a server of texts", async () => {
  const address = await serves(TEXTS);
  code.configure({}, { "fimlsp.model": address, "fimlsp.family": "fimlsp", "fimlsp.deadlineMs": 30_000 });
  await tells("LM Studio, approximate: no probabilities", LOAD_MS);
  await code.press("Enter");
  await code.type("    chosen = it");
  await code.ghostAppears();
  await code.screenshot("slow texts");
});
