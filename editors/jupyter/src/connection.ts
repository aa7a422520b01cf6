/**
 * The language server at the other end of a WebSocket: started, initialized, and connected again when it is lost.
 */

import {
  AbstractMessageReader,
  AbstractMessageWriter,
  type CancellationToken,
  createMessageConnection,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageConnection,
} from "vscode-jsonrpc/browser";

import { STATUS, type Status } from "../../../vscode-extension/src/status";
import type { Link } from "./documents";

/** The needed part of a WebSocket. */
export type Socket = Pick<WebSocket, "onopen" | "onmessage" | "onclose" | "send" | "close">;

/** The page's use of the server. */
export interface Page {
  /** The parameters of `initialize`. */
  parameters(): object;
  /** The server is ready for documents. */
  onReady(): void;
  onStatus(status: Status): void;
  /** A line of the server's log; *isProblem* if the user has to know it. */
  onLog(line: string, isProblem: boolean): void;
}

/** Pauses before connecting again, in milliseconds; the last one repeats. */
export const PAUSES_MS = [500, 2_000, 5_000, 15_000, 30_000];

/** A connection that has lasted so long was a good one: the next pause is the first again. */
const GOOD_MS = 20_000;

const CANNOT_CONNECT = "the Jupyter server does not answer; it, or your login, may have ended";

/** See the module. Requests while there is no server give undefined, notifications nothing. */
export class Connection implements Link {
  private socket: Socket | undefined;
  private rpc: MessageConnection | undefined;
  private isReady = false;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly connect: () => Socket,
    private readonly page: Page,
  ) {}

  /** Connect, or connect anew: the server starts again. */
  start(): void {
    this.stop();
    this.page.onStatus({ state: "loading", reason: "starting the server" });
    const socket = this.connect();
    this.socket = socket;
    const opened = Date.now();
    socket.onopen = () => void this.initialize(socket);
    socket.onclose = ({ code, reason }) => {
      this.lost(reason || (code === 1000 ? "the server has ended" : CANNOT_CONNECT), Date.now() - opened);
    };
  }

  /** Disconnect for good. */
  stop(): void {
    clearTimeout(this.timer);
    this.isReady = false;
    this.rpc?.dispose();
    this.rpc = undefined;
    if (this.socket !== undefined) {
      this.socket.onopen = this.socket.onclose = null;
      this.socket.close();
      this.socket = undefined;
    }
  }

  notify(method: string, params: unknown): void {
    if (this.isReady) {
      void this.rpc?.sendNotification(method, params);
    }
  }

  /** The answer of the server; undefined if there is none, or the request was cancelled by *token*. */
  async request<T>(method: string, params: unknown, token?: CancellationToken): Promise<T | undefined> {
    if (!this.isReady || this.rpc === undefined) {
      return undefined;
    }
    try {
      return await (token === undefined
        ? this.rpc.sendRequest<T>(method, params)
        : this.rpc.sendRequest<T>(method, params, token));
    } catch (error) {
      if (token?.isCancellationRequested !== true && this.isReady) {
        this.page.onLog(`${method}: ${error instanceof Error ? error.message : String(error)}`, false);
      }
      return undefined;
    }
  }

  /** The result of one of the server's commands. */
  command<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
    return this.request<T>("workspace/executeCommand", { command, arguments: args });
  }

  private async initialize(socket: Socket): Promise<void> {
    const rpc = createMessageConnection(new SocketReader(socket), new SocketWriter(socket));
    this.rpc = rpc;
    rpc.onNotification(STATUS, (status: Status) => this.page.onStatus(status));
    rpc.onNotification("window/logMessage", ({ message }: Told) => this.page.onLog(message, false));
    rpc.onNotification("window/showMessage", ({ message }: Told) => this.page.onLog(message, true));
    rpc.listen();
    try {
      await rpc.sendRequest("initialize", this.page.parameters());
      await rpc.sendNotification("initialized", {});
    } catch {
      return; // the socket is closed, with a reason
    }
    if (this.rpc === rpc) {
      this.isReady = true;
      this.page.onReady();
    }
  }

  private lost(reason: string, lasted: number): void {
    this.stop();
    this.failures = lasted > GOOD_MS ? 1 : this.failures + 1;
    const pause = PAUSES_MS[Math.min(this.failures, PAUSES_MS.length) - 1] ?? 0;
    this.page.onStatus({ state: "stopped", reason });
    this.page.onLog(`Disconnected: ${reason}. Connecting again in ${pause / 1000} s.`, false);
    this.timer = setTimeout(() => this.start(), pause);
  }
}

interface Told {
  readonly message: string;
}

class SocketReader extends AbstractMessageReader {
  constructor(private readonly socket: Socket) {
    super();
  }

  listen(callback: DataCallback): Disposable {
    this.socket.onmessage = ({ data }) => {
      try {
        callback(JSON.parse(String(data)) as Message);
      } catch (error) {
        this.fireError(error);
      }
    };
    return { dispose: () => (this.socket.onmessage = null) };
  }
}

class SocketWriter extends AbstractMessageWriter {
  constructor(private readonly socket: Socket) {
    super();
  }

  write(message: Message): Promise<void> {
    this.socket.send(JSON.stringify(message));
    return Promise.resolve();
  }

  end(): void {}
}
