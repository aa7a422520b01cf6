/** From the .vsix to ghost text for somebody who has nothing but a Python: install it, open a file, type. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { killProcesses, parses, until, VSCode } from "./vscode";

const FILE = "shapes.py";
const FILES = { [FILE]: "def area(width, height):\n    return widt<|>\n" };
const INSTALLING_MS = 300_000;
/** The Python that makes environments, so that one of a user is found; the first in PATH is a broken one. */
const BASE = process.env["FIMLSP_BASE_PYTHON"] ?? "/usr/bin/python3";

const scratch = mkdtempSync(join(tmpdir(), "fimlsp-setup-"));
const home = join(scratch, "home");
const programs = join(scratch, "bin");
const variables = { HOME: home, PATH: `${programs}:/usr/bin:/bin`, PIP_CACHE_DIR: join(scratch, "cache") };

before(() => {
  mkdirSync(home);
  mkdirSync(programs);
  program("python3", "echo 'error while loading shared libraries: libpython3.so' >&2; exit 127");
  program("python", `exec ${BASE} "$@"`);
  writeFileSync(join(home, ".profile"), `export PATH=${variables.PATH}\n`); // VS Code asks the login shell
});
after(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }));

function program(name: string, line: string): void {
  writeFileSync(join(programs, name), `#!/bin/sh\n${line}\n`);
  chmodSync(join(programs, name), 0o755);
}

function fresh(machine = {}): VSCode {
  return new VSCode(FILES, {}, { "fimlsp.interpreter": "", ...machine }, variables);
}

/** Opens the file, which sets everything up, and types until there is ghost text; tells how long that takes. */
async function reachesGhostText(code: VSCode, name: string): Promise<void> {
  const began = Date.now();
  const { left, right } = await code.open(FILE);
  await until(
    async () => (await progress(code).count()) > 0 || (await code.status()) === "fimlsp",
    () => "no progress is shown",
  );
  await code.screenshot(`${name} 1 setting up`);
  await code.isReady(INSTALLING_MS).catch(async (error: unknown) => {
    await code.screenshot(`${name} failed`);
    throw error;
  });
  const ready = Date.now();
  await code.type("h");
  const ghost = await code.ghostAppears();
  const shown = Date.now();
  await code.screenshot(`${name} 2 ghost text`);
  await code.press("Tab");
  assert.ok(parses(await code.saved(FILE)), `${left}h${ghost}${right}`);
  const size = execFileSync("du", ["-sm", code.environments], { encoding: "utf8" }).split("\t")[0];
  console.log(`${name}: ready ${ready - began} ms after opening, ghost text ${shown - ready} ms later, ${size} MB`);
}

function progress(code: VSCode) {
  return code.page.locator(".notification-list-item", { hasText: "Setting up fimlsp" });
}

test("from the .vsix to ghost text in two steps, with a broken Python first in the PATH", async () => {
  const code = fresh();
  try {
    await code.start();
    await reachesGhostText(code, "setup");
    assert.match(code.log(), /python3: it cannot be run \(error while loading shared libraries/);
  } finally {
    await code.stop();
  }
});

for (const step of ["making the environment", "collecting", "unpacking"]) {
  test(`closed while ${step}: the next start makes it good`, async () => {
    const code = fresh();
    try {
      await code.start();
      await code.open(FILE);
      await progress(code).filter({ hasText: step }).waitFor({ timeout: INSTALLING_MS });
      await code.screenshot(`interrupted while ${step}`);
      killProcesses((command) => command.includes(code.environments));
      await code.close();
      assert.ok(!existsSync(join(code.environments, "current.json")));
      await code.start();
      await reachesGhostText(code, `again after ${step}`);
      assert.equal(environments(code).length, 1);
    } finally {
      await code.stop();
    }
  });
}

test("without any network, from a folder of wheels", async () => {
  const wheelhouse = join(scratch, "wheels");
  const wheel = join("server", readdirSync("server").find((name) => name.endsWith(".whl")) ?? "");
  const download = ["-m", "pip", "download", "-q", "-d", wheelhouse, "-c", "server/constraints.txt", wheel];
  execFileSync(BASE, download, { stdio: "pipe" });
  const code = new VSCode(
    FILES,
    {},
    { "fimlsp.interpreter": "", "fimlsp.wheelhouse": wheelhouse },
    { ...variables, PIP_INDEX_URL: "http://127.0.0.1:9/", PIP_PROXY: "http://127.0.0.1:9/" },
  );
  try {
    await code.start();
    await reachesGhostText(code, "wheelhouse");
  } finally {
    await code.stop();
  }
});

test("with a home that cannot be written", async () => {
  const sealed = { ...variables, HOME: "/sys" }; // where not even root can make a file
  const code = new VSCode(FILES, {}, { "fimlsp.interpreter": "" }, sealed);
  try {
    await code.start();
    await reachesGhostText(code, "read-only home");
  } finally {
    await code.stop();
  }
});

test("it breaks, and is repaired by the next start", async () => {
  const code = fresh();
  try {
    await code.start();
    await reachesGhostText(code, "before it breaks");
    await code.close();
    for (const name of environments(code)) {
      rmSync(join(code.environments, name, "lib"), { recursive: true });
    }
    await code.start();
    await reachesGhostText(code, "repaired");
  } finally {
    await code.stop();
  }
});

function environments(code: VSCode): string[] {
  return readdirSync(code.environments).filter((name) => name.startsWith("environment-"));
}
