import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { bases, firstSuitable, install, InstallationError, pipCalls, stepOf } from "../../src/environment";
import { isInstalled } from "../../src/python";
import { makeWheel } from "../wheel";

let scratch = "";
before(() => {
  scratch = mkdtempSync(join(tmpdir(), "fimlsp-test-"));
});
after(() => rmSync(scratch, { recursive: true }));

const STEPS: [line: string, step: string | undefined][] = [
  ["Collecting torch>=2.4 (from fimlsp)", "collecting torch>=2.4"],
  ["  Downloading torch-2.4-cp311.whl (800 MB)", "downloading torch-2.4-cp311.whl"],
  ["  Downloading https://somewhere/a/torch-2.4.whl (800 MB)", "downloading torch-2.4.whl"],
  ["Processing /somewhere/fimlsp-0.1.0-py3-none-any.whl", "processing fimlsp-0.1.0-py3-none-any.whl"],
  ["Installing collected packages: lark, fimlsp", "unpacking what was downloaded"],
  ["Successfully installed fimlsp-0.1.0", "done"],
  ["Requirement already satisfied: lark", undefined],
  ["", undefined],
];

for (const [line, step] of STEPS) {
  test(`a step of pip's: ${line.trim()}`, () => assert.equal(stepOf(line), step));
}

test("the Python that the user works with makes the environment", () => {
  assert.deepEqual(bases("/v/python", "linux"), ["/v/python", "python3", "python"]);
  assert.deepEqual(bases(undefined, "win32"), ["py", "python"]);
});

test("PyTorch for the processor is installed first, so that the other is not fetched", () => {
  const calls = pipCalls({ base: "python3", folder: "/e", what: "fimlsp", cpuOnly: true });
  assert.deepEqual(
    calls.map((args) => args.slice(-3)),
    [
      ["torch", "--index-url", "https://download.pytorch.org/whl/cpu"],
      ["--no-input", "--upgrade", "fimlsp"],
    ],
  );
  assert.equal(pipCalls({ base: "python3", folder: "/e", what: "fimlsp", cpuOnly: false }).length, 1);
});

test("a program that is no Python, or none at all, is not suitable", async () => {
  assert.equal(await firstSuitable(["no-such-program-anywhere", process.execPath]), undefined);
});

test("an environment is made, and the server in it found", async (t) => {
  const base = await firstSuitable(bases(undefined));
  if (base === undefined) {
    t.skip("there is no Python 3.10 or newer here");
    return;
  }
  const what = makeWheel(base, scratch, "print('fimlsp 0.1.0')");
  const lines: string[] = [];
  const folder = join(scratch, "environment");
  const installation = { base, folder, what, cpuOnly: false };
  const interpreter = await install(installation, (line) => lines.push(line), new AbortController().signal);
  assert.ok(await isInstalled({ command: interpreter, args: ["-m", "fimlsp"] }, scratch));
  assert.ok(lines.map(stepOf).includes("done"), lines.join("\n"));

  const broken = { ...installation, what: join(scratch, "no-such-1.0-py3-none-any.whl") };
  await assert.rejects(
    install(broken, () => {}, new AbortController().signal),
    InstallationError,
  );
});

test("installing can be called off", async () => {
  const installation = { base: process.execPath, folder: join(scratch, "other"), what: "x", cpuOnly: false };
  const abort = new AbortController();
  abort.abort();
  await assert.rejects(
    install(installation, () => {}, abort.signal),
    /called off/,
  );
  assert.ok(!existsSync(installation.folder));
});
