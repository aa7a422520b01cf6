import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { type Answers, declaration, fieldsOf, type Match, Variables } from "../src/kernel";

const RED = "\x1b[31m";
const PLAIN = "\x1b[39m";

/** A description as IPython gives it. */
function described(fields: Record<string, string>): string {
  return Object.entries(fields).map(([name, value]) => `${RED}${name}:${PLAIN}   ${value}`).join("\n");
}

const DECLARED: [name: string, fields: Record<string, string>, keys: string[], line: string][] = [
  ["total", { Type: "int", "String form": "3" }, [], "total = int()"],
  ["nothing", { Type: "NoneType" }, [], "nothing = None"],
  ["settings", { Type: "dict" }, ["host", 'a "b"'], 'settings = {"host": ..., "a \\"b\\"": ...}'],
  ["empty", { Type: "dict" }, [], "empty = {}"],
  ["orders", { Type: "DataFrame" }, ["price", "größe"], 'orders = DataFrame({"price": ..., "größe": ...})'],
  ["orders", { Type: "DataFrame" }, ["x".repeat(61)], "orders = DataFrame()"],
  ["odd", { Type: "a type\nwith lines" }, [], "odd = ..."],
  ["math", { Type: "module", "String form": "<module 'math' (built-in)>" }, [], "import math"],
  ["np", { Type: "module", "String form": "<module 'numpy' from '/x'>" }, [], "import numpy as np"],
  ["area", { Signature: "area(a, b=1)", Type: "function" }, [], "def area(a, b=1): ..."],
  ["area", { Signature: "area(a=<object>)", Type: "function" }, [], "def area(*args, **kwargs): ..."],
  ["area", { Signature: "", Type: "function" }, [], "def area(*args, **kwargs): ..."],
  ["Box", { "Init signature": "Box()", Type: "type" }, [], "class Box: ..."],
];

for (const [name, fields, keys, line] of DECLARED) {
  test(`declared: ${line}`, () => {
    assert.equal(declaration(name, new Map(Object.entries(fields)), keys), line);
  });
}

test("the first field of each name counts, without colours", () => {
  const fields = fieldsOf(`${described({ Type: "int", Docstring: "" })}\nType: other\nno field`);
  assert.deepEqual([...fields], [["Type", "int"], ["Docstring", ""]]);
});

/** A kernel with variables, their descriptions, and keys. */
class Kernel implements Answers {
  readonly asked: string[] = [];
  constructor(
    readonly variables: Record<string, string>,
    readonly keys: Record<string, string[]> = {},
  ) {}

  async complete(code: string): Promise<Match[]> {
    this.asked.push(code);
    const names = {
      "__builtins__.": ["print", ".len"],
      "": ["print", "len", "for", "In", "_1", "%magic", "a b", ...Object.keys(this.variables)],
    }[code];
    const keys = (this.keys[code.slice(0, -2)] ?? []).map((text) => ({ text, type: "dict key" }));
    return names?.map((text) => ({ text, type: "" })) ?? [...keys, { text: "README.md", type: "path" }];
  }

  async inspect(name: string): Promise<string | undefined> {
    const type = this.variables[name];
    return type === undefined ? undefined : described({ Type: type });
  }
}

/** Let the pause end, and the kernel answer. */
async function settle(): Promise<void> {
  mock.timers.tick(1_000);
  for (let turn = 0; turn < 1_000; turn++) {
    await Promise.resolve();
  }
}

test("variables are read, changed and forgotten", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let kernel: Kernel | undefined = new Kernel({ total: "int", settings: "dict" }, { settings: ["host"] });
  const texts: string[] = [];
  const variables: Variables = new Variables(
    () => kernel,
    () => texts.push(variables.text),
  );
  variables.refresh();
  variables.refresh();
  await settle();
  assert.deepEqual(kernel.asked, ["__builtins__.", "", 'settings["']);
  variables.refresh();
  await settle();
  kernel = new Kernel({ total: "str" });
  variables.refresh();
  await settle();
  variables.clear();
  kernel = undefined;
  variables.refresh();
  await settle();
  mock.timers.reset();
  assert.deepEqual(texts, ['total = int()\nsettings = {"host": ...}', "total = str()", ""]);
});

test("a kernel that goes while it is read changes nothing", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const kernel = new Kernel({ total: "int" });
  const variables = new Variables(
    () => ({ complete: (code) => kernel.complete(code), inspect: () => Promise.reject(new Error("gone")) }),
    () => assert.fail("there is nothing new"),
  );
  variables.refresh();
  await settle();
  mock.timers.reset();
  assert.equal(variables.text, "");
});
