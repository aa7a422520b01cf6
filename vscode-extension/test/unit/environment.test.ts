import assert from "node:assert/strict";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";

import {
  argumentsOf,
  bases,
  CalledOffError,
  currentIn,
  identityOf,
  install,
  InstallationError,
  NoPythonError,
  serverIn,
  Supplies,
  whyNot,
} from "../../src/environment";
import { isInstalled } from "../../src/python";
import { makeWheel } from "../wheel";

const PYTHON = "python3";
let scratch = "";
let supplies: Supplies;

before(() => {
  scratch = mkdtempSync(join(tmpdir(), "fimlsp-test-"));
  mkdirSync(join(scratch, "server"));
  const wheel = makeWheel(PYTHON, scratch, "print('fimlsp, version 9.9.9')");
  copyFileSync(wheel, join(scratch, "server", basename(wheel)));
  cpSync("../editors/environment", join(scratch, "server", "environment"), { recursive: true });
  writeFileSync(join(scratch, "server", "constraints.txt"), "");
  supplies = new Supplies(scratch);
});
after(() => rmSync(scratch, { recursive: true }));

const QUIET = { step: () => {}, log: () => {} };
const never = (): AbortSignal => new AbortController().signal;

function program(name: string, lines: string): string {
  const path = join(scratch, name);
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}

function wanted(folder: string) {
  return { folder: join(scratch, folder), source: supplies.wheel, extras: [], wheelhouse: scratch };
}

test("the Python that the user works with makes the environment", () => {
  assert.deepEqual(bases("/v/python", "linux").slice(0, 3), ["/v/python", "python3", "python"]);
  assert.ok(bases(undefined, "linux").includes("python3.10"));
  assert.deepEqual(bases(undefined, "win32"), ["py", "python", "python3"]);
});

test("what the maker is told", () => {
  const given = { folder: "/f", source: "/w.whl", extras: ["checkpoints"], wheelhouse: "/h", cpuOnly: true };
  assert.deepEqual(
    argumentsOf(given, "/c").join(" "),
    "--folder /f --source /w.whl --constraints /c --extra checkpoints --wheelhouse /h --cpu-only",
  );
});

test("an environment is made by the first that can, the server in it found, and it is not made again", async () => {
  const broken = program("broken", "echo lost its library >&2; exit 127");
  const steps: string[] = [];
  const listener = { step: (words: string) => steps.push(words), log: () => {} };
  const there = wanted("environments");
  const python = await install(["no-such-program", broken, PYTHON], supplies, there, listener, never());
  const environment = currentIn(there.folder);
  assert.ok(environment !== undefined);
  assert.equal(environment.python, python);
  assert.equal(environment.identity, identityOf(supplies.wheel, supplies.constraints));
  assert.ok(await isInstalled(serverIn(environment), scratch));
  assert.ok(steps.includes("processing fimlsp 9.9.9"), steps.join("\n"));
  assert.equal(await install([PYTHON], supplies, there, QUIET, never()), python);
});

test("where no program can, each is told as what it is", async () => {
  const old = program("old", `echo '{"unsuitable": "it is Python 3.8"}'; exit 3`);
  const broken = program("broken", "echo lost its library >&2; exit 127");
  await assert.rejects(
    install(["no-such-program", old, broken], supplies, wanted("x"), QUIET, never()),
    (error) =>
      error instanceof NoPythonError &&
      error.message.includes("old: it is Python 3.8; ") &&
      error.message.includes("broken: it cannot be run (lost its library))") &&
      !error.message.includes("no-such-program"),
  );
});

test("what stops the maker is told", async () => {
  const there = { ...wanted("x"), wheelhouse: join(scratch, "nowhere") };
  await assert.rejects(
    install([PYTHON], supplies, there, QUIET, never()),
    (error) => error instanceof InstallationError && /nowhere is not there/.test(error.message),
  );
});

test("why a program does not run the server", async () => {
  const old = program("old", `echo '{"unsuitable": "it is Python 3.8"}'; exit 3`);
  assert.equal(await whyNot(old, supplies), "it is Python 3.8");
  assert.equal(await whyNot("no-such-program", supplies), "it is not there");
  assert.equal(await whyNot(PYTHON, supplies), "it has no fimlsp");
});

test("installing can be called off, before and meanwhile", async () => {
  const abort = new AbortController();
  const there = wanted("other");
  const listener = { step: () => abort.abort(), log: () => {} };
  await assert.rejects(install([PYTHON], supplies, there, listener, abort.signal), CalledOffError);
  assert.equal(currentIn(there.folder), undefined);
  await assert.rejects(install([PYTHON], supplies, wanted("third"), QUIET, abort.signal), CalledOffError);
  assert.ok(!existsSync(wanted("third").folder));
});
