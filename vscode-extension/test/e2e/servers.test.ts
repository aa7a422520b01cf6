/** A model server of the user's own: chosen from the menu while it runs, gone, and back. */

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";

import { PYTHON, scene, until, VSCode } from "./vscode";

const KEY = "open-sesame-4711";
const PORTS = [8012, 8080, 8000];
const SERVE = `
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_ctx, params.verbosity = sys.argv[1], int(sys.argv[2]), 1024, -1
params.api_keys = sys.argv[3:]
server = xllamacpp.Server(params)
time.sleep(600)`;

const code = new VSCode(
  { "served.py": "def area(width, height):\n    return widt<|>\n" },
  { "fimlsp.deadlineMs": 30_000, "fimlsp.minLength": 0 },
);
const folder = mkdtempSync(join(tmpdir(), "fimlsp-served-"));
const gguf = join(folder, "own.gguf");
let running: ChildProcess | undefined;
let port = 0;

before(async () => {
  execFileSync(PYTHON, ["-m", "fimlsp", "models", "export", "bundled", "--gguf", gguf], { stdio: "pipe" });
  port = await freePort();
  await code.start();
  await code.open("served.py");
  await code.isReady();
});
after(async () => {
  await stopServer();
  await code.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** One of the ports on which servers are looked for. */
async function freePort(): Promise<number> {
  for (const each of PORTS) {
    if (!(await listens(each))) {
      return each;
    }
  }
  throw new Error("servers listen on all usual ports");
}

function listens(at: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(at, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** With a *key*, only who has it is answered. */
async function startServer(...key: string[]): Promise<void> {
  running = spawn(PYTHON, ["-c", SERVE, gguf, String(port), ...key], { stdio: "ignore" });
  await until(() => listens(port));
}

async function stopServer(): Promise<void> {
  running?.kill("SIGKILL");
  await until(async () => !(await listens(port)));
}

async function isServed(): Promise<boolean> {
  return (await code.tooltip()).includes("own.gguf (llama-server)");
}

/** Wait until the tooltip has *reason* in it. */
async function tells(reason: string): Promise<void> {
  let told = "";
  await until(
    async () => (told = await code.tooltip()).includes(reason),
    () => `it says ${JSON.stringify(told)}`,
  );
}

scene(code, "a running server is chosen from the menu, and writes", async () => {
  await startServer();
  await code.chooses("Choose the model");
  await code.row(`http://127.0.0.1:${port}`).waitFor();
  await code.screenshot("models");
  await code.row(`http://127.0.0.1:${port}`).click();
  await until(isServed, () => "the server's model is not used");
  await code.open("served.py");
  await code.type("h * ");
  await code.ghostAppears();
  await code.screenshot("served");
});

scene(code, "it is gone: the reason is told, and the bundled model writes meanwhile", async () => {
  await stopServer();
  await code.type("(");
  await tells(`No model server answers at 127.0.0.1:${port}`);
  assert.ok((await code.tooltip()).includes("Model: bundled"));
  await code.screenshot("gone");
});

scene(code, "it is started again, and used again", async () => {
  await startServer();
  await until(isServed, () => "the server's model is not used again");
});

scene(code, "it wants a key: that is told, and a key of the secret store is used", async () => {
  await stopServer();
  await startServer(KEY);
  await code.command("fimlsp: Load the Model Again");
  await tells("wants another key");
  await code.command("fimlsp: Set the Key of a Model Server");
  await code.page.locator(".quick-input-widget input[type=password]").waitFor();
  await code.page.keyboard.type(KEY);
  await code.press("Enter");
  await until(isServed, () => "the key is not used");
  assert.ok(!code.log().includes(KEY), "the log has the key");
  assert.ok(!JSON.stringify(code.settings()).includes(KEY), "the settings have the key");
});
