import assert from "node:assert/strict";
import { test } from "node:test";

import { entriesOfModels, type Model, offerOf } from "../../src/models";
import { isAddress } from "../../src/settings";

const BASE: Model = {
  name: "coder",
  program: "llama.cpp",
  size: 1_700_000_000,
  n_parameters: 1_540_000_000,
  precision: "Q8_0",
  family: "Qwen-Coder",
  fills_in: true,
  remark: null,
};
const BUNDLED: Model = { ...BASE, name: "", program: "fimlsp", size: 6_302_416, precision: "float16", family: "fimlsp" };
const CHAT: Model = { ...BASE, name: "chat", family: "", fills_in: false, remark: "it was made for chat" };
const SERVED: Model = { ...BASE, name: "http://127.0.0.1:8012", program: "llama-server", size: null, precision: "", fills_in: null };

const CASES: [name: string, model: Model, now: string, expected: RegExp][] = [
  ["one that fills in", BASE, "", /^\$\(file-code\) coder\nllama.cpp, 1.7 GB, Q8_0\nfills in the middle \(Qwen-Coder\)$/],
  ["the one that is set", BASE, "coder", /^\$\(check\) coder\n/],
  ["the bundled one", BUNDLED, "coder", /^\$\(package\) The small model that comes with fimlsp\nfimlsp, 6 MB, float16\n/],
  ["one that cannot", CHAT, "", /^\$\(circle-slash\) chat\n.*\ncannot be used: it was made for chat$/],
  ["a server", SERVED, "", /\nllama-server\nfill-in-the-middle support is detected when it is loaded$/],
  ["one with a remark", { ...BASE, remark: "tuned for chat" }, "", /\nfills in the middle \(Qwen-Coder\): tuned for chat$/],
];

for (const [name, model, now, expected] of CASES) {
  test(`a model in the menu: ${name}`, () => {
    const [entry] = entriesOfModels([model], now);
    assert.match(`${entry?.label}\n${entry?.description}\n${entry?.detail}`, expected);
    assert.equal(entry?.model, model.name);
  });
}

test("those that fill in the middle come first", () => {
  const names = entriesOfModels([CHAT, SERVED, BASE, BUNDLED], "").map((entry) => entry.model);
  assert.deepEqual(names, ["", "coder", "http://127.0.0.1:8012", "chat"]);
});

test("addresses of servers", () => {
  const texts = ["http://127.0.0.1:8012", "https://host/path#model", "HTTP://a"];
  assert.deepEqual(texts.filter(isAddress), texts);
  assert.deepEqual(["", "owner/name", "127.0.0.1:8012", "http://", "ftp://a"].filter(isAddress), []);
});

const LARGE: Model = { ...BASE, name: "large", size: 8_100_000_000 };
const RUNNING: Model = { ...SERVED, fills_in: true, licence: "apache-2.0", size: 1_600_000_000 };
const SMALL: Model = { ...BASE, name: "small", size: 530_000_000, licence: "apache-2.0" };
const OFFERS: [name: string, models: Model[], model: string | undefined, question: RegExp][] = [
  ["none", [BUNDLED, CHAT, SERVED, LARGE, { ...BASE, remark: "tuned for chat" }], undefined, /^$/],
  ["a file", [BUNDLED, BASE], "coder", /^coder is on this machine \(llama.cpp, 1.7 GB, licence unknown, takes about 2.0 GB/],
  ["the smaller file", [BASE, SMALL, LARGE], "small", /\(llama.cpp, 0.5 GB, apache-2.0, takes about 0.6 GB of memory\)/],
  ["a server that runs", [SMALL, RUNNING], RUNNING.name, /\(llama-server, 1.6 GB, apache-2.0, runs already\)/],
];

for (const [name, models, model, question] of OFFERS) {
  test(`the model that is offered: ${name}`, () => {
    const offer = offerOf(models);
    assert.equal(offer?.model, model);
    assert.match(offer?.question ?? "", question);
  });
}
