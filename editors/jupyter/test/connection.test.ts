import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { CancellationTokenSource } from "vscode-jsonrpc/browser";

import { Connection, PAUSES_MS, type Socket } from "../src/connection";

type Message = { id?: number; method?: string; params?: any };

/** The Jupyter server's end of a WebSocket. */
class Wire {
  onopen: any = null;
  onmessage: any = null;
  onclose: any = null;
  isClosed = false;
  readonly received: Message[] = [];

  send(data: string): void {
    const message: Message = JSON.parse(data);
    this.received.push(message);
    if (message.method === "initialize" || message.method === "echo") {
      this.say({ id: message.id, result: message.params });
    }
  }

  say(message: object): void {
    queueMicrotask(() => this.onmessage?.({ data: JSON.stringify({ jsonrpc: "2.0", ...message }) }));
  }

  close(): void {
    this.isClosed = true;
  }
}

function connected() {
  const wires: Wire[] = [];
  const seen: string[] = [];
  const connection = new Connection(
    () => {
      wires.push(new Wire());
      return wires.at(-1) as unknown as Socket;
    },
    {
      parameters: () => ({ rootUri: "file:///" }),
      onReady: () => seen.push("ready"),
      onStatus: ({ state, reason }) => seen.push(`${state}${reason ? `: ${reason}` : ""}`),
      onLog: (line, isProblem) => seen.push(`${isProblem ? "!" : "log"} ${line}`),
    },
  );
  return { connection, wires, seen };
}

const rest = async () => {
  for (let turn = 0; turn < 50; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
};

async function ready() {
  const page = connected();
  page.connection.start();
  const [wire] = page.wires;
  assert.ok(wire !== undefined);
  wire.onopen();
  await rest();
  assert.deepEqual(page.seen.splice(0), ["loading: starting the server", "ready"]);
  return { ...page, wire };
}

test("initialize comes first, then documents and requests", async () => {
  const { connection, wire } = await ready();
  connection.notify("textDocument/didOpen", { a: 1 });
  assert.deepEqual(await connection.request("echo", { b: 2 }), { b: 2 });
  const methods = wire.received.map(({ method }) => method);
  assert.deepEqual(methods, ["initialize", "initialized", "textDocument/didOpen", "echo"]);
  connection.stop();
  assert.ok(wire.isClosed);
});

test("without a server nothing is sent, and nothing fails", async () => {
  const { connection, wires } = connected();
  connection.notify("a", {});
  assert.equal(await connection.request("echo", {}), undefined);
  connection.start();
  connection.notify("a", {});
  assert.equal(await connection.command("x"), undefined);
  assert.deepEqual(wires[0]?.received, []);
  connection.stop();
});

test("status, log and messages arrive", async () => {
  const { connection, wire, seen } = await ready();
  wire.say({ method: "fimlsp/status", params: { state: "none", reason: "too short" } });
  wire.say({ method: "window/logMessage", params: { type: 3, message: "a" } });
  wire.say({ method: "window/showMessage", params: { type: 2, message: "b" } });
  await rest();
  assert.deepEqual(seen, ["none: too short", "log a", "! b"]);
  connection.stop();
});

test("a cancelled request gives nothing, and the server hears of it", async () => {
  const { connection, wire, seen } = await ready();
  const source = new CancellationTokenSource();
  const answer = connection.request("slow", {}, source.token);
  await rest();
  source.cancel();
  await rest();
  const { id } = wire.received.find(({ method }) => method === "slow") ?? {};
  assert.deepEqual(wire.received.at(-1)?.params, { id });
  wire.say({ id, error: { code: -32800, message: "cancelled" } });
  assert.equal(await answer, undefined);
  assert.deepEqual(seen, []);
  connection.stop();
});

test("an error is logged", async () => {
  const { connection, wire, seen } = await ready();
  const answer = connection.request("bad", {});
  await rest();
  wire.say({ id: wire.received.at(-1)?.id, error: { code: -32603, message: "no luck" } });
  assert.equal(await answer, undefined);
  assert.deepEqual(seen, ["log bad: no luck"]);
  connection.stop();
});

test("a lost server is connected again, after growing pauses", async () => {
  const { connection, wires, wire, seen } = await ready();
  const running = connection.request("slow", {});
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    let last = wire;
    for (const pause of [...PAUSES_MS, PAUSES_MS.at(-1) ?? 0]) {
      last.onclose({ code: 4000, reason: "killed" });
      assert.equal(seen.shift(), "stopped: killed");
      assert.equal(seen.shift(), `log Disconnected: killed. Connecting again in ${pause / 1000} s.`);
      const before = wires.length;
      mock.timers.tick(pause - 1);
      assert.equal(wires.length, before);
      mock.timers.tick(1);
      assert.equal(wires.length, before + 1);
      assert.equal(seen.shift(), "loading: starting the server");
      last = wires.at(-1) as Wire;
    }
    last.onopen();
  } finally {
    mock.timers.reset();
  }
  assert.equal(await running, undefined);
  await rest();
  assert.deepEqual(seen, ["ready"]);
  connection.stop();
});
